// The flatbuffer itself: checks V1 to V8, cases A07 and A09.
#include "program_edit.h"

namespace pteron::damaged {
namespace {

FileBytes headerless() {
  HeaderEdit header;
  header.write = false;
  return ProgramEdit("add.pte").pack(header);
}

TEST(Structure, V1_RootInsideTheHeader) {
  FileBytes file = ProgramEdit("linear.pte").pack();
  store<uint32_t>(&file, 0, 12);
  expect_invalid(load(file), {"root table", "byte 12", "expected 40"});
}

TEST(Structure, V1_RootBeyondTheEnd) {
  FileBytes file = headerless();
  store<uint32_t>(&file, 0, 0xfffffff0);
  expect_invalid(load(file), {"root table", "4294967280"});
}

TEST(Structure, V1_RootInsideTheLastBytes) {
  FileBytes file = headerless();
  store<uint32_t>(&file, 0, static_cast<uint32_t>(file.size() - 2));
  expect_invalid(load(file), {"root table"});
}

// Sets the offset that a field holds.
template <typename Table>
void set_offset(const Table* table, flatbuffers::voffset_t field, uint32_t offset) {
  auto* bytes = reinterpret_cast<uint8_t*>(const_cast<Table*>(table));
  const uint8_t* vtable = bytes - flatbuffers::ReadScalar<flatbuffers::soffset_t>(bytes);
  const auto at = flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable + field);
  ASSERT_NE(at, 0);
  flatbuffers::WriteScalar<uint32_t>(bytes + at, offset);
}

TEST(Structure, V2_A07_OffsetOfTheMethods) {
  FileBytes file = headerless();
  set_offset(root_of(&file), pte::Program::VT_EXECUTION_PLAN, 0xffffffff);
  expect_invalid(load(file), {"damaged", "lies outside"});
}

TEST(Structure, V2_TableOffsetInAVector) {
  FileBytes file = headerless();
  const auto* values = root_of(&file)->execution_plan()->Get(0)->values();
  flatbuffers::WriteScalar<uint32_t>(const_cast<uint8_t*>(values->Data()), 0x7ffffff0);
  expect_invalid(load(file), {"damaged"});
}

TEST(Structure, V2_VtableOutside) {
  FileBytes file = headerless();
  auto* root = reinterpret_cast<uint8_t*>(root_of(&file));
  flatbuffers::WriteScalar<int32_t>(root, -0x7fffffff);
  expect_invalid(load(file), {"damaged"});
}

TEST(Structure, V2_VtableSizeOutside) {
  FileBytes file = headerless();
  auto* root = reinterpret_cast<uint8_t*>(root_of(&file));
  uint8_t* vtable = root - flatbuffers::ReadScalar<int32_t>(root);
  flatbuffers::WriteScalar<uint16_t>(vtable, 0xfffe);
  expect_invalid(load(file), {"damaged"});
}

TEST(Structure, V2_FieldOffsetOutside) {
  FileBytes file = headerless();
  auto* root = reinterpret_cast<uint8_t*>(root_of(&file));
  uint8_t* vtable = root - flatbuffers::ReadScalar<int32_t>(root);
  flatbuffers::WriteScalar<uint16_t>(vtable + pte::Program::VT_EXECUTION_PLAN, 0xfff8);
  expect_invalid(load(file), {"damaged"});
}

using VectorOf = const void* (*)(const pte::Program* root);

struct VectorCase {
  const char* name;
  const char* fixture;
  VectorOf vector;
};

const pte::ExecutionPlan* first_plan(const pte::Program* root) {
  return root->execution_plan()->Get(0);
}

template <typename Content>
const Content* first_value(const pte::Program* root, const Content* (pte::EValue::*as)() const) {
  for (const pte::EValue* value : *first_plan(root)->values()) {
    if ((value->*as)() != nullptr) return (value->*as)();
  }
  return nullptr;
}

const pte::Tensor* first_tensor(const pte::Program* root) {
  return first_value<pte::Tensor>(root, &pte::EValue::val_as_Tensor);
}

const VectorCase kVectors[] = {
    {"execution_plan", "linear.pte", [](const pte::Program* r) -> const void* { return r->execution_plan(); }},
    {"values", "linear.pte", [](const pte::Program* r) -> const void* { return first_plan(r)->values(); }},
    {"inputs", "linear.pte", [](const pte::Program* r) -> const void* { return first_plan(r)->inputs(); }},
    {"outputs", "linear.pte", [](const pte::Program* r) -> const void* { return first_plan(r)->outputs(); }},
    {"chains", "linear.pte", [](const pte::Program* r) -> const void* { return first_plan(r)->chains(); }},
    {"instructions", "linear.pte",
     [](const pte::Program* r) -> const void* { return first_plan(r)->chains()->Get(0)->instructions(); }},
    {"args", "linear.pte",
     [](const pte::Program* r) -> const void* {
       return first_plan(r)->chains()->Get(0)->instructions()->Get(0)->instr_args_as_KernelCall()->args();
     }},
    {"operators", "linear.pte", [](const pte::Program* r) -> const void* { return first_plan(r)->operators(); }},
    {"operator_name", "linear.pte",
     [](const pte::Program* r) -> const void* { return first_plan(r)->operators()->Get(0)->name(); }},
    {"delegates", "null_fail_init.pte",
     [](const pte::Program* r) -> const void* { return first_plan(r)->delegates(); }},
    {"compile_specs", "null_fail_init.pte",
     [](const pte::Program* r) -> const void* { return first_plan(r)->delegates()->Get(0)->compile_specs(); }},
    {"spec_value", "null_fail_init.pte",
     [](const pte::Program* r) -> const void* {
       return first_plan(r)->delegates()->Get(0)->compile_specs()->Get(0)->value();
     }},
    {"delegate_data", "null_copy.pte",
     [](const pte::Program* r) -> const void* { return r->backend_delegate_data()->Get(0)->data(); }},
    {"sizes", "linear.pte", [](const pte::Program* r) -> const void* { return first_tensor(r)->sizes(); }},
    {"dim_order", "linear.pte", [](const pte::Program* r) -> const void* { return first_tensor(r)->dim_order(); }},
    {"items", "linear.pte",
     [](const pte::Program* r) -> const void* {
       return first_value<pte::IntList>(r, &pte::EValue::val_as_IntList)->items();
     }},
    {"buffer_sizes", "linear.pte",
     [](const pte::Program* r) -> const void* { return first_plan(r)->non_const_buffer_sizes(); }},
    {"segments", "linear.pte", [](const pte::Program* r) -> const void* { return r->segments(); }},
    {"offsets", "linear.pte", [](const pte::Program* r) -> const void* { return r->constant_segment()->offsets(); }},
    {"named_data", "xnnpack_linear.pte", [](const pte::Program* r) -> const void* { return r->named_data(); }},
};

class VectorLength : public testing::TestWithParam<VectorCase> {};

TEST_P(VectorLength, V3_BeyondTheFile) {
  FileBytes file = ProgramEdit(GetParam().fixture).pack();
  const void* vector = GetParam().vector(root_of(&file));
  ASSERT_NE(vector, nullptr);
  const size_t at = static_cast<size_t>(static_cast<const uint8_t*>(vector) - file.data());
  for (const uint32_t length : {0x20000000u, 0x40000000u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    store<uint32_t>(&file, at, length);
    expect_invalid(load(file), {"damaged"});
  }
}

INSTANTIATE_TEST_SUITE_P(Structure, VectorLength, testing::ValuesIn(kVectors),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Structure, V4_NameWithoutTerminator) {
  FileBytes file = headerless();
  const flatbuffers::String* name = root_of(&file)->execution_plan()->Get(0)->name();
  const_cast<char*>(name->c_str())[name->size()] = 'x';
  expect_invalid(load(file), {"damaged", "not terminated"});
}

TEST(Structure, V4_ZeroInAMethodName) {
  ProgramEdit edit("add.pte");
  edit.plan().name = std::string("for\0ward", 8);
  expect_invalid(load(edit.pack()), {"method 0", "name has a zero byte", "for?ward"});
}

TEST(Structure, V4_ZeroInAnOperatorName) {
  ProgramEdit edit("add.pte");
  edit.plan().operators.at(0)->name = std::string("aten::add\0", 10);
  expect_invalid(load(edit.pack()), {"operator 0", "zero byte"});
}

TEST(Structure, V4_ZeroInADelegateId) {
  ProgramEdit edit("null_copy.pte");
  edit.plan().delegates.at(0)->id = std::string("Pteron\0Null", 11);
  expect_invalid(load(edit.pack()), {"delegate 0", "zero byte"});
}

TEST(Structure, V4_ZeroInACompileSpecKey) {
  ProgramEdit edit("null_fail_init.pte");
  edit.plan().delegates.at(0)->compile_specs.at(0)->key = std::string("a\0b", 3);
  expect_invalid(load(edit.pack()), {"compile spec 0", "zero byte"});
}

TEST(Structure, V4_ZeroInANamedDataKey) {
  ProgramEdit edit("xnnpack_linear.pte");
  edit.root().named_data.at(0)->key = std::string("a\0b", 3);
  expect_invalid(load(edit.pack()), {"named data 0", "zero byte"});
}

TEST(Structure, V5_UnionTagUnknown) {
  FileBytes file = headerless();
  auto* value = const_cast<pte::EValue*>(root_of(&file)->execution_plan()->Get(0)->values()->Get(1));
  auto* bytes = reinterpret_cast<uint8_t*>(value);
  const uint8_t* vtable = bytes - flatbuffers::ReadScalar<int32_t>(bytes);
  bytes[flatbuffers::ReadScalar<uint16_t>(vtable + pte::EValue::VT_VAL_TYPE)] = 12;
  expect_invalid(load(file), {"value 1", "kind is 12", "expected 1 to 11"});
}

TEST(Structure, V5_UnionTagWithoutContent) {
  FileBytes file = headerless();
  drop_field(root_of(&file)->execution_plan()->Get(0)->values()->Get(0), pte::EValue::VT_VAL);
  expect_invalid(load(file), {"value 0", "no content"});
}

TEST(Structure, V5_ContentWithoutUnionTag) {
  FileBytes file = headerless();
  drop_field(root_of(&file)->execution_plan()->Get(0)->values()->Get(0), pte::EValue::VT_VAL_TYPE);
  expect_invalid(load(file), {"value 0", "kind is 0"});
}

// 64 Ki references to one method of 64 Ki references to one value: far more tables than the file has room for.
TEST(Structure, V6_SharedTablesDoNotUnfold) {
  flatbuffers::FlatBufferBuilder builder;
  const auto null = pte::CreateNull(builder);
  const auto value = pte::CreateEValue(builder, pte::KernelTypes::Null, null.Union());
  constexpr size_t kMany = 1 << 16;
  const auto values = builder.CreateVector(std::vector<flatbuffers::Offset<pte::EValue>>(kMany, value));
  pte::ExecutionPlanBuilder plan_builder(builder);
  plan_builder.add_values(values);
  const auto plan = plan_builder.Finish();
  const auto plans = builder.CreateVector(std::vector<flatbuffers::Offset<pte::ExecutionPlan>>(kMany, plan));
  pte::ProgramBuilder program_builder(builder);
  program_builder.add_execution_plan(plans);
  builder.Finish(program_builder.Finish(), "ET12");
  expect_invalid(load(FileBytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize())), {});
}

// Each instruction is a small table, but all share one long list of arguments.
TEST(Structure, V6_SharedVectorsDoNotUnfold) {
  flatbuffers::FlatBufferBuilder builder;
  const auto args = builder.CreateVector(std::vector<int32_t>(1 << 16));
  std::vector<flatbuffers::Offset<pte::Instruction>> instructions;
  for (int i = 0; i < 1 << 12; ++i) {
    const auto kernel = pte::CreateKernelCall(builder, 0, args);
    instructions.push_back(pte::CreateInstruction(builder, pte::InstructionArguments::KernelCall, kernel.Union()));
  }
  const auto list = builder.CreateVector(instructions);
  pte::ChainBuilder chain_builder(builder);
  chain_builder.add_instructions(list);
  const auto chain = chain_builder.Finish();
  const auto chains = builder.CreateVector(&chain, 1);
  const auto null = pte::CreateNull(builder);
  const auto value = pte::CreateEValue(builder, pte::KernelTypes::Null, null.Union());
  const auto values = builder.CreateVector(&value, 1);
  const auto op = pte::CreateOperatorDirect(builder, "aten::add", "out");
  const auto operators = builder.CreateVector(&op, 1);
  const auto none = builder.CreateVector(std::vector<int32_t>());
  const auto delegates = builder.CreateVector(std::vector<flatbuffers::Offset<pte::BackendDelegate>>());
  const auto sizes = builder.CreateVector(std::vector<int64_t>{0});
  const auto name = builder.CreateString("forward");
  const auto plan = pte::CreateExecutionPlan(builder, name, 0, values, none, none, chains, operators, delegates, sizes);
  const auto plans = builder.CreateVector(&plan, 1);
  pte::ProgramBuilder program_builder(builder);
  program_builder.add_execution_plan(plans);
  builder.Finish(program_builder.Finish(), "ET12");
  expect_invalid(load(FileBytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize())),
                 {"unfolds into more data than it holds"});
}

TEST(Structure, V8_NoMethods) {
  ProgramEdit edit("add.pte");
  edit.root().execution_plan.clear();
  expect_invalid(load(edit.pack()), {"no methods"});
}

TEST(Structure, V8_TwoMethodsOfOneName) {
  ProgramEdit edit("two_methods.pte");
  edit.plan(1).name = edit.plan(0).name;
  expect_invalid(load(edit.pack()), {"method 1", "another one of the name 'forward'"});
}

TEST(Structure, V8_MethodWithoutName) {
  FileBytes file = ProgramEdit("add.pte").pack();
  drop_field(root_of(&file)->execution_plan()->Get(0), pte::ExecutionPlan::VT_NAME);
  expect_invalid(load(file), {"method 0", "name is absent"});
}

TEST(Structure, V8_MethodWithEmptyName) {
  ProgramEdit edit("add.pte");
  edit.plan().name.clear();
  expect_invalid(load(edit.pack()), {"method 0", "name is empty"});
}

TEST(Structure, NewerProgramVersionIsUnsupported) {
  ProgramEdit edit("add.pte");
  edit.root().version = 1;
  expect_refused(load(edit.pack()), PTERON_UNSUPPORTED, {"format version 1", "expected 0"});
}

}  // namespace
}  // namespace pteron::damaged
