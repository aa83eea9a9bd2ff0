// How the engine gets threads: a view of somebody else's pool.
//
//   Parallel inline_only;                       // everything runs on the calling thread
//   parallel_for(inline_only, rows, 16, [&](int64_t begin, int64_t end) { ... });
#pragma once

#include <cstdint>
#include <type_traits>

namespace pteron::engine {

// A pool as the engine sees it. `run` calls body(arg, begin, end) for ranges that cover [0, count) once,
// each at least `grain` long (but the last), from at most `threads` threads at a time, and returns when all are done.
// With a null `run` everything runs on the calling thread. The view owns nothing and may be copied.
struct Parallel {
  void* pool = nullptr;
  int threads = 1;
  void (*run)(void* pool, int64_t count, int64_t grain, void (*body)(void* arg, int64_t begin, int64_t end),
              void* arg) = nullptr;
};

// Calls body(begin, end) for ranges that cover [0, count). The body must compute each index the same way
// whatever range it comes in: that is what keeps results independent of the number of threads.
template <class Body>
void parallel_for(const Parallel& parallel, int64_t count, int64_t grain, Body&& body) {
  if (count <= 0) return;
  if (grain < 1) grain = 1;
  if (parallel.run == nullptr || parallel.threads <= 1 || count <= grain) {
    body(int64_t{0}, count);
    return;
  }
  using Plain = std::remove_reference_t<Body>;
  parallel.run(
      parallel.pool, count, grain,
      [](void* arg, int64_t begin, int64_t end) { (*static_cast<Plain*>(arg))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace pteron::engine
