// The four bytes after the root offset that say what kind of file this is.
#pragma once

#include "base/bytes.h"
#include "pteron/result.h"

namespace pteron::format {

// True when the bytes are long enough and carry `identifier` (four characters).
bool has_identifier(const Bytes& bytes, const char* identifier);

// A failure unless `bytes` carry `identifier`. PTERON_UNSUPPORTED for another version of the same kind of file,
// PTERON_INVALID_FILE for anything else, with a hint when it is another file of this family. `kind` is what was
// expected, with its article: "a program (.pte)".
Status check_identifier(const Bytes& bytes, const char* identifier, const char* kind);

}  // namespace pteron::format
