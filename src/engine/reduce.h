// Reductions over the middle dimension of a contiguous [outer, size, inner] into [outer, inner].
#pragma once

#include <cstdint>

#include "engine/parallel.h"

namespace pteron::engine {

enum class Reduce : uint8_t {
  kSum,   // size 0 gives 0
  kMean,  // size 0 gives NaN
  kMax,   // NaN if the slice has one; size must be > 0
  kMin,
};

// fp32, summed pairwise in blocks of fixed size: the error grows with log(size), the order depends on size only.
void reduce(Reduce op, const float* in, float* out, int64_t outer, int64_t size, int64_t inner,
            const Parallel& parallel);

// Index of the first largest (smallest) element, or of the first NaN if there is one. size must be > 0.
void arg_max(const float* in, int64_t* out, int64_t outer, int64_t size, int64_t inner, const Parallel& parallel);
void arg_min(const float* in, int64_t* out, int64_t outer, int64_t size, int64_t inner, const Parallel& parallel);

}  // namespace pteron::engine
