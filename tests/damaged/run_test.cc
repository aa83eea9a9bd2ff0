// Damage that only shows when a program is planned or run. Kernels come by discovery from beside libpteron.so.
#include <cstring>
#include <memory>

#include "number_finder.h"
#include "program_edit.h"
#include "pteron/c/method.h"

namespace pteron::damaged {
namespace {

// Loads, plans and runs the first method on zeros. Every failure must be one a damaged file may cause.
class Attempt {
 public:
  explicit Attempt(const FileBytes& file) { outcome_ = run(file); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    pteron_method_destroy(method_);
    pteron_plan_release(plan_);
    pteron_program_release(program_);
  }

  const Outcome& outcome() const { return outcome_; }

 private:
  static constexpr uint64_t kMostMemory = 1 << 22;

  static Outcome finish(pteron_status* status) {
    Outcome outcome{pteron_status_code(status), pteron_status_message(status)};
    pteron_status_free(status);
    return outcome;
  }

  Outcome run(const FileBytes& file) {
    pteron_load_options load{};
    load.struct_size = sizeof(load);
    load.max_memory = kMostMemory;
    Outcome outcome = finish(pteron_program_load_bytes(file.data(), file.size(), nullptr, nullptr, &load, &program_));
    if (outcome.code != PTERON_OK) return outcome;
    const pteron_method_info* info = pteron_program_method(program_, 0);
    outcome = finish(pteron_plan_create(program_, info->name, nullptr, &plan_));
    // A plan of the runtime's own may need more than the file says; this test has no use for much.
    if (outcome.code != PTERON_OK || pteron_plan_arena_bytes(plan_) > kMostMemory) return outcome;
    outcome = finish(pteron_method_create(plan_, nullptr, &method_));
    for (size_t i = 0; outcome.code == PTERON_OK && i < info->input_count; ++i)
      outcome = set_input(*info->inputs[i], i);
    if (outcome.code != PTERON_OK) return outcome;
    pteron_run_options options{};
    options.struct_size = sizeof(options);
    options.instruction_budget = 2000;
    options.time_limit_us = 1000000;
    outcome = finish(pteron_method_run(method_, &options));
    if (outcome.code == PTERON_OK) read_outputs(info->output_count);
    return outcome;
  }

  Outcome set_input(const pteron_value_info& info, size_t index) {
    pteron_value value = info.scalar;
    pteron_tensor tensor{};
    std::vector<int64_t> strides(static_cast<size_t>(info.rank));
    std::vector<uint8_t> memory;
    if (info.kind == PTERON_KIND_NONE) value.kind = PTERON_KIND_INT;
    if (info.kind == PTERON_KIND_TENSOR) {
      if (info.bytes > kMostMemory) return {PTERON_OUT_OF_MEMORY, "too large for this test"};
      int64_t stride = 1;
      for (int32_t i = info.rank - 1; i >= 0; --i) {
        const uint8_t dim = info.dim_order[i];
        strides[dim] = stride;
        if (info.sizes[dim] > 0) stride *= info.sizes[dim];
      }
      inputs_.push_back(std::make_unique<std::vector<uint8_t>>(info.bytes + 1));
      tensor.data = inputs_.back()->data();
      tensor.sizes = const_cast<int64_t*>(info.sizes);
      tensor.strides = strides.data();
      tensor.capacity = info.bytes;
      tensor.rank = info.rank;
      tensor.dtype = static_cast<uint8_t>(info.dtype);
      value.kind = PTERON_KIND_TENSOR;
      value.as.tensor = &tensor;
    }
    return finish(pteron_method_set_input(method_, index, &value));
  }

  // Touches the first and the last byte of every output.
  void read_outputs(size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      const pteron_value* value = pteron_method_output(method_, i);
      ASSERT_NE(value, nullptr);
      if (value->kind != PTERON_KIND_TENSOR) continue;
      const pteron_tensor& tensor = *value->as.tensor;
      const int64_t elements = pteron_tensor_numel(&tensor);
      if (elements == 0) continue;
      int64_t last = 0;
      for (int32_t d = 0; d < tensor.rank; ++d) last += (tensor.sizes[d] - 1) * tensor.strides[d];
      const size_t size = pteron_dtype_size(tensor.dtype);
      const auto* data = static_cast<const uint8_t*>(tensor.data);
      volatile uint8_t seen = data[0];
      seen = data[static_cast<size_t>(last) * size + size - 1];
      (void)seen;
    }
  }

  pteron_program* program_ = nullptr;
  pteron_plan* plan_ = nullptr;
  pteron_method* method_ = nullptr;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> inputs_;
  Outcome outcome_;
};

Outcome run(const FileBytes& file) {
  return Attempt(file).outcome();
}

// Without kernels nothing here would be tested.
TEST(Run, RealFilesRun) {
  for (const char* name : {"add.pte", "linear.pte", "cond.pte", "map.pte", "dynamic.pte"}) {
    const Outcome outcome = run(fixture(name));
    EXPECT_EQ(outcome.code, PTERON_OK) << name << ": " << outcome.message;
  }
}

TEST(Run, A05_TooFewArguments) {
  ProgramEdit edit("add.pte");
  edit.instruction(0).AsKernelCall()->args.resize(1);
  expect_invalid(run(edit.pack()), {"forward", "aten::add.out", "1"});
}

TEST(Run, I6_TooManyArguments) {
  ProgramEdit edit("add.pte");
  auto& args = edit.instruction(0).AsKernelCall()->args;
  args.insert(args.begin(), 0);
  expect_invalid(run(edit.pack()), {"forward", "aten::add.out", "6"});
}

TEST(Run, I6_ArgumentOfAnotherKind) {
  ProgramEdit edit("add.pte");
  edit.instruction(0).AsKernelCall()->args.at(0) = 3;
  expect_invalid(run(edit.pack()), {"forward", "aten::add.out", "int"});
}

TEST(Run, T14_OperatorWritesAConstant) {
  ProgramEdit edit("linear.pte");
  const auto constant = static_cast<int32_t>(edit.constant());
  auto& args = edit.instruction(1).AsKernelCall()->args;
  args.at(args.size() - 1) = constant;
  args.at(args.size() - 2) = constant;
  expect_invalid(run(edit.pack()), {"forward", "aten::addmm.out", "constant"});
}

TEST(Run, A17_JumpToItself) {
  ProgramEdit edit("add.pte");
  pte::BoolT never;
  const auto condition = static_cast<int32_t>(edit.add_value(never));
  pte::JumpFalseCallT jump;
  jump.cond_value_index = condition;
  jump.destination_instruction = 1;
  edit.add_instruction(jump);
  expect_refused(run(edit.pack()), PTERON_BUDGET_EXHAUSTED, {"forward", "instruction 0:1"});
}

TEST(Run, MissingOperatorIsNamed) {
  ProgramEdit edit("add.pte");
  edit.plan().operators.at(0)->name = "aten::no_such_operator";
  expect_refused(run(edit.pack()), PTERON_MISSING_OPERATOR, {"aten::no_such_operator.out"});
}

TEST(Run, MissingBackendIsNamed) {
  ProgramEdit edit("null_copy.pte");
  edit.plan().delegates.at(0)->id = "NoSuchBackend";
  expect_refused(run(edit.pack()), PTERON_MISSING_BACKEND, {"NoSuchBackend"});
}

TEST(Run, D1_BackendIdThatIsNoName) {
  ProgramEdit edit("null_copy.pte");
  edit.plan().delegates.at(0)->id = "../evil";
  const Outcome outcome = run(edit.pack());
  EXPECT_NE(outcome.code, PTERON_OK);
  EXPECT_NE(outcome.message.find("../evil"), std::string::npos) << outcome.message;
}

class RunSweep : public testing::TestWithParam<const char*> {};

TEST_P(RunSweep, EveryNumberOfTheFile) {
  const FileBytes file = fixture(GetParam());
  ASSERT_EQ(run(file).code, PTERON_OK);
  size_t loaded = 0;
  for (const Number& number : numbers_of(file)) {
    for (const uint64_t bad : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{5}, ~uint64_t{0}, uint64_t{64}}) {
      FileBytes damaged = file;
      std::memcpy(damaged.data() + number.offset, &bad, number.width);
      if (damaged == file) continue;
      const Outcome outcome = run(damaged);
      EXPECT_NE(outcome.code, PTERON_INTERNAL) << number.offset << " = " << bad << ": " << outcome.message;
      loaded += outcome.code != PTERON_INVALID_FILE;
    }
  }
  EXPECT_GT(loaded, 10u);
}

INSTANTIATE_TEST_SUITE_P(Files, RunSweep,
                         testing::Values("add.pte", "linear.pte", "cond.pte", "map.pte", "mutable_counter.pte",
                                         "dynamic.pte", "conv.pte", "null_copy.pte"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace pteron::damaged
