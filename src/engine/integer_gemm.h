// Matrix multiplication of integers, with the wrap-around of their type.
#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/gemm.h"

namespace pteron::engine {

// All arithmetic is done in an unsigned type at least as wide as int, where overflow is defined.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// Rows of B are added to the rows of C they belong to; the inner loop runs over consecutive columns.
template <class T>
void integer_gemm(const Gemm<T>& g, const Parallel& parallel) {
  using U = Wrapping<T>;
  constexpr int64_t kCols = 64;
  const int64_t blocks = (g.n + kCols - 1) / kCols;
  parallel_for(parallel, g.m * blocks, 8, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t i = block / blocks;
      const int64_t j0 = block % blocks * kCols;
      const int64_t cols = g.n - j0 < kCols ? g.n - j0 : kCols;
      U sum[kCols] = {};
      const int64_t k = g.alpha == 0 ? 0 : g.k;
      for (int64_t p = 0; p < k; ++p) {
        const U left = static_cast<U>(g.a.data[i * g.a.row_stride + p * g.a.col_stride]);
        const T* right = g.b.data + p * g.b.row_stride + j0 * g.b.col_stride;
        if (g.b.col_stride == 1) {
          for (int64_t j = 0; j < cols; ++j) sum[j] += left * static_cast<U>(right[j]);
        } else {
          for (int64_t j = 0; j < cols; ++j) sum[j] += left * static_cast<U>(right[j * g.b.col_stride]);
        }
      }
      for (int64_t j = 0; j < cols; ++j) {
        U value = sum[j] * static_cast<U>(g.alpha);
        if (g.beta != 0 && g.c0.data != nullptr) {
          value += static_cast<U>(g.beta) * static_cast<U>(g.c0.data[i * g.c0.row_stride + (j0 + j) * g.c0.col_stride]);
        }
        if (g.row_bias != nullptr) value += static_cast<U>(g.row_bias[i]);
        if (g.col_bias != nullptr) value += static_cast<U>(g.col_bias[j0 + j]);
        T result = static_cast<T>(value);
        if (result < g.lo) result = g.lo;
        if (g.hi < result) result = g.hi;
        g.c[i * g.c_row_stride + j0 + j] = result;
      }
    }
  });
}

}  // namespace pteron::engine
