// Softmax and its logarithm along one dimension.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// half_to_float only says that `out` is float32 for 16-bit input, which its dtype says too.
int softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float, Tensor& out);
int log_softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float, Tensor& out);

}  // namespace pteron::kernels
