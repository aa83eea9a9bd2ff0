// Elementary functions on vectors of float. Polynomials are near-minimax (Chebyshev) fits made for the intervals below;
// their largest errors stand beside them.
#pragma once

#include "engine/simd-inl.h"

namespace pteron::engine {
namespace PTERON_ISA_NAMESPACE {

PTERON_INLINE I32 bits_of(F32 x) {
  return reinterpret_cast<I32>(x);
}
PTERON_INLINE F32 float_of(I32 x) {
  return reinterpret_cast<F32>(x);
}
PTERON_INLINE F32 absolute(F32 x) {
  return float_of(bits_of(x) & 0x7fffffff);
}
PTERON_INLINE F32 with_sign_of(F32 magnitude, F32 sign) {
  return float_of((bits_of(magnitude) & 0x7fffffff) | (bits_of(sign) & set1(int32_t{-0x7fffffff - 1})));
}

PTERON_INLINE F32 square_root(F32 x) {
#if defined(__AVX512F__)
  return reinterpret_cast<F32>(_mm512_sqrt_ps(reinterpret_cast<__m512>(x)));
#elif defined(__AVX2__)
  return reinterpret_cast<F32>(_mm256_sqrt_ps(reinterpret_cast<__m256>(x)));
#elif defined(__SSE2__)
  return reinterpret_cast<F32>(_mm_sqrt_ps(reinterpret_cast<__m128>(x)));
#else
  return F32{__builtin_sqrtf(x[0]), __builtin_sqrtf(x[1]), __builtin_sqrtf(x[2]), __builtin_sqrtf(x[3])};
#endif
}

// Adding 1.5 * 2^23 to |x| < 2^22 leaves no bits for a fraction: the sum is rounded to an integer, half to even.
constexpr float kRounder = 12582912.0f;

// From 2^23 on every float is an integer (and NaN and infinity stay).
PTERON_INLINE F32 keep_large(F32 x, F32 rounded) {
  return select(absolute(x) < set1(8388608.0f), with_sign_of(rounded, x), x);
}
// |x| < 2^23 only: the sum with 2^23 rounds.
PTERON_INLINE F32 round_even_small(F32 x) {
  const F32 magic = with_sign_of(set1(8388608.0f), x);
  return (x + magic) - magic;
}
PTERON_INLINE F32 round_even(F32 x) {
  return keep_large(x, round_even_small(x));
}
PTERON_INLINE F32 round_down(F32 x) {
  const F32 r = round_even_small(x);
  return select(absolute(x) < set1(8388608.0f),
                select(r == set1(0.0f), with_sign_of(r, x), r) - select(r > x, set1(1.0f), F32{}), x);
}
PTERON_INLINE F32 round_up(F32 x) {
  return -round_down(-x);
}
PTERON_INLINE F32 round_to_zero(F32 x) {
  return keep_large(x, round_down(absolute(x)));
}

// x = n * log(2) + r with |r| <= log(2) / 2: n as the bits that the rounder leaves.
struct Reduced {
  F32 r;
  I32 n;
};
PTERON_INLINE Reduced reduce_for_exp(F32 x) {
  const F32 shifted = x * set1(1.44269504f) + set1(kRounder);
  const F32 n = shifted - set1(kRounder);
  // 355 / 512 has 9 bits, so n times it is exact for |n| < 2^15 even without fused multiply-add; the rest of log(2)
  // follows.
  const F32 r = (x - n * set1(0.693359375f)) - n * set1(-2.12194440e-4f);
  return {r, bits_of(shifted) - bits_of(set1(kRounder))};
}

// (exp(r) - 1 - r) / r^2 on [-0.3467, 0.3467], error 1.4e-9.
PTERON_INLINE F32 exp_tail(F32 r) {
  F32 p = set1(0x1.a12516p-13f);
  p = p * r + set1(0x1.6d434ep-10f);
  p = p * r + set1(0x1.1110e0p-7f);
  p = p * r + set1(0x1.5554e8p-5f);
  p = p * r + set1(0x1.555556p-3f);
  return p * r + set1(0.5f);
}

PTERON_INLINE F32 power_of_two(I32 n) {
  return float_of((n + 127) << 23);
}

PTERON_INLINE F32 exponential(F32 x) {
  // Beyond these the result is 0 or infinity anyway, and n stays in the range of the two factors below.
  const F32 inside = at_most<float>(at_least<float>(x, set1(-104.0f)), set1(89.0f));
  const Reduced reduced = reduce_for_exp(inside);
  const F32 r = reduced.r;
  const F32 p = (r * r) * exp_tail(r) + r + set1(1.0f);
  // 2^n in two factors: n may be 128 or below -126, and only the last product rounds.
  const I32 half = reduced.n >> 1;
  return p * power_of_two(half) * power_of_two(reduced.n - half);
}

// exp(x) - 1 without cancellation, for x <= 88.
PTERON_INLINE F32 exponential_minus_one(F32 x) {
  const F32 inside = at_most<float>(at_least<float>(x, set1(-30.0f)), set1(88.0f));
  const Reduced reduced = reduce_for_exp(inside);
  const F32 r = reduced.r;
  const F32 e = (r * r) * exp_tail(r) + r;
  const F32 scale = power_of_two(reduced.n);
  const F32 result = scale * e + (scale - set1(1.0f));
  return select(absolute(x) < set1(1e-10f), x, result);
}

// NaN below 0, -infinity at 0.
PTERON_INLINE F32 logarithm(F32 x) {
  const I32 denormal = x < set1(1.17549435e-38f);
  const F32 normal = select(denormal, x * set1(8388608.0f), x);
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  const I32 shifted = bits_of(normal) - set1(int32_t{0x3f3504f3});
  const I32 exponent = (shifted >> 23) - (denormal & 23);
  const F32 m = float_of((shifted & 0x7fffff) + set1(int32_t{0x3f3504f3}));
  const F32 f = m - set1(1.0f);
  // (log(1 + f) - f + f^2 / 2) / f^3, error 2.9e-8.
  F32 p = set1(0x1.1d8ea6p-4f);
  p = p * f + set1(-0x1.d635bcp-4f);
  p = p * f + set1(0x1.dea282p-4f);
  p = p * f + set1(-0x1.fcf4c6p-4f);
  p = p * f + set1(0x1.23d21ap-3f);
  p = p * f + set1(-0x1.555b4ap-3f);
  p = p * f + set1(0x1.999d5ap-3f);
  p = p * f + set1(-0x1.fffffcp-3f);
  p = p * f + set1(0x1.555554p-2f);
  const F32 e = __builtin_convertvector(exponent, F32);
  const F32 square = f * f;
  F32 result = square * f * p + e * set1(-2.12194440e-4f);
  result = result - set1(0.5f) * square;
  result = result + f + e * set1(0.693359375f);
  const F32 infinity = set1(__builtin_inff());
  result = select(x == infinity, x, result);
  result = select(x == F32{}, -infinity, result);
  return select((x < F32{}) | (x != x), set1(__builtin_nanf("")), result);
}

PTERON_INLINE F32 hyperbolic_tangent(F32 x) {
  // tanh(10) is 1 in float; below, t / (t + 2) with t = exp(2|x|) - 1 has no cancellation.
  const F32 t = exponential_minus_one(at_most<float>(absolute(x), set1(10.0f)) * set1(2.0f));
  const F32 result = with_sign_of(t / (t + set1(2.0f)), x);
  return select(x != x, x, result);
}

PTERON_INLINE F32 logistic(F32 x) {
  // exp of a negative number never overflows: 1 / (1 + z) for x >= 0, z / (1 + z) below.
  const F32 z = exponential(-absolute(x));
  const F32 top = select(x < F32{}, z, set1(1.0f));
  return select(x != x, x, top / (set1(1.0f) + z));
}

PTERON_INLINE F32 error_function(F32 x) {
  const F32 a = absolute(x);
  // erf(x) / x in x^2 on [0, 1], error 1.2e-9.
  const F32 s = x * x;
  F32 p = set1(0x1.4a5690p-14f);
  p = p * s + set1(-0x1.a45088p-11f);
  p = p * s + set1(0x1.541270p-8f);
  p = p * s + set1(-0x1.b7fabap-6f);
  p = p * s + set1(0x1.ce2d10p-4f);
  p = p * s + set1(-0x1.81273ep-2f);
  // The constant term, 2 / sqrt(pi), is x itself plus a small rest.
  p = p * s + set1(0.128379167f);
  const F32 small = x * p + x;
  // erfc(x) * exp(x^2) in 1 / (1 + x / 2) for x in [1, 4], error 4.7e-8; from 4 on erf is 1 in float.
  const F32 b = at_most<float>(a, set1(4.0f));
  const F32 u = set1(1.0f) / (set1(1.0f) + set1(0.5f) * b);
  F32 q = set1(-0x1.c017fap-3f);
  q = q * u + set1(0x1.357d5ep-1f);
  q = q * u + set1(-0x1.ee74b0p-6f);
  q = q * u + set1(0x1.83cceep-2f);
  q = q * u + set1(0x1.0ec75cp-2f);
  q = q * u + set1(0x1.5d23c4p-10f);
  const F32 large = with_sign_of(set1(1.0f) - q * exponential(-(b * b)), x);
  const F32 result = select(a < set1(1.0f), small, large);
  return select(x != x, x, result);
}

}  // namespace PTERON_ISA_NAMESPACE
}  // namespace pteron::engine
