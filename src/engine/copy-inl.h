// Transposes and conversions of 16-bit floats, compiled once for each instruction set.
#pragma once

#include "engine/elementwise_table.h"
#include "engine/simd-inl.h"

namespace pteron::engine {
namespace PTERON_ISA_NAMESPACE {

// Blocks of 16 x 16: a block's 16 destination rows stay in the first-level cache until they are full lines.
static void transpose(const float* src, int64_t src_stride, float* dst, int64_t dst_stride, int64_t rows,
                      int64_t cols) {
  constexpr int64_t kBlock = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kBlock) {
    const int64_t i1 = i0 + kBlock < rows ? i0 + kBlock : rows;
    for (int64_t j0 = 0; j0 < cols; j0 += kBlock) {
      const int64_t j1 = j0 + kBlock < cols ? j0 + kBlock : cols;
      int64_t i = i0;
      for (; i + 4 <= i1; i += 4) {
        int64_t j = j0;
        for (; j + 4 <= j1; j += 4)
          transpose4x4(src + i * src_stride + j, src_stride, dst + j * dst_stride + i, dst_stride);
        for (; j < j1; ++j) {
          for (int64_t r = i; r < i + 4; ++r) dst[j * dst_stride + r] = src[r * src_stride + j];
        }
      }
      for (; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j) dst[j * dst_stride + i] = src[i * src_stride + j];
      }
    }
  }
}

PTERON_INLINE uint32_t bits32(float x) {
  union {
    float f;
    uint32_t u;
  } pun;
  pun.f = x;
  return pun.u;
}
PTERON_INLINE float float32(uint32_t x) {
  union {
    float f;
    uint32_t u;
  } pun;
  pun.u = x;
  return pun.f;
}

// Exponent and fraction moved into place are the value times 2^-112, denormals included; the product is exact.
static void half_to_float(const uint16_t* src, float* dst, int64_t count) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= count; i += 16) {
    _mm512_storeu_ps(dst + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + i))));
  }
#elif defined(__F16C__)
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i))));
  }
#endif
  for (; i < count; ++i) {
    const uint32_t magnitude = src[i] & 0x7fffu;
    const uint32_t sign = static_cast<uint32_t>(src[i] & 0x8000u) << 16;
    const uint32_t finite = bits32(float32(magnitude << 13) * 0x1p112f);
    // Infinities keep their zero fraction, NaNs become quiet.
    const uint32_t special = 0x7f800000u | (magnitude & 0x3ffu) << 13 | (magnitude > 0x7c00u ? 0x400000u : 0u);
    dst[i] = float32(sign | (magnitude >= 0x7c00u ? special : finite));
  }
}

static void float_to_half(const float* src, uint16_t* dst, int64_t count) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= count; i += 16) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst + i),
                        _mm512_cvtps_ph(_mm512_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
  }
#elif defined(__F16C__)
  for (; i + 8 <= count; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i < count; ++i) {
    const uint32_t bits = bits32(src[i]);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    // Below 2^-14 halves are 2^-24 apart, as floats in [0.5, 1) are: adding 0.5 rounds there.
    const uint32_t denormal = bits32(float32(magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
    uint32_t half = magnitude < 0x38800000u ? denormal : normal;
    // 65520 is half way between the largest half and the next power of two: from there on infinity.
    half = magnitude >= 0x477ff000u ? 0x7c00u : half;
    half = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : half;
    dst[i] = static_cast<uint16_t>(sign | half);
  }
}

static void bfloat16_to_float(const uint16_t* src, float* dst, int64_t count) {
  for (int64_t i = 0; i < count; ++i) dst[i] = float32(static_cast<uint32_t>(src[i]) << 16);
}

static void float_to_bfloat16(const float* src, uint16_t* dst, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = bits32(src[i]);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint32_t nan = (bits >> 16) | 0x40u;
    dst[i] = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
}

extern const CopyTable copy_table;
constexpr CopyTable copy_table = {kIsaName,      transpose,         half_to_float,
                                  float_to_half, bfloat16_to_float, float_to_bfloat16};

}  // namespace PTERON_ISA_NAMESPACE
}  // namespace pteron::engine
