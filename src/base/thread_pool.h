// The one thread pool of the process.
//
//   parallel_for(rows, 16, [&](int64_t begin, int64_t end) { ... });
//
// Threads start at the first loop that can use them, sleep when there is nothing to do, and end with the process.
#pragma once

#include <cstdint>
#include <type_traits>

#include "pteron/result.h"

namespace pteron {

using RangeBody = void (*)(void* arg, int64_t begin, int64_t end);

inline constexpr int kMaxThreads = 1024;

// Calls `body` for ranges that cover [0, count) once, each at least `grain` long but the last, from several threads at
// once; returns when all are done. Which thread gets which range differs from run to run: a body must compute each
// index the same way whatever range it comes in. Runs inline when called from inside a body, while another caller has
// the pool, when one thread is set, or when `count` <= `grain`. Any thread.
//
// A body should not throw. When it does, the rest of its range is not computed, and the caller's next
// take_loop_failure() tells.
void parallel_for(int64_t count, int64_t grain, RangeBody body, void* arg);

template <class Body>
  requires std::is_invocable_v<Body&, int64_t, int64_t>
void parallel_for(int64_t count, int64_t grain, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  parallel_for(
      count, grain, [](void* arg, int64_t begin, int64_t end) { (*static_cast<Plain*>(arg))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

// PTERON_OK, or why a body of a loop that the calling thread ran since the last call did not finish:
// PTERON_OUT_OF_MEMORY for std::bad_alloc, PTERON_INTERNAL for any other exception. Whoever called code that may use
// loops asks afterwards.
int take_loop_failure();

// Threads that work on one loop, the caller's included; at least 1.
int thread_count();

// 0 restores the default: PTERON_NUM_THREADS, else the least of affinity, cgroup quota and physical cores. Takes effect
// at the next loop. PTERON_INVALID_ARGUMENT below 0 or above kMaxThreads.
Status set_thread_count(int threads);

}  // namespace pteron
