#include "format/segment_table.h"

#include <cinttypes>

#include "base/checked.h"
#include "base/error.h"

namespace pteron::format {

Result<SegmentTable> SegmentTable::read(const pte::Program& program, const ProgramHeader& header, const Bytes& bytes) {
  SegmentTable table;
  table.file_ = bytes.data();
  if (program.segments() == nullptr) return table;
  const uint64_t room = header.segments_end - header.segments_begin;
  table.entries_.reserve(program.segments()->size());
  for (const pte::DataSegment* entry : *program.segments()) {
    if (!range_fits(entry->offset(), entry->size(), room)) {
      return error(PTERON_INVALID_FILE,
                   "segment %zu: %" PRIu64 " bytes at offset %" PRIu64 " do not fit the %" PRIu64
                   " bytes of segments in a file of %zu bytes",
                   table.entries_.size(), entry->size(), entry->offset(), room, bytes.size());
    }
    table.entries_.push_back({header.segments_begin + entry->offset(), entry->size()});
  }
  return table;
}

Result<ByteView> SegmentTable::segment(uint64_t index) const {
  if (index >= entries_.size()) {
    return error(PTERON_INVALID_FILE, "segment %" PRIu64 " is referred to, the file has %zu", index, entries_.size());
  }
  const Segment& entry = entries_[static_cast<size_t>(index)];
  return ByteView{file_ + entry.offset, entry.size};
}

}  // namespace pteron::format
