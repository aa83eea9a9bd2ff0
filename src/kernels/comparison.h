// Comparisons and logic: results are true or false.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

int eq_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int eq_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int ne_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int ne_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int lt_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int lt_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int le_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int le_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int gt_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int gt_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int ge_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int ge_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);

int logical_and_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int logical_or_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int logical_xor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int logical_not_out(KernelContext& context, const Tensor& self, Tensor& out);
int isnan_out(KernelContext& context, const Tensor& self, Tensor& out);
int isinf_out(KernelContext& context, const Tensor& self, Tensor& out);

}  // namespace pteron::kernels
