/*
 * Kernels: how a library teaches the runtime an operator. Custom operators use the same record as Pteron's own.
 *
 * In C++ prefer `pteron/kernel.h`, whose PTERON_KERNEL deduces kinds from a function's signature and catches
 * exceptions.
 */
#ifndef PTERON_C_KERNEL_H_
#define PTERON_C_KERNEL_H_

#include "pteron/c/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel may ask of the runtime during one call; valid only during that call, in the calling thread. */
typedef struct pteron_kernel_context pteron_kernel_context;

/* Runs the operator on `args` (in the schema's order, outputs last). Returns PTERON_OK or the result of
 * pteron_kernel_fail(). Out tensors are pre-allocated; the kernel resizes them with pteron_kernel_resize(). Called from
 * one thread per method, but for several methods at once: a kernel keeps no state of its own outside `state`. */
typedef int (*pteron_kernel_fn)(pteron_kernel_context* context, pteron_value* const* args, size_t count);

/* Optional, called once when a plan is made: prepares what does not change between runs, e.g. packs a constant weight.
 * In `args`, a tensor whose `data` is set is a constant; every other tensor has null data and its upper-bound sizes;
 * scalars and lists that are known only while running carry PTERON_VALUE_COMPUTED. `*state` stays null when there is
 * nothing to prepare. The state is shared by all methods of the plan and must not change afterwards. */
typedef int (*pteron_kernel_prepare_fn)(pteron_kernel_context* context, pteron_value* const* args, size_t count,
                                        void** state);

#define PTERON_DTYPE_BIT(dtype) (1u << (dtype))

/* A table of these is static data of the library that registers it. Append-only: `struct_size` says how much is there.
 */
typedef struct pteron_kernel {
  size_t struct_size; /* sizeof(pteron_kernel) of the library that made the record */
  const char* name;   /* "namespace::operator.overload", e.g. "aten::add.out" */
  /* The operator's schema from its parenthesis on, e.g. "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)". Fixes arity,
   * kinds and which arguments are written; every call of a program is checked against it at load. */
  const char* schema;
  /* One mask of PTERON_DTYPE_BIT per argument that is a tensor, optional tensor or tensor list, in order; 0 in the
   * first entry, or a null pointer: any dtype everywhere. A program that uses another dtype is refused at load. */
  const uint32_t* dtypes;
  int32_t device_type; /* pteron_device_type whose memory the kernel works on */
  int32_t reserved;
  pteron_kernel_fn fn;
  pteron_kernel_prepare_fn prepare; /* or null */
  void (*destroy)(void* state);     /* or null: releases what is not in memory of pteron_kernel_allocate */
} pteron_kernel;

/* Records why the call fails and returns `code`, to be returned by the kernel. printf-style; the runtime adds the
 * operator's name and the place in the program. */
PTERON_EXPORT int pteron_kernel_fail(pteron_kernel_context* context, int code, const char* format, ...)
    PTERON_PRINTF(3, 4);

/* As pteron_tensor_resize, with the error kept in the context. */
PTERON_EXPORT int pteron_kernel_resize(pteron_kernel_context* context, pteron_tensor* tensor, const int64_t* sizes,
                                       int32_t rank);

/* Scratch memory aligned to 64 bytes, freed when the call returns; null (and a recorded failure) when memory is short.
 * Reused between calls: cheap. */
PTERON_EXPORT void* pteron_kernel_scratch(pteron_kernel_context* context, size_t bytes);

/* Memory for what `prepare` makes: aligned to 64 bytes, lives as long as the plan and is counted in
 * pteron_plan_shared_bytes(). Only during `prepare`; null (and a recorded failure) when memory is short. */
PTERON_EXPORT void* pteron_kernel_allocate(pteron_kernel_context* context, size_t bytes);

/* What `prepare` made, or null. */
PTERON_EXPORT void* pteron_kernel_state(pteron_kernel_context* context);

/* 64 random bits from the method's generator (see the method option `seed`). */
PTERON_EXPORT uint64_t pteron_kernel_random(pteron_kernel_context* context);

/* The runtime's one thread pool: splits [0, count) into ranges of at least `grain` and calls `body` for each, in
 * several threads at once. Returns when all are done. Calls from inside a body run inline. Never fails; `body` must not
 * throw. */
PTERON_EXPORT void pteron_parallel_for(int64_t count, int64_t grain,
                                       void (*body)(void* arg, int64_t begin, int64_t end), void* arg);

/* Threads that pteron_parallel_for uses, the caller's included; at least 1. */
PTERON_EXPORT int pteron_thread_count(void);

#ifdef __cplusplus
}
#endif

#endif /* PTERON_C_KERNEL_H_ */
