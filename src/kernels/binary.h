// Arithmetic on two operands, with PyTorch's promotion.
#pragma once

#include "pteron/kernel.h"

namespace pteron::kernels {

int add_out(KernelContext& context, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out);

}  // namespace pteron::kernels
