/*
 * The runtime of the process: version, log, threads, registry, loading of components.
 */
#ifndef PTERON_C_RUNTIME_H_
#define PTERON_C_RUNTIME_H_

#include <stddef.h>
#include <stdint.h>

#include "pteron/c/component.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "1.0.0" */
PTERON_EXPORT const char* pteron_version(void);

/* ---- Log ---------------------------------------------------------------------------------------------------- */

typedef enum pteron_log_level {
  PTERON_LOG_DEBUG = 0,
  PTERON_LOG_INFO = 1,
  PTERON_LOG_WARNING = 2,
  PTERON_LOG_ERROR = 3,
  PTERON_LOG_OFF = 4
} pteron_log_level;

/* Receives a line without its newline. May be called from any thread, several at once. Must not throw. */
typedef void (*pteron_log_callback)(void* user, int level, const char* component, const char* message);

/* Replaces the receiver of log lines; null restores the default (standard error). Thread-safe, but a call in flight may
 * still use the old one. */
PTERON_EXPORT void pteron_set_log_callback(pteron_log_callback callback, void* user);

/* Lines below `level` are dropped before they are formatted. The default is PTERON_LOG_WARNING, or the environment
 * variable PTERON_LOG_LEVEL (debug, info, warning, error, off). */
PTERON_EXPORT void pteron_set_log_level(int level);
PTERON_EXPORT int pteron_get_log_level(void);

/* Writes a line to the log. */
PTERON_EXPORT void pteron_log(int level, const char* component, const char* format, ...) PTERON_PRINTF(3, 4);

/* ---- Threads ------------------------------------------------------------------------------------------------ */

/* Sets how many threads work on one parallel loop, the caller's included. 0 restores the default: the least of the
 * process's affinity, its cgroup quota and the physical cores, or the environment variable PTERON_NUM_THREADS. Fails
 * with PTERON_INVALID_ARGUMENT for a negative number or one above 1024. Takes effect at the next loop. Thread-safe. */
PTERON_EXPORT pteron_status* pteron_set_thread_count(int threads);

/* ---- Registry ----------------------------------------------------------------------------------------------- */

/* Loads libpteron_<name>.so, from `path` when it is not null, else from PTERON_BACKEND_PATH, else from the folder of
 * libpteron.so. The library registers itself and stays loaded. PTERON_NOT_FOUND lists every path tried with the
 * loader's words. Thread-safe. */
PTERON_EXPORT pteron_status* pteron_load_component(const char* name, const char* path);

/* Calls `visit` for each registered component, refused ones included, in order of registration. */
PTERON_EXPORT void pteron_visit_components(void (*visit)(void* user, const pteron_component* component), void* user);

/* The kernel registered for "namespace::name.overload", or null. Loads nothing. Thread-safe. */
PTERON_EXPORT const pteron_kernel* pteron_find_kernel(const char* name);

/* The backend registered under `id`, or null. Loads nothing. Thread-safe. */
PTERON_EXPORT const pteron_backend* pteron_find_backend(const char* id);

#ifdef __cplusplus
}
#endif

#endif /* PTERON_C_RUNTIME_H_ */
