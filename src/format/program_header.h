// The start of a `.pte` file: identifier, root offset and the optional extended header.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "pteron/result.h"

namespace pteron::format {

struct ProgramHeader {
  uint64_t body_size = 0;       // bytes of the flatbuffer, from the start of the file
  uint64_t segments_begin = 0;  // offsets of segments count from here; 0 without segments
  uint64_t segments_end = 0;    // no segment reaches beyond; equal to segments_begin without segments
};

// Accepts files without the extended header (the whole file is the flatbuffer) and newer, longer ones.
Result<ProgramHeader> read_program_header(const Bytes& bytes);

}  // namespace pteron::format
