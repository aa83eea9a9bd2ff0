// Normalisations on contiguous fp32. Means and variances are summed in a fixed order.
#pragma once

#include <cstdint>

#include "engine/parallel.h"

namespace pteron::engine {

// out[r, c] = (x[r, c] - mean[r]) * rstd[r] * weight[c] + bias[c], rstd = 1 / sqrt(var + eps), var without Bessel's
// correction. weight, bias (cols values each), mean and rstd (rows values each, written) may be null.
void layer_norm(const float* in, const float* weight, const float* bias, float eps, float* out, float* mean,
                float* rstd, int64_t rows, int64_t cols, const Parallel& parallel);

// out[r, c] = x[r, c] / sqrt(mean(x[r]^2) + eps) * weight[c]; weight may be null.
void rms_norm(const float* in, const float* weight, float eps, float* out, int64_t rows, int64_t cols,
              const Parallel& parallel);

// in [batch, channels, inner], statistics per (batch, group); weight, bias: channels values or null;
// mean, rstd: batch * groups values or null.
void group_norm(const float* in, const float* weight, const float* bias, float eps, float* out, float* mean,
                float* rstd, int64_t batch, int64_t channels, int64_t inner, int64_t groups, const Parallel& parallel);

// out = x * scale[c] + shift[c] for x [outer, channels, inner]; inference batch norm with
// scale = weight / sqrt(var + eps), shift = bias - mean * scale. inner 1 is channels last.
void channel_affine(const float* in, const float* scale, const float* shift, float* out, int64_t outer,
                    int64_t channels, int64_t inner, const Parallel& parallel);

}  // namespace pteron::engine
