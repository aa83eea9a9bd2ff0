// Operands as dense arrays of the dtype an operator computes in: the tensor's own memory where it is one already,
// otherwise a converted copy in scratch memory.
//
//   const auto* x = static_cast<const float*>(dense_input(context, self, PTERON_FLOAT32));
//   DenseOutput y(context, out, PTERON_FLOAT32);
//   if (x == nullptr || y.data() == nullptr) return PTERON_OUT_OF_MEMORY;
//   ... write y.data() ...
//   y.finish();
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/conv.h"
#include "engine/scalar_types.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_types.h"

namespace pteron::kernels {

// A printable number for PTERON_REQUIRE.
inline long long number(int64_t value) {
  return static_cast<long long>(value);
}

// The order in which dimensions lie in memory, outermost first.
struct DimOrder {
  int rank = 0;
  int dims[kMaxRank];
};
DimOrder row_major(int rank);
// [N, C, spatial...] with the channels innermost: N, spatial..., C.
DimOrder channels_last(int rank);

// Whether the elements lie without gaps in this order; strides of dimensions of size 1 do not matter.
bool is_dense(const Tensor& tensor, const DimOrder& order);

// The dtype for arithmetic on `dtype`: float32 for the 16-bit floats, int64 for integers and bool.
constexpr int computing_dtype(int dtype) {
  if (dtype == PTERON_FLOAT64) return PTERON_FLOAT64;
  return is_floating(dtype) ? PTERON_FLOAT32 : PTERON_INT64;
}

// `bytes` of scratch for `count` elements; null with the failure recorded when that is too much.
void* scratch_array(KernelContext& context, int64_t count, size_t element_bytes);

// The tensor as a dense array of `dtype` in `order`. Null, with the failure recorded, when memory is short; never null
// for an empty tensor.
const void* dense_input(KernelContext& context, const Tensor& tensor, int dtype, const DimOrder& order);
const void* dense_input(KernelContext& context, const Tensor& tensor, int dtype);

// Copies the tensor to `to` as a dense array.
void copy_to_dense(const Tensor& tensor, int dtype, const DimOrder& order, void* to);

// Where an operator writes a dense array that becomes the tensor. The tensor has its final sizes already.
class DenseOutput {
 public:
  DenseOutput(KernelContext& context, const Tensor& out, int dtype, const DimOrder& order);
  DenseOutput(KernelContext& context, const Tensor& out, int dtype);

  // Null, with the failure recorded, when memory is short.
  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  // Converts the array into the tensor unless it is the tensor's own memory.
  void finish() const;

 private:
  Tensor out_;
  int dtype_;
  DimOrder order_;
  void* data_ = nullptr;
};

// The layout an image operator works in, so that it copies as little as possible: channels last where the output is,
// otherwise row-major.
struct ImageLayout {
  engine::ConvLayout layout;
  DimOrder order;
};
ImageLayout image_layout(const Tensor& out, const Tensor& in);
ImageLayout image_layout(engine::ConvLayout layout, int rank);

}  // namespace pteron::kernels
