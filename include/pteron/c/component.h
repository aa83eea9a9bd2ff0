/*
 * Components: what a library registers with the one registry of the process, when it is linked, loaded on demand, or by
 * an explicit call.
 */
#ifndef PTERON_C_COMPONENT_H_
#define PTERON_C_COMPONENT_H_

#include "pteron/c/backend.h"
#include "pteron/c/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A static node of the registering library; it stays linked in the registry for the life of the process. */
typedef struct pteron_component {
  size_t struct_size;
  uint16_t abi_major;      /* PTERON_BACKEND_ABI_MAJOR */
  uint16_t abi_minor;      /* PTERON_BACKEND_ABI_MINOR */
  uint16_t min_host_minor; /* the oldest host minor this component works with */
  uint16_t reserved;
  const char* name;                    /* "kernels", "backend_null", or the library's own for custom operators */
  const char* version;                 /* its release, for people */
  const pteron_kernel* const* kernels; /* [kernel_count] */
  size_t kernel_count;
  const pteron_backend* const* backends; /* [backend_count] */
  size_t backend_count;
  /* Written by the registry; zero-initialised by the library. */
  struct pteron_component* next;
  int32_t status;          /* a pteron_code: PTERON_OK when registered */
  const char* status_note; /* static text or the name of the component that was first */
} pteron_component;

/*
 * Links `component` into the registry. Allocates nothing, opens nothing, never aborts; may run before main. Registering
 * the same node again is allowed and does nothing. Returns a pteron_code: PTERON_ALREADY_EXISTS when another component
 * of that name is registered (the first stays), PTERON_UNSUPPORTED when the versions do not fit; the reason is kept in
 * the node and shown by `pteron doctor`. Thread-safe.
 */
PTERON_EXPORT int pteron_register_component(pteron_component* component);

#ifdef __cplusplus
}
#endif

#endif /* PTERON_C_COMPONENT_H_ */
