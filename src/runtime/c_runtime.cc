// The C functions of pteron/c/runtime.h, and the thread pool's of pteron/c/kernel.h.
#include "pteron/c/runtime.h"

#include <cstdarg>

#include "base/error.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "runtime/component_loader.h"
#include "runtime/guard.h"
#include "runtime/registry.h"

using pteron::runtime::guard;

const char* pteron_version(void) {
  return PTERON_VERSION;
}

void pteron_set_log_callback(pteron_log_callback callback, void* user) {
  pteron::set_log_callback(callback, user);
}

void pteron_set_log_level(int level) {
  pteron::set_log_level(level);
}

int pteron_get_log_level(void) {
  return pteron::log_level();
}

void pteron_log(int level, const char* component, const char* format, ...) {
  va_list args;
  va_start(args, format);
  pteron::vlog(level, component, format, args);
  va_end(args);
}

pteron_status* pteron_set_thread_count(int threads) {
  return guard([&] { return pteron::set_thread_count(threads); });
}

int pteron_thread_count(void) {
  return pteron::thread_count();
}

void pteron_parallel_for(int64_t count, int64_t grain, void (*body)(void* arg, int64_t begin, int64_t end), void* arg) {
  pteron::parallel_for(count, grain, body, arg);
}

pteron_status* pteron_load_component(const char* name, const char* path) {
  return guard([&] {
    if (name == nullptr) return pteron::error(PTERON_INVALID_ARGUMENT, "the name of a component is null");
    return pteron::runtime::load_component(name, path);
  });
}

void pteron_visit_components(void (*visit)(void* user, const pteron_component* component), void* user) {
  // A failed index only hides conflicts from the notes; the caller's own exceptions are not ours to pass through C.
  [[maybe_unused]] const pteron::Status status = pteron::Status::adopt(guard([&] {
    pteron::runtime::visit_components(visit, user);
    return pteron::Status();
  }));
}

const pteron_kernel* pteron_find_kernel(const char* name) {
  const pteron_kernel* found = nullptr;
  const pteron::Status status = pteron::Status::adopt(guard([&] {
    const pteron::runtime::KernelEntry* entry = name == nullptr ? nullptr : pteron::runtime::find_kernel(name);
    if (entry != nullptr) found = entry->kernel;
    return pteron::Status();
  }));
  return status.ok() ? found : nullptr;
}

const pteron_backend* pteron_find_backend(const char* id) {
  const pteron_backend* found = nullptr;
  const pteron::Status status = pteron::Status::adopt(guard([&] {
    if (id != nullptr) found = pteron::runtime::find_backend(id);
    return pteron::Status();
  }));
  return status.ok() ? found : nullptr;
}
