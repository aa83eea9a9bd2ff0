#include "engine/reduce.h"

#include <algorithm>
#include <limits>

#include "engine/elementwise_table.h"

namespace pteron::engine {
namespace {

// Columns of [size, inner] reduced together.
constexpr int64_t kColumns = 256;
// Rows added one after another before their sum enters the tree.
constexpr int64_t kRowBlock = 64;

void combine(const ElementwiseTable& table, Reduce op, float* into, const float* row, int64_t n) {
  const Binary binary = op == Reduce::kMax ? Binary::kMax : op == Reduce::kMin ? Binary::kMin : Binary::kAdd;
  table.binary(binary, into, row, 1, into, n, 1.0f, false);
}

// The sum of rows [begin, end) as a binary tree over blocks of kRowBlock rows.
void sum_rows(const ElementwiseTable& table, const float* in, int64_t begin, int64_t end, int64_t inner, int64_t n,
              float* out) {
  if (end - begin <= kRowBlock) {
    std::copy(in + begin * inner, in + begin * inner + n, out);
    for (int64_t i = begin + 1; i < end; ++i) combine(table, Reduce::kSum, out, in + i * inner, n);
    return;
  }
  const int64_t blocks = (end - begin + kRowBlock - 1) / kRowBlock;
  const int64_t middle = begin + (blocks + 1) / 2 * kRowBlock;
  float right[kColumns];
  sum_rows(table, in, begin, middle, inner, n, out);
  sum_rows(table, in, middle, end, inner, n, right);
  combine(table, Reduce::kSum, out, right, n);
}

void reduce_columns(const ElementwiseTable& table, Reduce op, const float* in, float* out, int64_t size, int64_t inner,
                    int64_t n) {
  if (op == Reduce::kMax || op == Reduce::kMin) {
    std::copy(in, in + n, out);
    for (int64_t i = 1; i < size; ++i) combine(table, op, out, in + i * inner, n);
    return;
  }
  sum_rows(table, in, 0, size, inner, n, out);
  const float count = static_cast<float>(size);
  if (op == Reduce::kMean) table.binary(Binary::kDiv, out, &count, 0, out, n, 1.0f, false);
}

float reduce_row(const RowsTable& rows, Reduce op, const float* in, int64_t size) {
  switch (op) {
    case Reduce::kSum:
      return rows.sum(in, size);
    case Reduce::kMean:
      return rows.sum(in, size) / static_cast<float>(size);
    case Reduce::kMax:
      return rows.max(in, size);
    case Reduce::kMin:
      return rows.min(in, size);
  }
  return 0;
}

template <bool Max>
void arg_extreme(const float* in, int64_t* out, int64_t outer, int64_t size, int64_t inner, const Parallel& parallel) {
  if (outer <= 0 || size <= 0 || inner <= 0) return;
  const RowsTable& rows = rows_table(active_isa());
  parallel_for(parallel, outer, 1 + 16384 / (size * inner), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const float* slice = in + o * size * inner;
      int64_t* to = out + o * inner;
      if (inner == 1) {
        // The vector code finds the value; the first place where it stands is the index.
        const float best = Max ? rows.max(slice, size) : rows.min(slice, size);
        int64_t at = 0;
        while (at < size - 1 && !(slice[at] == best || (best != best && slice[at] != slice[at]))) ++at;
        *to = at;
        continue;
      }
      std::fill(to, to + inner, int64_t{0});
      for (int64_t i = 1; i < size; ++i) {
        for (int64_t j = 0; j < inner; ++j) {
          const float x = slice[i * inner + j];
          const float best = slice[to[j] * inner + j];
          if (best == best && (x != x || (Max ? x > best : x < best))) to[j] = i;
        }
      }
    }
  });
}

}  // namespace

void reduce(Reduce op, const float* in, float* out, int64_t outer, int64_t size, int64_t inner,
            const Parallel& parallel) {
  if (outer <= 0 || inner <= 0) return;
  if (size <= 0) {
    std::fill(out, out + outer * inner, op == Reduce::kMean ? std::numeric_limits<float>::quiet_NaN() : 0.0f);
    return;
  }
  if (inner == 1) {
    const RowsTable& rows = rows_table(active_isa());
    parallel_for(parallel, outer, 1 + 16384 / size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = reduce_row(rows, op, in + i * size, size);
    });
    return;
  }
  const ElementwiseTable& table = elementwise_table(active_isa());
  const int64_t blocks = (inner + kColumns - 1) / kColumns;
  const int64_t grain = 1 + 16384 / (size * std::min(inner, kColumns));
  parallel_for(parallel, outer * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t col = b % blocks * kColumns;
      reduce_columns(table, op, in + b / blocks * size * inner + col, out + b / blocks * inner + col, size, inner,
                     std::min(kColumns, inner - col));
    }
  });
}

void arg_max(const float* in, int64_t* out, int64_t outer, int64_t size, int64_t inner, const Parallel& parallel) {
  arg_extreme<true>(in, out, outer, size, inner, parallel);
}

void arg_min(const float* in, int64_t* out, int64_t outer, int64_t size, int64_t inner, const Parallel& parallel) {
  arg_extreme<false>(in, out, outer, size, inner, parallel);
}

}  // namespace pteron::engine
