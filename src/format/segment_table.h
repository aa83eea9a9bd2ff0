// Segments: the parts of a `.pte` file behind its flatbuffer.
#pragma once

#include <cstdint>
#include <vector>

#include <program_generated.h>
#include "base/bytes.h"
#include "format/program_file.h"
#include "format/program_header.h"

namespace pteron::format {

class SegmentTable {
 public:
  // Checks every segment, used or not, against the header and the file.
  static Result<SegmentTable> read(const pte::Program& program, const ProgramHeader& header, const Bytes& bytes);

  // The bytes of segment `index`.
  Result<ByteView> segment(uint64_t index) const;

  const std::vector<Segment>& entries() const { return entries_; }

 private:
  std::vector<Segment> entries_;
  const uint8_t* file_ = nullptr;
};

}  // namespace pteron::format
