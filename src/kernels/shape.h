// Operators that rearrange elements: each makes strided views and copies between them.
#pragma once

#include "kernels/elementwise.h"
#include "kernels/kernel_types.h"

namespace pteron::kernels {

// A dimension counted from the end when negative; rank 0 counts as rank 1. Fails outside [-rank, rank).
int normalize_dim(KernelContext& context, int64_t dim, int rank, int* axis);

// Fails when elements of one dtype cannot be converted to the other: 8-bit floats are only moved as they are.
int require_copyable(KernelContext& context, int from, int to);

// Resizes `out` to the sizes of `source` and copies it there, converted. `source` must not overlap `out`.
int copy_to_out(KernelContext& context, const View& source, Tensor& out);

int view_copy_out(KernelContext& context, const Tensor& self, IntList size, Tensor& out);
int permute_copy_out(KernelContext& context, const Tensor& self, IntList dims, Tensor& out);
int transpose_copy_out(KernelContext& context, const Tensor& self, int64_t dim0, int64_t dim1, Tensor& out);
int t_copy_out(KernelContext& context, const Tensor& self, Tensor& out);
int expand_copy_out(KernelContext& context, const Tensor& self, IntList size, bool implicit, Tensor& out);
int squeeze_copy_dim_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out);
int squeeze_copy_dims_out(KernelContext& context, const Tensor& self, IntList dims, Tensor& out);
int unsqueeze_copy_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out);
int slice_copy_out(KernelContext& context, const Tensor& self, int64_t dim, std::optional<int64_t> start,
                   std::optional<int64_t> end, int64_t step, Tensor& out);
int narrow_copy_out(KernelContext& context, const Tensor& self, int64_t dim, int64_t start, int64_t length,
                    Tensor& out);
int select_copy_out(KernelContext& context, const Tensor& self, int64_t dim, int64_t index, Tensor& out);
int slice_scatter_out(KernelContext& context, const Tensor& self, const Tensor& src, int64_t dim,
                      std::optional<int64_t> start, std::optional<int64_t> end, int64_t step, Tensor& out);
int select_scatter_out(KernelContext& context, const Tensor& self, const Tensor& src, int64_t dim, int64_t index,
                       Tensor& out);
int split_copy_out(KernelContext& context, const Tensor& self, int64_t split_size, int64_t dim, TensorList out);
int split_with_sizes_copy_out(KernelContext& context, const Tensor& self, IntList split_sizes, int64_t dim,
                              TensorList out);
int unbind_copy_out(KernelContext& context, const Tensor& self, int64_t dim, TensorList out);
int as_strided_copy_out(KernelContext& context, const Tensor& self, IntList size, IntList stride,
                        std::optional<int64_t> storage_offset, Tensor& out);
int diagonal_copy_out(KernelContext& context, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2,
                      Tensor& out);
int unfold_copy_out(KernelContext& context, const Tensor& self, int64_t dimension, int64_t size, int64_t step,
                    Tensor& out);
int flip_out(KernelContext& context, const Tensor& self, IntList dims, Tensor& out);
int roll_out(KernelContext& context, const Tensor& self, IntList shifts, IntList dims, Tensor& out);
int repeat_out(KernelContext& context, const Tensor& self, IntList repeats, Tensor& out);
int tril_out(KernelContext& context, const Tensor& self, int64_t diagonal, Tensor& out);
int pixel_shuffle_out(KernelContext& context, const Tensor& self, int64_t upscale_factor, Tensor& out);
int pixel_unshuffle_out(KernelContext& context, const Tensor& self, int64_t downscale_factor, Tensor& out);

}  // namespace pteron::kernels
