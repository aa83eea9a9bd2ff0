// Operators that read or write at positions given by tensors. Indices are int32 or int64; one outside the tensor is an
// error.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// Rows of `weight` [rows, columns] by number.
int embedding_out(KernelContext& context, const Tensor& weight, const Tensor& indices, int64_t padding_idx,
                  bool scale_grad_by_freq, bool sparse, Tensor& out);

// self[indices...] as in NumPy: index tensors broadcast together, bool and uint8 ones are masks, absent ones take whole
// dimensions, negative numbers count from the end. The indexed dimensions are replaced by those of the index where they
// stand next to each other, otherwise these come first.
int index_tensor_out(KernelContext& context, const Tensor& self, OptionalTensorList indices, Tensor& out);
// A copy of self with self[indices...] = values, or += values. Where positions repeat, the last one counts, or all.
int index_put_out(KernelContext& context, const Tensor& self, OptionalTensorList indices, const Tensor& values,
                  bool accumulate, Tensor& out);
int index_put_(KernelContext& context, Tensor& self, OptionalTensorList indices, const Tensor& values, bool accumulate);

int index_select_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, Tensor& out);

// out[i][j][k] = self[index[i][j][k]][j][k] for dim 0, and so on.
int gather_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad,
               Tensor& out);
// A copy of self with out[index[i][j][k]][j][k] = src[i][j][k] for dim 0, and so on; the last of repeated positions
// counts.
int scatter_src_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    Tensor& out);
int scatter_value_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, Scalar value,
                      Tensor& out);
// The same with +=. 16-bit floats are summed in float and rounded once.
int scatter_add_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    Tensor& out);

// The positions of the elements that are not zero, in logical order: [count, rank].
int nonzero_out(KernelContext& context, const Tensor& self, Tensor& out);

}  // namespace pteron::kernels
