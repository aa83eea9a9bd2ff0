// The null backend under real programs, through the C functions that every caller uses.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "pteron/c/method.h"
#include "pteron/c/runtime.h"
#include "pteron/result.h"

namespace pteron {
namespace {

// One program with its plan and method, as far as they could be made.
class Loaded {
 public:
  explicit Loaded(const std::string& name, const pteron_plan_options* options = nullptr) {
    const std::string path = std::string(PTERON_TEST_DATA "/programs/") + name;
    status = Status::adopt(pteron_program_load_file(path.c_str(), nullptr, &program));
    if (status.ok()) status = Status::adopt(pteron_plan_create(program, "forward", options, &plan));
    if (status.ok()) status = Status::adopt(pteron_method_create(plan, nullptr, &method));
  }
  ~Loaded() {
    if (method != nullptr) pteron_method_destroy(method);
    if (plan != nullptr) pteron_plan_release(plan);
    if (program != nullptr) pteron_program_release(program);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  // Fills the only input with 0, 1, 2, ... of the sizes that the program declares.
  Status set_input() {
    const pteron_value_info* info = pteron_plan_method_info(plan)->inputs[0];
    sizes.assign(info->sizes, info->sizes + info->rank);
    strides.assign(sizes.size(), 1);
    for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
    pteron_tensor tensor{};
    tensor.dtype = static_cast<uint8_t>(info->dtype);
    tensor.rank = info->rank;
    tensor.sizes = sizes.data();
    tensor.strides = strides.data();
    data.resize(static_cast<size_t>(pteron_tensor_numel(&tensor)));
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    tensor.data = data.data();
    tensor.capacity = data.size() * sizeof(float);
    pteron_value value{};
    value.kind = PTERON_KIND_TENSOR;
    value.as.tensor = &tensor;
    return Status::adopt(pteron_method_set_input(method, 0, &value));
  }
  Status run(const pteron_run_options* options = nullptr) { return Status::adopt(pteron_method_run(method, options)); }

  Status status;
  pteron_program* program = nullptr;
  pteron_plan* plan = nullptr;
  pteron_method* method = nullptr;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<float> data;
};

TEST(BackendNull, LinkingRegistersIt) {
  EXPECT_NE(pteron_find_backend("PteronNull"), nullptr);
}

TEST(BackendNull, CopiesInputsToOutputs) {
  Loaded loaded("null_whole.pte");
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  ASSERT_TRUE(loaded.set_input().ok());
  const Status run = loaded.run();
  ASSERT_TRUE(run.ok()) << run.message();
  const pteron_tensor& out = *pteron_method_output(loaded.method, 0)->as.tensor;
  ASSERT_EQ(pteron_tensor_numel(&out), static_cast<int64_t>(loaded.data.size()));
  const auto* result = static_cast<const float*>(out.data);
  EXPECT_EQ(std::vector<float>(result, result + loaded.data.size()), loaded.data);
}

// The bundles hold what eager PyTorch gives; their programs have ordinary operators around the delegate.
TEST(BackendNull, PartsBetweenOperatorsGiveTheEagerResults) {
  for (const char* name : {"null_copy.bpte", "null_two.bpte", "null_free_early.bpte", "null_wait.bpte"}) {
    Loaded loaded(name);
    ASSERT_TRUE(loaded.status.ok()) << name << ": " << loaded.status.message();
    pteron_bundle* bundle = nullptr;
    const std::string path = std::string(PTERON_TEST_DATA "/programs/") + name;
    ASSERT_TRUE(Status::adopt(pteron_bundle_load_file(path.c_str(), nullptr, &bundle)).ok());
    const pteron_value* const* inputs = nullptr;
    const pteron_value* const* expected = nullptr;
    size_t input_count = 0;
    size_t expected_count = 0;
    ASSERT_TRUE(
        Status::adopt(pteron_bundle_case(bundle, "forward", 0, &inputs, &input_count, &expected, &expected_count))
            .ok());
    for (size_t i = 0; i < input_count; ++i) {
      ASSERT_TRUE(Status::adopt(pteron_method_set_input(loaded.method, i, inputs[i])).ok());
    }
    const Status run = loaded.run();
    EXPECT_TRUE(run.ok()) << name << ": " << run.message();
    for (size_t i = 0; run.ok() && i < expected_count; ++i) {
      const pteron_tensor& out = *pteron_method_output(loaded.method, i)->as.tensor;
      const pteron_tensor& wanted = *expected[i]->as.tensor;
      ASSERT_EQ(pteron_tensor_numel(&out), pteron_tensor_numel(&wanted)) << name;
      for (int64_t k = 0; k < pteron_tensor_numel(&wanted); ++k) {
        EXPECT_FLOAT_EQ(static_cast<const float*>(out.data)[k], static_cast<const float*>(wanted.data)[k]) << name;
      }
    }
    pteron_bundle_release(bundle);
  }
}

TEST(BackendNull, FailingAtInitSaysItsMessage) {
  const Loaded loaded("null_fail_init.pte");
  EXPECT_EQ(loaded.status.code(), PTERON_BACKEND_FAILED);
  EXPECT_NE(std::string(loaded.status.message())
                .find("backend 'PteronNull': cannot load its part of the program: ordered to fail at init"),
            std::string::npos)
      << loaded.status.message();
}

TEST(BackendNull, FailingAtExecuteSaysItsMessageAndCanBeRunAgain) {
  Loaded loaded("null_fail_execute.pte");
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  ASSERT_TRUE(loaded.set_input().ok());
  for (int i = 0; i < 2; ++i) {
    const Status run = loaded.run();
    EXPECT_EQ(run.code(), PTERON_BACKEND_FAILED);
    EXPECT_NE(std::string(run.message()).find("backend 'PteronNull': ordered to fail at execute"), std::string::npos)
        << run.message();
  }
}

TEST(BackendNull, OutputsLargerThanPlannedAreRefused) {
  Loaded loaded("null_resize.pte");
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  ASSERT_TRUE(loaded.set_input().ok());
  const Status run = loaded.run();
  EXPECT_FALSE(run.ok());
  EXPECT_NE(std::string(run.message()).find("cannot become [4, 3]"), std::string::npos) << run.message();
}

TEST(BackendNull, OutputsMayShrinkWithinTheirBound) {
  Loaded loaded("null_resize_within.pte");
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  ASSERT_TRUE(loaded.set_input().ok());
  const Status run = loaded.run();
  ASSERT_TRUE(run.ok()) << run.message();
  EXPECT_EQ(pteron_method_output(loaded.method, 0)->as.tensor->sizes[0], 1);
}

TEST(BackendNull, UnavailableIsToldFromMissing) {
  const pteron_backend_option option = {"PteronNull", "unavailable", "no null device"};
  pteron_plan_options options{};
  options.struct_size = sizeof options;
  options.backend_options = &option;
  options.backend_option_count = 1;
  const Loaded loaded("null_whole.pte", &options);
  EXPECT_EQ(loaded.status.code(), PTERON_MISSING_BACKEND);
  EXPECT_NE(std::string(loaded.status.message())
                .find("backend 'PteronNull' is present but not available here: no null device"),
            std::string::npos)
      << loaded.status.message();
}

TEST(BackendNull, AWaitingRunCanBeCancelled) {
  Loaded loaded("null_wait.pte");
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  ASSERT_TRUE(loaded.set_input().ok());
  int32_t cancel = 0;
  pteron_run_options options{};
  options.struct_size = sizeof options;
  options.cancel = &cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
  });
  const Status run = loaded.run(&options);
  canceller.join();
  EXPECT_EQ(run.code(), PTERON_CANCELLED) << run.message();
}

}  // namespace
}  // namespace pteron
