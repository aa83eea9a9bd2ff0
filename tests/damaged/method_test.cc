// Methods and their memory: checks P1 to P6 and M1 to M9, case A06's neighbours A01 and A02.
#include "base/file.h"
#include "format/name.h"
#include "format/program_file.h"
#include "program_edit.h"

namespace pteron::damaged {
namespace {

FileBytes without(flatbuffers::voffset_t field) {
  FileBytes file = ProgramEdit("linear.pte").pack();
  drop_field(root_of(&file)->execution_plan()->Get(0), field);
  return file;
}

TEST(Method, P1_ListOfMethodsAbsent) {
  FileBytes file = ProgramEdit("linear.pte").pack();
  drop_field(root_of(&file), pte::Program::VT_EXECUTION_PLAN);
  expect_invalid(load(file), {"'execution_plan'", "absent"});
}

TEST(Method, P1_ValuesAbsent) {
  expect_invalid(load(without(pte::ExecutionPlan::VT_VALUES)), {"method 'forward'", "'values' is absent"});
}

TEST(Method, P1_InputsAbsent) {
  expect_invalid(load(without(pte::ExecutionPlan::VT_INPUTS)), {"method 'forward'", "'inputs' is absent"});
}

TEST(Method, P1_OutputsAbsent) {
  expect_invalid(load(without(pte::ExecutionPlan::VT_OUTPUTS)), {"method 'forward'", "'outputs' is absent"});
}

TEST(Method, P1_ChainsAbsent) {
  expect_invalid(load(without(pte::ExecutionPlan::VT_CHAINS)), {"method 'forward'", "'chains' is absent"});
}

TEST(Method, P1_OperatorsAbsent) {
  expect_invalid(load(without(pte::ExecutionPlan::VT_OPERATORS)), {"method 'forward'", "'operators' is absent"});
}

TEST(Method, P1_DelegatesAbsent) {
  expect_invalid(load(without(pte::ExecutionPlan::VT_DELEGATES)), {"method 'forward'", "'delegates' is absent"});
}

TEST(Method, P1_BufferSizesAbsent) {
  expect_invalid(load(without(pte::ExecutionPlan::VT_NON_CONST_BUFFER_SIZES)),
                 {"method 'forward'", "'non_const_buffer_sizes' is absent"});
}

TEST(Method, P2_InputBeyondTheValues) {
  ProgramEdit edit("linear.pte");
  edit.plan().inputs.at(0) = static_cast<int32_t>(edit.plan().values.size());
  expect_invalid(load(edit.pack()), {"method 'forward'", "input 0 is value 10", "has 10"});
}

TEST(Method, P2_InputNegative) {
  ProgramEdit edit("linear.pte");
  edit.plan().inputs.at(0) = -1;
  expect_invalid(load(edit.pack()), {"input 0 is value -1"});
}

TEST(Method, P2_OutputBeyondTheValues) {
  ProgramEdit edit("linear.pte");
  edit.plan().outputs.at(0) = 0x7fffffff;
  expect_invalid(load(edit.pack()), {"output 0 is value 2147483647"});
}

TEST(Method, P2_OutputNegative) {
  ProgramEdit edit("linear.pte");
  edit.plan().outputs.at(0) = -1;
  expect_invalid(load(edit.pack()), {"output 0 is value -1"});
}

TEST(Method, P3_InputIsAList) {
  ProgramEdit edit("linear.pte");
  edit.plan().inputs.push_back(static_cast<int32_t>(edit.find(pte::KernelTypes::IntList)));
  expect_invalid(load(edit.pack()), {"input 1", "of kind int list", "expected a tensor"});
}

TEST(Method, P3_OutputIsAList) {
  ProgramEdit edit("linear.pte");
  edit.plan().outputs.push_back(static_cast<int32_t>(edit.find(pte::KernelTypes::IntList)));
  expect_invalid(load(edit.pack()), {"output 1", "of kind int list"});
}

TEST(Method, P4_OneOutputTwiceIsAllowed) {
  ProgramEdit edit("linear.pte");
  edit.plan().outputs.push_back(edit.plan().outputs.at(0));
  expect_loads(load(edit.pack()));
}

TEST(Method, P4_InputAsOutputIsAllowed) {
  ProgramEdit edit("linear.pte");
  edit.plan().outputs.push_back(edit.plan().inputs.at(0));
  expect_loads(load(edit.pack()));
}

TEST(Method, P4_OneTensorAsTwoInputsIsRefused) {
  ProgramEdit edit("linear.pte");
  edit.plan().inputs.push_back(edit.plan().inputs.at(0));
  expect_invalid(load(edit.pack()), {"inputs 0 and 1 are the same value"});
}

TEST(Method, InputMustNotBeAConstant) {
  ProgramEdit edit("linear.pte");
  edit.plan().inputs.push_back(static_cast<int32_t>(edit.constant()));
  expect_invalid(load(edit.pack()), {"input 1", "constant"});
}

TEST(Method, P5_AbsentDescriptionsAreEmpty) {
  FileBytes file = without(pte::ExecutionPlan::VT_CONTAINER_META_TYPE);
  const auto read = format::read_program_file(*copy_bytes(file.data(), file.size()), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->methods[0].input_spec, "");
  EXPECT_EQ(read->methods[0].output_spec, "");
}

TEST(Method, P6_StringWithoutText) {
  ProgramEdit edit("linear.pte");
  const size_t index = edit.add_value(pte::StringT());
  FileBytes file = edit.pack();
  const pte::EValue* value = root_of(&file)->execution_plan()->Get(0)->values()->Get(static_cast<uint32_t>(index));
  drop_field(value->val_as_String(), pte::String::VT_VALUE);
  expect_invalid(load(file), {"text of the string is absent"});
}

TEST(Method, M1_MemoryIdZero) {
  ProgramEdit edit("linear.pte");
  edit.tensor(edit.planned()).allocation_info->memory_id = 0;
  expect_invalid(load(edit.pack()), {"value 2", "memory id is 0", "expected 1 to 1"});
}

TEST(Method, M1_MemoryIdBeyondTheBuffers) {
  ProgramEdit edit("linear.pte");
  edit.tensor(edit.planned()).allocation_info->memory_id = 2;
  expect_invalid(load(edit.pack()), {"memory id is 2", "expected 1 to 1"});
}

TEST(Method, M1_NoBuffersAtAll) {
  ProgramEdit edit("linear.pte");
  edit.plan().non_const_buffer_sizes.clear();
  expect_invalid(load(edit.pack()), {"memory id is 1", "expected 1 to 0"});
}

TEST(Method, M2_A02_OffsetAndSizeWrap) {
  ProgramEdit edit("linear.pte");
  auto& allocation = *edit.tensor(edit.planned()).allocation_info;
  allocation.memory_offset_low = 0xfffffff8;
  allocation.memory_offset_high = 0xffffffff;
  expect_invalid(load(edit.pack()), {"at offset 18446744073709551608", "do not fit planned buffer 1"});
}

TEST(Method, M2_HighHalfOfTheOffsetCounts) {
  ProgramEdit edit("linear.pte");
  edit.tensor(edit.planned()).allocation_info->memory_offset_high = 1;
  expect_invalid(load(edit.pack()), {"do not fit planned buffer 1"});
}

TEST(Method, M2_BufferTooSmall) {
  ProgramEdit edit("linear.pte");
  edit.plan().non_const_buffer_sizes.at(1) = 4;
  expect_invalid(load(edit.pack()), {"do not fit planned buffer 1 of 4 bytes"});
}

TEST(Method, M3_OffsetMisaligned) {
  ProgramEdit edit("linear.pte");
  edit.plan().non_const_buffer_sizes.at(1) += 16;
  edit.tensor(edit.planned()).allocation_info->memory_offset_low += 2;
  expect_invalid(load(edit.pack()), {"value 2", "misaligned for float32"});
}

TEST(Method, M4_NegativeBuffer) {
  ProgramEdit edit("linear.pte");
  edit.plan().non_const_buffer_sizes.at(1) = -1;
  expect_invalid(load(edit.pack()), {"planned buffer 1 has -1 bytes"});
}

TEST(Method, M4_AbsurdBuffer) {
  ProgramEdit edit("linear.pte");
  edit.plan().non_const_buffer_sizes.at(1) = INT64_MAX;
  expect_invalid(load(edit.pack()), {"ask for more than 68719476736 bytes", "max_memory"});
}

TEST(Method, M4_SumOfBuffersOverflows) {
  ProgramEdit edit("linear.pte");
  for (int i = 0; i < 3; ++i) edit.plan().non_const_buffer_sizes.push_back(INT64_MAX);
  expect_invalid(load(edit.pack()), {"ask for more than"});
}

TEST(Method, M4_CallersLimit) {
  const FileBytes file = fixture("linear.pte");
  format::Limits limits;
  limits.max_planned_bytes = 16;
  const auto read = format::read_program_file(*copy_bytes(file.data(), file.size()), limits);
  expect_invalid({read.status().code(), read.status().message()}, {"more than 16 bytes"});
}

// Sizes whose byte count times anything would wrap must not slip through the planned buffer's check.
TEST(Method, M7_PlannedTensorOfOverflowingSize) {
  ProgramEdit edit("linear.pte");
  auto& tensor = edit.tensor(edit.planned());
  tensor.sizes = {0x7fffffff, 0x7fffffff, 8};
  tensor.dim_order = {0, 1, 2};
  expect_invalid(load(edit.pack()), {"value 2", "byte count", "overflows"});
}

TEST(Method, M9_InitialStateIndexOutOfRange) {
  ProgramEdit edit("mutable_counter.pte");
  edit.tensor(edit.initialised()).data_buffer_idx = 9;
  expect_invalid(load(edit.pack()), {"initial state", "entry 9", "there are 3"});
}

TEST(Method, M9_InitialStateShorterThanItsTensor) {
  ProgramEdit edit("mutable_counter.pte");
  auto& offsets = edit.root().mutable_data_segments.at(0)->offsets;
  offsets.push_back(offsets.back() + 1);
  expect_invalid(load(edit.pack()), {"initial state 2", "the file stores 1"});
}

TEST(Method, M9_NoInitialStatesInTheProgram) {
  ProgramEdit edit("mutable_counter.pte");
  edit.root().mutable_data_segments.clear();
  expect_invalid(load(edit.pack()), {"initial state 0", "the program has 0"});
}

TEST(Method, M9_InitialStateOffsetBeyondItsSegment) {
  ProgramEdit edit("mutable_counter.pte");
  edit.root().mutable_data_segments.at(0)->offsets.back() = uint64_t{1} << 63;
  expect_invalid(load(edit.pack()), {"initial state 0", "entry 2 starts at offset 9223372036854775808"});
}

TEST(Method, BufferDeviceForAnUnknownBuffer) {
  ProgramEdit edit("linear.pte");
  edit.plan().non_const_buffer_device.push_back(std::make_unique<pte::NonConstBufferDeviceT>());
  edit.plan().non_const_buffer_device.back()->buffer_idx = 2;
  expect_invalid(load(edit.pack()), {"planned buffer 2", "has 1"});
}

TEST(Method, T15_DeviceBufferIsNotHostMemory) {
  ProgramEdit edit("linear.pte");
  edit.plan().non_const_buffer_device.push_back(std::make_unique<pte::NonConstBufferDeviceT>());
  edit.plan().non_const_buffer_device.back()->buffer_idx = 1;
  edit.plan().non_const_buffer_device.back()->device_type = 1;
  expect_invalid(load(edit.pack()), {"tensor of device type 0 in planned buffer 1 of device type 1"});
}

TEST(Method, T15_UnknownDeviceOfABuffer) {
  ProgramEdit edit("linear.pte");
  edit.plan().non_const_buffer_device.push_back(std::make_unique<pte::NonConstBufferDeviceT>());
  edit.plan().non_const_buffer_device.back()->buffer_idx = 1;
  edit.plan().non_const_buffer_device.back()->device_type = 9;
  expect_invalid(load(edit.pack()), {"planned buffer 1", "device type 9 is unknown"});
}

TEST(Method, I4_NameTooLong) {
  ProgramEdit edit("add.pte");
  edit.plan().operators.at(0)->overload.assign(format::kLongestName, 'x');
  expect_invalid(load(edit.pack()), {"operator 0", "name and overload", "at most 1024"});
}

TEST(Method, I4_OperatorNameAbsent) {
  FileBytes file = ProgramEdit("add.pte").pack();
  drop_field(root_of(&file)->execution_plan()->Get(0)->operators()->Get(0), pte::Operator::VT_NAME);
  expect_invalid(load(file), {"operator 0", "name is absent"});
}

TEST(Method, I5_AbsentOverloadIsNone) {
  FileBytes file = ProgramEdit("add.pte").pack();
  drop_field(root_of(&file)->execution_plan()->Get(0)->operators()->Get(0), pte::Operator::VT_OVERLOAD);
  const auto read = format::read_program_file(*copy_bytes(file.data(), file.size()), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->methods[0].operators[0], "aten::add");
}

}  // namespace
}  // namespace pteron::damaged
