// Opening shared libraries, and knowing which file code came from.
#pragma once

#include <string>

namespace pteron {

// A library in the process. It stays loaded: code that registered itself must not go away.
struct DynamicLibrary {
  void* handle = nullptr;  // null: not opened, and `error` says why in the loader's words
  std::string error;
};

// Loads the file, its symbols bound at once and visible to nobody else. `path` must hold a slash: without one the
// system's search would decide.
DynamicLibrary open_library(const std::string& path);

// The address of an exported symbol, or null.
void* library_symbol(const DynamicLibrary& library, const char* name);

// The file that holds the code or data at `address`, as the loader names it; "" when it is in no file. Allocates
// nothing; valid as long as the file is loaded.
const char* file_of(const void* address);

// The part before the last slash; "" without one.
std::string folder_of(const std::string& path);

// Whether code may be loaded from there: an absolute path to something that exists and that not everybody may write.
// "" when it may, otherwise why not. For a file its folder is looked at too.
std::string why_unsafe_to_load(const std::string& path);

}  // namespace pteron
