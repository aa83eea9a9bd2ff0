// Where constants and the initial content of mutable buffers lie.
#pragma once

#include <cstdint>
#include <vector>

#include <program_generated.h>
#include "format/program_file.h"
#include "format/segment_table.h"

namespace pteron::format {

// A segment cut into entries. Entry 0 is reserved for "no data".
class Subsegments {
 public:
  Subsegments() = default;
  // `offsets` must not be null. With fewer than two offsets there is nothing but the reserved entry, and the segment is
  // not looked at.
  static Result<Subsegments> read(const pte::SubsegmentOffsets& table, const SegmentTable& segments);

  // Entry `index`: from its offset to the next one, or to the segment's end.
  Result<ByteView> entry(uint64_t index) const;
  uint64_t size() const { return offsets_ == nullptr ? 0 : offsets_->size(); }

 private:
  const flatbuffers::Vector<uint64_t>* offsets_ = nullptr;
  ByteView segment_;
};

class ConstantTable {
 public:
  static Result<ConstantTable> read(const pte::Program& program, const SegmentTable& segments);

  // The bytes of constant `index` > 0, from the constant segment or, in old files, from the flatbuffer itself.
  Result<ByteView> constant(uint32_t index) const;

  // The initial content of a mutable buffer: entry `index` > 0 of mutable segment `segment`.
  Result<ByteView> initial(uint64_t segment, uint32_t index) const;

 private:
  const flatbuffers::Vector<flatbuffers::Offset<pte::Buffer>>* inline_ = nullptr;
  Subsegments segment_;
  std::vector<Subsegments> mutable_;
};

}  // namespace pteron::format
