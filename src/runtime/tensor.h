// Tensors inside the runtime: the boundary's struct with room for what it points at, layouts, copies, messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pteron/c/tensor.h"
#include "pteron/result.h"

namespace pteron::runtime {

// A pteron_tensor together with the arrays it points at. Copies bind to themselves; `data` stays the original's.
struct TensorStorage {
  pteron_tensor tensor{};
  int64_t sizes[PTERON_MAX_RANK]{};
  int64_t strides[PTERON_MAX_RANK]{};
  uint8_t dim_order[PTERON_MAX_RANK]{};

  TensorStorage() { bind(); }
  TensorStorage(const TensorStorage& other) { *this = other; }
  TensorStorage& operator=(const TensorStorage& other);

  // Points the tensor at this object's arrays.
  void bind();
  // Sets dtype, rank, sizes, dim order (null: row-major) and the strides that follow. The numbers must be verified:
  // rank <= PTERON_MAX_RANK, sizes >= 0, a product that fits, a permutation. Data, capacity and flags stay.
  void set_shape(int32_t dtype, int32_t rank, const int64_t* new_sizes, const uint8_t* new_dim_order);
};

// Strides, in elements, of a dense tensor whose dims lie in memory in `dim_order` (outer to inner; null: row-major).
// A size of 0 counts as 1, so that strides stay positive. The product of the sizes must fit (see checked_numel).
void strides_from_dim_order(const int64_t* sizes, const uint8_t* dim_order, int32_t rank, int64_t* strides);

// The dim order of a dense tensor, from its strides; dims of size 1 stay where they do least harm: behind the dim
// before them. False (and row-major) when the strides are no dense layout, e.g. a transposed slice. An empty tensor is
// row-major.
bool derive_dim_order(const pteron_tensor& tensor, uint8_t* dim_order);

// True when the tensor lies in memory as a dense one of that dim order (null: row-major) would. Strides of dims of size
// 1 do not matter, nor do any of an empty tensor.
bool has_layout(const pteron_tensor& tensor, const uint8_t* dim_order);

// True when both have the same sizes and every element lies at the same offset in both. Strides of dims of size 1 do
// not matter, nor do any of an empty tensor.
bool same_layout(const pteron_tensor& a, const pteron_tensor& b);

bool same_sizes(const pteron_tensor& a, const pteron_tensor& b);

// True when the elements fill a stretch of memory without gaps or overlaps, in any order of dims.
bool is_dense(const pteron_tensor& tensor);

// Bytes of a dense tensor; false for an unknown dtype, a negative size or a product that does not fit. The rank may be
// any.
[[nodiscard]] bool checked_tensor_bytes(int32_t dtype, const int64_t* sizes, int32_t rank, uint64_t* bytes);

// Bytes of a dense tensor whose numbers are verified.
uint64_t tensor_bytes(const pteron_tensor& tensor);

// "[2, 3]"
std::string shape_text(const int64_t* sizes, int32_t rank);
// "float32 [2, 3]"
std::string describe(const pteron_tensor& tensor);

// Copies every element to the place of the same index. Dtypes and sizes must be equal (PTERON_INVALID_INPUT naming both
// otherwise); layouts may be any. The two must not overlap, unless they are the same memory in the same layout.
Status copy_tensor(const pteron_tensor& from, const pteron_tensor& to);

}  // namespace pteron::runtime
