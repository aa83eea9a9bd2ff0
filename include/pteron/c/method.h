/*
 * Plan: one method of a program prepared for this machine; immutable, shared. Method: an instance that runs it; one
 * thread at a time.
 */
#ifndef PTERON_C_METHOD_H_
#define PTERON_C_METHOD_H_

#include <stddef.h>
#include <stdint.h>

#include "pteron/c/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Plan ----------------------------------------------------------------------------------------------------- */

typedef struct pteron_plan pteron_plan;

typedef enum pteron_planner {
  PTERON_PLANNER_AUTO = 0, /* the file's memory plan when it is sound, else the runtime's own */
  PTERON_PLANNER_FILE = 1, /* the file's; refused when values that are alive at once overlap */
  PTERON_PLANNER_OWN = 2   /* the runtime's own, from the lifetimes of values */
} pteron_planner;

/* An option for one backend: {"OpenvinoBackend", "num_threads", "2"}. */
typedef struct pteron_backend_option {
  const char* backend;
  const char* key;
  const char* value;
} pteron_backend_option;

/* Zero-initialise, set struct_size = sizeof, then what differs. */
typedef struct pteron_plan_options {
  size_t struct_size;
  int32_t planner;      /* pteron_planner */
  int32_t no_auto_load; /* 1: never load a component library; use only what is linked or was loaded by name */
  const pteron_backend_option* backend_options;
  size_t backend_option_count;
} pteron_plan_options;

/* Prepares `method` of `program`: resolves every operator and backend, prepares kernels, plans memory. Errors:
 * PTERON_NOT_FOUND (the message lists the methods there are), PTERON_MISSING_OPERATOR and PTERON_MISSING_BACKEND (all
 * that are missing at once, by name and dtype), PTERON_NOT_FOUND for the first missing external key,
 * PTERON_INVALID_FILE for a call that does not fit its operator's schema, PTERON_OUT_OF_MEMORY. `options` may be null.
 * Thread-safe. */
PTERON_EXPORT pteron_status* pteron_plan_create(pteron_program* program, const char* method,
                                                const pteron_plan_options* options, pteron_plan** out);
PTERON_EXPORT void pteron_plan_retain(pteron_plan* plan);
PTERON_EXPORT void pteron_plan_release(pteron_plan* plan);
PTERON_EXPORT const pteron_method_info* pteron_plan_method_info(const pteron_plan* plan);

/* Memory of the plan in force, in bytes: what each method instance needs in all, and what the plan itself holds (packed
 * weights), shared by its instances. */
PTERON_EXPORT uint64_t pteron_plan_arena_bytes(const pteron_plan* plan);
PTERON_EXPORT uint64_t pteron_plan_shared_bytes(const pteron_plan* plan);
/* The planner that was used: PTERON_PLANNER_FILE or PTERON_PLANNER_OWN. */
PTERON_EXPORT int pteron_plan_planner(const pteron_plan* plan);

/* What stands between a method and running here, found without preparing it: calls `visit` for each operator without a
 * kernel (code PTERON_MISSING_OPERATOR), each backend that is missing or unavailable (PTERON_MISSING_BACKEND) and each
 * external key without data (PTERON_NOT_FOUND), with the thing's name and a sentence. Fails only for an unknown method.
 */
PTERON_EXPORT pteron_status* pteron_program_visit_missing(
    pteron_program* program, const char* method, const pteron_plan_options* options,
    void (*visit)(void* user, int code, const char* name, const char* sentence), void* user);

/* ---- Method --------------------------------------------------------------------------------------------------- */

typedef struct pteron_method pteron_method;

/* Zero-initialise, set struct_size = sizeof, then what differs. */
typedef struct pteron_method_options {
  size_t struct_size;
  /* Caller's memory for the arena, at least pteron_plan_arena_bytes() and aligned to 64; it must outlive the method.
   * Null: the method allocates its own. */
  void* arena;
  size_t arena_bytes;
  /* Another method whose mutable buffers (state that lives from run to run) this one shares: all of them for an
   * instance of the same plan, else those of the same name or of the same place in a part of the memory plan that the
   * exporter made for sharing. Kept alive. The two must not run at the same time. Null: own state. */
  pteron_method* state_from;
  uint64_t seed; /* of the generator that random operators use; 0: a fixed default */
} pteron_method_options;

/* Makes an instance. Cheap: allocates the arena and copies the initial state. `options` may be null. Thread-safe. */
PTERON_EXPORT pteron_status* pteron_method_create(pteron_plan* plan, const pteron_method_options* options,
                                                  pteron_method** out);
PTERON_EXPORT void pteron_method_destroy(pteron_method* method);

/* Sets input `index` for the runs that follow. A scalar must equal the value the program was exported with, when the
 * program does not read it. A tensor is copied in when the method planned memory for it or its layout differs from the
 * method's (dim order, strides); otherwise it is used in place and must stay valid until the run has ended.
 * PTERON_INVALID_INPUT names the input, what is expected (dtype, sizes with bounds) and what was given. */
PTERON_EXPORT pteron_status* pteron_method_set_input(pteron_method* method, size_t index, const pteron_value* value);

/* Makes the runs that follow write tensor output `index` to the caller's memory. `tensor` is resized to the output's
 * sizes after each run if it is resizable, else its sizes must fit. Null undoes it. */
PTERON_EXPORT pteron_status* pteron_method_bind_output(pteron_method* method, size_t index, pteron_tensor* tensor);

/* Zero-initialise, set struct_size = sizeof, then what differs. */
typedef struct pteron_run_options {
  size_t struct_size;
  const int32_t* cancel;  /* the run stops with PTERON_CANCELLED soon after *cancel becomes nonzero (read atomically) */
  uint64_t time_limit_us; /* 0: none; looked at between instructions */
  uint64_t instruction_budget; /* 0: 2^32 */
} pteron_run_options;

/* Runs the method. Errors: PTERON_INVALID_STATE when an input was never set, PTERON_BUSY when another thread runs it,
 * PTERON_KERNEL_FAILED and PTERON_BACKEND_FAILED with operator and place, PTERON_CANCELLED, PTERON_TIME_LIMIT,
 * PTERON_BUDGET_EXHAUSTED. After a failure the method can be run again; mutable buffers keep what was written so far.
 * `options` may be null. */
PTERON_EXPORT pteron_status* pteron_method_run(pteron_method* method, const pteron_run_options* options);

/* Runs one instruction; `*done` becomes nonzero after the last. A method that is stepped refuses pteron_method_run
 * until the last step, or until pteron_method_abandon_steps(). */
PTERON_EXPORT pteron_status* pteron_method_step(pteron_method* method, const pteron_run_options* options, int* done);
PTERON_EXPORT void pteron_method_abandon_steps(pteron_method* method);

/* Output `index` of the last run, borrowed until the next run; null when out of range or before the first run. */
PTERON_EXPORT const pteron_value* pteron_method_output(const pteron_method* method, size_t index);

/* Puts the mutable buffers back to their initial content. */
PTERON_EXPORT pteron_status* pteron_method_reset_state(pteron_method* method);

/* ---- Tracing: free when off. ----------------------------------------------------------------------------------- */

/* One executed instruction. Lives during the callback. */
typedef struct pteron_trace_event {
  size_t struct_size;
  const char* name; /* operator, "delegate:<id>", "move", "jump_if_false", "free" */
  int32_t chain;
  int32_t instruction;
  uint64_t start_ns; /* CLOCK_MONOTONIC */
  uint64_t duration_ns;
  const pteron_value* const* args; /* as the kernel got them, outputs last */
  size_t arg_count;
  uint64_t bytes; /* of all tensor arguments */
} pteron_trace_event;

/* Calls `callback` after each instruction of the runs that follow, in the running thread; null switches tracing off. */
PTERON_EXPORT void pteron_method_set_trace(pteron_method* method,
                                           void (*callback)(void* user, const pteron_trace_event* event), void* user);

#ifdef __cplusplus
}
#endif

#endif /* PTERON_C_METHOD_H_ */
