// Moving elements: strided copies, type conversion.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/parallel.h"
#include "engine/scalar_types.h"

namespace pteron::engine {

inline constexpr int kMaxCopyRank = 16;

// dst[i...] = src[i...] for all indices below sizes[0..rank). Strides in elements, any sign; 0 in src repeats.
// element_bytes: 1, 2, 4, 8 (others are copied bytewise). src and dst must not overlap. rank <= kMaxCopyRank.
// Contiguous runs become memcpy, two-dimensional transposes are blocked.
void strided_copy(const void* src, const int64_t* src_strides, void* dst, const int64_t* dst_strides,
                  const int64_t* sizes, int rank, size_t element_bytes, const Parallel& parallel);

// Contiguous conversion between any two types, as PyTorch's .to(): floats to integers truncate, integers wrap around,
// floats round to nearest even, anything to bool is != 0. In and out must not overlap.
void convert(const void* src, Type src_type, void* dst, Type dst_type, int64_t count, const Parallel& parallel);

// Single values. Rounding is to nearest even; NaN stays NaN (quiet).
float to_float(Half value);
float to_float(BFloat16 value);
Half to_half(float value);
BFloat16 to_bfloat16(float value);

}  // namespace pteron::engine
