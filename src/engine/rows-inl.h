// Work on one contiguous row: what softmax, normalisations and reductions are made of.
#pragma once

#include "engine/elementwise_table.h"
#include "engine/math-inl.h"

namespace pteron::engine {
namespace PTERON_ISA_NAMESPACE {

// Sums are kept in four vectors over blocks of 512 floats, and the blocks' sums are added as a binary tree: the error
// grows with the logarithm of the count, and the order depends on the count only.
constexpr int64_t kSumBlock = 512;

template <class F>
PTERON_INLINE float sum_block(const float* in, int64_t count, F f) {
  constexpr int64_t kLanes = lanes<float>();
  F32 acc[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    PTERON_UNROLL
    for (int j = 0; j < 4; ++j) acc[j] += f(load(in + i + j * kLanes));
  }
  for (; i + kLanes <= count; i += kLanes) acc[0] += f(load(in + i));
  float tail = 0;
  if (i < count) {
    const int n = static_cast<int>(count - i);
    float lane[kLanes];
    store(lane, f(load_n(in + i, n)));
    for (int j = 0; j < n; ++j) tail += lane[j];
  }
  return sum_lanes<float>((acc[0] + acc[1]) + (acc[2] + acc[3])) + tail;
}

template <class F>
PTERON_INLINE float sum_pairwise(const float* in, int64_t count, F f) {
  // partial[l] holds the sum of 2^l blocks, as the bits of the number of blocks say.
  float partial[56];
  int64_t blocks = 0;
  for (int64_t i = 0; i < count; i += kSumBlock) {
    const int64_t n = count - i < kSumBlock ? count - i : kSumBlock;
    float sum = sum_block(in + i, n, f);
    int level = 0;
    for (int64_t bits = blocks; (bits & 1) != 0; bits >>= 1) sum = partial[level++] + sum;
    partial[level] = sum;
    ++blocks;
  }
  float total = 0;
  for (int level = 0; level < 56 && (blocks >> level) != 0; ++level) {
    if (((blocks >> level) & 1) != 0) total = partial[level] + total;
  }
  return total;
}

static float row_sum(const float* in, int64_t count) {
  return sum_pairwise(in, count, [](F32 x) { return x; });
}

static float row_sum_squares(const float* in, int64_t count, float shift) {
  const F32 s = set1(shift);
  return sum_pairwise(in, count, [=](F32 x) { return (x - s) * (x - s); });
}

template <bool Max>
PTERON_INLINE float row_extreme(const float* in, int64_t count) {
  constexpr int64_t kLanes = lanes<float>();
  const auto better = [](auto x, auto y) { return Max ? (x > y) | (x != x) : (x < y) | (x != x); };
  float best = in[0];
  int64_t i = 0;
  if (count >= kLanes) {
    F32 acc = load(in);
    for (i = kLanes; i + kLanes <= count; i += kLanes) {
      const F32 x = load(in + i);
      acc = select(better(x, acc) & (acc == acc), x, acc);
    }
    float lane[kLanes];
    store(lane, acc);
    best = lane[0];
    for (int j = 1; j < kLanes; ++j) {
      if (best == best && better(lane[j], best)) best = lane[j];
    }
  }
  for (; i < count; ++i) {
    if (best == best && better(in[i], best)) best = in[i];
  }
  return best;
}

static float row_max(const float* in, int64_t count) {
  return row_extreme<true>(in, count);
}
static float row_min(const float* in, int64_t count) {
  return row_extreme<false>(in, count);
}

static float row_exp_sum(const float* in, float* out, int64_t count, float shift) {
  const F32 s = set1(shift);
  if (out == nullptr) return sum_pairwise(in, count, [=](F32 x) { return exponential(x - s); });
  constexpr int64_t kLanes = lanes<float>();
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(out + i, exponential(load(in + i) - s));
  if (i < count) {
    const int n = static_cast<int>(count - i);
    store_n(out + i, exponential(load_n(in + i, n) - s), n);
  }
  return row_sum(out, count);
}

static void row_normalize(const float* in, float* out, int64_t count, float shift, float scale, const float* weight,
                          const float* bias) {
  constexpr int64_t kLanes = lanes<float>();
  const F32 s = set1(shift);
  const F32 f = set1(scale);
  for (int64_t i = 0; i < count; i += kLanes) {
    const int n = count - i < kLanes ? static_cast<int>(count - i) : static_cast<int>(kLanes);
    const bool whole = n == kLanes;
    F32 x = ((whole ? load(in + i) : load_n(in + i, n)) - s) * f;
    if (weight != nullptr) x = x * (whole ? load(weight + i) : load_n(weight + i, n));
    if (bias != nullptr) x = x + (whole ? load(bias + i) : load_n(bias + i, n));
    if (whole) {
      store(out + i, x);
    } else {
      store_n(out + i, x, n);
    }
  }
}

extern const RowsTable rows_table;
constexpr RowsTable rows_table = {row_max, row_min, row_sum, row_sum_squares, row_exp_sum, row_normalize};

}  // namespace PTERON_ISA_NAMESPACE
}  // namespace pteron::engine
