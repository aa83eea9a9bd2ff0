/*
 * Errors. A function that can fail returns a `pteron_status*`: null is success, otherwise the caller owns the object
 * and gives it back with pteron_status_free(). It carries a code, to act on, and one sentence for a person: what
 * failed, where, what was expected, what was found and what to do.
 */
#ifndef PTERON_C_STATUS_H_
#define PTERON_C_STATUS_H_

#include "pteron/c/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Append-only; the numbers are part of the ABI. */
typedef enum pteron_code {
  PTERON_OK = 0,
  PTERON_INTERNAL = 1,         /* a fault of Pteron itself; please report it */
  PTERON_INVALID_ARGUMENT = 2, /* a call was made with unusable arguments */
  PTERON_INVALID_INPUT = 3,    /* an input or output tensor does not fit the method */
  PTERON_INVALID_STATE = 4,    /* right call, wrong moment: an input is not set, a step run is in progress */
  PTERON_INVALID_FILE = 5,     /* the file is damaged, or asks for something no sound file asks for */
  PTERON_UNSUPPORTED = 6,      /* a sound request that this build cannot serve */
  PTERON_NOT_FOUND = 7,        /* no such file, method, key, option */
  PTERON_ALREADY_EXISTS = 8,   /* a name is taken; the message names the holder */
  PTERON_MISSING_OPERATOR = 9, /* no kernel is registered for an operator of the method */
  PTERON_MISSING_BACKEND = 10, /* no usable backend for a delegated part of the method */
  PTERON_BACKEND_FAILED = 11,  /* a backend refused or failed; the message carries its own words */
  PTERON_KERNEL_FAILED = 12,   /* an operator refused its arguments while running */
  PTERON_BUSY = 13,            /* the method is running in another thread */
  PTERON_OUT_OF_MEMORY = 14,
  PTERON_CANCELLED = 15,        /* the caller's cancel flag was set */
  PTERON_TIME_LIMIT = 16,       /* the caller's time limit ran out */
  PTERON_BUDGET_EXHAUSTED = 17, /* the caller's instruction budget ran out: an endless loop? */
  PTERON_IO = 18                /* the operating system failed to read or map */
} pteron_code;

typedef struct pteron_status pteron_status;

/* Makes a status with a copy of `message`. Never null for a code other than PTERON_OK: when memory is short, a shared
 * object that says so is returned. Thread-safe. */
PTERON_EXPORT pteron_status* pteron_status_create(pteron_code code, const char* message);

/* The code; PTERON_OK for null. Thread-safe. */
PTERON_EXPORT pteron_code pteron_status_code(const pteron_status* status);

/* The sentence, zero-terminated, valid until the status is freed; "" for null. Thread-safe. */
PTERON_EXPORT const char* pteron_status_message(const pteron_status* status);

/* Frees the status; null is allowed. */
PTERON_EXPORT void pteron_status_free(pteron_status* status);

/* The name of a code in the source's spelling without the prefix ("INVALID_FILE"); "UNKNOWN" for other numbers. */
PTERON_EXPORT const char* pteron_code_name(pteron_code code);

#ifdef __cplusplus
}
#endif

#endif /* PTERON_C_STATUS_H_ */
