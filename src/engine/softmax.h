// Softmax over the middle dimension of a contiguous fp32 [outer, size, inner].
#pragma once

#include <cstdint>

#include "engine/parallel.h"

namespace pteron::engine {

// out = exp(x - max) / sum(exp(x - max)), or its logarithm. A slice of only -inf gives NaN, as in PyTorch.
// In and out may be the same pointer.
void softmax(const float* in, float* out, int64_t outer, int64_t size, int64_t inner, const Parallel& parallel);
void log_softmax(const float* in, float* out, int64_t outer, int64_t size, int64_t inner, const Parallel& parallel);

}  // namespace pteron::engine
