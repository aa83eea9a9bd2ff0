// Memory that runs out at any point becomes an error, never a crash: the same work is done again and again while the
// first, second, third ... allocation fails.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "case_runner.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int64_t> until_failure{0};

// True when the allocation at hand is the one that must fail. Only one fails: error messages need memory too.
bool must_fail() {
  return counting.load() && until_failure.fetch_sub(1) == 1;
}

}  // namespace

// The library's operator new is this one: it is bound at load time.
void* operator new(size_t size) {
  if (must_fail()) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return must_fail() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace pteron_tests {
namespace {

using pteron::Status;

// From a file to a result, without comparing. Frees all it made, whatever happens.
Status load_plan_and_run(const std::string& path, pteron_bundle* cases) {
  pteron_program* program = nullptr;
  pteron_plan* plan = nullptr;
  pteron_method* method = nullptr;
  const pteron_value* const* inputs = nullptr;
  const pteron_value* const* expected = nullptr;
  size_t input_count = 0;
  size_t expected_count = 0;
  pteron_status* status = pteron_bundle_case(cases, "forward", 0, &inputs, &input_count, &expected, &expected_count);
  if (status == nullptr) status = pteron_program_load_file(path.c_str(), nullptr, &program);
  if (status == nullptr) status = pteron_plan_create(program, "forward", nullptr, &plan);
  if (status == nullptr) status = pteron_method_create(plan, nullptr, &method);
  for (size_t i = 0; status == nullptr && i < input_count; ++i) {
    status = pteron_method_set_input(method, i, inputs[i]);
  }
  if (status == nullptr) status = pteron_method_run(method, nullptr);
  if (method != nullptr) pteron_method_destroy(method);
  if (plan != nullptr) pteron_plan_release(plan);
  if (program != nullptr) pteron_program_release(program);
  return Status::adopt(status);
}

class Allocation : public testing::TestWithParam<const char*> {};

TEST_P(Allocation, FailingAtAnyPointIsAnError) {
  Loaded reference(std::string(GetParam()) + ".bpte");
  const std::string path = program_path(std::string(GetParam()) + ".pte");
  must(load_plan_and_run(path, reference.bundle));  // whatever a process does once is done
  bool succeeded = false;
  int64_t refused = 0;
  for (int64_t nth = 1; !succeeded && nth < 100000; ++nth) {
    until_failure = nth;
    counting = true;
    const Status status = load_plan_and_run(path, reference.bundle);
    counting = false;
    const bool failed_one = until_failure.load() <= 0;
    if (!status.ok()) {
      ++refused;
      EXPECT_EQ(status.code(), PTERON_OUT_OF_MEMORY) << "allocation " << nth << ": " << status.message();
    }
    succeeded = !failed_one;
  }
  EXPECT_TRUE(succeeded);
  EXPECT_GT(refused, 10) << "the library does not allocate through this program's operator new";
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Allocation, testing::Values("conv", "dynamic", "mutable_counter", "map", "null_two"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace pteron_tests
