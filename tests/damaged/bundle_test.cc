// Programs with test cases: check C7 and the bundle's own structure.
#include <bundled_program_generated.h>

#include <cstring>

#include "base/file.h"
#include "format/bundle_file.h"
#include "program_edit.h"

namespace pteron::damaged {
namespace {

namespace bpte = format::bpte;

class BundleEdit {
 public:
  BundleEdit() { bpte::GetBundledProgram(fixture("linear.bpte").data())->UnPackTo(&root); }

  FileBytes pack() const {
    flatbuffers::FlatBufferBuilder builder;
    builder.DedupVtables(false);
    builder.Finish(bpte::BundledProgram::Pack(builder, &root), "BP08");
    return FileBytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  }

  bpte::BundledMethodTestCaseT& first_case() { return *root.method_test_suites.at(0)->test_cases.at(0); }
  bpte::TensorT& first_input() { return *first_case().inputs.at(0)->val.AsTensor(); }

  bpte::BundledProgramT root;
};

Outcome read(const FileBytes& file) {
  const auto bundle = format::read_bundle_file(*copy_bytes(file.data(), file.size()));
  return {bundle.status().code(), bundle.status().message()};
}

TEST(Bundle, RealFileLoadsAfterPacking) {
  expect_loads(read(BundleEdit().pack()));
}

TEST(Bundle, AProgramIsNoBundle) {
  expect_invalid(read(fixture("linear.pte")), {"not a program with test cases", "'BP08'", "this is a program"});
}

TEST(Bundle, OtherVersion) {
  FileBytes file = BundleEdit().pack();
  std::memcpy(file.data() + 4, "BP09", 4);
  expect_refused(read(file), PTERON_UNSUPPORTED, {"another format version"});
}

TEST(Bundle, NewerVersionIsUnsupported) {
  BundleEdit edit;
  edit.root.version = 3;
  expect_refused(read(edit.pack()), PTERON_UNSUPPORTED, {"format version 3"});
}

TEST(Bundle, C7_DataShorterThanItsTensor) {
  BundleEdit edit;
  edit.first_input().data.pop_back();
  expect_invalid(read(edit.pack()),
                 {"test suite 0", "case 0", "input 0", "float32 [2, 4] needs 32 bytes", "stores 31"});
}

TEST(Bundle, C7_DataLongerThanItsTensor) {
  BundleEdit edit;
  edit.first_input().data.push_back(0);
  expect_invalid(read(edit.pack()), {"input 0", "stores 33"});
}

TEST(Bundle, C7_DataAbsent) {
  FileBytes file = BundleEdit().pack();
  const auto* one = bpte::GetBundledProgram(file.data())->method_test_suites()->Get(0)->test_cases()->Get(0);
  drop_field(one->inputs()->Get(0)->val_as_Tensor(), bpte::Tensor::VT_DATA);
  expect_invalid(read(file), {"input 0", "stores 0"});
}

TEST(Bundle, SizesOverflow) {
  BundleEdit edit;
  edit.first_input().sizes = {INT32_MAX, INT32_MAX, INT32_MAX};
  edit.first_input().dim_order = {0, 1, 2};
  expect_invalid(read(edit.pack()), {"input 0", "overflows"});
}

TEST(Bundle, ValueOfUnknownKind) {
  FileBytes file = BundleEdit().pack();
  const auto* one = bpte::GetBundledProgram(file.data())->method_test_suites()->Get(0)->test_cases()->Get(0);
  auto* bytes = reinterpret_cast<uint8_t*>(const_cast<bpte::Value*>(one->expected_outputs()->Get(0)));
  const uint8_t* vtable = bytes - flatbuffers::ReadScalar<int32_t>(bytes);
  bytes[flatbuffers::ReadScalar<uint16_t>(vtable + bpte::Value::VT_VAL_TYPE)] = 5;
  expect_invalid(read(file), {"expected output 0", "kind is 5"});
}

TEST(Bundle, ValueWithoutContent) {
  FileBytes file = BundleEdit().pack();
  const auto* one = bpte::GetBundledProgram(file.data())->method_test_suites()->Get(0)->test_cases()->Get(0);
  drop_field(one->inputs()->Get(0), bpte::Value::VT_VAL);
  expect_invalid(read(file), {"input 0", "no content"});
}

TEST(Bundle, ProgramAbsent) {
  FileBytes file = BundleEdit().pack();
  drop_field(bpte::GetBundledProgram(file.data()), bpte::BundledProgram::VT_PROGRAM);
  expect_invalid(read(file), {"program inside is absent"});
}

TEST(Bundle, ProgramInsideIsVerified) {
  BundleEdit edit;
  edit.root.program.resize(edit.root.program.size() / 2);
  expect_invalid(load(edit.pack()), {"truncated"});
}

TEST(Bundle, MethodNameAbsent) {
  FileBytes file = BundleEdit().pack();
  drop_field(bpte::GetBundledProgram(file.data())->method_test_suites()->Get(0),
             bpte::BundledMethodTestSuite::VT_METHOD_NAME);
  expect_invalid(read(file), {"test suite 0", "method's name is absent"});
}

TEST(Bundle, TwoSuitesOfOneMethod) {
  BundleEdit edit;
  edit.root.method_test_suites.push_back(std::make_unique<bpte::BundledMethodTestSuiteT>());
  edit.root.method_test_suites.back()->method_name = "forward";
  expect_invalid(read(edit.pack()), {"test suite 1", "method 'forward' has another one"});
}

TEST(Bundle, ListsOfACaseAbsentAreEmpty) {
  FileBytes file = BundleEdit().pack();
  const auto* one = bpte::GetBundledProgram(file.data())->method_test_suites()->Get(0)->test_cases()->Get(0);
  drop_field(one, bpte::BundledMethodTestCase::VT_INPUTS);
  expect_loads(read(file));
}

TEST(Bundle, MisplacedProgramIsAligned) {
  // Without the schema's alignment the program's place follows from what is written before it.
  bool misplaced = false;
  for (const size_t padding : {0, 4, 8, 12}) {
    const FileBytes program = fixture("linear.pte");
    flatbuffers::FlatBufferBuilder builder;
    const auto bytes = builder.CreateVector(program);
    builder.CreateVector(FileBytes(padding));
    bpte::BundledProgramBuilder root(builder);
    root.add_program(bytes);
    builder.Finish(root.Finish(), "BP08");
    const auto bundle = format::read_bundle_file(*copy_bytes(builder.GetBufferPointer(), builder.GetSize()));
    ASSERT_TRUE(bundle.ok()) << bundle.status().message();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bundle->program.data()) % 16, 0u);
    EXPECT_EQ(FileBytes(bundle->program.data(), bundle->program.data() + bundle->program.size()), program);
    misplaced = misplaced || bundle->program.owner() != bundle->bytes.owner();
  }
  EXPECT_TRUE(misplaced);
}

}  // namespace
}  // namespace pteron::damaged
