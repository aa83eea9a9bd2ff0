#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "case_runner.h"

namespace pteron_tests {
namespace {

using pteron::Status;
using pteron::TensorView;

pteron_value as_value(TensorView& tensor) {
  pteron_value value{};
  value.kind = PTERON_KIND_TENSOR;
  value.as.tensor = tensor.raw();
  return value;
}

pteron_value as_value(int64_t number) {
  pteron_value value{};
  value.kind = PTERON_KIND_INT;
  value.as.as_int = number;
  return value;
}

Status set_input(pteron_method* method, size_t index, pteron_value value) {
  return Status::adopt(pteron_method_set_input(method, index, &value));
}

// ---- Programs of every kind, each case on one instance -----------------------------------------------------------

class Program : public testing::TestWithParam<const char*> {};

// Runs every case of every method, in order, on one instance of each method.
void run_all_cases(const std::string& file, const pteron_plan_options* options) {
  pteron_bundle* bundle = nullptr;
  must(Status::adopt(pteron_bundle_load_file(program_path(file).c_str(), nullptr, &bundle)));
  const std::unique_ptr<pteron_bundle, void (*)(pteron_bundle*)> owner(bundle, pteron_bundle_release);
  pteron_program* program = pteron_bundle_program(bundle);
  for (size_t m = 0; m < pteron_program_method_count(program); ++m) {
    const char* name = pteron_program_method(program, m)->name;
    Loaded loaded(file, name, options);
    const size_t count = pteron_bundle_case_count(bundle, name);
    ASSERT_GT(count, 0u);
    for (size_t i = 0; i < count; ++i) loaded.run_case(i);
  }
}

TEST_P(Program, GivesWhatEagerPyTorchGave) {
  run_all_cases(std::string(GetParam()) + ".bpte", nullptr);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Program,
                         testing::Values("add", "linear", "conv", "channels_last", "channels_last_input",
                                         "mutable_counter", "mutable_zero", "dynamic", "two_methods", "many_outputs",
                                         "double", "half", "bfloat16", "int32", "int64", "uint8", "boolean", "empty",
                                         "unplanned_inputs", "cond", "cond_input", "cond_twice", "map", "scan",
                                         "scan_recurrent", "cond_in_map", "null_copy", "null_whole", "null_free_early",
                                         "null_two"),
                         [](const auto& info) { return std::string(info.param); });

// The runtime's own planner must give the same results wherever the file's plan is sound.
TEST_P(Program, GivesTheSameWithTheRuntimesOwnPlanner) {
  pteron_plan_options options{};
  options.struct_size = sizeof options;
  options.planner = PTERON_PLANNER_OWN;
  run_all_cases(std::string(GetParam()) + ".bpte", &options);
}

// ---- Inputs
// -----------------------------------------------------------------------------------------------------------

TEST(Method, NamesInputAndBothDtypesWhenTheDtypeIsWrong) {
  Loaded loaded("add.bpte");
  std::array<int64_t, 3> numbers = {1, 2, 3};
  TensorView tensor = must(TensorView::of(numbers));
  expect_failure(set_input(loaded.method, 1, as_value(tensor)), PTERON_INVALID_INPUT,
                 {"input 1", "forward", "float32 [3]", "int64 [3]"});
}

TEST(Method, NamesInputAndBothShapesWhenASizeIsWrong) {
  Loaded loaded("add.bpte");
  std::array<float, 4> numbers = {1, 2, 3, 4};
  TensorView tensor = must(TensorView::of(numbers));
  expect_failure(set_input(loaded.method, 0, as_value(tensor)), PTERON_INVALID_INPUT,
                 {"input 0", "float32 [3]", "float32 [4]"});
}

TEST(Method, NamesTheBoundWhenADynamicSizeExceedsIt) {
  Loaded loaded("dynamic.bpte");
  const pteron_value_info& info = *pteron_plan_method_info(loaded.plan)->inputs[0];
  std::vector<int64_t> sizes(info.sizes, info.sizes + info.rank);
  sizes[0] += 1;
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  std::vector<float> numbers(static_cast<size_t>(count));
  TensorView tensor = must(TensorView::of(numbers, pteron::Shape(sizes.data(), sizes.size())));
  expect_failure(set_input(loaded.method, 0, as_value(tensor)), PTERON_INVALID_INPUT,
                 {"input 0", ("<=" + std::to_string(info.sizes[0])).c_str(), std::to_string(sizes[0]).c_str()});
}

TEST(Method, RefusesAScalarWhereATensorIsExpected) {
  Loaded loaded("add.bpte");
  expect_failure(set_input(loaded.method, 0, as_value(int64_t{3})), PTERON_INVALID_INPUT, {"tensor", "int"});
}

TEST(Method, RefusesAnInputThatIsNotThere) {
  Loaded loaded("add.bpte");
  expect_failure(set_input(loaded.method, 2, as_value(int64_t{3})), PTERON_INVALID_INPUT, {"2 inputs", "no input 2"});
}

TEST(Method, RefusesATensorWithoutDataThatHasElements) {
  Loaded loaded("add.bpte");
  std::array<float, 3> numbers = {1, 2, 3};
  TensorView tensor = must(TensorView::of(numbers));
  tensor.raw()->data = nullptr;
  expect_failure(set_input(loaded.method, 0, as_value(tensor)), PTERON_INVALID_INPUT, {"input 0", "no data"});
}

TEST(Method, RefusesToRunBeforeAllInputsAreSet) {
  Loaded loaded("add.bpte");
  std::array<float, 3> numbers = {1, 2, 3};
  TensorView tensor = must(TensorView::of(numbers));
  must(set_input(loaded.method, 0, as_value(tensor)));
  expect_failure(loaded.run(), PTERON_INVALID_STATE, {"input 1", "never set"});
}

TEST(Method, InputsStayForTheRunsThatFollow) {
  Loaded loaded("conv.bpte");
  loaded.set_case(0);
  must(loaded.run());
  must(loaded.run());
  loaded.expect_case(0);
}

// A method for row-major input, given channels-last memory, must not read it as row-major.
TEST(Method, BringsAnotherLayoutToTheMethodsOwn) {
  Loaded loaded("conv.bpte");
  const pteron_value* const* inputs = nullptr;
  const pteron_value* const* expected = nullptr;
  size_t input_count = 0;
  size_t expected_count = 0;
  must(Status::adopt(
      pteron_bundle_case(loaded.bundle, "forward", 0, &inputs, &input_count, &expected, &expected_count)));
  const pteron_tensor& given = *inputs[0]->as.tensor;
  ASSERT_EQ(given.rank, 4);
  const int64_t n = given.sizes[0], c = given.sizes[1], h = given.sizes[2], w = given.sizes[3];
  ASSERT_GT(c, 1);
  std::vector<float> channels_last(static_cast<size_t>(n * c * h * w));
  const auto* from = static_cast<const float*>(given.data);
  for (int64_t i = 0; i < n * c * h * w; ++i) {
    const int64_t x = i % w, y = i / w % h, channel = i / (w * h) % c, image = i / (w * h * c);
    channels_last[static_cast<size_t>(((image * h + y) * w + x) * c + channel)] = from[i];
  }
  TensorView tensor = must(TensorView::of(channels_last.data(), {n, c, h, w}, {h * w * c, 1, w * c, c}));
  must(set_input(loaded.method, 0, as_value(tensor)));
  must(loaded.run());
  loaded.expect_case(0);
}

// scalars.pte multiplies by an int that it is given and gives back an int; see its cases beside it.
TEST(Method, TakesAnIntThatTheProgramReads) {
  LoadedProgram loaded("scalars.pte");
  must(Status::adopt(pteron_method_create(loaded.plan, nullptr, &loaded.method)));
  const pteron_method_info& info = *pteron_plan_method_info(loaded.plan);
  size_t ints = 0;
  for (size_t i = 0; i < info.input_count; ++i) {
    if (info.inputs[i]->kind == PTERON_KIND_TENSOR) continue;
    must(set_input(loaded.method, i, as_value(int64_t{2})));
    ++ints;
  }
  EXPECT_EQ(ints, 1u);
}

TEST(Method, RefusesAScalarOtherThanTheOneTheProgramWasExportedWith) {
  pteron_program* program = nullptr;
  must(Status::adopt(pteron_program_load_file(program_path("constants_in_signature.pte").c_str(), nullptr, &program)));
  const std::unique_ptr<pteron_program, void (*)(pteron_program*)> owner(program, pteron_program_release);
  pteron_plan* plan = nullptr;
  must(Status::adopt(pteron_plan_create(program, "forward", nullptr, &plan)));
  pteron_method* method = nullptr;
  must(Status::adopt(pteron_method_create(plan, nullptr, &method)));
  pteron_plan_release(plan);
  const std::unique_ptr<pteron_method, void (*)(pteron_method*)> method_owner(method, pteron_method_destroy);
  const pteron_method_info& info = *pteron_program_method(program, 0);
  for (size_t i = 0; i < info.input_count; ++i) {
    if (info.inputs[i]->kind != PTERON_KIND_DOUBLE) continue;
    pteron_value other = info.inputs[i]->scalar;
    other.as.as_double += 1;
    expect_failure(set_input(method, i, other), PTERON_INVALID_INPUT, {"was exported for"});
    must(set_input(method, i, info.inputs[i]->scalar));
    return;
  }
  FAIL() << "the fixture has no input of kind double";
}

// ---- Outputs
// ----------------------------------------------------------------------------------------------------------

TEST(Method, HasNoOutputBeforeTheFirstRun) {
  Loaded loaded("add.bpte");
  EXPECT_EQ(pteron_method_output(loaded.method, 0), nullptr);
}

TEST(Method, WritesAnOutputToTheCallersMemory) {
  Loaded loaded("add.bpte");
  std::array<float, 3> mine = {0, 0, 0};
  TensorView tensor = must(TensorView::of(mine));
  must(Status::adopt(pteron_method_bind_output(loaded.method, 0, tensor.raw())));
  loaded.run_case(0);
  EXPECT_EQ(std::memcmp(mine.data(), loaded.output().data, sizeof mine), 0);
  EXPECT_NE(mine[0] + mine[1] + mine[2], 0);
}

TEST(Method, StopsWritingToTheCallersMemoryOnceUnbound) {
  Loaded loaded("add.bpte");
  std::array<float, 3> mine = {0, 0, 0};
  TensorView tensor = must(TensorView::of(mine));
  must(Status::adopt(pteron_method_bind_output(loaded.method, 0, tensor.raw())));
  must(Status::adopt(pteron_method_bind_output(loaded.method, 0, nullptr)));
  loaded.run_case(0);
  EXPECT_EQ(mine, (std::array<float, 3>{0, 0, 0}));
}

TEST(Method, RefusesABoundTensorOfAnotherSize) {
  Loaded loaded("add.bpte");
  std::array<float, 2> mine = {0, 0};
  TensorView tensor = must(TensorView::of(mine));
  must(Status::adopt(pteron_method_bind_output(loaded.method, 0, tensor.raw())));
  loaded.set_case(0);
  expect_failure(loaded.run(), PTERON_INVALID_INPUT, {"output 0", "float32 [3]", "float32 [2]"});
}

TEST(Method, RefusesToBindATensorOfAnotherDtype) {
  Loaded loaded("add.bpte");
  std::array<int32_t, 3> mine = {0, 0, 0};
  TensorView tensor = must(TensorView::of(mine));
  expect_failure(Status::adopt(pteron_method_bind_output(loaded.method, 0, tensor.raw())), PTERON_INVALID_ARGUMENT,
                 {"output 0", "float32", "int32"});
}

// The same tensor twice, and an input given out: three results in memory of their own.
TEST(Method, CopiesAnInputThatIsAnOutput) {
  Loaded loaded("many_outputs.bpte");
  loaded.set_case(0);
  must(loaded.run());
  const pteron_value* const* inputs = nullptr;
  const pteron_value* const* expected = nullptr;
  size_t input_count = 0;
  size_t expected_count = 0;
  must(Status::adopt(
      pteron_bundle_case(loaded.bundle, "forward", 0, &inputs, &input_count, &expected, &expected_count)));
  EXPECT_NE(loaded.output(2).data, inputs[0]->as.tensor->data);
  loaded.expect_case(0);
}

// ---- Memory and state
// -------------------------------------------------------------------------------------------------

TEST(Method, RunsInTheCallersArena) {
  Loaded probe("conv.bpte");
  const uint64_t bytes = pteron_plan_arena_bytes(probe.plan);
  struct alignas(64) Unit {
    unsigned char bytes[64];
  };
  std::vector<Unit> arena(bytes / 64 + 1);
  pteron_method_options options{};
  options.struct_size = sizeof options;
  options.arena = arena.data();
  options.arena_bytes = arena.size() * 64;
  Loaded loaded("conv.bpte", "forward", nullptr, &options);
  loaded.run_case(0);
  const auto* data = static_cast<const unsigned char*>(loaded.output().data);
  EXPECT_GE(data, arena.front().bytes);
  EXPECT_LT(data, arena.front().bytes + options.arena_bytes);
}

TEST(Method, RefusesAnArenaThatIsTooSmall) {
  Loaded probe("conv.bpte");
  alignas(64) std::array<unsigned char, 64> arena;
  pteron_method_options options{};
  options.struct_size = sizeof options;
  options.arena = arena.data();
  options.arena_bytes = arena.size();
  pteron_method* method = nullptr;
  expect_failure(Status::adopt(pteron_method_create(probe.plan, &options, &method)), PTERON_INVALID_ARGUMENT,
                 {"arena", std::to_string(pteron_plan_arena_bytes(probe.plan)).c_str(), "64 bytes"});
}

TEST(Method, StateStartsAgainAfterAReset) {
  Loaded loaded("mutable_counter.bpte");
  loaded.run_case(0);
  loaded.run_case(1);
  must(Status::adopt(pteron_method_reset_state(loaded.method)));
  loaded.run_case(0);
}

TEST(Method, InstancesOfOnePlanHaveStateOfTheirOwn) {
  Loaded loaded("mutable_counter.bpte");
  pteron_method* second = nullptr;
  must(Status::adopt(pteron_method_create(loaded.plan, nullptr, &second)));
  const std::unique_ptr<pteron_method, void (*)(pteron_method*)> owner(second, pteron_method_destroy);
  loaded.run_case(0);
  set_inputs(second, loaded.bundle, "forward", 0);
  must(Status::adopt(pteron_method_run(second, nullptr)));
  expect_outputs(second, loaded.bundle, "forward", 0);
}

TEST(Method, SharesStateWithAnotherMethodOnRequest) {
  Loaded first("mutable_counter.bpte");
  pteron_method_options options{};
  options.struct_size = sizeof options;
  options.state_from = first.method;
  pteron_method* second = nullptr;
  must(Status::adopt(pteron_method_create(first.plan, &options, &second)));
  const std::unique_ptr<pteron_method, void (*)(pteron_method*)> owner(second, pteron_method_destroy);
  first.run_case(0);
  set_inputs(second, first.bundle, "forward", 1);
  must(Status::adopt(pteron_method_run(second, nullptr)));
  expect_outputs(second, first.bundle, "forward", 1);
}

// ---- Limits, steps, tracing
// -------------------------------------------------------------------------------------------

TEST(Method, StopsWhenTheInstructionBudgetIsSpent) {
  Loaded loaded("map.bpte");
  loaded.set_case(0);
  pteron_run_options options{};
  options.struct_size = sizeof options;
  options.instruction_budget = 5;
  expect_failure(loaded.run(&options), PTERON_BUDGET_EXHAUSTED, {"instruction 0:5", "budget"});
}

TEST(Method, RunsAgainAfterARunThatWasStopped) {
  Loaded loaded("map.bpte");
  loaded.set_case(0);
  pteron_run_options options{};
  options.struct_size = sizeof options;
  options.instruction_budget = 9;  // in the middle of the loop
  EXPECT_FALSE(loaded.run(&options).ok());
  must(loaded.run());
  loaded.expect_case(0);
}

TEST(Method, RefusesToBeNull) {
  const pteron_value value = as_value(int64_t{1});
  int done = 0;
  EXPECT_EQ(Status::adopt(pteron_method_set_input(nullptr, 0, &value)).code(), PTERON_INVALID_ARGUMENT);
  EXPECT_EQ(Status::adopt(pteron_method_bind_output(nullptr, 0, nullptr)).code(), PTERON_INVALID_ARGUMENT);
  EXPECT_EQ(Status::adopt(pteron_method_run(nullptr, nullptr)).code(), PTERON_INVALID_ARGUMENT);
  EXPECT_EQ(Status::adopt(pteron_method_step(nullptr, nullptr, &done)).code(), PTERON_INVALID_ARGUMENT);
  EXPECT_EQ(Status::adopt(pteron_method_reset_state(nullptr)).code(), PTERON_INVALID_ARGUMENT);
}

TEST(Method, StopsWhenCancelled) {
  Loaded loaded("add.bpte");
  loaded.set_case(0);
  const int32_t cancel = 1;
  pteron_run_options options{};
  options.struct_size = sizeof options;
  options.cancel = &cancel;
  expect_failure(loaded.run(&options), PTERON_CANCELLED, {"instruction 0:0", "cancelled"});
}

TEST(Method, StopsWhenTheTimeLimitRanOut) {
  Loaded waiting("null_wait.bpte");
  waiting.set_case(0);
  pteron_run_options options{};
  options.struct_size = sizeof options;
  options.time_limit_us = 1000;  // the delegate alone waits 200 ms
  expect_failure(waiting.run(&options), PTERON_TIME_LIMIT, {"1000 us"});
}

TEST(Method, RunsStepByStep) {
  Loaded loaded("conv.bpte");
  loaded.set_case(0);
  int done = 0;
  size_t steps = 0;
  while (done == 0) {
    must(Status::adopt(pteron_method_step(loaded.method, nullptr, &done)));
    ++steps;
  }
  EXPECT_EQ(steps, pteron_plan_method_info(loaded.plan)->instruction_count);
  loaded.expect_case(0);
}

TEST(Method, RefusesToRunWhileItIsStepped) {
  Loaded loaded("conv.bpte");
  loaded.set_case(0);
  int done = 0;
  must(Status::adopt(pteron_method_step(loaded.method, nullptr, &done)));
  expect_failure(loaded.run(), PTERON_INVALID_STATE, {"step by step", "abandon"});
  pteron_method_abandon_steps(loaded.method);
  must(loaded.run());
  loaded.expect_case(0);
}

TEST(Method, TracesEveryInstruction) {
  Loaded loaded("conv.bpte");
  loaded.set_case(0);
  struct Seen {
    std::vector<std::string> names;
    uint64_t bytes = 0;
  } seen;
  pteron_method_set_trace(
      loaded.method,
      [](void* user, const pteron_trace_event* event) {
        static_cast<Seen*>(user)->names.emplace_back(event->name);
        static_cast<Seen*>(user)->bytes += event->bytes;
      },
      &seen);
  must(loaded.run());
  EXPECT_EQ(seen.names.size(), pteron_plan_method_info(loaded.plan)->instruction_count);
  EXPECT_EQ(seen.names.front(), "aten::convolution.out");
  EXPECT_GT(seen.bytes, 0u);
}

TEST(Method, TracesNothingOnceTracingIsOff) {
  Loaded loaded("add.bpte");
  loaded.set_case(0);
  int events = 0;
  pteron_method_set_trace(
      loaded.method, [](void* user, const pteron_trace_event*) { ++*static_cast<int*>(user); }, &events);
  pteron_method_set_trace(loaded.method, nullptr, nullptr);
  must(loaded.run());
  EXPECT_EQ(events, 0);
}

// ---- What is missing
// ----------------------------------------------------------------------------------------------------

TEST(Plan, ListsTheMethodsWhenTheNameIsUnknown) {
  pteron_program* program = nullptr;
  must(Status::adopt(pteron_program_load_file(program_path("two_methods.pte").c_str(), nullptr, &program)));
  const std::unique_ptr<pteron_program, void (*)(pteron_program*)> owner(program, pteron_program_release);
  pteron_plan* plan = nullptr;
  expect_failure(Status::adopt(pteron_plan_create(program, "nope", nullptr, &plan)), PTERON_NOT_FOUND,
                 {"'nope'", pteron_program_method(program, 0)->name, pteron_program_method(program, 1)->name});
}

TEST(Plan, RefusesBackendOptionsWithoutAList) {
  pteron_program* program = nullptr;
  must(Status::adopt(pteron_program_load_file(program_path("add.pte").c_str(), nullptr, &program)));
  const std::unique_ptr<pteron_program, void (*)(pteron_program*)> owner(program, pteron_program_release);
  pteron_plan_options options{};
  options.struct_size = sizeof options;
  options.backend_option_count = 1;
  pteron_plan* plan = nullptr;
  const Status status = Status::adopt(pteron_plan_create(program, "forward", &options, &plan));
  EXPECT_EQ(status.code(), PTERON_INVALID_ARGUMENT) << status.message();
}

TEST(Plan, NamesTheBackendAndTheLibraryThatBringsIt) {
  pteron_program* program = nullptr;
  must(Status::adopt(pteron_program_load_file(program_path("openvino_linear.pte").c_str(), nullptr, &program)));
  const std::unique_ptr<pteron_program, void (*)(pteron_program*)> owner(program, pteron_program_release);
  pteron_plan* plan = nullptr;
  expect_failure(Status::adopt(pteron_plan_create(program, "forward", nullptr, &plan)), PTERON_MISSING_BACKEND,
                 {"OpenvinoBackend", "libpteron_backend_openvino.so"});
}

TEST(Plan, NamesTheFirstMissingExternalKey) {
  pteron_program* program = nullptr;
  must(Status::adopt(pteron_program_load_file(program_path("external_weights.pte").c_str(), nullptr, &program)));
  const std::unique_ptr<pteron_program, void (*)(pteron_program*)> owner(program, pteron_program_release);
  pteron_plan* plan = nullptr;
  expect_failure(Status::adopt(pteron_plan_create(program, "forward", nullptr, &plan)), PTERON_NOT_FOUND, {".ptd"});
}

TEST(Program, RunsWithItsDataFileAndIgnoresEmptyPaths) {
  const std::string data = program_path("external_weights.ptd");
  const char* paths[] = {"", data.c_str()};
  pteron_load_options options{};
  options.struct_size = sizeof options;
  options.data_paths = paths;
  options.data_path_count = 2;
  pteron_bundle* bundle = nullptr;
  must(Status::adopt(pteron_bundle_load_file(program_path("external_weights.bpte").c_str(), &options, &bundle)));
  const std::unique_ptr<pteron_bundle, void (*)(pteron_bundle*)> owner(bundle, pteron_bundle_release);
  pteron_plan* plan = nullptr;
  must(Status::adopt(pteron_plan_create(pteron_bundle_program(bundle), "forward", nullptr, &plan)));
  pteron_method* method = nullptr;
  must(Status::adopt(pteron_method_create(plan, nullptr, &method)));
  const std::unique_ptr<pteron_method, void (*)(pteron_method*)> method_owner(method, pteron_method_destroy);
  pteron_plan_release(plan);
  set_inputs(method, bundle, "forward", 0);
  must(Status::adopt(pteron_method_run(method, nullptr)));
  expect_outputs(method, bundle, "forward", 0);
}

TEST(Program, KeepsTheBytesItWasLoadedFrom) {
  std::ifstream file(program_path("linear.pte"), std::ios::binary);
  auto* bytes = new std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  pteron_program* program = nullptr;
  must(Status::adopt(pteron_program_load_bytes(bytes->data(), bytes->size(), nullptr, nullptr, nullptr, &program)));
  std::memset(bytes->data(), 0xff, bytes->size());
  delete bytes;
  const std::unique_ptr<pteron_program, void (*)(pteron_program*)> owner(program, pteron_program_release);
  Loaded reference("linear.bpte");
  pteron_plan* plan = nullptr;
  must(Status::adopt(pteron_plan_create(program, "forward", nullptr, &plan)));
  pteron_method* method = nullptr;
  must(Status::adopt(pteron_method_create(plan, nullptr, &method)));
  const std::unique_ptr<pteron_method, void (*)(pteron_method*)> method_owner(method, pteron_method_destroy);
  pteron_plan_release(plan);
  set_inputs(method, reference.bundle, "forward", 0);
  must(Status::adopt(pteron_method_run(method, nullptr)));
  expect_outputs(method, reference.bundle, "forward", 0);
}

// ---- Delegates that fail
// ------------------------------------------------------------------------------------------------

TEST(Delegate, FailingToInitialiseCarriesTheBackendsWords) {
  LoadedProgram loaded("null_fail_init.pte");
  expect_failure(loaded.make_method(), PTERON_BACKEND_FAILED, {"method 'forward'", "backend 'PteronNull'"});
}

TEST(Delegate, FailingToExecuteCarriesPlaceAndWords) {
  LoadedProgram loaded("null_fail_execute.pte");
  must(loaded.make_method());
  expect_failure(loaded.run(), PTERON_BACKEND_FAILED,
                 {"delegate:PteronNull", "instruction 0:", "backend 'PteronNull'"});
}

TEST(Delegate, AnOutputLargerThanPlannedIsRefusedBeforeItIsWritten) {
  LoadedProgram loaded("null_resize.pte");
  must(loaded.make_method());
  const Status status = loaded.run();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(std::strstr(status.message(), "PteronNull"), nullptr) << status.message();
}

TEST(Delegate, AnOutputMayShrinkWithinItsBound) {
  LoadedProgram loaded("null_resize_within.pte");
  must(loaded.make_method());
  must(loaded.run());
  const pteron_value* output = pteron_method_output(loaded.method, 0);
  ASSERT_NE(output, nullptr);
  EXPECT_EQ(output->as.tensor->sizes[0], 1);
}

}  // namespace
}  // namespace pteron_tests
