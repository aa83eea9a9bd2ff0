// Calls single operators from Python: a shared library over the kernels' and the runtime's internals, for
// against_eager.py.
#include <cstdio>
#include <cstring>

#include "base/thread_pool.h"
#include "kernels/table.h"
#include "pteron/c/component.h"
#include "runtime/kernel_context.h"

namespace {

struct Call {
  const pteron_kernel* row;
  pteron_kernel_context context{0};
  pteron::runtime::PreparedMemory prepared;
};

}  // namespace

extern "C" {

// The schema of an operator from its parenthesis on, or null.
PTERON_EXPORT const char* probe_schema(const char* name) {
  const pteron_kernel* row = pteron::kernels::find_row(name);
  return row == nullptr ? nullptr : row->schema;
}

PTERON_EXPORT size_t probe_count(void) {
  return pteron::kernels::kRowCount;
}

PTERON_EXPORT const char* probe_name(size_t index) {
  return pteron::kernels::kRows[index]->name;
}

PTERON_EXPORT const uint32_t* probe_dtypes(const char* name) {
  const pteron_kernel* row = pteron::kernels::find_row(name);
  return row == nullptr ? nullptr : row->dtypes;
}

PTERON_EXPORT int probe_set_threads(int threads) {
  return pteron::set_thread_count(threads).ok() ? 0 : 1;
}

// Runs an operator `runs` times; with `constants` (the same arguments, null data for what is not constant) it is
// prepared first. Returns a pteron_code; the reason for a failure is written to `error`.
PTERON_EXPORT int probe_call(const char* name, pteron_value* const* args, size_t count, pteron_value* const* constants,
                             int runs, char* error, size_t error_size) {
  Call call{pteron::kernels::find_row(name), pteron_kernel_context(0), {}};
  if (call.row == nullptr) {
    std::snprintf(error, error_size, "no operator %s", name);
    return PTERON_MISSING_OPERATOR;
  }
  int code = PTERON_OK;
  if (constants != nullptr && call.row->prepare != nullptr) {
    call.context.prepared = &call.prepared;
    void* state = nullptr;
    code = call.row->prepare(&call.context, constants, count, &state);
    call.context.state = state;
    call.context.prepared = nullptr;
    call.context.scratch.reset();
  }
  for (int run = 0; run < runs && code == PTERON_OK; ++run) {
    code = call.row->fn(&call.context, args, count);
    call.context.scratch.reset();
  }
  if (call.context.state != nullptr && call.row->destroy != nullptr) call.row->destroy(call.context.state);
  std::snprintf(error, error_size, "%s", call.context.failure.c_str());
  return code;
}
}
