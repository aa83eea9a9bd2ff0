#include "format/constant_table.h"

#include <cinttypes>

#include "base/error.h"
#include "format/vector_items.h"

namespace pteron::format {

Result<Subsegments> Subsegments::read(const pte::SubsegmentOffsets& table, const SegmentTable& segments) {
  Subsegments result;
  result.offsets_ = table.offsets();
  if (result.offsets_ == nullptr) return error(PTERON_INVALID_FILE, "the offsets are absent");
  if (result.offsets_->size() < 2) return result;
  PTERON_ASSIGN(result.segment_, segments.segment(table.segment_index()));
  uint64_t last = 0;
  for (uint32_t i = 0; i < result.offsets_->size(); ++i) {
    const uint64_t offset = item_of(*result.offsets_, i);
    if (offset < last || offset > result.segment_.size) {
      return error(PTERON_INVALID_FILE,
                   "entry %u starts at offset %" PRIu64 ", expected %" PRIu64 " (the entry before) to %" PRIu64
                   " (the end of segment %u)",
                   i, offset, last, result.segment_.size, table.segment_index());
    }
    last = offset;
  }
  return result;
}

Result<ByteView> Subsegments::entry(uint64_t index) const {
  if (index >= size()) {
    return error(PTERON_INVALID_FILE, "entry %" PRIu64 " is referred to, there are %" PRIu64, index, size());
  }
  const uint32_t i = static_cast<uint32_t>(index);
  const uint64_t begin = item_of(*offsets_, i);
  const uint64_t end = i + 1 < offsets_->size() ? item_of(*offsets_, i + 1) : segment_.size;
  return ByteView{segment_.data + begin, end - begin};
}

Result<ConstantTable> ConstantTable::read(const pte::Program& program, const SegmentTable& segments) {
  ConstantTable table;
  table.inline_ = program.constant_buffer();
  if (program.constant_segment() != nullptr) {
    Result<Subsegments> constants = Subsegments::read(*program.constant_segment(), segments);
    if (!constants) return with_place(std::move(constants).status(), "the constants");
    table.segment_ = *constants;
  }
  if (table.segment_.size() > 1 && table.inline_ != nullptr && table.inline_->size() > 1) {
    return error(PTERON_INVALID_FILE,
                 "the program has constants both in its flatbuffer (%u) and in a segment (%" PRIu64
                 "), expected one of them",
                 table.inline_->size() - 1, table.segment_.size() - 1);
  }
  if (program.mutable_data_segments() != nullptr) {
    for (const pte::SubsegmentOffsets* entry : *program.mutable_data_segments()) {
      Result<Subsegments> initial = Subsegments::read(*entry, segments);
      if (!initial) {
        return with_place(std::move(initial).status(), "the initial state %zu", table.mutable_.size());
      }
      table.mutable_.push_back(*initial);
    }
  }
  return table;
}

Result<ByteView> ConstantTable::constant(uint32_t index) const {
  if (segment_.size() > 1) return segment_.entry(index);
  const uint32_t count = inline_ == nullptr ? 0 : inline_->size();
  if (index >= count) {
    return error(PTERON_INVALID_FILE, "constant %u is referred to, the program has %u", index, count);
  }
  const flatbuffers::Vector<uint8_t>* storage = inline_->Get(index)->storage();
  if (storage == nullptr) return error(PTERON_INVALID_FILE, "constant %u has no bytes", index);
  return ByteView{storage->data(), storage->size()};
}

Result<ByteView> ConstantTable::initial(uint64_t segment, uint32_t index) const {
  if (segment >= mutable_.size()) {
    return error(PTERON_INVALID_FILE, "initial state %" PRIu64 " is referred to, the program has %zu", segment,
                 mutable_.size());
  }
  return mutable_[static_cast<size_t>(segment)].entry(index);
}

}  // namespace pteron::format
