/*
 * Tensors and values as they cross the library boundary: plain structs over memory that somebody else owns.
 */
#ifndef PTERON_C_TENSOR_H_
#define PTERON_C_TENSOR_H_

#include <stddef.h>
#include <stdint.h>

#include "pteron/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element types; the numbers are those of the `.pte` format. */
typedef enum pteron_dtype {
  PTERON_UINT8 = 0,
  PTERON_INT8 = 1,
  PTERON_INT16 = 2,
  PTERON_INT32 = 3,
  PTERON_INT64 = 4,
  PTERON_FLOAT16 = 5,
  PTERON_FLOAT32 = 6,
  PTERON_FLOAT64 = 7,
  PTERON_BOOL = 11,
  PTERON_BFLOAT16 = 15,
  PTERON_FLOAT8_E5M2 = 23,
  PTERON_FLOAT8_E4M3FN = 24,
  PTERON_FLOAT8_E5M2FNUZ = 25,
  PTERON_FLOAT8_E4M3FNUZ = 26,
  PTERON_UINT16 = 27,
  PTERON_UINT32 = 28,
  PTERON_UINT64 = 29
} pteron_dtype;

/* Bytes of one element; 0 for a number that is no element type of Pteron. */
PTERON_EXPORT size_t pteron_dtype_size(int32_t dtype);

/* The name that NumPy and PyTorch users know ("float32", "bfloat16", "bool"); "unknown" for other numbers. */
PTERON_EXPORT const char* pteron_dtype_name(int32_t dtype);

enum { PTERON_MAX_RANK = 16 };

typedef enum pteron_device_type { PTERON_DEVICE_CPU = 0, PTERON_DEVICE_CUDA = 1 } pteron_device_type;

/* Flags of a tensor. */
enum {
  PTERON_TENSOR_RESIZABLE = 1u << 0, /* pteron_tensor_resize may change sizes within the capacity */
  PTERON_TENSOR_READ_ONLY = 1u << 1  /* data must not be written: a constant of the program */
};

/*
 * A view of a dense or strided array. Strides count elements and are the truth about layout; `dim_order` (outer to
 * inner, as in `.pte`) is derived from them and may be null. Rank 0 is a single element; `sizes` and `strides` may then
 * be null. `data` may be null only if a size is 0. `capacity` is how many bytes at `data` the tensor may grow into.
 * Tensors cross as pointers or arrays of pointers, never as arrays of structs, so the struct can grow.
 */
typedef struct pteron_tensor {
  void* data;
  int64_t* sizes;     /* [rank] */
  int64_t* strides;   /* [rank], in elements */
  uint8_t* dim_order; /* [rank] or null */
  size_t capacity;    /* bytes */
  int32_t rank;
  uint8_t dtype;       /* pteron_dtype */
  uint8_t device_type; /* pteron_device_type */
  int8_t device_index;
  uint8_t reserved0;
  uint32_t flags;
  uint32_t reserved1;
  uint8_t reserved[32]; /* zero */
} pteron_tensor;

/* Elements of a tensor; 1 for rank 0. The sizes must be a verified tensor's: the product is not checked. */
PTERON_EXPORT int64_t pteron_tensor_numel(const pteron_tensor* tensor);

/*
 * Changes the sizes of an output. The rank stays, the dim order stays, strides follow. A tensor without
 * PTERON_TENSOR_RESIZABLE accepts only the sizes it has. Fails with PTERON_INVALID_INPUT, naming both shapes, when the
 * rank differs, a size is negative, or the bytes exceed the capacity; the tensor is then unchanged. Not thread-safe.
 */
PTERON_EXPORT pteron_status* pteron_tensor_resize(pteron_tensor* tensor, const int64_t* sizes, int32_t rank);

/* Kinds of values; the numbers are those of the `.pte` format. */
typedef enum pteron_kind {
  PTERON_KIND_NONE = 1,
  PTERON_KIND_INT = 2,
  PTERON_KIND_BOOL = 3,
  PTERON_KIND_DOUBLE = 4,
  PTERON_KIND_TENSOR = 5,
  PTERON_KIND_STRING = 6,
  PTERON_KIND_INT_LIST = 7,
  PTERON_KIND_DOUBLE_LIST = 8,
  PTERON_KIND_BOOL_LIST = 9,
  PTERON_KIND_TENSOR_LIST = 10,
  PTERON_KIND_OPTIONAL_TENSOR_LIST = 11
} pteron_kind;

/* "int", "tensor", "optional tensor list", ...; "unknown" for other numbers. */
PTERON_EXPORT const char* pteron_kind_name(int32_t kind);

/* Flags of a value. */
enum {
  PTERON_VALUE_COMPUTED = 1u << 0 /* its content is only known while running (seen by a kernel's `prepare`) */
};

/* One argument, input or output. Pointers belong to whoever made the value. */
typedef struct pteron_value {
  int32_t kind; /* pteron_kind; says which member counts */
  uint32_t flags;
  union {
    int64_t as_int;
    double as_double;
    uint8_t as_bool; /* 0 or 1 */
    pteron_tensor* tensor;
    struct {
      const char* data; /* zero-terminated beyond size */
      size_t size;
    } string;
    struct {
      const int64_t* items;
      size_t count;
    } int_list;
    struct {
      const double* items;
      size_t count;
    } double_list;
    struct {
      const uint8_t* items; /* 0 or 1 each */
      size_t count;
    } bool_list;
    struct {
      pteron_tensor* const* items; /* in an optional list a null entry is "none" */
      size_t count;
    } tensor_list;
  } as;
} pteron_value;

#ifdef __cplusplus
}
#endif

#endif /* PTERON_C_TENSOR_H_ */
