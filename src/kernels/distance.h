// Distances between vectors: the p-norms of their differences. p 0 counts the elements that differ, infinity takes the
// largest difference.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// x1 [..., P, M], x2 [..., R, M] -> [..., P, R]; the leading dimensions broadcast. compute_mode only chooses how others
// compute; here it is always the direct way, which is the exact one.
int cdist_forward_out(KernelContext& context, const Tensor& x1, const Tensor& x2, double p,
                      std::optional<int64_t> compute_mode, Tensor& out);

// self [N, M] -> the distances of the pairs (0, 1), (0, 2), ..., (N - 2, N - 1).
int pdist_forward_out(KernelContext& context, const Tensor& self, double p, Tensor& out);

}  // namespace pteron::kernels
