// The objects behind the C interface's opaque pointers. C counts references, C++ shares pointers.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace pteron::runtime {

class Program;
class Plan;
class Method;

template <typename T>
struct CountedHandle {
  explicit CountedHandle(std::shared_ptr<T> shared) : object(std::move(shared)) {}

  std::shared_ptr<T> object;
  std::atomic<int> references{1};
};

template <typename Handle>
void retain(Handle* handle) {
  if (handle != nullptr) handle->references.fetch_add(1, std::memory_order_relaxed);
}

template <typename Handle>
void release(Handle* handle) {
  if (handle != nullptr && handle->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete handle;
}

}  // namespace pteron::runtime

struct pteron_program : pteron::runtime::CountedHandle<const pteron::runtime::Program> {
  using CountedHandle::CountedHandle;
};
struct pteron_plan : pteron::runtime::CountedHandle<const pteron::runtime::Plan> {
  using CountedHandle::CountedHandle;
};
struct pteron_method {
  std::shared_ptr<pteron::runtime::Method> object;
};
