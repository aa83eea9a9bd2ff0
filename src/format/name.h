// Strings of a flatbuffer as names.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <string_view>

#include "pteron/result.h"

namespace pteron::format {

// The text of `string`. A failure when it is absent or empty, longer than kLongestName, or holds a zero byte (so that
// it could not be a C string). `what` says which name: "the operator's name".
Result<std::string_view> read_name(const flatbuffers::String* string, const char* what);

// As read_name(), but an absent or empty string gives "".
Result<std::string_view> read_optional_name(const flatbuffers::String* string, const char* what);

// As read_optional_name() without a limit on the length: descriptions, string values.
Result<std::string_view> read_text(const flatbuffers::String* string, const char* what);

constexpr size_t kLongestName = 1024;

}  // namespace pteron::format
