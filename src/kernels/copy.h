// Operators that copy or fill whole tensors.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// alias_copy, detach_copy, lift_fresh_copy, _h2d_copy, _d2h_copy.
int plain_copy_out(KernelContext& context, const Tensor& self, Tensor& out);
int clone_out(KernelContext& context, const Tensor& self, std::optional<int64_t> memory_format, Tensor& out);
// The dtype is the out tensor's.
int to_copy_out(KernelContext& context, const Tensor& self, bool non_blocking, std::optional<int64_t> memory_format,
                Tensor& out);
// The dim order is the out tensor's; a given one must agree with it.
int to_dim_order_copy_out(KernelContext& context, const Tensor& self, bool non_blocking,
                          std::optional<IntList> dim_order, Tensor& out);
int empty_dim_order_out(KernelContext& context, IntList size, std::optional<IntList> dim_order, Tensor& out);
// `src` broadcast to the sizes of `self`.
int copy_out(KernelContext& context, const Tensor& self, const Tensor& src, bool non_blocking, Tensor& out);
int copy_in_place(KernelContext& context, Tensor& self, const Tensor& src, bool non_blocking);
int fill_scalar_out(KernelContext& context, const Tensor& self, Scalar value, Tensor& out);
int fill_tensor_out(KernelContext& context, const Tensor& self, const Tensor& value, Tensor& out);

}  // namespace pteron::kernels
