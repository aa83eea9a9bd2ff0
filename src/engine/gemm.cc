#include "engine/gemm.h"

#include <algorithm>
#include <type_traits>

#include "engine/copy.h"
#include "engine/elementwise_table.h"
#include "engine/gemm_table.h"
#include "engine/integer_gemm.h"
#include "engine/slots.h"

namespace pteron::engine {
namespace {

// Rows of a strip so that all strips of m rows are nearly equal: 64 rows in strips of at most 14 are 13, 13, 13,
// 13, 12.
int64_t strip_rows(int64_t m, int64_t max_rows) {
  const int64_t strips = (m + max_rows - 1) / max_rows;
  return (m + strips - 1) / strips;
}

// Depth of each block of the sum: equal blocks of at most kBlockK. Depends on k only, so every path sums in one order.
int64_t block_depth(int64_t k) {
  const int64_t blocks = (k + kBlockK - 1) / kBlockK;
  return blocks == 0 ? 0 : (k + blocks - 1) / blocks;
}

// Rows whose distance is a multiple of a KiB share few sets of a first-level cache (its sets repeat every 4 KiB), and
// 14 of them evict one another: such matrices are copied.
template <class T>
bool rows_collide(int64_t row_stride) {
  return row_stride * static_cast<int64_t>(sizeof(T)) % 1024 == 0;
}

int64_t padded_row(int64_t k) {
  const int64_t padded = (k + 15) / 16 * 16;
  return rows_collide<float>(padded) ? padded + 16 : padded;
}

template <class T>
int64_t packed_b_elements(const GemmTable<T>& table, int64_t k, int64_t n) {
  return k * ((n + table.lanes - 1) / table.lanes * table.lanes);
}

// Contiguous 16-bit floats to and from float.
void widen_run(const Half* from, float* to, int64_t count) {
  copy_table(active_isa()).half_to_float(reinterpret_cast<const uint16_t*>(from), to, count);
}
void widen_run(const BFloat16* from, float* to, int64_t count) {
  copy_table(active_isa()).bfloat16_to_float(reinterpret_cast<const uint16_t*>(from), to, count);
}
void narrow_run(const float* from, Half* to, int64_t count) {
  copy_table(active_isa()).float_to_half(from, reinterpret_cast<uint16_t*>(to), count);
}
void narrow_run(const float* from, BFloat16* to, int64_t count) {
  copy_table(active_isa()).float_to_bfloat16(from, reinterpret_cast<uint16_t*>(to), count);
}

template <class T>
float widen(T value) {
  return to_float(value);
}
float widen(float value) {
  return value;
}
double widen(double value) {
  return value;
}

// Copies rows [0, rows) x [0, k) with unit column stride in dst, converted to the accumulator and scaled.
template <class T>
void copy_rows(const GemmTable<Accumulator<T>>& table, const MatrixView<T>& from, int64_t rows, int64_t k,
               Accumulator<T> scale, Accumulator<T>* dst, int64_t dst_stride) {
  if constexpr (std::is_same_v<T, Accumulator<T>>) {
    table.copy_rows(from.data, from.row_stride, from.col_stride, rows, k, scale, dst, dst_stride);
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = from.data + i * from.row_stride;
      float* to = dst + i * dst_stride;
      if (from.col_stride == 1) {
        widen_run(row, to, k);
      } else {
        for (int64_t p = 0; p < k; ++p) to[p] = to_float(row[p * from.col_stride]);
      }
      if (scale == 1) continue;
      for (int64_t p = 0; p < k; ++p) to[p] *= scale;
    }
  }
}

template <class T>
MatrixView<T> offset(const MatrixView<T>& view, int64_t row, int64_t col) {
  return {view.data + row * view.row_stride + col * view.col_stride, view.row_stride, view.col_stride};
}

// Packs the strip of columns that begins at `col`. 16-bit floats pass through a block on the stack.
template <class T>
void pack_b_strip(const GemmTable<Accumulator<T>>& table, const MatrixView<T>& b, int64_t k, int64_t col, int64_t n,
                  Accumulator<T> scale, Accumulator<T>* dst) {
  using Acc = Accumulator<T>;
  const MatrixView<T> from = offset(b, 0, col);
  if constexpr (std::is_same_v<T, Acc>) {
    table.pack_strip(from.data, from.row_stride, from.col_stride, k, n, scale, dst);
  } else {
    constexpr int64_t kBlock = 32;  // rows at a time, and at least as many columns as a strip has
    const int64_t width = n > table.lanes ? table.strip_cols : table.lanes;
    Acc block[kBlock * kBlock];
    for (int64_t p = 0; p < k; p += kBlock) {
      const int64_t rows = std::min(kBlock, k - p);
      const MatrixView<T> part = offset(from, p, 0);
      if (part.row_stride == 1) {
        // Columns are contiguous: they become the rows of the block.
        copy_rows(table, MatrixView<T>{part.data, part.col_stride, 1}, n, rows, Acc{1}, block, kBlock);
        table.pack_strip(block, 1, kBlock, rows, n, scale, dst + p * width);
      } else {
        copy_rows(table, part, rows, n, Acc{1}, block, kBlock);
        table.pack_strip(block, kBlock, 1, rows, n, scale, dst + p * width);
      }
    }
  }
}

template <class T>
void pack_b_scaled(const GemmTable<Accumulator<T>>& table, const MatrixView<T>& b, int64_t k, int64_t n,
                   Accumulator<T> scale, Accumulator<T>* dst, const Parallel& parallel) {
  const int64_t width = table.strip_cols;
  const int64_t strips = (n + width - 1) / width;
  const int64_t grain = 1 + 16384 / (k * width + 1);
  parallel_for(parallel, strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      pack_b_strip(table, b, k, s * width, std::min(width, n - s * width), scale, dst + s * width * k);
    }
  });
}

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T>;
template <class T>
constexpr bool kIsWide = std::is_same_v<T, float> || std::is_same_v<T, double>;

// ---- what a call amounts to -----------------------------------------------------------------------------------

template <class T>
bool sum_is_empty(const Gemm<T>& g) {
  return g.k == 0 || g.alpha == Accumulator<T>{0};
}
template <class T>
bool uses_c0(const Gemm<T>& g) {
  return g.beta != Accumulator<T>{0} && g.c0.data != nullptr;
}
template <class T>
bool clamps(const Gemm<T>& g) {
  return g.lo != lowest_bound<Accumulator<T>>() || g.hi != highest_bound<Accumulator<T>>();
}

constexpr int64_t kMaxGemvRows = 4;

enum class Path : uint8_t {
  kTiles,       // packed B, tiles of C
  kRows,        // few rows, B in place with unit column stride
  kDot,         // few rows, B in place with unit row stride
  kColumnRows,  // one column: the transposed problem by kRows
  kColumnDot,   // one column: the transposed problem by kDot
};

template <class T>
Path choose_path(const Gemm<T>& g) {
  if (!kIsWide<T> || sum_is_empty(g)) return Path::kTiles;
  if (g.packed_b == nullptr && g.packed_a == nullptr) {
    if (g.m <= kMaxGemvRows && g.b.col_stride == 1) return Path::kRows;
    if (g.m <= kMaxGemvRows && g.b.row_stride == 1) return Path::kDot;
    if (g.n == 1 && g.a.col_stride == 1) return Path::kColumnDot;
    if (g.n == 1 && g.a.row_stride == 1 && g.c_row_stride == 1) return Path::kColumnRows;
  }
  return Path::kTiles;
}

// The gemv functions want the few rows contiguous and scaled.
template <class T>
bool gemv_copies(const Gemm<T>& g, Path path) {
  if (g.alpha != Accumulator<T>{1}) return true;
  const bool column = path == Path::kColumnRows || path == Path::kColumnDot;
  return column ? g.b.row_stride != 1 : g.a.col_stride != 1;
}

// C = beta * C0 + biases for a block of C: what the sum is then added to.
template <class T>
void start_from_c0(const Gemm<T>& g, int64_t row0, int64_t rows, int64_t col0, int64_t cols, Accumulator<T>* dst,
                   int64_t dst_stride) {
  using Acc = Accumulator<T>;
  for (int64_t i = 0; i < rows; ++i) {
    const T* from = g.c0.data + (row0 + i) * g.c0.row_stride + col0 * g.c0.col_stride;
    Acc* to = dst + i * dst_stride;
    const Acc row = g.row_bias != nullptr ? g.row_bias[row0 + i] : Acc{0};
    for (int64_t j = 0; j < cols; ++j) {
      const Acc col = g.col_bias != nullptr ? g.col_bias[col0 + j] : Acc{0};
      to[j] = g.beta * widen(from[j * g.c0.col_stride]) + (row + col);
    }
  }
}

template <class T>
void run_gemv(const Gemm<T>& g, Path path, void* scratch, const Parallel& parallel) {
  const GemmTable<T>& table = gemm_table<T>(active_isa());
  const bool column = path == Path::kColumnRows || path == Path::kColumnDot;
  const bool dot = path == Path::kDot || path == Path::kColumnDot;
  const MatrixView<T> few = column ? MatrixView<T>{g.b.data, g.b.col_stride, g.b.row_stride} : g.a;
  const MatrixView<T> many = column ? MatrixView<T>{g.a.data, g.a.col_stride, g.a.row_stride} : g.b;
  GemvCall<T> call{};
  call.m = column ? 1 : g.m;
  call.k = g.k;
  call.a = few.data;
  call.lda = few.row_stride;
  if (gemv_copies(g, path)) {
    T* copy = static_cast<T*>(scratch);
    copy_rows(table, few, call.m, g.k, g.alpha, copy, g.k);
    call.a = copy;
    call.lda = g.k;
  }
  call.b = many.data;
  call.b_stride = dot ? many.col_stride : many.row_stride;
  call.c = g.c;
  call.c_row_stride = column ? 1 : g.c_row_stride;
  call.c_col_stride = column ? g.c_row_stride : 1;
  call.row_bias = column ? g.col_bias : g.row_bias;
  call.col_bias = column ? g.row_bias : g.col_bias;
  call.accumulate = uses_c0(g);
  call.clamp = clamps(g);
  call.lo = g.lo;
  call.hi = g.hi;
  const int64_t n = column ? g.m : g.n;
  // A range worth waking a thread for: 64 K multiplications, and a multiple of a cache line of C.
  const int64_t grain = (65536 / (g.k + 1) + 64) / 16 * 16;
  parallel_for(parallel, n, grain, [&](int64_t begin, int64_t end) {
    if (call.accumulate) {
      if (column) {
        start_from_c0(g, begin, end - begin, 0, 1, g.c + begin * g.c_row_stride, g.c_row_stride);
      } else {
        start_from_c0(g, 0, g.m, begin, end - begin, g.c + begin, g.c_row_stride);
      }
    }
    GemvCall<T> range = call;
    range.n_begin = begin;
    range.n_end = end;
    dot ? table.gemv_dot(range) : table.gemv_rows(range);
  });
}

// ---- tiles ----------------------------------------------------------------------------------------------------

// Columns of a tile: eight strips, whose blocks of B (8 * 32 KiB for AVX-512) stay in a second-level cache of 512 KiB
// while all strips of rows of the tile pass over them.
constexpr int64_t kTileStrips = 8;
constexpr int64_t kTileRowStrips = 8;
constexpr int64_t kMaxTileCols = kTileStrips * 32;

template <class T>
struct TilePlan {
  int64_t strip_rows;
  int64_t tile_rows;
  int64_t tile_cols;
  int64_t row_tiles;
  int64_t col_tiles;
};

template <class T>
TilePlan<T> plan_tiles(const GemmTable<Accumulator<T>>& table, int64_t m, int64_t n) {
  TilePlan<T> plan{};
  plan.strip_rows = strip_rows(m, table.max_rows);
  plan.tile_rows = plan.strip_rows * kTileRowStrips;
  plan.tile_cols = table.strip_cols * kTileStrips;
  plan.row_tiles = (m + plan.tile_rows - 1) / plan.tile_rows;
  plan.col_tiles = (n + plan.tile_cols - 1) / plan.tile_cols;
  return plan;
}

// A strip of A as the micro-kernel reads it: in place when that is possible, else copied into `buffer`.
template <class T>
void take_a_strip(const Gemm<T>& g, const GemmTable<Accumulator<T>>& table, int64_t row, int64_t rows, int64_t k0,
                  int64_t depth, Accumulator<T> scale, Accumulator<T>* buffer, GemmStrip<Accumulator<T>>& s) {
  if (g.packed_a != nullptr) {
    s.lda = padded_row(g.k);
    s.a = g.packed_a + row * s.lda + k0;
    return;
  }
  if constexpr (kIsWide<T>) {
    if (scale == 1 && g.a.col_stride == 1 && (rows == 1 || !rows_collide<T>(g.a.row_stride))) {
      s.lda = g.a.row_stride;
      s.a = g.a.data + row * s.lda + k0;
      return;
    }
  }
  copy_rows(table, offset(g.a, row, k0), rows, depth, scale, buffer, kStripStride);
  s.lda = kStripStride;
  s.a = buffer;
}

// The strip of rows in `s` times columns [col0, col0 + cols) of packed B, depth k0 to k0 + s.k of k.
template <class Acc>
void multiply_strip(const GemmTable<Acc>& table, GemmStrip<Acc> s, const Acc* packed_b, int64_t k, int64_t k0,
                    int64_t col0, int64_t cols) {
  const int64_t tail = cols % table.strip_cols;
  const int64_t narrow_cols = tail <= table.lanes ? tail : 0;
  s.n = cols - narrow_cols;
  s.b_strip_stride = k * table.strip_cols;
  if (s.n > 0) {
    s.b = packed_b + col0 * k + k0 * table.strip_cols;
    table.strip(s);
  }
  if (narrow_cols > 0) {
    // The last strip is packed one vector wide: its rows are half as far apart.
    s.b = packed_b + (col0 + s.n) * k + k0 * table.lanes;
    s.c += s.n;
    if (s.col_bias != nullptr) s.col_bias += s.n;
    s.n = narrow_cols;
    table.strip(s);
  }
}

// float and double: block after block of k over the whole tile, the partial sums in C.
template <class T>
void wide_tile(const Gemm<T>& g, const GemmTable<T>& table, const T* packed_b, T a_scale, const TilePlan<T>& plan,
               int64_t row0, int64_t col0) {
  alignas(64) T buffer[kMaxStripRows * kStripStride];
  const int64_t rows = std::min(plan.tile_rows, g.m - row0);
  const int64_t cols = std::min(plan.tile_cols, g.n - col0);
  const bool from_c0 = uses_c0(g);
  if (from_c0) start_from_c0(g, row0, rows, col0, cols, g.c + row0 * g.c_row_stride + col0, g.c_row_stride);
  const int64_t k = sum_is_empty(g) ? 0 : g.k;
  const int64_t depth = block_depth(k);
  GemmStrip<T> s{};
  s.ldc = g.c_row_stride;
  s.col_bias = g.col_bias != nullptr ? g.col_bias + col0 : nullptr;
  s.lo = g.lo;
  s.hi = g.hi;
  int64_t k0 = 0;
  do {
    s.k = std::min(depth, k - k0);
    s.accumulate = from_c0 || k0 > 0;
    s.clamp = k0 + s.k == k && clamps(g);
    for (int64_t i = 0; i < rows; i += plan.strip_rows) {
      s.rows = std::min(plan.strip_rows, rows - i);
      if (k > 0) take_a_strip(g, table, row0 + i, s.rows, k0, s.k, a_scale, buffer, s);
      s.c = g.c + (row0 + i) * g.c_row_stride + col0;
      s.row_bias = g.row_bias != nullptr ? g.row_bias + row0 + i : nullptr;
      multiply_strip(table, s, packed_b, k, k0, col0, cols);
    }
    k0 += s.k;
  } while (k0 < k);
}

// 16-bit floats: a strip of C is summed completely in a float block on the stack, then rounded once.
template <class T>
void narrow_tile(const Gemm<T>& g, const GemmTable<float>& table, const float* packed_b, float a_scale,
                 const TilePlan<T>& plan, int64_t row0, int64_t col0) {
  alignas(64) float buffer[kMaxStripRows * kStripStride];
  alignas(64) float block[kMaxStripRows * kMaxTileCols];
  const int64_t rows = std::min(plan.tile_rows, g.m - row0);
  const int64_t cols = std::min(plan.tile_cols, g.n - col0);
  const bool from_c0 = uses_c0(g);
  const int64_t k = sum_is_empty(g) ? 0 : g.k;
  const int64_t depth = block_depth(k);
  GemmStrip<float> s{};
  s.ldc = kMaxTileCols;
  s.col_bias = g.col_bias != nullptr ? g.col_bias + col0 : nullptr;
  s.lo = g.lo;
  s.hi = g.hi;
  for (int64_t i = 0; i < rows; i += plan.strip_rows) {
    s.rows = std::min(plan.strip_rows, rows - i);
    if (from_c0) start_from_c0(g, row0 + i, s.rows, col0, cols, block, kMaxTileCols);
    int64_t k0 = 0;
    do {
      s.k = std::min(depth, k - k0);
      s.accumulate = from_c0 || k0 > 0;
      s.clamp = k0 + s.k == k && clamps(g);
      if (k > 0) take_a_strip(g, table, row0 + i, s.rows, k0, s.k, a_scale, buffer, s);
      s.c = block;
      s.row_bias = g.row_bias != nullptr ? g.row_bias + row0 + i : nullptr;
      multiply_strip(table, s, packed_b, k, k0, col0, cols);
      k0 += s.k;
    } while (k0 < k);
    for (int64_t r = 0; r < s.rows; ++r) {
      narrow_run(block + r * kMaxTileCols, g.c + (row0 + i + r) * g.c_row_stride + col0, cols);
    }
  }
}

template <class T>
void run_tiles(const Gemm<T>& g, void* scratch, const Parallel& parallel) {
  using Acc = Accumulator<T>;
  const GemmTable<Acc>& table = gemm_table<Acc>(active_isa());
  const bool empty = sum_is_empty(g);
  // alpha is multiplied into the operand that is being copied; with A packed that is B.
  const bool scale_b = g.packed_a != nullptr;
  const Acc* packed_b = g.packed_b;
  if (packed_b == nullptr && !empty) {
    Acc* dst = static_cast<Acc*>(scratch);
    pack_b_scaled(table, g.b, g.k, g.n, scale_b ? g.alpha : Acc{1}, dst, parallel);
    packed_b = dst;
  }
  const Acc a_scale = scale_b ? Acc{1} : g.alpha;
  const TilePlan<T> plan = plan_tiles<T>(table, g.m, g.n);
  parallel_for(parallel, plan.row_tiles * plan.col_tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t row0 = tile % plan.row_tiles * plan.tile_rows;
      const int64_t col0 = tile / plan.row_tiles * plan.tile_cols;
      if constexpr (kIsWide<T>) {
        wide_tile(g, table, packed_b, a_scale, plan, row0, col0);
      } else {
        narrow_tile(g, table, packed_b, a_scale, plan, row0, col0);
      }
    }
  });
}

size_t round_up_64(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

template <class T>
size_t gemm_scratch_bytes(const Gemm<T>& g) {
  if constexpr (kIsInteger<T>) {
    return 0;
  } else {
    using Acc = Accumulator<T>;
    if (g.m <= 0 || g.n <= 0 || sum_is_empty(g)) return 0;
    const Path path = choose_path(g);
    if (path != Path::kTiles) {
      const int64_t rows = path == Path::kColumnRows || path == Path::kColumnDot ? 1 : g.m;
      return gemv_copies(g, path) ? round_up_64(static_cast<size_t>(rows * g.k) * sizeof(Acc)) : 0;
    }
    if (g.packed_b != nullptr) return 0;
    return packed_b_bytes<T>(g.k, g.n);
  }
}

template <class T>
void gemm(const Gemm<T>& g, void* scratch, const Parallel& parallel) {
  if (g.m <= 0 || g.n <= 0) return;
  if constexpr (kIsInteger<T>) {
    integer_gemm(g, parallel);
  } else {
    const Path path = choose_path(g);
    if constexpr (kIsWide<T>) {
      if (path != Path::kTiles) return run_gemv(g, path, scratch, parallel);
    }
    run_tiles(g, scratch, parallel);
  }
}

template <class T>
size_t gemm_batched_scratch_bytes(const Gemm<T>& g, const GemmBatch& batch, const Parallel& parallel) {
  const size_t one = round_up_64(gemm_scratch_bytes(g));
  const int64_t slots = parallel.run == nullptr ? 1 : std::min<int64_t>(batch.count, kMaxSlots);
  return one * static_cast<size_t>(std::max<int64_t>(1, std::min<int64_t>(slots, parallel.threads)));
}

template <class T>
void gemm_batched(const Gemm<T>& g, const GemmBatch& batch, void* scratch, const Parallel& parallel) {
  if (batch.count <= 0 || g.m <= 0 || g.n <= 0) return;
  const auto one = [&](int64_t i, void* memory, const Parallel& inner) {
    Gemm<T> item = g;
    if (item.a.data != nullptr) item.a.data += batch.a_offsets ? batch.a_offsets[i] : i * batch.a_stride;
    if (item.b.data != nullptr) item.b.data += batch.b_offsets ? batch.b_offsets[i] : i * batch.b_stride;
    if (item.c0.data != nullptr) item.c0.data += batch.c0_offsets ? batch.c0_offsets[i] : i * batch.c0_stride;
    item.c += i * batch.c_stride;
    gemm(item, memory, inner);
  };
  if (batch.count == 1) return one(0, scratch, parallel);
  const size_t bytes = round_up_64(gemm_scratch_bytes(g));
  SlotAllocator slots(static_cast<int>(std::min<int64_t>(std::min<int64_t>(batch.count, kMaxSlots), parallel.threads)));
  const double work = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k + 1);
  const int64_t grain = 1 + static_cast<int64_t>(65536 / (work + 1));
  parallel_for(parallel, batch.count, grain, [&](int64_t begin, int64_t end) {
    const SlotAllocator::Slot slot(slots);
    void* memory = static_cast<char*>(scratch) + bytes * static_cast<size_t>(slot.index());
    for (int64_t i = begin; i < end; ++i) one(i, memory, Parallel{});
  });
}

template <class T>
size_t packed_b_bytes(int64_t k, int64_t n) {
  if constexpr (kIsInteger<T>) {
    return 0;
  } else {
    using Acc = Accumulator<T>;
    return round_up_64(static_cast<size_t>(packed_b_elements(gemm_table<Acc>(active_isa()), k, n)) * sizeof(Acc));
  }
}

template <class T>
void pack_b(const MatrixView<T>& b, int64_t k, int64_t n, Accumulator<T>* dst, const Parallel& parallel) {
  if constexpr (!kIsInteger<T>) {
    pack_b_scaled(gemm_table<Accumulator<T>>(active_isa()), b, k, n, Accumulator<T>{1}, dst, parallel);
  }
}

template <class T>
size_t packed_a_bytes(int64_t m, int64_t k) {
  if constexpr (kIsInteger<T>) {
    return 0;
  } else {
    return round_up_64(static_cast<size_t>(m * padded_row(k)) * sizeof(Accumulator<T>));
  }
}

template <class T>
void pack_a(const MatrixView<T>& a, int64_t m, int64_t k, Accumulator<T>* dst) {
  if constexpr (!kIsInteger<T>)
    copy_rows(gemm_table<Accumulator<T>>(active_isa()), a, m, k, Accumulator<T>{1}, dst, padded_row(k));
}

namespace isa_scalar {
extern const GemmTable<float> gemm_table_f32;
extern const GemmTable<double> gemm_table_f64;
}  // namespace isa_scalar
#if defined(__x86_64__)
namespace isa_avx2 {
extern const GemmTable<float> gemm_table_f32;
extern const GemmTable<double> gemm_table_f64;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const GemmTable<float> gemm_table_f32;
extern const GemmTable<double> gemm_table_f64;
}  // namespace isa_avx512
#endif

template <>
const GemmTable<float>& gemm_table<float>(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) return isa_avx512::gemm_table_f32;
  if (isa == Isa::kAvx2) return isa_avx2::gemm_table_f32;
#endif
  (void)isa;
  return isa_scalar::gemm_table_f32;
}
template <>
const GemmTable<double>& gemm_table<double>(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) return isa_avx512::gemm_table_f64;
  if (isa == Isa::kAvx2) return isa_avx2::gemm_table_f64;
#endif
  (void)isa;
  return isa_scalar::gemm_table_f64;
}

#define PTERON_INSTANTIATE(T)                                                                        \
  template size_t gemm_scratch_bytes<T>(const Gemm<T>&);                                             \
  template void gemm<T>(const Gemm<T>&, void*, const Parallel&);                                     \
  template size_t gemm_batched_scratch_bytes<T>(const Gemm<T>&, const GemmBatch&, const Parallel&);  \
  template void gemm_batched<T>(const Gemm<T>&, const GemmBatch&, void*, const Parallel&);           \
  template size_t packed_b_bytes<T>(int64_t, int64_t);                                               \
  template void pack_b<T>(const MatrixView<T>&, int64_t, int64_t, Accumulator<T>*, const Parallel&); \
  template size_t packed_a_bytes<T>(int64_t, int64_t);                                               \
  template void pack_a<T>(const MatrixView<T>&, int64_t, int64_t, Accumulator<T>*);
PTERON_INSTANTIATE(float)
PTERON_INSTANTIATE(double)
PTERON_INSTANTIATE(Half)
PTERON_INSTANTIATE(BFloat16)
PTERON_INSTANTIATE(int8_t)
PTERON_INSTANTIATE(uint8_t)
PTERON_INSTANTIATE(int16_t)
PTERON_INSTANTIATE(int32_t)
PTERON_INSTANTIATE(int64_t)
#undef PTERON_INSTANTIATE

}  // namespace pteron::engine
