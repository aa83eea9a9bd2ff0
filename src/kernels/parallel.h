// The runtime's thread pool as the engine and the kernels see it.
#pragma once

#include "engine/parallel.h"
#include "pteron/c/kernel.h"

namespace pteron::kernels {

inline engine::Parallel runtime_pool() {
  engine::Parallel parallel;
  parallel.threads = pteron_thread_count();
  parallel.run = [](void*, int64_t count, int64_t grain, void (*body)(void*, int64_t, int64_t), void* arg) {
    pteron_parallel_for(count, grain, body, arg);
  };
  return parallel;
}

// Calls body(begin, end) for ranges that cover [0, count), from several threads when count is above `grain`.
template <class Body>
void parallel_for(int64_t count, int64_t grain, Body&& body) {
  if (count <= 0) return;
  if (count <= grain) {
    body(int64_t{0}, count);
    return;
  }
  engine::parallel_for(runtime_pool(), count, grain, body);
}

}  // namespace pteron::kernels
