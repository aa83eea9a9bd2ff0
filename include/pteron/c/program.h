/*
 * Program: a verified file. Immutable and shared between threads.
 *
 *   pteron_program* program = NULL;
 *   pteron_status* status = pteron_program_load_file("model.pte", NULL, &program);
 *   if (status) { fprintf(stderr, "%s\n", pteron_status_message(status)); pteron_status_free(status); }
 */
#ifndef PTERON_C_PROGRAM_H_
#define PTERON_C_PROGRAM_H_

#include <stddef.h>
#include <stdint.h>

#include "pteron/c/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pteron_program pteron_program;

/* Where bytes come from when they are neither a file nor in memory. All functions may be called from any thread. */
typedef struct pteron_data_source {
  size_t struct_size;
  void* user;
  uint64_t size; /* bytes in all */
  /* Copies `size` bytes at `offset` to `out`. Returns how many bytes were copied; fewer is an error. */
  size_t (*read)(void* user, uint64_t offset, void* out, size_t size);
  void (*release)(void* user); /* called once when the program no longer needs the source; may be null */
} pteron_data_source;

/* Zero-initialise, set struct_size = sizeof, then what differs. */
typedef struct pteron_load_options {
  size_t struct_size;
  const char* const* data_paths; /* [data_path_count] `.ptd` files; "" entries are ignored */
  size_t data_path_count;
  /* Read files into memory instead of mapping them: for files that may change or shrink while they are in use. A mapped
   * file must not be truncated: touching a lost page would kill the process. */
  int32_t copy_files;
  int32_t reserved;
  uint64_t max_memory; /* largest sum of planned buffers a method may ask for, in bytes; 0: 64 GiB */
} pteron_load_options;

/* Maps and verifies a `.pte` file, or the program inside a `.bpte`. Every check is made whatever the build type.
 * Errors: PTERON_NOT_FOUND, PTERON_IO, PTERON_INVALID_FILE, PTERON_UNSUPPORTED, PTERON_OUT_OF_MEMORY. `options` may be
 * null. */
PTERON_EXPORT pteron_status* pteron_program_load_file(const char* path, const pteron_load_options* options,
                                                      pteron_program** out);

/* The same from an open file: `size` bytes at `offset` (0: to the end of the file). The descriptor is not kept. */
PTERON_EXPORT pteron_status* pteron_program_load_fd(int fd, uint64_t offset, uint64_t size,
                                                    const pteron_load_options* options, pteron_program** out);

/* The same from bytes. With `release` the bytes are borrowed until it is called with `user` (once, also when loading
 * fails); without it they are copied. Borrowed bytes aligned to less than 16 are copied too. */
PTERON_EXPORT pteron_status* pteron_program_load_bytes(const void* data, size_t size, void (*release)(void* user),
                                                       void* user, const pteron_load_options* options,
                                                       pteron_program** out);

/* The same from a caller's source, which is read whole, once. `release` is called also when loading fails. */
PTERON_EXPORT pteron_status* pteron_program_load_source(const pteron_data_source* source,
                                                        const pteron_load_options* options, pteron_program** out);

/* References: every load returns one. Plans and bundles keep their program alive. Thread-safe. */
PTERON_EXPORT void pteron_program_retain(pteron_program* program);
PTERON_EXPORT void pteron_program_release(pteron_program* program);

/* ---- What is in it: all pointers below live as long as the program. ------------------------------------------ */

typedef enum pteron_shape_dynamism { PTERON_SHAPE_STATIC = 0, PTERON_SHAPE_BOUNDED = 1 } pteron_shape_dynamism;

/* An input or output of a method. */
typedef struct pteron_value_info {
  size_t struct_size;
  const char* name;         /* from the file when it has one, else "" */
  int32_t kind;             /* pteron_kind */
  int32_t dtype;            /* tensors: pteron_dtype */
  int32_t rank;             /* tensors */
  int32_t dynamism;         /* tensors: pteron_shape_dynamism; bounded: `sizes` are upper bounds */
  const int64_t* sizes;     /* [rank] */
  const uint8_t* dim_order; /* [rank] */
  uint64_t bytes;           /* tensors: at the upper bound */
  int32_t planned;          /* the program's memory plan has room for it: a planned input is copied in */
  int32_t reserved;
  pteron_value scalar; /* inputs that are int, bool, double, string: the value the program was exported with */
} pteron_value_info;

/* An operator a method calls. */
typedef struct pteron_operator_info {
  size_t struct_size;
  const char* name; /* "aten::add.out" */
  uint64_t calls;   /* how many instructions call it */
} pteron_operator_info;

/* A delegated part of a method. */
typedef struct pteron_delegate_info {
  size_t struct_size;
  const char* id;
  uint64_t payload_bytes;
  const char* const* spec_keys; /* [spec_count] */
  const void* const* spec_values;
  const size_t* spec_sizes;
  size_t spec_count;
} pteron_delegate_info;

typedef struct pteron_method_info {
  size_t struct_size;
  const char* name;
  const pteron_value_info* const* inputs;
  size_t input_count;
  const pteron_value_info* const* outputs;
  size_t output_count;
  const pteron_operator_info* const* operators;
  size_t operator_count;
  const pteron_delegate_info* const* delegates;
  size_t delegate_count;
  const uint64_t* buffer_bytes; /* [buffer_count]: the file's memory plan */
  size_t buffer_count;
  size_t value_count;
  size_t instruction_count;
  const char* input_spec; /* the exporter's container description, or "" */
  const char* output_spec;
} pteron_method_info;

PTERON_EXPORT size_t pteron_program_method_count(const pteron_program* program);
/* Null when `index` is out of range. */
PTERON_EXPORT const pteron_method_info* pteron_program_method(const pteron_program* program, size_t index);
/* Null when there is no such method. */
PTERON_EXPORT const pteron_method_info* pteron_program_find_method(const pteron_program* program, const char* name);

/* One instruction as text, for people. */
typedef struct pteron_instruction_info {
  size_t struct_size;
  const char* text;   /* "aten::add.out(%0, %1, 1) -> %5" */
  const char* source; /* "model.py:12 forward: x + y", or "" */
  int32_t chain;
  int32_t index;
} pteron_instruction_info;

/* Calls `visit` for each instruction of a method, in order. The info lives during the call. */
PTERON_EXPORT pteron_status* pteron_program_visit_instructions(const pteron_program* program, const char* method,
                                                               void (*visit)(void* user,
                                                                             const pteron_instruction_info* info),
                                                               void* user);

/* A segment of the file. */
typedef struct pteron_segment_info {
  size_t struct_size;
  uint64_t offset; /* from the start of the file */
  uint64_t bytes;
} pteron_segment_info;

PTERON_EXPORT size_t pteron_program_segment_count(const pteron_program* program);
PTERON_EXPORT pteron_status* pteron_program_segment(const pteron_program* program, size_t index,
                                                    pteron_segment_info* out);

/* A tensor that the program takes from a data file, or a blob it holds by key. */
typedef struct pteron_key_info {
  size_t struct_size;
  const char* key;
  uint64_t bytes;
  int32_t external; /* 1: needed from a `.ptd` file; 0: a named blob inside the program */
  int32_t found;    /* external: a data file that holds it was given */
} pteron_key_info;

PTERON_EXPORT size_t pteron_program_key_count(const pteron_program* program);
PTERON_EXPORT pteron_status* pteron_program_key(const pteron_program* program, size_t index, pteron_key_info* out);

/* ---- Bundles: a program with test cases (`.bpte`). ----------------------------------------------------------- */

typedef struct pteron_bundle pteron_bundle;

/* Loads a `.bpte`. PTERON_INVALID_FILE when it is not one. The bundle holds its program, verified as any other. */
PTERON_EXPORT pteron_status* pteron_bundle_load_file(const char* path, const pteron_load_options* options,
                                                     pteron_bundle** out);
PTERON_EXPORT void pteron_bundle_release(pteron_bundle* bundle);
/* Borrowed from the bundle. */
PTERON_EXPORT pteron_program* pteron_bundle_program(const pteron_bundle* bundle);
/* Cases of a method; 0 when it has none. */
PTERON_EXPORT size_t pteron_bundle_case_count(const pteron_bundle* bundle, const char* method);
/* Inputs and expected outputs of a case, borrowed from the bundle; PTERON_NOT_FOUND for a case that is not there. */
PTERON_EXPORT pteron_status* pteron_bundle_case(const pteron_bundle* bundle, const char* method, size_t index,
                                                const pteron_value* const** inputs, size_t* input_count,
                                                const pteron_value* const** expected, size_t* expected_count);

#ifdef __cplusplus
}
#endif

#endif /* PTERON_C_PROGRAM_H_ */
