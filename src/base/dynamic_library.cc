#include "base/dynamic_library.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace pteron {

DynamicLibrary open_library(const std::string& path) {
  DynamicLibrary library;
  library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library.handle == nullptr) {
    const char* words = dlerror();
    library.error = words != nullptr ? words : "the loader gave no reason";
  }
  return library;
}

void* library_symbol(const DynamicLibrary& library, const char* name) {
  return library.handle == nullptr ? nullptr : dlsym(library.handle, name);
}

const char* file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) == 0 || info.dli_fname == nullptr ? "" : info.dli_fname;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string why_unsafe_to_load(const std::string& path) {
  if (path.empty() || path[0] != '/') return "not an absolute path";
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return std::strerror(errno);
  if ((info.st_mode & S_IWOTH) != 0) return "everybody may write it";
  if (S_ISDIR(info.st_mode)) return {};
  const std::string folder = folder_of(path);
  return stat(folder.empty() ? "/" : folder.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0
             ? "everybody may write its folder"
             : "";
}

}  // namespace pteron
