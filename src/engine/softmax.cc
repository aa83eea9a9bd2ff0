#include "engine/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/elementwise_table.h"

namespace pteron::engine {
namespace {

// Columns of [size, inner] done together: their maxima and sums stay in the first-level cache.
constexpr int64_t kColumns = 256;

// A maximum of -inf means that all are -inf: x - max is NaN, as it must become.
void softmax_row(const RowsTable& rows, const float* in, float* out, int64_t size, bool logarithm) {
  const float max = rows.max(in, size);
  if (logarithm) {
    const float sum = rows.exp_sum(in, nullptr, size, max);
    // (x - max) - log(sum): max + log(sum) would lose the small one beside a large maximum.
    rows.normalize(in, out, size, max, 1.0f, nullptr, nullptr);
    rows.normalize(out, out, size, std::log(sum), 1.0f, nullptr, nullptr);
  } else {
    const float sum = rows.exp_sum(in, out, size, max);
    rows.normalize(out, out, size, 0.0f, 1.0f / sum, nullptr, nullptr);
  }
}

// Columns [0, n) of a [size, inner] matrix, row by row.
void softmax_columns(const ElementwiseTable& table, const float* in, float* out, int64_t size, int64_t inner, int64_t n,
                     bool logarithm) {
  float max[kColumns];
  float sum[kColumns];
  float row[kColumns];
  std::copy(in, in + n, max);
  for (int64_t i = 1; i < size; ++i) table.binary(Binary::kMax, max, in + i * inner, 1, max, n, 1.0f, false);
  std::fill(sum, sum + n, 0.0f);
  for (int64_t i = 0; i < size; ++i) {
    float* to = logarithm ? row : out + i * inner;
    table.binary(Binary::kSub, in + i * inner, max, 1, to, n, 1.0f, false);
    table.unary(Unary::kExp, to, to, n, {});
    table.binary(Binary::kAdd, sum, to, 1, sum, n, 1.0f, false);
  }
  if (logarithm) table.unary(Unary::kLog, sum, sum, n, {});
  for (int64_t i = 0; i < size; ++i) {
    float* to = out + i * inner;
    if (logarithm) {
      table.binary(Binary::kSub, in + i * inner, max, 1, to, n, 1.0f, false);
      table.binary(Binary::kSub, to, sum, 1, to, n, 1.0f, false);
    } else {
      table.binary(Binary::kDiv, to, sum, 1, to, n, 1.0f, false);
    }
  }
}

void run(const float* in, float* out, int64_t outer, int64_t size, int64_t inner, bool logarithm,
         const Parallel& parallel) {
  if (outer <= 0 || size <= 0 || inner <= 0) return;
  if (inner == 1) {
    const RowsTable& rows = rows_table(active_isa());
    parallel_for(parallel, outer, 1 + 8192 / size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) softmax_row(rows, in + i * size, out + i * size, size, logarithm);
    });
    return;
  }
  const ElementwiseTable& table = elementwise_table(active_isa());
  const int64_t blocks = (inner + kColumns - 1) / kColumns;
  const int64_t grain = 1 + 8192 / (size * std::min(inner, kColumns));
  parallel_for(parallel, outer * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t col = b % blocks * kColumns;
      const int64_t at = b / blocks * size * inner + col;
      softmax_columns(table, in + at, out + at, size, inner, std::min(kColumns, inner - col), logarithm);
    }
  });
}

}  // namespace

void softmax(const float* in, float* out, int64_t outer, int64_t size, int64_t inner, const Parallel& parallel) {
  run(in, out, outer, size, inner, false, parallel);
}

void log_softmax(const float* in, float* out, int64_t outer, int64_t size, int64_t inner, const Parallel& parallel) {
  run(in, out, outer, size, inner, true, parallel);
}

}  // namespace pteron::engine
