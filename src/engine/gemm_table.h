// The vector functions under gemm.cc and conv.cc, one table for each instruction set and type.
#pragma once

#include <cstdint>

#include "engine/isa.h"

namespace pteron::engine {

// Depth of a block of the sum. B's strip of kBlockK x 32 floats is 32 KiB, which leaves room in a second-level cache
// for 8 and more of them, while a micro-tile (at most 14 x 32 accumulators loaded and stored once a block, about 42
// cycles) stays near 1 % of its 256 * 14 cycles of multiplications.
inline constexpr int64_t kBlockK = 256;
// Row stride of a copied strip of A: 16 floats more than the block, so that rows fall into different cache sets
// (256 floats apart, every fourth row would share its set).
inline constexpr int64_t kStripStride = kBlockK + 16;
// No instruction set has taller micro-tiles: bounds buffers on the stack.
inline constexpr int64_t kMaxStripRows = 14;

// C[rows, n] (+)= A[rows, k] * B[k, n]: one strip of rows against consecutive packed strips of columns.
template <class T>
struct GemmStrip {
  const T* a;  // column stride 1
  int64_t lda;
  int64_t rows;            // 1..max_rows
  const T* b;              // strips of strip_cols columns, each k-major
  int64_t b_strip_stride;  // elements from strip to strip
  int64_t k;
  T* c;
  int64_t ldc;
  int64_t n;
  const T* row_bias;  // the start of the sum unless accumulate; may be null
  const T* col_bias;
  bool accumulate;  // the sum starts from C
  bool clamp;
  T lo;
  T hi;
};

// M rows (1..4) times a matrix that is read in place.
template <class T>
struct GemvCall {
  const T* a;  // m x k, column stride 1
  int64_t lda;
  int64_t m;
  const T* b;
  int64_t b_stride;  // from row to row (gemv_rows), from column to column (gemv_dot)
  int64_t k;
  int64_t n_begin, n_end;  // the columns to compute
  T* c;                    // element (i, j) at c[i * c_row_stride + j * c_col_stride]
  int64_t c_row_stride;
  int64_t c_col_stride;  // 1 for gemv_rows
  const T* row_bias;
  const T* col_bias;
  bool accumulate;
  bool clamp;
  T lo;
  T hi;
};

template <class T>
struct GemmTable {
  const char* isa;
  int max_rows;    // of a strip
  int strip_cols;  // two vectors
  int lanes;       // a last strip of at most `lanes` columns is packed `lanes` wide
  void (*strip)(const GemmStrip<T>& s);
  // Packs columns [0, n) of a k x n matrix as one strip, n <= strip_cols, zeros up to the strip's width.
  void (*pack_strip)(const T* b, int64_t row_stride, int64_t col_stride, int64_t k, int64_t n, T scale, T* dst);
  // dst[i * dst_stride + p] = a(i, p) * scale for rows x k.
  void (*copy_rows)(const T* a, int64_t row_stride, int64_t col_stride, int64_t rows, int64_t k, T scale, T* dst,
                    int64_t dst_stride);
  void (*gemv_rows)(const GemvCall<T>& g);  // B's column stride is 1
  void (*gemv_dot)(const GemvCall<T>& g);   // B's row stride is 1
};

template <class T>
const GemmTable<T>& gemm_table(Isa isa);

}  // namespace pteron::engine
