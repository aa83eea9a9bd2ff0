// Micro-kernels of the matrix multiplication, compiled once for each instruction set.
#pragma once

#include "engine/gemm_table.h"
#include "engine/simd-inl.h"

namespace pteron::engine {
namespace PTERON_ISA_NAMESPACE {

// Rows of a micro-tile, two vectors wide. 2 * rows accumulators, two vectors of B and one element of A must fit the
// registers: 32 for AVX-512 (28 + 2 + 1) and 16 for AVX2 and SSE2 (12 + 2 + 1). NEON has 32 too, but with 4 lanes
// six rows already hide the latency.
#if defined(__AVX512F__)
constexpr int kTileRows = 14;
#else
constexpr int kTileRows = 6;
#endif
static_assert(kTileRows <= kMaxStripRows);

template <class T>
PTERON_INLINE Vec<T> load_up_to(const T* p, int64_t n) {
  if (n >= lanes<T>()) return load(p);
  return n > 0 ? load_n(p, static_cast<int>(n)) : Vec<T>{};
}
template <class T>
PTERON_INLINE void store_up_to(T* p, Vec<T> v, int64_t n) {
  if (n >= lanes<T>()) {
    store(p, v);
  } else if (n > 0) {
    store_n(p, v, static_cast<int>(n));
  }
}

// One micro-tile: Rows x (Vectors * lanes), of which the first n columns exist in C.
template <class T, int Rows, int Vectors>
static void micro_tile(const GemmStrip<T>& s, const T* b, T* c, const T* col_bias, int64_t n) {
  using V = Vec<T>;
  constexpr int kLanes = lanes<T>();
  const int64_t ldc = s.ldc;
  const bool whole = n >= Vectors * kLanes;
  V acc[Rows][Vectors];
  if (s.accumulate) {
    PTERON_UNROLL
    for (int i = 0; i < Rows; ++i) {
      PTERON_UNROLL
      for (int j = 0; j < Vectors; ++j) {
        const T* from = c + i * ldc + j * kLanes;
        acc[i][j] = whole ? load(from) : load_up_to(from, n - j * kLanes);
      }
    }
  } else {
    V start[Vectors];
    PTERON_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      start[j] = col_bias != nullptr ? load_up_to(col_bias + j * kLanes, n - j * kLanes) : V{};
    }
    PTERON_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const V row = s.row_bias != nullptr ? set1(s.row_bias[i]) : V{};
      PTERON_UNROLL
      for (int j = 0; j < Vectors; ++j) acc[i][j] = start[j] + row;
    }
  }

  // Row i of A is at group[i / 3] + (i % 3) * lda: five pointers and one stride (x86 scales it by 1 or 2) reach
  // 14 rows, where a pointer for each row would not fit the 16 general registers.
  constexpr int kGroups = (Rows + 2) / 3;
  const int64_t lda = s.lda;
  const T* group[kGroups];
  PTERON_UNROLL
  for (int g = 0; g < kGroups; ++g) group[g] = s.a + 3 * g * lda;
  for (int64_t k = s.k; k > 0; --k) {
    V right[Vectors];
    PTERON_UNROLL
    for (int j = 0; j < Vectors; ++j) right[j] = load(b + j * kLanes);
    b += Vectors * kLanes;
    PTERON_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const V left = set1(group[i / 3][(i % 3) * lda]);
      PTERON_UNROLL
      for (int j = 0; j < Vectors; ++j) acc[i][j] = left * right[j] + acc[i][j];
    }
    PTERON_UNROLL
    for (int g = 0; g < kGroups; ++g) ++group[g];
  }

  if (s.clamp) {
    const V lo = set1(s.lo);
    const V hi = set1(s.hi);
    PTERON_UNROLL
    for (int i = 0; i < Rows; ++i) {
      PTERON_UNROLL
      for (int j = 0; j < Vectors; ++j) acc[i][j] = at_most<T>(at_least<T>(acc[i][j], lo), hi);
    }
  }
  PTERON_UNROLL
  for (int i = 0; i < Rows; ++i) {
    PTERON_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      T* to = c + i * ldc + j * kLanes;
      if (whole) {
        store(to, acc[i][j]);
      } else {
        store_up_to(to, acc[i][j], n - j * kLanes);
      }
    }
  }
}

template <class T, int Rows>
static void strip_rows(const GemmStrip<T>& s) {
  constexpr int kLanes = lanes<T>();
  constexpr int kCols = 2 * kLanes;
  const T* b = s.b;
  for (int64_t j = 0; j < s.n; j += kCols, b += s.b_strip_stride) {
    const int64_t n = s.n - j;
    const T* col_bias = s.col_bias != nullptr ? s.col_bias + j : nullptr;
    if (n > kLanes) {
      micro_tile<T, Rows, 2>(s, b, s.c + j, col_bias, n);
    } else {
      micro_tile<T, Rows, 1>(s, b, s.c + j, col_bias, n);
    }
  }
}

template <class T>
static void strip(const GemmStrip<T>& s) {
  switch (s.rows) {
#define PTERON_CASE(rows)                                    \
  case rows:                                                 \
    if constexpr (rows <= kTileRows) strip_rows<T, rows>(s); \
    break;
    PTERON_CASE(1)
    PTERON_CASE(2)
    PTERON_CASE(3)
    PTERON_CASE(4)
    PTERON_CASE(5)
    PTERON_CASE(6)
    PTERON_CASE(7)
    PTERON_CASE(8)
    PTERON_CASE(9)
    PTERON_CASE(10)
    PTERON_CASE(11)
    PTERON_CASE(12)
    PTERON_CASE(13)
    PTERON_CASE(14)
#undef PTERON_CASE
    default:
      break;
  }
}

// Columns with unit stride are copied vector by vector, rows with unit stride transposed 4 x 4, the rest one by one.
template <class T>
static void pack_strip(const T* b, int64_t row_stride, int64_t col_stride, int64_t k, int64_t n, T scale, T* dst) {
  constexpr int kLanes = lanes<T>();
  const int64_t width = n > kLanes ? 2 * kLanes : kLanes;
  if (col_stride == 1) {
    const Vec<T> factor = set1(scale);
    for (int64_t i = 0; i < k; ++i, b += row_stride, dst += width) {
      for (int64_t j = 0; j < width; j += kLanes) store(dst + j, load_up_to(b + j, n - j) * factor);
    }
    return;
  }
  int64_t done = 0;  // rows that the blocks of four have packed
  if constexpr (sizeof(T) == 4) {
    if (row_stride == 1 && scale == 1) {
      const int64_t whole_cols = n / 4 * 4;
      for (; done + 4 <= k; done += 4) {
        T* to = dst + done * width;
        for (int64_t j = 0; j < whole_cols; j += 4) transpose4x4(b + done + j * col_stride, col_stride, to + j, width);
        for (int64_t i = 0; i < 4; ++i) {
          for (int64_t j = whole_cols; j < n; ++j) to[i * width + j] = b[done + i + j * col_stride];
          for (int64_t j = n; j < width; ++j) to[i * width + j] = 0;
        }
      }
    }
  }
  for (int64_t i = done; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) dst[i * width + j] = b[i * row_stride + j * col_stride] * scale;
    for (int64_t j = n; j < width; ++j) dst[i * width + j] = 0;
  }
}

template <class T>
static void copy_rows(const T* a, int64_t row_stride, int64_t col_stride, int64_t rows, int64_t k, T scale, T* dst,
                      int64_t dst_stride) {
  if (col_stride == 1) {
    const Vec<T> factor = set1(scale);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t p = 0; p < k; p += lanes<T>()) {
        const int64_t n = k - p;
        store_up_to(dst + i * dst_stride + p, load_up_to(a + i * row_stride + p, n) * factor, n);
      }
    }
    return;
  }
  int64_t done = 0;  // columns that the blocks of four have copied
  if constexpr (sizeof(T) == 4) {
    if (row_stride == 1 && scale == 1) {
      const int64_t whole_rows = rows / 4 * 4;
      for (; done + 4 <= k; done += 4) {
        const T* from = a + done * col_stride;
        for (int64_t i = 0; i < whole_rows; i += 4) {
          transpose4x4(from + i, col_stride, dst + i * dst_stride + done, dst_stride);
        }
        for (int64_t i = whole_rows; i < rows; ++i) {
          for (int64_t p = 0; p < 4; ++p) dst[i * dst_stride + done + p] = from[i + p * col_stride];
        }
      }
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t p = done; p < k; ++p) dst[i * dst_stride + p] = a[i * row_stride + p * col_stride] * scale;
  }
}

// Rows of B are added to C, Depth at a time: B is read as few long streams, which the hardware prefetches, instead
// of as a short piece of every row; C stays in the first-level cache.
template <class T, int Rows, int Depth>
static void add_rows(const GemvCall<T>& g, int64_t k) {
  using V = Vec<T>;
  constexpr int kLanes = lanes<T>();
  const T* a = g.a + k;
  const T* b = g.b + k * g.b_stride;
  V left[Rows][Depth];
  for (int i = 0; i < Rows; ++i) {
    for (int d = 0; d < Depth; ++d) left[i][d] = set1(a[i * g.lda + d]);
  }
  for (int64_t j = g.n_begin; j < g.n_end; j += kLanes) {
    const int64_t n = g.n_end - j;
    V acc[Rows];
    PTERON_UNROLL
    for (int i = 0; i < Rows; ++i) acc[i] = load_up_to(g.c + i * g.c_row_stride + j, n);
    PTERON_UNROLL
    for (int d = 0; d < Depth; ++d) {
      const V right = load_up_to(b + d * g.b_stride + j, n);
      PTERON_UNROLL
      for (int i = 0; i < Rows; ++i) acc[i] = left[i][d] * right + acc[i];
    }
    PTERON_UNROLL
    for (int i = 0; i < Rows; ++i) store_up_to(g.c + i * g.c_row_stride + j, acc[i], n);
  }
}

template <class T, int Rows>
static void gemv_rows_of(const GemvCall<T>& g) {
  using V = Vec<T>;
  constexpr int kLanes = lanes<T>();
  constexpr int kDepth = Rows == 1 ? 8 : 4;
  if (!g.accumulate) {
    for (int i = 0; i < Rows; ++i) {
      const V row = g.row_bias != nullptr ? set1(g.row_bias[i]) : V{};
      for (int64_t j = g.n_begin; j < g.n_end; j += kLanes) {
        const int64_t n = g.n_end - j;
        const V col = g.col_bias != nullptr ? load_up_to(g.col_bias + j, n) : V{};
        store_up_to(g.c + i * g.c_row_stride + j, col + row, n);
      }
    }
  }
  int64_t k = 0;
  for (; k + kDepth <= g.k; k += kDepth) add_rows<T, Rows, kDepth>(g, k);
  for (; k < g.k; ++k) add_rows<T, Rows, 1>(g, k);
  if (!g.clamp) return;
  for (int i = 0; i < Rows; ++i) {
    for (int64_t j = g.n_begin; j < g.n_end; j += kLanes) {
      const int64_t n = g.n_end - j;
      T* c = g.c + i * g.c_row_stride + j;
      store_up_to(c, at_most<T>(at_least<T>(load_up_to(c, n), set1(g.lo)), set1(g.hi)), n);
    }
  }
}

template <class T>
static void gemv_rows(const GemvCall<T>& g) {
  switch (g.m) {
    case 1:
      return gemv_rows_of<T, 1>(g);
    case 2:
      return gemv_rows_of<T, 2>(g);
    case 3:
      return gemv_rows_of<T, 3>(g);
    default:
      return gemv_rows_of<T, 4>(g);
  }
}

// Rows x Cols dot products along contiguous k.
template <class T, int Rows, int Cols>
static void dots(const GemvCall<T>& g, int64_t j0) {
  using V = Vec<T>;
  constexpr int kLanes = lanes<T>();
  const T* b = g.b + j0 * g.b_stride;
  V acc[Rows][Cols];
  PTERON_UNROLL
  for (int i = 0; i < Rows; ++i) {
    PTERON_UNROLL
    for (int j = 0; j < Cols; ++j) acc[i][j] = V{};
  }
  int64_t k = 0;
  for (; k + kLanes <= g.k; k += kLanes) {
    V left[Rows];
    PTERON_UNROLL
    for (int i = 0; i < Rows; ++i) left[i] = load(g.a + i * g.lda + k);
    PTERON_UNROLL
    for (int j = 0; j < Cols; ++j) {
      const V right = load(b + j * g.b_stride + k);
      PTERON_UNROLL
      for (int i = 0; i < Rows; ++i) acc[i][j] = left[i] * right + acc[i][j];
    }
  }
  if (k < g.k) {
    PTERON_UNROLL
    for (int j = 0; j < Cols; ++j) {
      const V right = load_up_to(b + j * g.b_stride + k, g.k - k);
      PTERON_UNROLL
      for (int i = 0; i < Rows; ++i) acc[i][j] = load_up_to(g.a + i * g.lda + k, g.k - k) * right + acc[i][j];
    }
  }
  PTERON_UNROLL
  for (int i = 0; i < Rows; ++i) {
    PTERON_UNROLL
    for (int j = 0; j < Cols; ++j) {
      T* c = g.c + i * g.c_row_stride + (j0 + j) * g.c_col_stride;
      T value = sum_lanes<T>(acc[i][j]);
      if (g.accumulate) {
        value += *c;
      } else {
        if (g.row_bias != nullptr) value += g.row_bias[i];
        if (g.col_bias != nullptr) value += g.col_bias[j0 + j];
      }
      if (g.clamp) {
        value = value < g.lo ? g.lo : value;
        value = g.hi < value ? g.hi : value;
      }
      *c = value;
    }
  }
}

template <class T, int Rows>
static void gemv_dot_of(const GemvCall<T>& g) {
  int64_t j = g.n_begin;
  for (; j + 4 <= g.n_end; j += 4) dots<T, Rows, 4>(g, j);
  for (; j < g.n_end; ++j) dots<T, Rows, 1>(g, j);
}

template <class T>
static void gemv_dot(const GemvCall<T>& g) {
  switch (g.m) {
    case 1:
      return gemv_dot_of<T, 1>(g);
    case 2:
      return gemv_dot_of<T, 2>(g);
    case 3:
      return gemv_dot_of<T, 3>(g);
    default:
      return gemv_dot_of<T, 4>(g);
  }
}

template <class T>
constexpr GemmTable<T> make_gemm_table() {
  return {kIsaName,      kTileRows,    2 * lanes<T>(), lanes<T>(), strip<T>,
          pack_strip<T>, copy_rows<T>, gemv_rows<T>,   gemv_dot<T>};
}
extern const GemmTable<float> gemm_table_f32;
extern const GemmTable<double> gemm_table_f64;
constexpr GemmTable<float> gemm_table_f32 = make_gemm_table<float>();
constexpr GemmTable<double> gemm_table_f64 = make_gemm_table<double>();

}  // namespace PTERON_ISA_NAMESPACE
}  // namespace pteron::engine
