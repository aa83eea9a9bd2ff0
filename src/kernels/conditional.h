// Operators that choose between values: where, clamp, masks.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// Condition: bool or uint8.
int where_self_out(KernelContext& context, const Tensor& condition, const Tensor& self, const Tensor& other,
                   Tensor& out);
// min(max(self, min), max) in the common dtype of all operands; NaN anywhere gives NaN.
int clamp_out(KernelContext& context, const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max,
              Tensor& out);
int clamp_tensor_out(KernelContext& context, const Tensor& self, std::optional<Tensor> min, std::optional<Tensor> max,
                     Tensor& out);
int masked_fill_scalar_out(KernelContext& context, const Tensor& self, const Tensor& mask, Scalar value, Tensor& out);
// The elements of `self` where the mask is true, in order, as a vector.
int masked_select_out(KernelContext& context, const Tensor& self, const Tensor& mask, Tensor& out);
// Puts the elements of `source`, in order, where the mask is true.
int masked_scatter_out(KernelContext& context, const Tensor& self, const Tensor& mask, const Tensor& source,
                       Tensor& out);

}  // namespace pteron::kernels
