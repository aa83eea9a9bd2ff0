// Operators that order elements.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// The k largest (or smallest) elements along a dimension, from the largest (smallest) on, and where they were. NaN is
// larger than every number; of equal elements the first comes first.
int topk_values(KernelContext& context, const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted,
                Tensor& values, Tensor& indices);

}  // namespace pteron::kernels
