// Data files beside a program: checks X1 to X13, case A14.
#include <flat_tensor_generated.h>

#include <cstring>

#include "base/file.h"
#include "program_edit.h"
#include "runtime/program.h"

namespace pteron::damaged {
namespace {

namespace ptd = format::ptd;

// A real `.ptd` taken apart, as ProgramEdit does for a `.pte`.
class WeightsEdit {
 public:
  WeightsEdit() {
    const FileBytes file = fixture("external_weights.ptd");
    ptd::GetFlatTensor(file.data())->UnPackTo(&root);
    const uint8_t* segments = file.data() + stored<uint64_t>(file, 32);
    data.assign(segments, segments + stored<uint64_t>(file, 40));
  }

  FileBytes pack() const {
    flatbuffers::FlatBufferBuilder builder;
    builder.DedupVtables(false);
    builder.Finish(ptd::FlatTensor::Pack(builder, &root), "FT01");
    const uint8_t* body = builder.GetBufferPointer();
    FileBytes file(body, body + 8);
    file.resize(48);
    std::memcpy(file.data() + 8, "FH01", 4);
    file.insert(file.end(), body + 8, body + builder.GetSize());
    store<uint32_t>(&file, 0, stored<uint32_t>(file, 0) + 40);
    store<uint32_t>(&file, 12, 40);
    store<uint64_t>(&file, 16, 48);
    store<uint64_t>(&file, 24, file.size() - 48);
    file.resize((file.size() + 127) / 128 * 128);
    store<uint64_t>(&file, 32, file.size());
    store<uint64_t>(&file, 40, data.size());
    file.insert(file.end(), data.begin(), data.end());
    return file;
  }

  ptd::NamedDataT& entry(const std::string& key) {
    for (auto& one : root.named_data) {
      if (one->key == key) return *one;
    }
    ADD_FAILURE() << key;
    return *root.named_data.at(0);
  }

  ptd::FlatTensorT root;
  FileBytes data;
};

Outcome load_with(const FileBytes& data) {
  return load(fixture("external_weights.pte"), {data});
}

// The data file with eight bytes of its header changed.
Outcome load_header(size_t offset, uint64_t value) {
  FileBytes file = WeightsEdit().pack();
  store<uint64_t>(&file, offset, value);
  return load_with(file);
}

constexpr size_t kBodyOffset = 16;
constexpr size_t kBodySize = 24;
constexpr size_t kSegmentsBegin = 32;
constexpr size_t kSegmentsSize = 40;

TEST(Weights, RealFileLoadsAfterPacking) {
  expect_loads(load_with(WeightsEdit().pack()));
}

TEST(Weights, X1_NotADataFile) {
  expect_invalid(load_with(fixture("add.pte")),
                 {"data file '0.ptd'", "not a data file", "'FT01'", "this is a program"});
}

TEST(Weights, X1_OtherVersion) {
  FileBytes file = WeightsEdit().pack();
  std::memcpy(file.data() + 4, "FT02", 4);
  expect_refused(load_with(file), PTERON_UNSUPPORTED, {"another format version", "FT02"});
}

TEST(Weights, X1_HeaderMagic) {
  FileBytes file = WeightsEdit().pack();
  file[8] = 'X';
  expect_invalid(load_with(file), {"header is not there", "'FH01'"});
}

TEST(Weights, X1_HeaderLengthTooSmall) {
  FileBytes file = WeightsEdit().pack();
  store<uint32_t>(&file, 12, 39);
  expect_invalid(load_with(file), {"header says that it has 39 bytes"});
}

TEST(Weights, X1_HeaderLengthBeyondTheFile) {
  FileBytes file = WeightsEdit().pack();
  store<uint32_t>(&file, 12, 0xffffffff);
  expect_invalid(load_with(file), {"header says that it has 4294967295 bytes"});
}

TEST(Weights, X1_EveryPrefixIsRefused) {
  const FileBytes file = fixture("external_weights.ptd");
  for (size_t size = 0; size < file.size(); ++size) {
    const Outcome outcome = load_with(FileBytes(file.begin(), file.begin() + static_cast<long>(size)));
    ASSERT_EQ(outcome.code, PTERON_INVALID_FILE) << size << " bytes: " << outcome.message;
  }
}

TEST(Weights, X2_A14_SegmentBaseWraps) {
  expect_invalid(load_header(kSegmentsBegin, ~uint64_t{0} - 15), {"offset 18446744073709551600", "truncated"});
}

TEST(Weights, X2_SegmentSizeWraps) {
  expect_invalid(load_header(kSegmentsSize, ~uint64_t{0} - 15), {"gives the data 18446744073709551600 bytes"});
}

TEST(Weights, X2_BodyOffsetWraps) {
  expect_invalid(load_header(kBodyOffset, ~uint64_t{0} - 15), {"flatbuffer", "offset 18446744073709551600"});
}

TEST(Weights, X2_BodySizeBeyondTheFile) {
  expect_invalid(load_header(kBodySize, uint64_t{1} << 40), {"flatbuffer"});
}

TEST(Weights, X2_BodyInsideTheHeader) {
  expect_invalid(load_header(kBodyOffset, 0), {"behind the header"});
}

TEST(Weights, X2_SegmentsOverlapTheBody) {
  expect_invalid(load_header(kSegmentsBegin, 64), {"behind the flatbuffer"});
}

TEST(Weights, X2_SegmentOffsetWraps) {
  WeightsEdit edit;
  edit.root.segments.at(0)->offset = ~uint64_t{0} - 15;
  expect_invalid(load_with(edit.pack()), {"segment 0", "offset 18446744073709551600"});
}

TEST(Weights, X3_StructureIsVerified) {
  FileBytes file = WeightsEdit().pack();
  const auto* keys = ptd::GetFlatTensor(file.data())->named_data();
  const auto at = reinterpret_cast<const uint8_t*>(keys) - file.data();
  store<uint32_t>(&file, static_cast<size_t>(at), 0x7fffffff);
  expect_invalid(load_with(file), {"damaged"});
}

TEST(Weights, X4_KeysAbsent) {
  FileBytes file = WeightsEdit().pack();
  drop_field(ptd::GetFlatTensor(file.data()), ptd::FlatTensor::VT_NAMED_DATA);
  expect_invalid(load_with(file), {"'named_data'", "absent"});
}

TEST(Weights, X4_SegmentsAbsent) {
  FileBytes file = WeightsEdit().pack();
  drop_field(ptd::GetFlatTensor(file.data()), ptd::FlatTensor::VT_SEGMENTS);
  expect_invalid(load_with(file), {"key '", "the file has 0"});
}

TEST(Weights, X4_KeyAbsent) {
  FileBytes file = WeightsEdit().pack();
  drop_field(ptd::GetFlatTensor(file.data())->named_data()->Get(1), ptd::NamedData::VT_KEY);
  expect_invalid(load_with(file), {"entry 1", "key is absent"});
}

TEST(Weights, X5_SegmentIndexOutOfRange) {
  WeightsEdit edit;
  edit.entry("weight").segment_index = 2;
  expect_invalid(load_with(edit.pack()), {"key 'weight'", "segment 2", "has 2"});
}

TEST(Weights, X5_SegmentBeyondTheData) {
  WeightsEdit edit;
  edit.root.segments.at(1)->size += 1;
  expect_invalid(load_with(edit.pack()), {"segment 1", "do not fit"});
}

TEST(Weights, X6_OpaqueBlobAskedAsTensor) {
  WeightsEdit edit;
  edit.entry("bias").tensor_layout.reset();
  expect_invalid(load_with(edit.pack()), {"external data 'bias'", "expected float32 [3]", "blob without a type"});
}

TEST(Weights, X6_SizesAbsent) {
  FileBytes file = WeightsEdit().pack();
  drop_field(ptd::GetFlatTensor(file.data())->named_data()->Get(0)->tensor_layout(), ptd::TensorLayout::VT_SIZES);
  expect_invalid(load_with(file), {"key '", "sizes are absent"});
}

TEST(Weights, X6_DimOrderAbsent) {
  FileBytes file = WeightsEdit().pack();
  drop_field(ptd::GetFlatTensor(file.data())->named_data()->Get(0)->tensor_layout(), ptd::TensorLayout::VT_DIM_ORDER);
  expect_invalid(load_with(file), {"key '", "dim order is absent"});
}

TEST(Weights, X6_DimOrderOfAnotherLength) {
  WeightsEdit edit;
  edit.entry("weight").tensor_layout->dim_order = {0};
  expect_invalid(load_with(edit.pack()), {"key 'weight'", "dim order has 1 entries"});
}

TEST(Weights, X6_UnknownType) {
  WeightsEdit edit;
  edit.entry("weight").tensor_layout->scalar_type = 99;
  expect_invalid(load_with(edit.pack()), {"key 'weight'", "element type 99"});
}

TEST(Weights, X6_NegativeSize) {
  WeightsEdit edit;
  edit.entry("weight").tensor_layout->sizes.at(1) = -4;
  expect_invalid(load_with(edit.pack()), {"key 'weight'", "negative"});
}

TEST(Weights, X6_ByteCountOverflows) {
  WeightsEdit edit;
  edit.entry("weight").tensor_layout->sizes = {INT32_MAX, INT32_MAX, INT32_MAX};
  edit.entry("weight").tensor_layout->dim_order = {0, 1, 2};
  expect_invalid(load_with(edit.pack()), {"key 'weight'", "overflows"});
}

TEST(Weights, X7_OtherType) {
  WeightsEdit edit;
  edit.entry("weight").tensor_layout->scalar_type = 3;
  expect_invalid(load_with(edit.pack()), {"external data 'weight'", "float32 [3, 4]", "int32 [3, 4]", "0.ptd"});
}

TEST(Weights, X7_OtherSizes) {
  WeightsEdit edit;
  edit.entry("weight").tensor_layout->sizes = {4, 3};
  expect_invalid(load_with(edit.pack()), {"external data 'weight'", "float32 [3, 4]", "float32 [4, 3]"});
}

TEST(Weights, X7_OtherDimOrder) {
  WeightsEdit edit;
  edit.entry("weight").tensor_layout->dim_order = {1, 0};
  expect_invalid(load_with(edit.pack()), {"external data 'weight'", "dim order [0, 1]", "dim order [1, 0]"});
}

TEST(Weights, X7_OrderOfSizeOneDimsDoesNotMatter) {
  ProgramEdit program("external_weights.pte");
  WeightsEdit edit;
  for (auto& value : program.plan().values) {
    pte::TensorT* tensor = value->val.AsTensor();
    if (tensor == nullptr || tensor->sizes != std::vector<int32_t>{3, 4} || !tensor->extra_tensor_info) continue;
    tensor->sizes = {3, 1, 4};
    tensor->dim_order = {0, 1, 2};
  }
  edit.entry("weight").tensor_layout->sizes = {3, 1, 4};
  edit.entry("weight").tensor_layout->dim_order = {1, 0, 2};
  expect_loads(load(program.pack(), {edit.pack()}));
}

TEST(Weights, X8_SegmentShorterThanItsTensor) {
  WeightsEdit edit;
  edit.root.segments.at(edit.entry("weight").segment_index)->size -= 1;
  expect_invalid(load_with(edit.pack()), {"key 'weight'", "needs 48 bytes, its segment has 47"});
}

TEST(Weights, X10_KeyTwiceInOneFile) {
  WeightsEdit edit;
  edit.root.named_data.at(1)->key = edit.root.named_data.at(0)->key;
  expect_invalid(load_with(edit.pack()), {"entry 1", "is there twice"});
}

TEST(Weights, X10_KeyInTwoFiles) {
  const FileBytes data = WeightsEdit().pack();
  expect_invalid(load(fixture("external_weights.pte"), {data, data}), {"data file '1.ptd'", "is also in '0.ptd'"});
}

TEST(Weights, X10_KeyInFileAndProgram) {
  ProgramEdit program("external_weights.pte");
  program.root().named_data.push_back(std::make_unique<pte::NamedDataT>());
  program.root().named_data.back()->key = "weight";
  expect_invalid(load(program.pack(), {WeightsEdit().pack()}), {"key 'weight' is also in the program itself"});
}

TEST(Weights, X11_LoadsWithoutDataFilesToBeLookedAt) {
  expect_loads(load(fixture("external_weights.pte"), {}));
}

TEST(Weights, X11_MissingKeyIsNamedAtLoad) {
  WeightsEdit edit;
  edit.entry("weight").key = "other";
  expect_refused(load_with(edit.pack()), PTERON_NOT_FOUND,
                 {"external data 'weight' (float32 [3, 4])", "none of the 1 data files"});
}

TEST(Weights, X11_NoDataFileIsSaidSo) {
  const FileBytes file = fixture("external_weights.pte");
  auto program = runtime::Program::create(*copy_bytes(file.data(), file.size()), {}, format::Limits());
  ASSERT_TRUE(program.ok());
  ASSERT_FALSE((*program)->external_tensors().empty());
  const auto data = (*program)->external_data(*(*program)->external_tensors()[0]);
  expect_refused({data.status().code(), data.status().message()}, PTERON_NOT_FOUND,
                 {"external data 'weight'", "no data file was given", ".ptd"});
}

// Two files with a key each.
std::vector<FileBytes> split_weights() {
  std::vector<FileBytes> files;
  for (const size_t dropped : {0, 1}) {
    WeightsEdit edit;
    edit.root.named_data.erase(edit.root.named_data.begin() + static_cast<long>(dropped));
    files.push_back(edit.pack());
  }
  return files;
}

TEST(Weights, X12_ManyFilesInAnyOrder) {
  const FileBytes program = fixture("external_weights.pte");
  std::vector<FileBytes> files = split_weights();
  expect_loads(load(program, files));
  std::swap(files[0], files[1]);
  expect_loads(load(program, files));
}

TEST(Weights, X13_DataLivesAsLongAsTheProgram) {
  const FileBytes file = fixture("external_weights.pte");
  FileBytes data = WeightsEdit().pack();
  std::shared_ptr<const runtime::Program> program;
  {
    std::vector<runtime::DataFile> files = {{"w.ptd", *copy_bytes(data.data(), data.size())}};
    auto loaded = runtime::Program::create(*copy_bytes(file.data(), file.size()), files, format::Limits());
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    program = *std::move(loaded);
  }
  // The first float of each tensor, read after everything else that held the bytes is gone.
  for (const format::Tensor* tensor : program->external_tensors()) {
    const auto bytes = program->external_data(*tensor);
    ASSERT_TRUE(bytes.ok());
    float first = 0;
    std::memcpy(&first, bytes->data, sizeof(first));
    EXPECT_NE(first, 0.0f) << tensor->name;
  }
}

TEST(Weights, H11_MisalignedDataIsCopied) {
  WeightsEdit edit;
  edit.data.insert(edit.data.begin(), 0xee);
  for (auto& segment : edit.root.segments) segment->offset += 1;
  const FileBytes file = fixture("external_weights.pte");
  const FileBytes data = edit.pack();
  auto program = runtime::Program::create(*copy_bytes(file.data(), file.size()),
                                          {{"w.ptd", *copy_bytes(data.data(), data.size())}}, format::Limits());
  ASSERT_TRUE(program.ok()) << program.status().message();
  for (const format::Tensor* tensor : (*program)->external_tensors()) {
    const auto bytes = (*program)->external_data(*tensor);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes->data) % 4, 0u) << tensor->name;
  }
}

TEST(Weights, NewerVersionIsUnsupported) {
  WeightsEdit edit;
  edit.root.version = 1;
  expect_refused(load_with(edit.pack()), PTERON_UNSUPPORTED, {"format version 1"});
}

}  // namespace
}  // namespace pteron::damaged
