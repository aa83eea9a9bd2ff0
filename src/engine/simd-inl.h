// Vectors of whatever width the including file is compiled for. Included once by each thin file of an instruction set,
// with PTERON_ISA_NAMESPACE defined. It is written on the vector extensions that gcc and clang share (operators,
// comparisons, shuffles), with intrinsics only where these have no word for it; the same code compiles to AVX-512,
// AVX2, SSE2 and NEON.
//
// Everything here is in the namespace of the instruction set, and nothing of the standard library is called: an
// inline function of std:: compiled with AVX flags could be the copy that the linker keeps for the whole program.
#pragma once

#include <cstdint>

#include "engine/scalar_types.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define PTERON_INLINE static inline __attribute__((always_inline))

// Loops over accumulators must be unrolled completely, or the accumulators end up in memory.
#if defined(__clang__)
#define PTERON_UNROLL _Pragma("unroll")
#else
#define PTERON_UNROLL _Pragma("GCC unroll 32")
#endif

namespace pteron::engine {
namespace PTERON_ISA_NAMESPACE {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr const char* kIsaName = "avx512";
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr const char* kIsaName = "avx2";
#else
constexpr int kVectorBytes = 16;
constexpr const char* kIsaName = "scalar";
#endif

template <class T>
struct VectorOf {
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  typedef T type __attribute__((vector_size(kVectorBytes)));
  // The same with the alignment of an element, for loads and stores anywhere.
  typedef T unaligned __attribute__((vector_size(kVectorBytes), aligned(sizeof(T)), may_alias));
};

template <class T>
using Vec = typename VectorOf<T>::type;
using F32 = Vec<float>;
using F64 = Vec<double>;
using I32 = Vec<int32_t>;
using I64 = Vec<int64_t>;

template <class T>
constexpr int lanes() {
  return VectorOf<T>::kLanes;
}

template <class T>
PTERON_INLINE Vec<T> load(const T* p) {
  return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(p);
}
template <class T>
PTERON_INLINE void store(T* p, Vec<T> v) {
  *reinterpret_cast<typename VectorOf<T>::unaligned*>(p) = v;
}

PTERON_INLINE F32 set1(float x) {
#if defined(__AVX512F__)
  return reinterpret_cast<F32>(_mm512_set1_ps(x));
#elif defined(__AVX2__)
  return reinterpret_cast<F32>(_mm256_set1_ps(x));
#else
  return F32{x, x, x, x};
#endif
}
PTERON_INLINE F64 set1(double x) {
#if defined(__AVX512F__)
  return reinterpret_cast<F64>(_mm512_set1_pd(x));
#elif defined(__AVX2__)
  return reinterpret_cast<F64>(_mm256_set1_pd(x));
#else
  return F64{x, x};
#endif
}
PTERON_INLINE I32 set1(int32_t x) {
  return I32{} + x;
}

// The first n elements (0 < n < lanes), zeros after them; reads nothing beyond.
PTERON_INLINE F32 load_n(const float* p, int n) {
#if defined(__AVX512F__)
  return reinterpret_cast<F32>(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p));
#else
  float lane[lanes<float>()] = {};
  for (int i = 0; i < n; ++i) lane[i] = p[i];
  return load(lane);
#endif
}
PTERON_INLINE F64 load_n(const double* p, int n) {
#if defined(__AVX512F__)
  return reinterpret_cast<F64>(_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), p));
#else
  double lane[lanes<double>()] = {};
  for (int i = 0; i < n; ++i) lane[i] = p[i];
  return load(lane);
#endif
}
// Writes the first n elements (0 < n < lanes) and nothing beyond.
PTERON_INLINE void store_n(float* p, F32 v, int n) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), reinterpret_cast<__m512>(v));
#else
  float lane[lanes<float>()];
  store(lane, v);
  for (int i = 0; i < n; ++i) p[i] = lane[i];
#endif
}
PTERON_INLINE void store_n(double* p, F64 v, int n) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << n) - 1), reinterpret_cast<__m512d>(v));
#else
  double lane[lanes<double>()];
  store(lane, v);
  for (int i = 0; i < n; ++i) p[i] = lane[i];
#endif
}

// mask lanes are all ones or all zeros, as comparisons give them.
PTERON_INLINE F32 select(I32 mask, F32 yes, F32 no) {
  return mask ? yes : no;
}

// x where x is not below lo; a NaN in x stays.
template <class T>
PTERON_INLINE Vec<T> at_least(Vec<T> x, Vec<T> lo) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<F32>(_mm512_max_ps(reinterpret_cast<__m512>(lo), reinterpret_cast<__m512>(x)));
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<F32>(_mm256_max_ps(reinterpret_cast<__m256>(lo), reinterpret_cast<__m256>(x)));
#elif defined(__SSE2__)
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<F32>(_mm_max_ps(reinterpret_cast<__m128>(lo), reinterpret_cast<__m128>(x)));
#endif
  return x < lo ? lo : x;
}
template <class T>
PTERON_INLINE Vec<T> at_most(Vec<T> x, Vec<T> hi) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<F32>(_mm512_min_ps(reinterpret_cast<__m512>(hi), reinterpret_cast<__m512>(x)));
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<F32>(_mm256_min_ps(reinterpret_cast<__m256>(hi), reinterpret_cast<__m256>(x)));
#elif defined(__SSE2__)
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<F32>(_mm_min_ps(reinterpret_cast<__m128>(hi), reinterpret_cast<__m128>(x)));
#endif
  return hi < x ? hi : x;
}

// Sum of all lanes, halves added to halves: one order for each width.
template <class T>
PTERON_INLINE T sum_lanes(Vec<T> v) {
  T lane[lanes<T>()];
  store(lane, v);
  for (int half = lanes<T>() / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  }
  return lane[0];
}

// Four by four elements, from rows `src_stride` apart to rows `dst_stride` apart, transposed.
PTERON_INLINE void transpose4x4(const float* src, int64_t src_stride, float* dst, int64_t dst_stride) {
  typedef float V4 __attribute__((vector_size(16)));
  typedef float U4 __attribute__((vector_size(16), aligned(4), may_alias));
  const V4 r0 = *reinterpret_cast<const U4*>(src);
  const V4 r1 = *reinterpret_cast<const U4*>(src + src_stride);
  const V4 r2 = *reinterpret_cast<const U4*>(src + 2 * src_stride);
  const V4 r3 = *reinterpret_cast<const U4*>(src + 3 * src_stride);
  const V4 a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const V4 b = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const V4 c = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const V4 d = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  *reinterpret_cast<U4*>(dst) = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  *reinterpret_cast<U4*>(dst + dst_stride) = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  *reinterpret_cast<U4*>(dst + 2 * dst_stride) = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  *reinterpret_cast<U4*>(dst + 3 * dst_stride) = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

}  // namespace PTERON_ISA_NAMESPACE
}  // namespace pteron::engine
