#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "case_runner.h"

namespace pteron_tests {
namespace {

using pteron::Status;

// One program, one plan, a method for each thread, all running at once.
TEST(Threads, EightMethodsOfOnePlanRunAtOnce) {
  Loaded loaded("conv.bpte");
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      pteron_method* method = nullptr;
      must(Status::adopt(pteron_method_create(loaded.plan, nullptr, &method)));
      for (int run = 0; run < 20; ++run) {
        set_inputs(method, loaded.bundle, "forward", 0);
        must(Status::adopt(pteron_method_run(method, nullptr)));
        expect_outputs(method, loaded.bundle, "forward", 0);
        if (testing::Test::HasFailure()) failures.fetch_add(1);
      }
      pteron_method_destroy(method);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures.load(), 0);
}

// Loading, planning and running from scratch in each thread: the registry and discovery are shared.
TEST(Threads, EightThreadsLoadPlanAndRun) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      Loaded loaded("mutable_counter.bpte");
      loaded.run_case(0);
      loaded.run_case(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, ASecondRunOfOneMethodIsTurnedAway) {
  Loaded loaded("null_wait.bpte");  // an operator, then a delegate that waits 200 ms
  loaded.set_case(0);
  ASSERT_GT(pteron_plan_method_info(loaded.plan)->instruction_count, 1u);
  std::atomic<bool> inside{false};
  pteron_method_set_trace(
      loaded.method, [](void* user, const pteron_trace_event*) { static_cast<std::atomic<bool>*>(user)->store(true); },
      &inside);
  std::thread first([&] { must(loaded.run()); });
  while (!inside.load()) std::this_thread::yield();
  const Status second = loaded.run();
  first.join();
  expect_failure(second, PTERON_BUSY, {"another thread"});
}

}  // namespace
}  // namespace pteron_tests
