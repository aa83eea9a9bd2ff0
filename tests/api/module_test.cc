#include "pteron/module.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "pteron/runtime.h"

namespace {

using pteron::Module;
using pteron::Tensor;
using pteron::TensorView;

std::string path_of(const char* name) {
  return std::string(PTERON_TEST_DATA) + "/programs/" + name;
}

pteron::Method method_of(const char* name) {
  const pteron::Program program = pteron::Program::load(path_of(name)).value();
  return pteron::Method::create(pteron::Plan::create(program, "forward").value()).value();
}

// add.pte: forward(x, y) = x + y, both float32 [3].
TEST(Module, StartsInFiveLines) {
  const std::vector<float> x = {1, 2, 3};
  const std::vector<float> y = {10, 20, 30};
  auto module = Module::load(path_of("add.pte"));
  ASSERT_TRUE(module.ok()) << module.status().message();
  auto outputs = module->forward(TensorView::of(x), TensorView::of(y));
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(outputs->tensor(0)->at<float>({2}).value(), 33.0f);
}

TEST(Module, TakesScalarsAmongTensors) {
  const std::vector<float> x = {1, 2};
  Module module = Module::load(path_of("scalars.pte")).value();
  auto outputs = module.forward(TensorView::of(x), 7);  // x + n, n * 2
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(outputs->tensor(0)->at<float>({1}).value(), 9.0f);
  EXPECT_EQ((*outputs)[1].as_int().value(), 14);
}

TEST(Module, OutputsAreViewsUntilTheNextRun) {
  Module module = Module::load(path_of("add.pte")).value();
  std::vector<float> x = {1, 1, 1};
  auto outputs = module.forward(TensorView::of(x), TensorView::of(x));
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  const Tensor kept = outputs->tensor(0)->clone().value();
  x[0] = 5;
  ASSERT_TRUE(module.forward(TensorView::of(x), TensorView::of(x)).ok());
  EXPECT_EQ(kept.at<float>({0}).value(), 2.0f);
}

TEST(Module, ReportsAnArgumentThatFailed) {
  Module module = Module::load(path_of("add.pte")).value();
  const std::vector<float> x(2);
  const auto outputs = module.forward(TensorView::of(x, {3}), TensorView::of(x));
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.status().code(), PTERON_INVALID_ARGUMENT);
}

TEST(Module, CountsInputs) {
  Module module = Module::load(path_of("add.pte")).value();
  const auto outputs = module.forward(3);
  ASSERT_FALSE(outputs.ok());
  EXPECT_STREQ(outputs.status().message(), "the method 'forward' takes 2 inputs, 1 were given");
}

TEST(Module, RunsMethodsByName) {
  Module module = Module::load(path_of("two_methods.pte")).value();
  const pteron::Shape shape = module.program().find_method("negated").value().inputs()[0].shape();
  Tensor input = Tensor::create(pteron::DType::kFloat32, shape).value();
  EXPECT_TRUE(module.execute("negated", input).ok());
  const auto wrong = module.execute("backward", input);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().code(), PTERON_NOT_FOUND);
}

TEST(Module, ResetsItsState) {
  Module module = Module::load(path_of("mutable_counter.pte")).value();
  const pteron::MethodInfo info = module.program().find_method("forward").value();
  const auto run = [&] {
    std::vector<pteron::Value> inputs;
    for (const pteron::ValueInfo& input : info.inputs()) {
      inputs.emplace_back(Tensor::create(input.dtype(), input.shape()).value());
    }
    return module.execute_values("forward", std::move(inputs)).value().tensor(0)->clone().value();
  };
  const Tensor first = run();
  const Tensor second = run();
  ASSERT_TRUE(module.reset_state().ok());
  const Tensor again = run();
  EXPECT_NE(std::memcmp(first.data_pointer(), second.data_pointer(), first.bytes()), 0);
  EXPECT_EQ(std::memcmp(first.data_pointer(), again.data_pointer(), first.bytes()), 0);
}

TEST(Module, NamesAMissingBackend) {
  Module module = Module::load(path_of("xnnpack_linear.pte")).value();
  const auto outputs = module.forward(1);
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.status().code(), PTERON_MISSING_BACKEND);
  EXPECT_NE(std::string(outputs.status().message()).find("libpteron_backend_xnnpack.so"), std::string::npos);
}

TEST(Method, KeepsMovedInputs) {
  pteron::Method method = method_of("add.pte");
  for (size_t i = 0; i < 2; ++i) {
    Tensor tensor = Tensor::copy_of(std::vector<float>{1, 2, 3}, {3}).value();
    ASSERT_TRUE(method.set_input(i, std::move(tensor)).ok());
  }
  pteron::Method moved = std::move(method);
  ASSERT_TRUE(moved.run().ok());
  EXPECT_EQ(moved.output(0)->tensor()->at<float>({2}).value(), 6.0f);
}

TEST(Method, KeepsAnInputWhenItsSuccessorIsRefused) {
  pteron::Method method = method_of("add.pte");
  const std::vector<float> good = {1, 2, 3};
  const std::vector<float> wrong = {1, 2};
  for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(method.set_input(i, TensorView::of(good).value()).ok());
  const pteron::Status refused = method.set_input(0, TensorView::of(wrong).value());
  EXPECT_EQ(refused.code(), PTERON_INVALID_INPUT);
  ASSERT_TRUE(method.run().ok());
  EXPECT_EQ(method.output(0)->tensor()->at<float>({2}).value(), 6.0f);
}

TEST(Method, WritesToTheCallersMemory) {
  pteron::Method method = method_of("add.pte");
  const std::vector<float> x = {1, 2, 3};
  std::vector<float> sum(3);
  TensorView output = TensorView::of(sum).value();
  for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(method.set_input(i, TensorView::of(x).value()).ok());
  ASSERT_TRUE(method.bind_output(0, output).ok());
  ASSERT_TRUE(method.run().ok());
  EXPECT_EQ(sum, (std::vector<float>{2, 4, 6}));
}

TEST(Method, RunsInTheCallersArena) {
  const pteron::Program program = pteron::Program::load(path_of("linear.pte")).value();
  const pteron::Plan plan = pteron::Plan::create(program, "forward").value();
  Tensor memory = Tensor::create(pteron::DType::kUInt8, {static_cast<int64_t>(plan.arena_bytes())}).value();
  pteron::MethodOptions options;
  const pteron::Span<uint8_t> bytes = memory.mutable_data<uint8_t>().value();
  options.arena = {bytes.data(), bytes.size()};
  EXPECT_TRUE(pteron::Method::create(plan, options).ok());
}

TEST(Method, HasNoOutputBeforeARun) {
  const auto output = method_of("add.pte").output(0);
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.status().code(), PTERON_INVALID_STATE);
}

TEST(Method, StopsWhenCancelled) {
  pteron::Method method = method_of("add.pte");
  const std::vector<float> x = {1, 2, 3};
  for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(method.set_input(i, TensorView::of(x).value()).ok());
  const std::atomic<int32_t> cancel{1};
  pteron::RunOptions options;
  options.cancel = &cancel;
  EXPECT_EQ(method.run(options).code(), PTERON_CANCELLED);
}

TEST(Method, StepsThroughItsInstructions) {
  pteron::Method method = method_of("add.pte");
  const std::vector<float> x = {1, 2, 3};
  for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(method.set_input(i, TensorView::of(x).value()).ok());
  bool done = false;
  for (int i = 0; i < 100 && !done; ++i) done = method.step().value();
  EXPECT_TRUE(done);
  EXPECT_EQ(method.output(0)->tensor()->at<float>({0}).value(), 2.0f);
}

TEST(Method, TracesItsInstructions) {
  pteron::Method method = method_of("add.pte");
  const std::vector<float> x = {1, 2, 3};
  for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(method.set_input(i, TensorView::of(x).value()).ok());
  std::vector<std::string> names;
  method.set_trace([&names](const pteron::TraceEvent& event) { names.emplace_back(event.name()); });
  ASSERT_TRUE(method.run().ok());
  method.set_trace(nullptr);
  ASSERT_TRUE(method.run().ok());
  EXPECT_EQ(names, std::vector<std::string>{"aten::add.out"});
}

TEST(Runtime, ListsComponents) {
  method_of("add.pte");  // loads the kernels
  bool found = false;
  for (const pteron::Component& component : pteron::components()) {
    found = found || (component.name == "kernels" && component.code == PTERON_OK && component.kernel_count > 0);
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(pteron::has_kernel("aten::add.out"));
}

TEST(Runtime, RefusesANegativeThreadCount) {
  EXPECT_EQ(pteron::set_thread_count(-1).code(), PTERON_INVALID_ARGUMENT);
}

}  // namespace
