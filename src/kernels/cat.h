// Joining tensors and padding them.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// A tensor of sizes [0] is left out whatever the others' rank, as PyTorch does.
int cat_out(KernelContext& context, TensorList tensors, int64_t dim, Tensor& out);
int stack_out(KernelContext& context, TensorList tensors, int64_t dim, Tensor& out);

// Padding: pairs (before, after) from the last dimension on; negative amounts cut off.
int constant_pad_nd_out(KernelContext& context, const Tensor& self, IntList pad, Scalar value, Tensor& out);
int reflection_pad1d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out);
int reflection_pad2d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out);
int reflection_pad3d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out);
int replication_pad1d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out);
int replication_pad2d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out);
int replication_pad3d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out);

}  // namespace pteron::kernels
