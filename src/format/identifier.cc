#include "format/identifier.h"

#include <cctype>
#include <cstring>

#include "base/error.h"

namespace pteron::format {
namespace {

constexpr size_t kOffset = 4;
constexpr size_t kLength = 4;

// Another version of the same family: the same two letters and two other digits.
bool is_other_version(const char* found, const char* expected) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::memcmp(found, expected, 2) == 0 && digit(found[2]) && digit(found[3]);
}

const char* hint(const char* found) {
  if (std::memcmp(found, "ET", 2) == 0) return "; this is a program (.pte)";
  if (std::memcmp(found, "FT", 2) == 0) return "; this is a data file (.ptd), which is given beside a program";
  if (std::memcmp(found, "BP", 2) == 0) return "; this is a program with test cases (.bpte)";
  return "";
}

}  // namespace

bool has_identifier(const Bytes& bytes, const char* identifier) {
  return bytes.size() >= kOffset + kLength && std::memcmp(bytes.data() + kOffset, identifier, kLength) == 0;
}

Status check_identifier(const Bytes& bytes, const char* identifier, const char* kind) {
  if (bytes.size() < kOffset + kLength) {
    return error(PTERON_INVALID_FILE, "not %s: expected at least %zu bytes, found %zu", kind, kOffset + kLength,
                 bytes.size());
  }
  if (has_identifier(bytes, identifier)) return {};
  const char* found = reinterpret_cast<const char*>(bytes.data()) + kOffset;
  const std::string text = printable(found, kLength);
  if (is_other_version(found, identifier)) {
    return error(PTERON_UNSUPPORTED,
                 "%s of another format version: expected identifier '%s', found '%s'; export it "
                 "again with a release that writes '%s'",
                 kind, identifier, text.c_str(), identifier);
  }
  return error(PTERON_INVALID_FILE, "not %s: expected identifier '%s' at byte 4, found '%s'%s", kind, identifier,
               text.c_str(), hint(found));
}

}  // namespace pteron::format
