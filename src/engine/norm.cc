#include "engine/norm.h"

#include <algorithm>
#include <cmath>

#include "engine/elementwise_table.h"

namespace pteron::engine {
namespace {

struct Moments {
  float mean;
  float rstd;
};

// Two passes: subtracting the mean first keeps the variance right when the mean is large.
Moments moments_of(const RowsTable& rows, const float* in, int64_t count, float eps) {
  const float n = static_cast<float>(count);
  const float mean = rows.sum(in, count) / n;
  const float variance = rows.sum_squares(in, count, mean) / n;
  return {mean, 1.0f / std::sqrt(variance + eps)};
}

int64_t grain_of_rows(int64_t cols) {
  return 1 + 16384 / std::max<int64_t>(1, cols);
}

}  // namespace

void layer_norm(const float* in, const float* weight, const float* bias, float eps, float* out, float* mean,
                float* rstd, int64_t rows, int64_t cols, const Parallel& parallel) {
  const RowsTable& table = rows_table(active_isa());
  parallel_for(parallel, rows, grain_of_rows(cols), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const Moments m = moments_of(table, in + r * cols, cols, eps);
      table.normalize(in + r * cols, out + r * cols, cols, m.mean, m.rstd, weight, bias);
      if (mean != nullptr) mean[r] = m.mean;
      if (rstd != nullptr) rstd[r] = m.rstd;
    }
  });
}

void rms_norm(const float* in, const float* weight, float eps, float* out, int64_t rows, int64_t cols,
              const Parallel& parallel) {
  const RowsTable& table = rows_table(active_isa());
  parallel_for(parallel, rows, grain_of_rows(cols), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float square = table.sum_squares(in + r * cols, cols, 0.0f) / static_cast<float>(cols);
      table.normalize(in + r * cols, out + r * cols, cols, 0.0f, 1.0f / std::sqrt(square + eps), weight, nullptr);
    }
  });
}

void group_norm(const float* in, const float* weight, const float* bias, float eps, float* out, float* mean,
                float* rstd, int64_t batch, int64_t channels, int64_t inner, int64_t groups, const Parallel& parallel) {
  if (groups <= 0) return;
  const RowsTable& table = rows_table(active_isa());
  const ElementwiseTable& elementwise = elementwise_table(active_isa());
  const int64_t members = channels / groups;
  parallel_for(parallel, batch * groups, grain_of_rows(members * inner), [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const float* from = in + g * members * inner;
      const Moments m = moments_of(table, from, members * inner, eps);
      for (int64_t c = 0; c < members; ++c) {
        const int64_t channel = g % groups * members + c;
        // (x - mean) * rstd * weight + bias as one multiplication and addition.
        const float scale = weight != nullptr ? m.rstd * weight[channel] : m.rstd;
        const float shift = (bias != nullptr ? bias[channel] : 0.0f) - m.mean * scale;
        elementwise.affine(from + c * inner, &scale, &shift, 0, out + (g * members + c) * inner, inner);
      }
      if (mean != nullptr) mean[g] = m.mean;
      if (rstd != nullptr) rstd[g] = m.rstd;
    }
  });
}

void channel_affine(const float* in, const float* scale, const float* shift, float* out, int64_t outer,
                    int64_t channels, int64_t inner, const Parallel& parallel) {
  const ElementwiseTable& table = elementwise_table(active_isa());
  if (inner == 1) {
    parallel_for(parallel, outer, grain_of_rows(channels), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        table.affine(in + i * channels, scale, shift, 1, out + i * channels, channels);
    });
    return;
  }
  parallel_for(parallel, outer * channels, grain_of_rows(inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      table.affine(in + i * inner, scale + i % channels, shift + i % channels, 0, out + i * inner, inner);
    }
  });
}

}  // namespace pteron::engine
