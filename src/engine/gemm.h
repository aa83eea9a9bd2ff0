// Matrix multiplication.
//
//   engine::Gemm<float> g;
//   g.m = rows; g.n = units; g.k = features;
//   g.a = {x, features, 1};                 // element (i, k) at x[i * features + k]
//   g.b = {weight, 1, features};            // the transpose of a [units, features] weight, without a copy
//   g.c = y; g.c_row_stride = units;
//   g.col_bias = bias;                      // may be null
//   engine::gemm(g, scratch, parallel);     // scratch: gemm_scratch_bytes(g) bytes, 64-byte aligned
//
// Weights that stay can be packed once: pack_b(...) into packed_b_bytes(...) bytes, then g.packed_b = that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/parallel.h"
#include "engine/scalar_types.h"

namespace pteron::engine {

// A matrix somewhere in memory; strides in elements, any sign, 0 repeats.
template <class T>
struct MatrixView {
  const T* data = nullptr;
  int64_t row_stride = 0;
  int64_t col_stride = 0;
};

template <class T>
constexpr T lowest_bound() {
  if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}
template <class T>
constexpr T highest_bound() {
  if constexpr (std::numeric_limits<T>::has_infinity) return std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::max();
}

// C[i, j] = clamp(alpha * sum_k A[i, k] * B[k, j] + beta * C0[i, j] + row_bias[i] + col_bias[j], lo, hi)
//
// T: float, double, Half, BFloat16, int8_t, uint8_t, int16_t, int32_t, int64_t. 16-bit floats are summed in
// float and rounded once; integers wrap around. A NaN goes through the clamp unchanged. m, n, k >= 0.
// beta == 0 ignores C0 (even NaN in it); alpha == 0 or k == 0 ignores A and B. C0 may be C itself with the
// same strides; apart from that C must not overlap the inputs. Sums run over k in one order for every element,
// so that the result does not depend on the number of threads.
template <class T>
struct Gemm {
  using Acc = Accumulator<T>;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  MatrixView<T> a;                // m x k; not read when packed_a is given
  MatrixView<T> b;                // k x n; not read when packed_b is given
  const Acc* packed_a = nullptr;  // from pack_a, float and double only
  const Acc* packed_b = nullptr;  // from pack_b; 16-bit floats are packed as float
  T* c = nullptr;                 // m x n, column stride 1
  int64_t c_row_stride = 0;
  Acc alpha = 1;  // must be 1 when both operands are packed
  Acc beta = 0;
  MatrixView<T> c0;
  const Acc* row_bias = nullptr;  // m values or null
  const Acc* col_bias = nullptr;  // n values or null
  Acc lo = lowest_bound<Acc>();
  Acc hi = highest_bound<Acc>();
};

// Temporary memory that gemm() needs for these sizes and pointers; may be 0. Independent of thread count.
template <class T>
size_t gemm_scratch_bytes(const Gemm<T>& g);

// scratch: at least gemm_scratch_bytes(g), aligned to 64 bytes, not shared with another running call.
template <class T>
void gemm(const Gemm<T>& g, void* scratch, const Parallel& parallel);

// `count` products that differ in their data only. Matrix i starts at data + i * stride, or at data + offsets[i]
// when offsets are given (broadcast batches); strides and offsets in elements. Packed operands are shared by all.
struct GemmBatch {
  int64_t count = 1;
  int64_t a_stride = 0, b_stride = 0, c_stride = 0, c0_stride = 0;
  const int64_t* a_offsets = nullptr;
  const int64_t* b_offsets = nullptr;
  const int64_t* c0_offsets = nullptr;
};
template <class T>
size_t gemm_batched_scratch_bytes(const Gemm<T>& g, const GemmBatch& batch, const Parallel& parallel);
template <class T>
void gemm_batched(const Gemm<T>& g, const GemmBatch& batch, void* scratch, const Parallel& parallel);

// Packed operands: valid in this process, for the active instruction set, for exactly these sizes.
// dst aligned to 64 bytes. Integers are not packed (sizes are 0 and packing does nothing).
template <class T>
size_t packed_b_bytes(int64_t k, int64_t n);
template <class T>
void pack_b(const MatrixView<T>& b, int64_t k, int64_t n, Accumulator<T>* dst, const Parallel& parallel);
template <class T>
size_t packed_a_bytes(int64_t m, int64_t k);
template <class T>
void pack_a(const MatrixView<T>& a, int64_t m, int64_t k, Accumulator<T>* dst);

}  // namespace pteron::engine
