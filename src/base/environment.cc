#include "base/environment.h"

#include <cstdlib>
#include <cstring>

namespace pteron {

const char* environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && text[0] != '\0' ? text : nullptr;
}

const char* trusted_environment(const char* name) {
  const char* text = secure_getenv(name);
  return text != nullptr && text[0] != '\0' ? text : nullptr;
}

int environment_number(const char* name, int least, int most, int otherwise) {
  const char* text = environment(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  return *end == '\0' && number >= least && number <= most ? static_cast<int>(number) : otherwise;
}

std::vector<std::string> split_path_list(const char* list) {
  std::vector<std::string> parts;
  for (const char* begin = list; *begin != '\0';) {
    const char* end = std::strchr(begin, ':');
    if (end == nullptr) end = begin + std::strlen(begin);
    if (end != begin) parts.emplace_back(begin, end);
    begin = *end == ':' ? end + 1 : end;
  }
  return parts;
}

}  // namespace pteron
