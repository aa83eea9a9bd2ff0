#include "runtime/host.h"

#include <cstdlib>

#include "base/checked.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "pteron/c/runtime.h"
#include "runtime/backend_instance.h"

namespace pteron::runtime {
namespace {

constexpr size_t kBlockAlignment = 64;

void host_log(int level, const char* component, const char* message) {
  log(level, component, "%s", message != nullptr ? message : "");
}

// The first failure of a call is its reason; what a backend says while it cleans up is not.
int host_fail(pteron_backend_context* context, int code, const char* message) {
  if (code == PTERON_OK) code = PTERON_BACKEND_FAILED;
  if (context->code != PTERON_OK) return code;
  context->code = code;
  try {
    context->message = message != nullptr ? message : "";
  } catch (...) {
    context->code = PTERON_OUT_OF_MEMORY;
  }
  return code;
}

void* host_allocate(pteron_backend_context* context, size_t bytes) {
  return context->lasting == nullptr ? nullptr : context->lasting->allocate(bytes);
}

void* host_allocate_temporary(pteron_backend_context* context, size_t bytes) {
  return context->temporary == nullptr ? nullptr : context->temporary->allocate(bytes);
}

int host_resize(pteron_backend_context* context, pteron_tensor* tensor, const int64_t* sizes, int32_t rank) {
  pteron_status* status = pteron_tensor_resize(tensor, sizes, rank);
  if (status == nullptr) return PTERON_OK;
  const int code = host_fail(context, pteron_status_code(status), pteron_status_message(status));
  pteron_status_free(status);
  return code;
}

int host_named_data(pteron_backend_context* context, const char* key, pteron_bytes* out) {
  if (key == nullptr) return host_fail(context, PTERON_INVALID_ARGUMENT, "asked for named data without a key");
  try {
    if (context->data != nullptr && context->data->named_data(key, out)) return PTERON_OK;
    return host_fail(context, PTERON_NOT_FOUND, format_text("the program has no named data '%s'", key).c_str());
  } catch (...) {
    return host_fail(context, PTERON_OUT_OF_MEMORY, "out of memory");
  }
}

void host_release_payload(pteron_backend_context* context) {
  context->payload_released = true;
}

const char* host_option(pteron_backend_context* context, const char* key) {
  if (context->options == nullptr || key == nullptr) return nullptr;
  for (const BackendOption& option : *context->options) {
    if (option.key == key) return option.value.c_str();
  }
  return nullptr;
}

void host_parallel_for(int64_t count, int64_t grain, void (*body)(void* arg, int64_t begin, int64_t end), void* arg) {
  parallel_for(count, grain, body, arg);
}

int host_cancelled(pteron_backend_context* context) {
  return context->cancel != nullptr && __atomic_load_n(context->cancel, __ATOMIC_RELAXED) != 0 ? 1 : 0;
}

}  // namespace

void* BlockList::allocate(size_t bytes) {
  uint64_t rounded = 0;
  if (!checked_align(bytes == 0 ? 1 : bytes, kBlockAlignment, &rounded)) return nullptr;
  try {
    blocks_.reserve(blocks_.size() + 1);
  } catch (...) {
    return nullptr;
  }
  void* block = std::aligned_alloc(kBlockAlignment, rounded);
  if (block != nullptr) blocks_.push_back(block);
  return block;
}

void BlockList::clear() {
  for (void* block : blocks_) std::free(block);
  blocks_.clear();
}

constinit const pteron_host kHost = {
    sizeof(pteron_host),
    PTERON_BACKEND_ABI_MAJOR,
    PTERON_BACKEND_ABI_MINOR,
    0,
    host_log,
    host_fail,
    host_allocate,
    host_allocate_temporary,
    host_resize,
    host_named_data,
    host_release_payload,
    host_option,
    host_parallel_for,
    thread_count,
    host_cancelled,
};

}  // namespace pteron::runtime
