#include "format/name.h"

#include <cstring>

#include "base/error.h"

namespace pteron::format {

Result<std::string_view> read_text(const flatbuffers::String* string, const char* what) {
  if (string == nullptr) return std::string_view("");
  if (std::memchr(string->c_str(), 0, string->size()) != nullptr) {
    return error(PTERON_INVALID_FILE, "%s has a zero byte in it: '%s'", what,
                 printable(string->c_str(), string->size()).c_str());
  }
  return std::string_view(string->c_str(), string->size());
}

Result<std::string_view> read_optional_name(const flatbuffers::String* string, const char* what) {
  if (string != nullptr && string->size() > kLongestName) {
    return error(PTERON_INVALID_FILE, "%s has %u characters, expected at most %zu", what, string->size(), kLongestName);
  }
  return read_text(string, what);
}

Result<std::string_view> read_name(const flatbuffers::String* string, const char* what) {
  if (string == nullptr) return error(PTERON_INVALID_FILE, "%s is absent", what);
  if (string->size() == 0) return error(PTERON_INVALID_FILE, "%s is empty", what);
  return read_optional_name(string, what);
}

}  // namespace pteron::format
