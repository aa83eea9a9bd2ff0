// Unusual but sound files that must load: section 11 of the checks.
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "format/program_file.h"
#include "program_edit.h"

namespace pteron::damaged {
namespace {

HeaderEdit without_header() {
  HeaderEdit header;
  header.write = false;
  return header;
}

TEST(Accepted, EveryFixture) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(PTERON_TEST_DATA) + "/programs")) {
    const std::string extension = entry.path().extension();
    if (extension != ".pte" && extension != ".bpte") continue;
    const Outcome outcome = load(fixture(entry.path().filename()));
    EXPECT_EQ(outcome.code, PTERON_OK) << entry.path().filename() << ": " << outcome.message;
    ++count;
  }
  EXPECT_GT(count, 40u);
}

TEST(Accepted, RankZero) {
  ProgramEdit edit("linear.pte");
  auto& tensor = edit.tensor(edit.planned());
  tensor.sizes.clear();
  tensor.dim_order.clear();
  expect_loads(load(edit.pack()));
}

TEST(Accepted, SizeOfZeroWithoutMemory) {
  ProgramEdit edit("linear.pte");
  auto& tensor = edit.tensor(edit.planned());
  tensor.sizes = {0, 4};
  tensor.allocation_info.reset();
  expect_loads(load(edit.pack()));
}

TEST(Accepted, SizeOfZeroAtTheEndOfItsBuffer) {
  ProgramEdit edit("linear.pte");
  auto& tensor = edit.tensor(edit.planned());
  tensor.sizes = {0, 4};
  tensor.allocation_info->memory_offset_low = static_cast<uint32_t>(edit.plan().non_const_buffer_sizes.at(1));
  expect_loads(load(edit.pack()));
}

TEST(Accepted, SizeOfZeroConstantWithoutBytes) {
  ProgramEdit edit("linear.pte");
  pte::TensorT tensor;
  tensor.scalar_type = 6;
  tensor.sizes = {0};
  tensor.dim_order = {0};
  tensor.data_buffer_idx = static_cast<uint32_t>(edit.root().constant_segment->offsets.size());
  edit.root().constant_segment->offsets.push_back(edit.root().segments.at(0)->size);
  edit.add_value(std::move(tensor));
  expect_loads(load(edit.pack()));
}

TEST(Accepted, MethodWithoutInputs) {
  ProgramEdit edit("add.pte");
  edit.plan().inputs.clear();
  expect_loads(load(edit.pack()));
}

TEST(Accepted, MethodWithoutTensors) {
  ProgramEdit edit("add.pte");
  edit.plan().values.clear();
  edit.add_value(pte::IntT());
  edit.plan().inputs = {0};
  edit.plan().outputs = {0};
  edit.chain().instructions.clear();
  expect_loads(load(edit.pack()));
}

TEST(Accepted, ConstantsThatNobodyHas) {
  // The placeholder offset only, and no segment behind it.
  ProgramEdit edit("add.pte");
  edit.root().segments.clear();
  edit.root().constant_segment = std::make_unique<pte::SubsegmentOffsetsT>();
  edit.root().constant_segment->offsets = {0};
  expect_loads(load(edit.pack(without_header())));
}

TEST(Accepted, NoConstantTablesAtAll) {
  ProgramEdit edit("add.pte");
  edit.root().segments.clear();
  edit.root().constant_segment.reset();
  expect_loads(load(edit.pack(without_header())));
}

TEST(Accepted, OldFileWithInlineConstants) {
  ProgramEdit edit("linear.pte");
  const auto& offsets = edit.root().constant_segment->offsets;
  const FileBytes data = edit.segment_data();
  for (size_t i = 0; i < offsets.size(); ++i) {
    const size_t end = i + 1 < offsets.size() ? offsets[i + 1] : data.size();
    auto buffer = std::make_unique<pte::BufferT>();
    buffer->storage.assign(data.begin() + static_cast<long>(offsets[i]), data.begin() + static_cast<long>(end));
    edit.root().constant_buffer.push_back(std::move(buffer));
  }
  edit.root().constant_segment.reset();
  edit.root().segments.clear();
  const FileBytes file = edit.pack(without_header());
  const auto read = format::read_program_file(*copy_bytes(file.data(), file.size()), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  const format::Tensor& weight = read->methods[0].tensors[0];
  ASSERT_EQ(weight.storage, format::Storage::kConstant);
  EXPECT_EQ(std::memcmp(weight.data, data.data(), weight.bytes), 0);
}

TEST(Accepted, HeaderWithoutSegmentDataSize) {
  HeaderEdit header;
  header.length = 24;
  header.segments_size = 0xdeadbeefdeadbeef;  // belongs to nothing now
  expect_loads(load(ProgramEdit("linear.pte").pack(header)));
}

TEST(Accepted, LongerUnknownHeader) {
  ProgramEdit edit("linear.pte");
  FileBytes file = edit.pack();
  // Sixteen bytes more of header before the flatbuffer's tables.
  const uint32_t root = stored<uint32_t>(file, 0);
  file.insert(file.begin() + 40, 16, 0xab);
  store<uint32_t>(&file, 0, root + 16);
  store<uint32_t>(&file, 12, 48);
  store<uint64_t>(&file, 16, stored<uint64_t>(file, 16) + 16);
  store<uint64_t>(&file, 24, stored<uint64_t>(file, 24) + 16);
  expect_loads(load(file));
}

TEST(Accepted, BoundedInputWithAHugeBound) {
  ProgramEdit edit("unplanned_inputs.pte");
  auto& tensor = edit.tensor(static_cast<size_t>(edit.plan().inputs.at(0)));
  ASSERT_EQ(tensor.allocation_info, nullptr);
  tensor.sizes = {INT32_MAX, 1 << 20};
  tensor.dim_order = {0, 1};
  tensor.shape_dynamism = 1;
  expect_loads(load(edit.pack()));
}

TEST(Accepted, NameOfATensorThatIsNotExternal) {
  ProgramEdit edit("linear.pte");
  auto& tensor = edit.tensor(edit.planned());
  tensor.extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>();
  tensor.extra_tensor_info->fully_qualified_name = "layer.buffer";
  expect_loads(load(edit.pack()));
}

TEST(Accepted, SizeOneDimsInAnyOrder) {
  ProgramEdit edit("linear.pte");
  auto& tensor = edit.tensor(edit.planned());
  tensor.sizes = {1, 1, 2, 1};
  tensor.dim_order = {3, 1, 2, 0};
  expect_loads(load(edit.pack()));
}

TEST(Accepted, PaddingBehindConstantsAndSegments) {
  ProgramEdit edit("linear.pte");
  edit.segment_data().resize(edit.segment_data().size() + 100);
  edit.root().segments.at(0)->size += 50;
  FileBytes file = edit.pack();
  file.resize(file.size() + 77);
  expect_loads(load(file));
}

TEST(Accepted, UnusedSegment) {
  ProgramEdit edit("linear.pte");
  edit.root().segments.push_back(std::make_unique<pte::DataSegmentT>());
  edit.root().segments.back()->size = 4;
  expect_loads(load(edit.pack()));
}

TEST(Accepted, EmptyChain) {
  ProgramEdit edit("add.pte");
  edit.chain().instructions.clear();
  expect_loads(load(edit.pack()));
}

TEST(Accepted, SeveralChains) {
  ProgramEdit edit("add.pte");
  edit.plan().chains.push_back(std::make_unique<pte::ChainT>());
  expect_loads(load(edit.pack()));
}

TEST(Accepted, IntListOfAnIntegerInput) {
  // Integer inputs that vary are nulls in the file.
  ProgramEdit edit("scalars.pte");
  const size_t null = edit.find(pte::KernelTypes::Null);
  pte::IntListT list;
  list.items = {static_cast<int64_t>(null)};
  edit.add_value(std::move(list));
  expect_loads(load(edit.pack()));
}

}  // namespace
}  // namespace pteron::damaged
