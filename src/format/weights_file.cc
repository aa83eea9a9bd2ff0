#include "format/weights_file.h"

#include <cinttypes>
#include <cstring>
#include <unordered_set>

#include <flat_tensor_generated.h>
#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "format/constant_copies.h"
#include "format/flatbuffer_check.h"
#include "format/identifier.h"
#include "format/little_endian.h"
#include "format/name.h"

namespace pteron::format {
namespace {

constexpr char kMagic[] = {'F', 'H', '0', '1'};

// Offsets from the start of the file; the length field counts from the magic.
constexpr uint64_t kMagicAt = 8;
constexpr uint64_t kLengthAt = 12;
constexpr uint64_t kBodyOffsetAt = 16;
constexpr uint64_t kBodySizeAt = 24;
constexpr uint64_t kSegmentsBeginAt = 32;
constexpr uint64_t kSegmentsSizeAt = 40;
constexpr uint64_t kHeaderLength = 40;

struct Header {
  uint64_t body_end = 0;  // the flatbuffer is [0, body_end), the header lies in it
  uint64_t segments_begin = 0;
  uint64_t segments_size = 0;
};

Result<Header> read_header(const Bytes& bytes) {
  PTERON_TRY(check_identifier(bytes, "FT01", "a data file (.ptd)"));
  const uint64_t file_size = bytes.size();
  if (file_size < kMagicAt + kHeaderLength || std::memcmp(bytes.data() + kMagicAt, kMagic, sizeof(kMagic)) != 0) {
    return error(PTERON_INVALID_FILE,
                 "its header is not there: expected %" PRIu64
                 " bytes that start with 'FH01' at "
                 "byte 8",
                 kHeaderLength);
  }
  const uint32_t length = load_u32(bytes.data() + kLengthAt);
  if (length < kHeaderLength || !range_fits(kMagicAt, length, file_size)) {
    return error(PTERON_INVALID_FILE, "the header says that it has %u bytes, expected %" PRIu64 " to %" PRIu64, length,
                 kHeaderLength, file_size - kMagicAt);
  }
  const uint64_t body_offset = load_u64(bytes.data() + kBodyOffsetAt);
  const uint64_t body_size = load_u64(bytes.data() + kBodySizeAt);
  if (body_offset < kMagicAt + length || body_size == 0 || !range_fits(body_offset, body_size, file_size)) {
    return error(PTERON_INVALID_FILE,
                 "the header gives the flatbuffer %" PRIu64 " bytes at offset %" PRIu64
                 ", expected them behind the header in a file of %" PRIu64 " bytes",
                 body_size, body_offset, file_size);
  }
  Header header;
  header.body_end = body_offset + body_size;
  header.segments_begin = load_u64(bytes.data() + kSegmentsBeginAt);
  header.segments_size = load_u64(bytes.data() + kSegmentsSizeAt);
  const bool none = header.segments_begin == 0 && header.segments_size == 0;
  if (!none && (header.segments_begin < header.body_end ||
                !range_fits(header.segments_begin, header.segments_size, file_size))) {
    return error(PTERON_INVALID_FILE,
                 "the header gives the data %" PRIu64 " bytes at offset %" PRIu64
                 ", expected them behind the flatbuffer, which ends at %" PRIu64 ", in a file of %" PRIu64
                 " bytes; is it truncated?",
                 header.segments_size, header.segments_begin, header.body_end, file_size);
  }
  return header;
}

class EntryReader {
 public:
  EntryReader(const Bytes& bytes, const Header& header, const ptd::FlatTensor& root)
      : bytes_(bytes), header_(header), segments_(root.segments()), copies_(bytes.size()) {}

  Status check_segments() const {
    if (segments_ == nullptr) return {};
    for (uint32_t i = 0; i < segments_->size(); ++i) {
      const ptd::DataSegment* segment = segments_->Get(i);
      if (!range_fits(segment->offset(), segment->size(), header_.segments_size)) {
        return error(PTERON_INVALID_FILE,
                     "segment %u: %" PRIu64 " bytes at offset %" PRIu64 " do not fit the %" PRIu64 " bytes of data", i,
                     segment->size(), segment->offset(), header_.segments_size);
      }
    }
    return {};
  }

  Result<WeightsEntry> read(const ptd::NamedData& from, std::string_view key) {
    WeightsEntry entry;
    entry.key = key;
    const uint32_t count = segments_ == nullptr ? 0 : segments_->size();
    if (from.segment_index() >= count) {
      return error(PTERON_INVALID_FILE, "its bytes are in segment %u, the file has %u", from.segment_index(), count);
    }
    const ptd::DataSegment* segment = segments_->Get(from.segment_index());
    entry.data = {bytes_.data() + header_.segments_begin + segment->offset(), segment->size()};
    if (from.tensor_layout() != nullptr) PTERON_TRY(read_layout(*from.tensor_layout(), &entry));
    return entry;
  }

  std::vector<std::shared_ptr<const void>> take_copies() { return copies_.take(); }

 private:
  Status read_layout(const ptd::TensorLayout& from, WeightsEntry* to) {
    PTERON_ASSIGN(to->shape, read_shape(from.scalar_type(), from.sizes(), from.dim_order()));
    to->has_layout = true;
    if (to->shape.bytes > to->data.size) {
      return error(PTERON_INVALID_FILE, "%s needs %" PRIu64 " bytes, its segment has %" PRIu64,
                   shape_text(to->shape.dtype, to->shape.sizes).c_str(), to->shape.bytes, to->data.size);
    }
    PTERON_ASSIGN(to->data.data, copies_.aligned(to->data, pteron_dtype_size(to->shape.dtype)));
    return {};
  }

  const Bytes& bytes_;
  const Header& header_;
  const flatbuffers::Vector<flatbuffers::Offset<ptd::DataSegment>>* segments_;
  ConstantCopies copies_;
};

}  // namespace

Result<WeightsFile> read_weights_file(Bytes bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kBytesAlignment != 0) {
    return error(PTERON_INVALID_ARGUMENT, "the bytes of a data file must be aligned to %zu", kBytesAlignment);
  }
  PTERON_ASSIGN(const Header header, read_header(bytes));
  PTERON_ASSIGN(const ptd::FlatTensor* root,
                check_flatbuffer<ptd::FlatTensor>(bytes.data(), header.body_end, "the data file"));
  if (root->version() != 0) {
    return error(PTERON_UNSUPPORTED, "the data file has format version %u, expected 0; it needs a newer Pteron",
                 root->version());
  }
  if (root->named_data() == nullptr) return error(PTERON_INVALID_FILE, "the list of keys ('named_data') is absent");

  WeightsFile file;
  EntryReader reader(bytes, header, *root);
  PTERON_TRY(reader.check_segments());
  std::unordered_set<std::string_view> keys;
  for (const ptd::NamedData* from : *root->named_data()) {
    Result<std::string_view> key = read_name(from->key(), "its key");
    if (!key) return with_place(std::move(key).status(), "entry %zu", file.entries.size());
    const std::string shown = printable(key->data(), key->size());
    if (!keys.insert(*key).second) {
      return error(PTERON_INVALID_FILE, "entry %zu: the key '%s' is there twice", file.entries.size(), shown.c_str());
    }
    Result<WeightsEntry> entry = reader.read(*from, *key);
    if (!entry) return with_place(std::move(entry).status(), "key '%s'", shown.c_str());
    file.entries.push_back(*std::move(entry));
  }
  file.copies = reader.take_copies();
  file.bytes = std::move(bytes);
  return file;
}

}  // namespace pteron::format
