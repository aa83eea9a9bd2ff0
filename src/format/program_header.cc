#include "format/program_header.h"

#include <cinttypes>
#include <cstring>

#include "base/checked.h"
#include "base/error.h"
#include "format/identifier.h"
#include "format/little_endian.h"

namespace pteron::format {
namespace {

constexpr uint64_t kPrefix = 8;  // root offset and identifier
constexpr char kMagic[] = {'e', 'h', '0', '0'};

// Offsets from the start of the file.
constexpr uint64_t kLengthAt = 12;
constexpr uint64_t kBodySizeAt = 16;
constexpr uint64_t kSegmentsBeginAt = 24;
constexpr uint64_t kSegmentsSizeAt = 32;

// The length field counts from the magic. Files before segment_data_size have the short form.
constexpr uint32_t kShortLength = 24;
constexpr uint32_t kFullLength = 32;

Status check_root(const Bytes& bytes, uint64_t first, uint64_t body_size) {
  const uint32_t root = load_u32(bytes.data());
  if (root < first || !range_fits(root, sizeof(uint32_t), body_size)) {
    return error(PTERON_INVALID_FILE, "the root table is said to be at byte %u, expected %" PRIu64 " to %" PRIu64, root,
                 first, body_size);
  }
  return {};
}

Result<ProgramHeader> read_extended(const Bytes& bytes) {
  const uint64_t file_size = bytes.size();
  if (file_size < kPrefix + kShortLength) {
    return error(PTERON_INVALID_FILE, "the extended header needs %" PRIu64 " bytes, the file has %" PRIu64,
                 kPrefix + kShortLength, file_size);
  }
  const uint32_t length = load_u32(bytes.data() + kLengthAt);
  if (length < kShortLength || !range_fits(kPrefix, length, file_size)) {
    return error(PTERON_INVALID_FILE, "the extended header says that it has %u bytes, expected %u to %" PRIu64, length,
                 kShortLength, file_size - kPrefix);
  }

  ProgramHeader header;
  header.body_size = load_u64(bytes.data() + kBodySizeAt);
  if (header.body_size > file_size) {
    return error(PTERON_INVALID_FILE,
                 "the flatbuffer takes %" PRIu64 " bytes, the file has %" PRIu64 "; is it truncated?", header.body_size,
                 file_size);
  }
  if (header.body_size < kPrefix + length) {
    return error(PTERON_INVALID_FILE,
                 "the extended header gives the flatbuffer %" PRIu64 " bytes, expected at least %" PRIu64,
                 header.body_size, kPrefix + length);
  }
  header.segments_begin = load_u64(bytes.data() + kSegmentsBeginAt);
  const bool has_size = length >= kFullLength;
  const uint64_t segments_size = has_size ? load_u64(bytes.data() + kSegmentsSizeAt) : 0;
  if (header.segments_begin == 0) {
    if (segments_size != 0) {
      return error(PTERON_INVALID_FILE, "the extended header gives the segments %" PRIu64 " bytes but no place",
                   segments_size);
    }
    return header;
  }
  if (header.segments_begin < header.body_size || header.segments_begin > file_size) {
    return error(PTERON_INVALID_FILE,
                 "the segments are said to start at byte %" PRIu64 ", expected %" PRIu64
                 " (the end of the flatbuffer) to %" PRIu64 " (the end of the file)",
                 header.segments_begin, header.body_size, file_size);
  }
  header.segments_end = file_size;
  if (has_size) {
    if (!range_fits(header.segments_begin, segments_size, file_size)) {
      return error(PTERON_INVALID_FILE,
                   "the segments are said to take %" PRIu64 " bytes from byte %" PRIu64 ", the file has %" PRIu64
                   "; is it truncated?",
                   segments_size, header.segments_begin, file_size);
    }
    header.segments_end = header.segments_begin + segments_size;
  }
  return header;
}

}  // namespace

Result<ProgramHeader> read_program_header(const Bytes& bytes) {
  PTERON_TRY(check_identifier(bytes, "ET12", "a program (.pte)"));
  const bool extended =
      bytes.size() >= kPrefix + sizeof(kMagic) && std::memcmp(bytes.data() + kPrefix, kMagic, sizeof(kMagic)) == 0;
  if (!extended) {
    ProgramHeader header;
    header.body_size = bytes.size();
    PTERON_TRY(check_root(bytes, kPrefix, header.body_size));
    return header;
  }
  PTERON_ASSIGN(ProgramHeader header, read_extended(bytes));
  PTERON_TRY(check_root(bytes, kPrefix + load_u32(bytes.data() + kLengthAt), header.body_size));
  return header;
}

}  // namespace pteron::format
