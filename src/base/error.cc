#include "base/error.h"

#include <cstdarg>
#include <cstdio>

namespace pteron {
namespace {

std::string vformat_text(const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int size = std::vsnprintf(nullptr, 0, format, args);
  std::string text(size > 0 ? static_cast<size_t>(size) : 0, '\0');
  if (size > 0) std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

}  // namespace

Status error(pteron_code code, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const std::string text = vformat_text(format, args);
  va_end(args);
  return Status(code, text.c_str());
}

std::string format_text(const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = vformat_text(format, args);
  va_end(args);
  return text;
}

Status with_place(Status status, const char* format, ...) {
  if (status.ok()) return status;
  va_list args;
  va_start(args, format);
  const std::string place = vformat_text(format, args);
  va_end(args);
  return error(status.code(), "%s: %s", place.c_str(), status.message());
}

std::string printable(const char* text, size_t size) {
  constexpr size_t kLongest = 200;
  std::string out;
  for (size_t i = 0; i < size && i < kLongest; ++i) out.push_back(text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?');
  if (size > kLongest) out += "...";
  return out;
}

}  // namespace pteron
