// Programs that no exporter writes: loops made here, and calls that only planning can refuse.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../damaged/program_edit.h"
#include "pteron/c/method.h"
#include "pteron/result.h"

namespace pteron::damaged {
namespace {

// A program without tensors whose values and instructions are written one by one.
class LoopProgram {
 public:
  LoopProgram() : edit_("add.pte") {
    edit_.plan().values.clear();
    edit_.plan().inputs.clear();
    edit_.plan().outputs.clear();
    edit_.plan().operators.clear();
    edit_.chain().instructions.clear();
  }

  int32_t integer(int64_t number) {
    pte::IntT content;
    content.value = number;
    return static_cast<int32_t>(edit_.add_value(content));
  }
  int32_t boolean(bool truth) {
    pte::BoolT content;
    content.value = truth;
    return static_cast<int32_t>(edit_.add_value(content));
  }
  int32_t open_input() {
    const auto index = static_cast<int32_t>(edit_.add_value(pte::NullT()));
    edit_.plan().inputs.push_back(index);
    return index;
  }
  void output(int32_t value) { edit_.plan().outputs.push_back(value); }

  void call(const std::string& name, const std::string& overload, std::vector<int32_t> args) {
    auto made = std::make_unique<pte::OperatorT>();
    made->name = name;
    made->overload = overload;
    edit_.plan().operators.push_back(std::move(made));
    pte::KernelCallT content;
    content.op_index = static_cast<int32_t>(edit_.plan().operators.size()) - 1;
    content.args = std::move(args);
    edit_.add_instruction(content);
  }
  void jump_if_false(int32_t condition, int32_t destination) {
    pte::JumpFalseCallT content;
    content.cond_value_index = condition;
    content.destination_instruction = destination;
    edit_.add_instruction(content);
  }
  FileBytes pack() const { return edit_.pack(); }

 private:
  ProgramEdit edit_;
};

// A method made of a file's bytes; `status` says why there is none.
class Running {
 public:
  explicit Running(const FileBytes& bytes) {
    pteron_program* program = nullptr;
    status = Status::adopt(pteron_program_load_bytes(bytes.data(), bytes.size(), nullptr, nullptr, nullptr, &program));
    if (!status.ok()) return;
    pteron_plan* plan = nullptr;
    status = Status::adopt(pteron_plan_create(program, "forward", nullptr, &plan));
    pteron_program_release(program);
    if (!status.ok()) return;
    status = Status::adopt(pteron_method_create(plan, nullptr, &method_));
    pteron_plan_release(plan);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (method_ != nullptr) pteron_method_destroy(method_);
  }

  void set(size_t index, int64_t number) {
    pteron_value value{};
    value.kind = PTERON_KIND_INT;
    value.as.as_int = number;
    status = Status::adopt(pteron_method_set_input(method_, index, &value));
  }
  void run(uint64_t budget = 0) {
    pteron_run_options options{};
    options.struct_size = sizeof options;
    options.instruction_budget = budget;
    status = Status::adopt(pteron_method_run(method_, &options));
  }
  const pteron_value& output(size_t index = 0) const { return *pteron_method_output(method_, index); }

  Status status;

 private:
  pteron_method* method_ = nullptr;
};

void expect_words(const Status& status, pteron_code code, std::initializer_list<const char*> words) {
  EXPECT_EQ(status.code(), code) << status.message();
  for (const char* word : words) {
    EXPECT_NE(std::string(status.message()).find(word), std::string::npos) << status.message();
  }
}

// sum = 0; i = 0; do { i = i + 1; sum = sum + i; } while (not i >= n); the loop is a backward jump.
FileBytes sum_to_n() {
  LoopProgram program;
  const int32_t n = program.open_input();
  const int32_t sum = program.integer(0);
  const int32_t i = program.integer(0);
  const int32_t one = program.integer(1);
  const int32_t done = program.boolean(false);
  program.call("executorch_prim::add", "Scalar", {i, one, i});
  program.call("executorch_prim::add", "Scalar", {sum, i, sum});
  program.call("executorch_prim::ge", "Scalar", {i, n, done});
  program.jump_if_false(done, 0);
  program.output(sum);
  return program.pack();
}

TEST(Loop, CountsWithABackwardJump) {
  Running running(sum_to_n());
  ASSERT_TRUE(running.status.ok()) << running.status.message();
  running.set(0, 10);
  running.run();
  ASSERT_TRUE(running.status.ok()) << running.status.message();
  EXPECT_EQ(running.output().as.as_int, 55);
}

TEST(Loop, StartsEachRunWithWhatTheFileSays) {
  Running running(sum_to_n());
  running.set(0, 10);
  running.run();
  running.run();
  ASSERT_TRUE(running.status.ok()) << running.status.message();
  EXPECT_EQ(running.output().as.as_int, 55);
}

TEST(Loop, NestedLoopsMultiply) {
  LoopProgram program;
  const int32_t n = program.open_input();
  const int32_t zero = program.integer(0);
  const int32_t one = program.integer(1);
  const int32_t outer = program.integer(0);
  const int32_t inner = program.integer(0);
  const int32_t rounds = program.integer(0);
  const int32_t done = program.boolean(false);
  program.call("executorch_prim::mul", "Scalar", {inner, zero, inner});
  program.call("executorch_prim::add", "Scalar", {inner, one, inner});
  program.call("executorch_prim::add", "Scalar", {rounds, one, rounds});
  program.call("executorch_prim::ge", "Scalar", {inner, n, done});
  program.jump_if_false(done, 1);
  program.call("executorch_prim::add", "Scalar", {outer, one, outer});
  program.call("executorch_prim::ge", "Scalar", {outer, n, done});
  program.jump_if_false(done, 0);
  program.output(rounds);
  Running running(program.pack());
  ASSERT_TRUE(running.status.ok()) << running.status.message();
  running.set(0, 7);
  running.run();
  ASSERT_TRUE(running.status.ok()) << running.status.message();
  EXPECT_EQ(running.output().as.as_int, 49);
}

// A jump to itself whose condition is always false: the smallest endless loop.
TEST(Loop, AnEndlessLoopEndsWithTheBudget) {
  LoopProgram program;
  const int32_t never = program.boolean(false);
  program.jump_if_false(never, 0);
  program.output(never);
  Running running(program.pack());
  ASSERT_TRUE(running.status.ok()) << running.status.message();
  running.run(1000);
  expect_words(running.status, PTERON_BUDGET_EXHAUSTED, {"instruction 0:0", "budget"});
}

TEST(Loop, AJumpToTheEndEndsTheMethod) {
  LoopProgram program;
  const int32_t never = program.boolean(false);
  const int32_t a = program.integer(1);
  program.jump_if_false(never, 2);
  program.call("executorch_prim::add", "Scalar", {a, a, a});
  program.output(a);
  Running running(program.pack());
  ASSERT_TRUE(running.status.ok()) << running.status.message();
  running.run();
  EXPECT_EQ(running.output().as.as_int, 1);
}

TEST(Loop, OverflowOfAnIntIsAnErrorThatNamesThePlace) {
  LoopProgram program;
  const int32_t a = program.integer(INT64_MAX);
  const int32_t one = program.integer(1);
  const int32_t sum = program.integer(0);
  program.call("executorch_prim::add", "Scalar", {a, one, sum});
  program.output(sum);
  Running running(program.pack());
  ASSERT_TRUE(running.status.ok()) << running.status.message();
  running.run();
  EXPECT_FALSE(running.status.ok());
  EXPECT_NE(std::string(running.status.message()).find("instruction 0:0"), std::string::npos);
}

// ---- Calls that only planning can refuse
// ------------------------------------------------------------------------------

TEST(Call, TooFewArgumentsAreRefusedWithTheCount) {
  LoopProgram program;
  const int32_t a = program.integer(1);
  program.call("executorch_prim::add", "Scalar", {a});
  program.output(a);
  Running running(program.pack());
  expect_words(running.status, PTERON_INVALID_FILE, {"executorch_prim::add.Scalar", "instruction 0:0"});
}

TEST(Call, AnArgumentOfAnotherKindIsRefused) {
  ProgramEdit edit("add.pte");
  edit.instruction(0).AsKernelCall()->args.at(0) = 3;  // the int alpha in the place of a tensor
  Running running(edit.pack());
  EXPECT_FALSE(running.status.ok());
}

TEST(Call, AnUnknownOperatorIsNamedWithItsOverload) {
  LoopProgram program;
  const int32_t a = program.integer(1);
  program.call("nobody::knows", "this", {a, a});
  program.call("nobody::knows", "that", {a, a});
  program.output(a);
  Running running(program.pack());
  expect_words(running.status, PTERON_MISSING_OPERATOR, {"2 operators", "nobody::knows.this", "nobody::knows.that"});
}

TEST(Call, AJumpOnAnIntIsRefused) {
  LoopProgram program;
  const int32_t a = program.integer(0);
  program.jump_if_false(a, 0);
  program.output(a);
  Running running(program.pack());
  if (running.status.ok()) running.run(10);
  expect_words(running.status, PTERON_INVALID_FILE, {"condition"});
}

}  // namespace
}  // namespace pteron::damaged
