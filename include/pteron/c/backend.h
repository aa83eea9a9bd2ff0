/*
 * Backends: how a library runs the delegated parts of a program. A backend is a static table of functions; everything
 * it needs from the runtime comes through a host table, so that a delegate library imports one function of libpteron,
 * pteron_register_component() (see component.h).
 */
#ifndef PTERON_C_BACKEND_H_
#define PTERON_C_BACKEND_H_

#include "pteron/c/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface in this header. A backend built for a newer minor version works as long as the host has at
 * least its `min_host_minor`; another major version is refused. */
enum { PTERON_BACKEND_ABI_MAJOR = 1, PTERON_BACKEND_ABI_MINOR = 0 };

/* What a backend call may ask of the runtime; valid during that call, in the calling thread. */
typedef struct pteron_backend_context pteron_backend_context;

typedef struct pteron_bytes {
  const void* data;
  size_t size;
} pteron_bytes;

typedef struct pteron_compile_spec {
  const char* key; /* zero-terminated */
  pteron_bytes value;
} pteron_compile_spec;

/* Services of the runtime. Append-only; `struct_size` and the version say what is there. All functions are thread-safe
 * unless they take a context, which belongs to one call. */
typedef struct pteron_host {
  size_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;
  uint32_t reserved;

  /* Writes to the process's log; `level` is a pteron_log_level. */
  void (*log)(int level, const char* component, const char* message);
  /* Records why the call fails, returns `code`. The text should hold the foreign library's own words. */
  int (*fail)(pteron_backend_context* context, int code, const char* message);
  /* Memory that lives as long as the handle being made (in init) or used (in execute). 64-byte aligned; null when
   * memory is short. */
  void* (*allocate)(pteron_backend_context* context, size_t bytes);
  /* Memory until the call returns. 64-byte aligned; null when memory is short. */
  void* (*allocate_temporary)(pteron_backend_context* context, size_t bytes);
  /* Changes an output's sizes before it is written; 0 or a code with the failure recorded in the context. */
  int (*resize)(pteron_backend_context* context, pteron_tensor* tensor, const int64_t* sizes, int32_t rank);
  /* A blob of the program by key; valid as long as the handle. 0, or PTERON_NOT_FOUND with the key recorded. */
  int (*named_data)(pteron_backend_context* context, const char* key, pteron_bytes* out);
  /* Tells the host that the payload given to init is no longer read, so that its pages can go. Only in init. */
  void (*release_payload)(pteron_backend_context* context);
  /* A load-time option for this backend, or null. Valid during the call. */
  const char* (*option)(pteron_backend_context* context, const char* key);
  /* The thread pool, as pteron_parallel_for and pteron_thread_count. */
  void (*parallel_for)(int64_t count, int64_t grain, void (*body)(void* arg, int64_t begin, int64_t end), void* arg);
  int (*thread_count)(void);
  /* Nonzero when the caller asked for the run to stop; a long execute looks at it now and then. */
  int (*cancelled)(pteron_backend_context* context);
} pteron_host;

/* One delegated part as init sees it. All pointers live until init returns; the payload until release_payload or the
 * handle's end. */
typedef struct pteron_delegate {
  size_t struct_size;
  const char* method_name;
  pteron_bytes payload;
  const pteron_compile_spec* compile_specs;
  size_t compile_spec_count;
} pteron_delegate;

/* A backend. Static data of its library; append-only. `self` is the table itself. Functions return PTERON_OK or the
 * result of host->fail(). */
typedef struct pteron_backend {
  size_t struct_size;
  uint16_t abi_major;      /* PTERON_BACKEND_ABI_MAJOR */
  uint16_t abi_minor;      /* PTERON_BACKEND_ABI_MINOR */
  uint16_t min_host_minor; /* the oldest host minor this backend works with */
  uint16_t reserved;
  const char* id; /* as in the program file: [A-Za-z][A-Za-z0-9_]{0,63} */

  /* PTERON_OK when the backend can run here, else a code with the reason. Called before each init; a failed answer may
   * change later (a library got installed). Any thread. */
  int (*available)(const struct pteron_backend* self, const pteron_host* host, pteron_backend_context* context);
  /* Makes a handle for one delegated part. On failure nothing is left behind. Different parts may be initialised in
   * several threads at once. */
  int (*init)(const struct pteron_backend* self, const pteron_host* host, pteron_backend_context* context,
              const pteron_delegate* delegate, void** handle);
  /* Runs the part: inputs, then outputs. One thread per handle at a time. */
  int (*execute)(const struct pteron_backend* self, const pteron_host* host, pteron_backend_context* context,
                 void* handle, pteron_value* const* args, size_t count);
  /* Frees a handle that init made. Never while it executes. */
  void (*destroy)(const struct pteron_backend* self, void* handle);

  /* Optional: run-time options of the backend as a whole, as strings; null when there are none. `get_option` returns a
   * text valid until the next set_option, or null. */
  int (*set_option)(const struct pteron_backend* self, const pteron_host* host, pteron_backend_context* context,
                    const char* key, const char* value);
  const char* (*get_option)(const struct pteron_backend* self, const char* key);
} pteron_backend;

#ifdef __cplusplus
}
#endif

#endif /* PTERON_C_BACKEND_H_ */
