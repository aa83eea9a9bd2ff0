#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace pteron {
namespace {

class ThreadPool : public testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(set_thread_count(0).ok()); }
};

// How often each index was visited.
std::vector<int> visits(int64_t count, int64_t grain) {
  std::vector<int> seen(static_cast<size_t>(count));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
  });
  return seen;
}

TEST_F(ThreadPool, VisitsEachIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ASSERT_TRUE(set_thread_count(threads).ok());
    for (const int64_t count : {1, 2, 3, 7, 64, 1000}) {
      for (const int64_t grain : {1, 3, 64, 5000}) {
        EXPECT_EQ(visits(count, grain), std::vector<int>(static_cast<size_t>(count), 1))
            << threads << " threads, count " << count << ", grain " << grain;
      }
    }
  }
}

TEST_F(ThreadPool, DoesNothingForNothing) {
  parallel_for(0, 1, [](int64_t, int64_t) { FAIL(); });
  parallel_for(-5, 1, [](int64_t, int64_t) { FAIL(); });
}

TEST_F(ThreadPool, RangesAreAtLeastTheGrain) {
  ASSERT_TRUE(set_thread_count(4).ok());
  std::atomic<int> short_ranges{0};
  parallel_for(1003, 100, [&](int64_t begin, int64_t end) {
    if (end - begin < 100 && end != 1003) ++short_ranges;
  });
  EXPECT_EQ(short_ranges, 0);
}

TEST_F(ThreadPool, CountsNearTheLimitDoNotOverflow) {
  ASSERT_TRUE(set_thread_count(3).ok());
  std::atomic<int64_t> total{0};
  parallel_for(INT64_MAX, INT64_MAX / 3, [&](int64_t begin, int64_t end) { total += end - begin; });
  EXPECT_EQ(total, INT64_MAX);
}

TEST_F(ThreadPool, SeveralThreadsWork) {
  ASSERT_TRUE(set_thread_count(2).ok());
  // Both ranges wait for each other, so one thread alone would never end.
  std::atomic<int> arrived{0};
  parallel_for(2, 1, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST_F(ThreadPool, NestedLoopsRunInline) {
  ASSERT_TRUE(set_thread_count(4).ok());
  std::atomic<int> foreign{0};
  std::atomic<int64_t> ranges{0};
  std::atomic<int64_t> total{0};
  parallel_for(16, 1, [&](int64_t, int64_t) {
    ++ranges;
    const std::thread::id outer = std::this_thread::get_id();
    parallel_for(100, 1, [&](int64_t begin, int64_t end) {
      if (std::this_thread::get_id() != outer) ++foreign;
      total += end - begin;
    });
  });
  EXPECT_EQ(foreign, 0);
  EXPECT_EQ(total, 100 * ranges);
}

TEST_F(ThreadPool, CallersInSeveralThreadsAllFinish) {
  ASSERT_TRUE(set_thread_count(3).ok());
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        if (visits(97, 2) != std::vector<int>(97, 1)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ThreadPool, SizeChangesTakeEffectAtTheNextLoop) {
  for (const int threads : {4, 1, 2, 6, 3}) {
    ASSERT_TRUE(set_thread_count(threads).ok());
    EXPECT_EQ(thread_count(), threads);
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    parallel_for(64, 1, [&](int64_t, int64_t) {
      const int now = ++inside;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::yield();
      --inside;
    });
    EXPECT_LE(most, threads);
  }
}

TEST_F(ThreadPool, RefusesImpossibleSizes) {
  EXPECT_EQ(set_thread_count(-1).code(), PTERON_INVALID_ARGUMENT);
  EXPECT_EQ(set_thread_count(kMaxThreads + 1).code(), PTERON_INVALID_ARGUMENT);
}

TEST_F(ThreadPool, DefaultIsAtLeastOne) {
  EXPECT_GE(thread_count(), 1);
}

TEST_F(ThreadPool, ExceptionsOfABodyAreReportedOnce) {
  ASSERT_TRUE(set_thread_count(2).ok());
  EXPECT_EQ(take_loop_failure(), PTERON_OK);
  parallel_for(8, 1, [](int64_t begin, int64_t) {
    if (begin == 5) throw std::bad_alloc();
  });
  EXPECT_EQ(take_loop_failure(), PTERON_OUT_OF_MEMORY);
  EXPECT_EQ(take_loop_failure(), PTERON_OK);
  parallel_for(1, 1, [](int64_t, int64_t) { throw std::runtime_error("inline"); });
  EXPECT_EQ(take_loop_failure(), PTERON_INTERNAL);
}

TEST_F(ThreadPool, ExceptionsOfNestedLoopsReachTheOuterCaller) {
  ASSERT_TRUE(set_thread_count(3).ok());
  parallel_for(12, 1, [](int64_t, int64_t) {
    parallel_for(4, 1, [](int64_t, int64_t) { throw std::runtime_error("nested"); });
  });
  EXPECT_EQ(take_loop_failure(), PTERON_INTERNAL);
}

TEST_F(ThreadPool, WorkersBlockSignals) {
  ASSERT_TRUE(set_thread_count(2).ok());
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> arrived{0};
  std::atomic<bool> blocked{false};
  parallel_for(2, 1, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    if (std::this_thread::get_id() == caller) return;
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, nullptr, &set);
    blocked = sigismember(&set, SIGINT) == 1 && sigismember(&set, SIGTERM) == 1;
  });
  EXPECT_TRUE(blocked);
}

TEST_F(ThreadPool, WorksInAForkedChild) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not follow a fork of several threads";
#endif
  ASSERT_TRUE(set_thread_count(3).ok());
  ASSERT_EQ(visits(100, 1), std::vector<int>(100, 1));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang ends the child
    _exit(visits(100, 1) == std::vector<int>(100, 1) ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ThreadPool, ManyShortLoopsLoseNothing) {
  ASSERT_TRUE(set_thread_count(4).ok());
  int64_t total = 0;
  for (int i = 0; i < 20000; ++i) {
    std::atomic<int64_t> sum{0};
    parallel_for(5, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    total += sum;
  }
  EXPECT_EQ(total, 100000);
}

}  // namespace
}  // namespace pteron
