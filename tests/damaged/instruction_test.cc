// Chains and instructions: checks I1 to I10 as far as a file alone can break them, case A18.
#include "program_edit.h"

namespace pteron::damaged {
namespace {

TEST(Instruction, I1_NoChains) {
  ProgramEdit edit("linear.pte");
  edit.plan().chains.clear();
  expect_invalid(load(edit.pack()), {"method 'forward'", "no chain of instructions"});
}

TEST(Instruction, I1_InstructionsAbsent) {
  FileBytes file = ProgramEdit("linear.pte").pack();
  drop_field(root_of(&file)->execution_plan()->Get(0)->chains()->Get(0), pte::Chain::VT_INSTRUCTIONS);
  expect_invalid(load(file), {"chain 0", "instructions are absent"});
}

const pte::Instruction* first_instruction(FileBytes* file) {
  return root_of(file)->execution_plan()->Get(0)->chains()->Get(0)->instructions()->Get(0);
}

TEST(Instruction, I1_ArgumentsOfTheInstructionAbsent) {
  FileBytes file = ProgramEdit("add.pte").pack();
  drop_field(first_instruction(&file), pte::Instruction::VT_INSTR_ARGS);
  expect_invalid(load(file), {"chain 0", "instruction 0", "arguments are absent"});
}

TEST(Instruction, I1_KindAbsent) {
  FileBytes file = ProgramEdit("add.pte").pack();
  drop_field(first_instruction(&file), pte::Instruction::VT_INSTR_ARGS_TYPE);
  expect_invalid(load(file), {"chain 0", "instruction 0", "kind is 0"});
}

TEST(Instruction, I1_UnknownKind) {
  FileBytes file = ProgramEdit("add.pte").pack();
  auto* bytes = reinterpret_cast<uint8_t*>(const_cast<pte::Instruction*>(first_instruction(&file)));
  const uint8_t* vtable = bytes - flatbuffers::ReadScalar<int32_t>(bytes);
  bytes[flatbuffers::ReadScalar<uint16_t>(vtable + pte::Instruction::VT_INSTR_ARGS_TYPE)] = 6;
  expect_invalid(load(file), {"chain 0", "instruction 0", "kind is 6", "expected 1 (kernel) to 5 (free)"});
}

TEST(Instruction, I2_ArgumentNegative) {
  ProgramEdit edit("add.pte");
  edit.instruction(0).AsKernelCall()->args.at(1) = -1;
  expect_invalid(load(edit.pack()), {"chain 0", "instruction 0", "aten::add.out", "argument 1 is value -1"});
}

TEST(Instruction, I2_ArgumentBeyondTheValues) {
  ProgramEdit edit("add.pte");
  edit.instruction(0).AsKernelCall()->args.at(0) = 4;
  expect_invalid(load(edit.pack()), {"instruction 0", "argument 0 is value 4", "has 4"});
}

TEST(Instruction, I2_ArgumentsAbsent) {
  FileBytes file = ProgramEdit("add.pte").pack();
  drop_field(first_instruction(&file)->instr_args_as_KernelCall(), pte::KernelCall::VT_ARGS);
  expect_invalid(load(file), {"instruction 0", "argument list is absent"});
}

TEST(Instruction, I2_DelegateArgumentBeyondTheValues) {
  ProgramEdit edit("null_copy.pte");
  const size_t call = edit.find(pte::InstructionArguments::DelegateCall);
  edit.instruction(call).AsDelegateCall()->args.at(0) = 1000;
  expect_invalid(load(edit.pack()), {"call of delegate 0", "argument 0 is value 1000"});
}

TEST(Instruction, I3_OperatorNegative) {
  ProgramEdit edit("add.pte");
  edit.instruction(0).AsKernelCall()->op_index = -1;
  expect_invalid(load(edit.pack()), {"instruction 0", "operator -1", "has 1"});
}

TEST(Instruction, I3_OperatorOutOfRange) {
  ProgramEdit edit("add.pte");
  edit.instruction(0).AsKernelCall()->op_index = 1;
  expect_invalid(load(edit.pack()), {"instruction 0", "operator 1", "has 1"});
}

TEST(Instruction, I7_DelegateOutOfRange) {
  ProgramEdit edit("null_copy.pte");
  const size_t call = edit.find(pte::InstructionArguments::DelegateCall);
  edit.instruction(call).AsDelegateCall()->delegate_index = 1;
  expect_invalid(load(edit.pack()), {"delegate 1", "has 1"});
}

TEST(Instruction, I7_DelegateNegative) {
  ProgramEdit edit("null_copy.pte");
  const size_t call = edit.find(pte::InstructionArguments::DelegateCall);
  edit.instruction(call).AsDelegateCall()->delegate_index = -1;
  expect_invalid(load(edit.pack()), {"delegate -1"});
}

// cond.pte with its first jump changed.
template <typename Change>
Outcome load_jump(const Change& change) {
  ProgramEdit edit("cond.pte");
  change(edit, *edit.instruction(edit.find(pte::InstructionArguments::JumpFalseCall)).AsJumpFalseCall());
  return load(edit.pack());
}

TEST(Instruction, I8_ConditionBeyondTheValues) {
  expect_invalid(load_jump([](ProgramEdit&, pte::JumpFalseCallT& jump) { jump.cond_value_index = 1000; }),
                 {"chain 0", "instruction 2", "condition of the jump is value 1000"});
}

TEST(Instruction, I8_ConditionNegative) {
  expect_invalid(load_jump([](ProgramEdit&, pte::JumpFalseCallT& jump) { jump.cond_value_index = -1; }),
                 {"condition of the jump is value -1"});
}

TEST(Instruction, I8_ConditionIsAnInt) {
  expect_invalid(load_jump([](ProgramEdit& edit, pte::JumpFalseCallT& jump) {
                   jump.cond_value_index = static_cast<int32_t>(edit.find(pte::KernelTypes::Int));
                 }),
                 {"condition of the jump", "(int)", "expected a bool"});
}

TEST(Instruction, I8_ConditionIsAFloatTensor) {
  expect_invalid(load_jump([](ProgramEdit&, pte::JumpFalseCallT& jump) { jump.cond_value_index = 0; }),
                 {"value 0 (float32 [3])", "bool tensor of one element"});
}

TEST(Instruction, I8_ConditionIsABoolTensorOfTwo) {
  expect_invalid(load_jump([](ProgramEdit& edit, pte::JumpFalseCallT& jump) {
                   pte::TensorT& condition = edit.tensor(static_cast<size_t>(jump.cond_value_index));
                   condition.sizes = {2};
                   condition.dim_order = {0};
                 }),
                 {"(bool [2])", "one element"});
}

TEST(Instruction, I8_TargetBeyondTheEnd) {
  expect_invalid(load_jump([](ProgramEdit&, pte::JumpFalseCallT& jump) { jump.destination_instruction = 12; }),
                 {"jumps to instruction 12", "expected 0 to 11"});
}

TEST(Instruction, I8_TargetNegative) {
  expect_invalid(load_jump([](ProgramEdit&, pte::JumpFalseCallT& jump) { jump.destination_instruction = -1; }),
                 {"jumps to instruction -1"});
}

TEST(Instruction, I8_TargetAtTheEndIsAllowed) {
  expect_loads(load_jump([](ProgramEdit&, pte::JumpFalseCallT& jump) { jump.destination_instruction = 11; }));
}

// cond.pte with its first move changed.
template <typename Change>
Outcome load_move(const Change& change) {
  ProgramEdit edit("cond.pte");
  change(edit, *edit.instruction(edit.find(pte::InstructionArguments::MoveCall)).AsMoveCall());
  return load(edit.pack());
}

TEST(Instruction, I10_A18_MoveFromBeyondTheValues) {
  expect_invalid(load_move([](ProgramEdit& edit, pte::MoveCallT& move) {
                   move.move_from = static_cast<int32_t>(edit.plan().values.size());
                 }),
                 {"chain 0", "instruction 7", "source of the move is value 21", "has 21"});
}

TEST(Instruction, I10_A18_MoveToNegative) {
  expect_invalid(load_move([](ProgramEdit&, pte::MoveCallT& move) { move.move_to = -1; }),
                 {"destination of the move is value -1"});
}

TEST(Instruction, I10_MoveBetweenKinds) {
  expect_invalid(load_move([](ProgramEdit& edit, pte::MoveCallT& move) {
                   move.move_from = static_cast<int32_t>(edit.find(pte::KernelTypes::Int));
                 }),
                 {"of kind int", "of kind tensor", "expected equal kinds"});
}

TEST(Instruction, I10_MoveBetweenShapes) {
  expect_invalid(load_move([](ProgramEdit& edit, pte::MoveCallT& move) {
                   pte::TensorT& source = edit.tensor(static_cast<size_t>(move.move_from));
                   source.sizes = {1};
                 }),
                 {"float32 [1]", "float32 [3]", "expected equal types and shapes"});
}

TEST(Instruction, I10_MoveBetweenDtypes) {
  expect_invalid(load_move([](ProgramEdit& edit, pte::MoveCallT& move) {
                   edit.tensor(static_cast<size_t>(move.move_from)).scalar_type = 3;
                 }),
                 {"int32 [3]", "float32 [3]"});
}

Outcome load_free(const char* fixture_name, int32_t index) {
  ProgramEdit edit(fixture_name);
  pte::FreeCallT free;
  free.value_index = index;
  edit.add_instruction(free);
  return load(edit.pack());
}

TEST(Instruction, I10_A18_FreeBeyondTheValues) {
  expect_invalid(load_free("add.pte", 4), {"chain 0", "instruction 1", "value to free is value 4", "has 4"});
}

TEST(Instruction, I10_A18_FreeNegative) {
  expect_invalid(load_free("add.pte", -1), {"value to free is value -1"});
}

TEST(Instruction, I10_FreeOfAnInt) {
  expect_invalid(load_free("add.pte", 3), {"frees value 3 of kind int"});
}

TEST(Instruction, I10_FreeOfATensorIsAllowed) {
  expect_loads(load_free("add.pte", 0));
}

TEST(Instruction, ChainInputBeyondTheValues) {
  ProgramEdit edit("add.pte");
  edit.chain().inputs = {4};
  expect_invalid(load(edit.pack()), {"chain 0", "input 0 is value 4"});
}

TEST(Instruction, StackTraceOfAnotherLengthIsIgnored) {
  ProgramEdit edit("stack_trace.pte");
  edit.chain().stacktrace.pop_back();
  expect_loads(load(edit.pack()));
}

TEST(Instruction, StackTraceWithAbsentTexts) {
  FileBytes file = ProgramEdit("stack_trace.pte").pack();
  const pte::FrameList* frames = root_of(&file)->execution_plan()->Get(0)->chains()->Get(0)->stacktrace()->Get(0);
  for (const auto field : {pte::Frame::VT_FILENAME, pte::Frame::VT_NAME, pte::Frame::VT_CONTEXT}) {
    drop_field(frames->items()->Get(frames->items()->size() - 1), field);
  }
  expect_loads(load(file));
}

}  // namespace
}  // namespace pteron::damaged
