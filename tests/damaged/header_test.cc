// The start of a file and its segments: checks H1 to H14 and X of the header, cases A07, A13.
#include <cstring>

#include "base/file.h"
#include "format/program_file.h"
#include "program_edit.h"

namespace pteron::damaged {
namespace {

constexpr uint64_t kHuge = ~uint64_t{0};

FileBytes linear() {
  return ProgramEdit("linear.pte").pack();
}

TEST(Header, RealFileLoadsAfterPacking) {
  expect_loads(load(linear()));
}

TEST(Header, H1_EmptyFile) {
  expect_invalid(load(FileBytes()), {"at least 8 bytes", "found 0"});
}

TEST(Header, H1_ShorterThanTheExtendedHeader) {
  FileBytes file = linear();
  file.resize(20);
  expect_invalid(load(file), {"extended header needs 32 bytes", "has 20"});
}

TEST(Header, H1_EveryPrefixOfARealFileIsRefused) {
  const FileBytes file = fixture("linear.pte");
  for (size_t size = 0; size < file.size(); ++size) {
    const Outcome outcome = load(FileBytes(file.begin(), file.begin() + static_cast<long>(size)));
    ASSERT_EQ(outcome.code, PTERON_INVALID_FILE) << size << " bytes: " << outcome.message;
  }
}

TEST(Header, H2_NoProgram) {
  FileBytes file = linear();
  std::memcpy(file.data() + 4, "PK\x03\x04", 4);
  expect_invalid(load(file), {"not a program", "expected identifier 'ET12'", "found 'PK"});
}

TEST(Header, H2_OtherVersionIsToldApart) {
  FileBytes file = linear();
  std::memcpy(file.data() + 4, "ET13", 4);
  expect_refused(load(file), PTERON_UNSUPPORTED, {"another format version", "ET13"});
}

TEST(Header, H2_DataFileIsNamed) {
  expect_invalid(load(fixture("external_weights.ptd")), {"not a program", "this is a data file (.ptd)"});
}

TEST(Header, H3_LengthBelowItsFields) {
  HeaderEdit header;
  header.length = 23;
  expect_invalid(load(ProgramEdit("linear.pte").pack(header)), {"extended header", "23 bytes", "expected 24"});
}

TEST(Header, H3_LengthAboveTheFile) {
  HeaderEdit header;
  header.length = 0xffffffff;
  expect_invalid(load(ProgramEdit("linear.pte").pack(header)), {"extended header", "4294967295 bytes"});
}

TEST(Header, H4_BodyLargerThanTheFile) {
  HeaderEdit header;
  header.body_size = kHuge;
  expect_invalid(load(ProgramEdit("linear.pte").pack(header)),
                 {"flatbuffer takes 18446744073709551615 bytes", "truncated"});
}

TEST(Header, H4_BodyOfNothing) {
  HeaderEdit header;
  header.body_size = 0;
  expect_invalid(load(ProgramEdit("linear.pte").pack(header)), {"flatbuffer 0 bytes"});
}

TEST(Header, H4_SegmentsOverlapTheBody) {
  HeaderEdit header;
  header.segments_begin = 64;
  expect_invalid(load(ProgramEdit("linear.pte").pack(header)), {"segments are said to start at byte 64"});
}

TEST(Header, H5_SegmentDataSizeOverflows) {
  HeaderEdit header;
  header.segments_size = kHuge - 8;
  expect_invalid(load(ProgramEdit("linear.pte").pack(header)), {"segments are said to take", "truncated"});
}

TEST(Header, H5_SegmentDataBeyondTheFile) {
  ProgramEdit edit("linear.pte");
  HeaderEdit header;
  header.segments_size = edit.segment_data().size() + 1;
  expect_invalid(load(edit.pack(header)), {"segments are said to take", "truncated"});
}

TEST(Header, H5_SegmentsBeginBeyondTheFile) {
  HeaderEdit header;
  header.segments_begin = kHuge - 0xff;
  expect_invalid(load(ProgramEdit("linear.pte").pack(header)), {"segments are said to start at"});
}

TEST(Header, H5_SegmentDataWithoutAPlace) {
  HeaderEdit header;
  header.segments_begin = 0;
  expect_invalid(load(ProgramEdit("linear.pte").pack(header)), {"bytes but no place"});
}

TEST(Header, H6_A13_SegmentOffsetWraps) {
  ProgramEdit edit("linear.pte");
  edit.root().segments.at(0)->offset = kHuge - 0xff;
  expect_invalid(load(edit.pack()), {"segment 0", "18446744073709551360", "file of"});
}

TEST(Header, H6_SegmentSizeBeyondTheData) {
  ProgramEdit edit("linear.pte");
  edit.root().segments.at(0)->size += 1;
  expect_invalid(load(edit.pack()), {"segment 0", "do not fit"});
}

TEST(Header, H6_UnusedSegmentBeyondTheData) {
  ProgramEdit edit("linear.pte");
  edit.root().segments.push_back(std::make_unique<pte::DataSegmentT>());
  edit.root().segments.back()->size = 1 << 20;
  expect_invalid(load(edit.pack()), {"segment 1", "do not fit"});
}

TEST(Header, H7_SegmentsAbsent) {
  FileBytes file = linear();
  drop_field(root_of(&file), pte::Program::VT_SEGMENTS);
  expect_invalid(load(file), {"constants", "segment 0 is referred to", "has 0"});
}

TEST(Header, H8_ConstantSegmentOutOfRange) {
  ProgramEdit edit("linear.pte");
  edit.root().constant_segment->segment_index = 7;
  expect_invalid(load(edit.pack()), {"constants", "segment 7", "has 1"});
}

TEST(Header, H8_MutableSegmentOutOfRange) {
  ProgramEdit edit("mutable_counter.pte");
  edit.root().mutable_data_segments.at(0)->segment_index = 0xffffffff;
  expect_invalid(load(edit.pack()), {"initial state 0", "segment 4294967295"});
}

TEST(Header, H8_NamedDataSegmentOutOfRange) {
  ProgramEdit edit("xnnpack_linear.pte");
  edit.root().named_data.at(0)->segment_index = 99;
  expect_invalid(load(edit.pack()), {"named data", "segment 99"});
}

TEST(Header, H8_DelegateSegmentOutOfRange) {
  ProgramEdit edit("null_fail_init.pte");
  edit.plan().delegates.at(0)->processed->index = 2;
  expect_invalid(load(edit.pack()), {"delegate 0", "payload", "segment 2"});
}

TEST(Header, H9_ConstantsInBothPlaces) {
  ProgramEdit edit("linear.pte");
  for (int i = 0; i < 2; ++i) edit.root().constant_buffer.push_back(std::make_unique<pte::BufferT>());
  expect_invalid(load(edit.pack()), {"constants both in its flatbuffer (1) and in a segment (2)"});
}

TEST(Header, H9_ConstantsNowhere) {
  ProgramEdit edit("linear.pte");
  edit.root().constant_segment.reset();
  expect_invalid(load(edit.pack()), {"constant", "is referred to, the program has 0"});
}

TEST(Header, H10_ConstantBeyondItsSegment) {
  ProgramEdit edit("linear.pte");
  edit.root().constant_segment->offsets.back() = edit.root().segments.at(0)->size + 1;
  expect_invalid(load(edit.pack()), {"constants", "entry 2 starts at offset"});
}

TEST(Header, H10_ConstantOffsetsRunBackwards) {
  ProgramEdit edit("linear.pte");
  std::swap(edit.root().constant_segment->offsets.at(1), edit.root().constant_segment->offsets.at(2));
  expect_invalid(load(edit.pack()), {"constants", "entry 2 starts at offset 0"});
}

TEST(Header, H10_ConstantOffsetHuge) {
  ProgramEdit edit("linear.pte");
  edit.root().constant_segment->offsets.back() = kHuge;
  expect_invalid(load(edit.pack()), {"constants", "entry 2 starts at offset 18446744073709551615"});
}

// The same constants, one byte further on, so that no float lies on its boundary.
FileBytes shifted_constants() {
  ProgramEdit edit("linear.pte");
  edit.segment_data().insert(edit.segment_data().begin(), 0xee);
  for (auto& segment : edit.root().segments) segment->offset += 1;
  return edit.pack();
}

TEST(Header, H11_MisalignedConstantsAreCopiedToAnAlignedPlace) {
  const FileBytes file = shifted_constants();
  const auto read = format::read_program_file(*copy_bytes(file.data(), file.size()), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  const FileBytes plain_file = fixture("linear.pte");
  const auto plain = format::read_program_file(*copy_bytes(plain_file.data(), plain_file.size()), {});
  for (size_t i = 0; i < read->methods[0].tensors.size(); ++i) {
    const format::Tensor& tensor = read->methods[0].tensors[i];
    if (tensor.storage != format::Storage::kConstant) continue;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data) % 4, 0u);
    EXPECT_EQ(std::memcmp(tensor.data, plain->methods[0].tensors[i].data, tensor.bytes), 0);
  }
}

TEST(Header, H11_AlignedConstantsStayInPlace) {
  const FileBytes file = fixture("linear.pte");
  const auto read = format::read_program_file(*copy_bytes(file.data(), file.size()), {});
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->copies.empty());
}

}  // namespace
}  // namespace pteron::damaged
