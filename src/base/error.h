// Making failed statuses with a formatted sentence.
#pragma once

#include <string>

#include "pteron/result.h"

namespace pteron {

// A failed Status whose sentence is formatted as by printf.
Status error(pteron_code code, const char* format, ...) PTERON_PRINTF(2, 3);

// printf into a string.
std::string format_text(const char* format, ...) PTERON_PRINTF(1, 2);

// Puts where something happened before a failed status's sentence: "WHERE: SENTENCE". A success stays one.
Status with_place(Status status, const char* format, ...) PTERON_PRINTF(2, 3);

// Text from a file made printable: control and non-ASCII bytes become '?', long text is cut with "...".
std::string printable(const char* text, size_t size);

}  // namespace pteron
