#include "engine/pool.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "engine/conv_table.h"
#include "engine/elementwise_table.h"

namespace pteron::engine {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();
// Floats of an input row, and of an output row, handled in one piece.
constexpr int64_t kPiece = 1024;

struct Window {
  int64_t begin, end;  // taps whose input lies inside the image
  int64_t start;       // input coordinate of tap 0, may be negative
};

Window window_of(const PoolShape& s, size_t d, int64_t o) {
  Window w{};
  w.start = o * s.stride[d] - s.padding[d];
  const int64_t step = s.dilation[d];
  w.begin = w.start >= 0 ? 0 : (-w.start + step - 1) / step;
  const int64_t room = s.in[d] - w.start;
  w.end = room <= 0 ? 0 : std::min(s.kernel[d], (room + step - 1) / step);
  w.begin = std::min(w.begin, w.end);
  return w;
}

// Of several NaN the last one wins, as in PyTorch.
bool beats(float x, float best) {
  return (x > best) | (x != x);
}

// The definition, for rows that do not fit the pieces.
void max_plane_plain(const PoolShape& s, const float* in, float* out) {
  for (int64_t oh = 0; oh < s.out[0]; ++oh) {
    const Window h = window_of(s, 0, oh);
    for (int64_t ow = 0; ow < s.out[1]; ++ow) {
      const Window w = window_of(s, 1, ow);
      float best = kLowest;
      for (int64_t kh = h.begin; kh < h.end; ++kh) {
        const float* row = in + (h.start + kh * s.dilation[0]) * s.in[1] + w.start;
        for (int64_t kw = w.begin; kw < w.end; ++kw) {
          if (beats(row[kw * s.dilation[1]], best)) best = row[kw * s.dilation[1]];
        }
      }
      out[oh * s.out[1] + ow] = best;
    }
  }
}

// Four lanes of the baseline's vectors; 32 bits hold every place (see fits_vectors).
using Floats = float __attribute__((vector_size(16)));
using Places = int32_t __attribute__((vector_size(16)));
constexpr int64_t kLanes = 4;

// Outputs that are worked on together, and the best that was found for each so far.
constexpr int64_t kRun = 256;
// Columns of a window.
constexpr int64_t kMaxTaps = 64;
struct Best {
  alignas(64) float values[kRun];
  alignas(64) int32_t places[kRun];
};

Places choose(Places mask, Places yes, Places no) {
  return (mask & yes) | (~mask & no);
}

// Compares with `count` further values, which stand at `place`, `place` + `step`, ... Without branches: which value is
// larger cannot be foreseen.
void keep_better(const float* from, int64_t count, int32_t place, int32_t step, float* best, int32_t* best_places) {
  int64_t i = 0;
  Places here = {place, place + step, place + 2 * step, place + 3 * step};
  for (; i + kLanes <= count; i += kLanes) {
    Floats value, kept;
    Places places;
    std::memcpy(&value, from + i, sizeof(value));
    std::memcpy(&kept, best + i, sizeof(kept));
    std::memcpy(&places, best_places + i, sizeof(places));
    const Places better = (value > kept) | (value != value);
    places = choose(better, here, places);
    const Places bits = choose(better, std::bit_cast<Places>(value), std::bit_cast<Places>(kept));
    std::memcpy(best + i, &bits, sizeof(bits));
    std::memcpy(best_places + i, &places, sizeof(places));
    here += static_cast<int32_t>(kLanes) * step;
  }
  for (; i < count; ++i) {
    if (!beats(from[i], best[i])) continue;
    best[i] = from[i];
    best_places[i] = place + static_cast<int32_t>(i) * step;
  }
}

void store(const Best& best, int64_t count, float* out, int64_t* indices) {
  std::memcpy(out, best.values, static_cast<size_t>(count) * sizeof(float));
  for (int64_t i = 0; i < count; ++i) indices[i] = best.places[i];
}

// Where the first tap of a window inside the image stands.
int64_t first_place(const PoolShape& s, const Window& h, const Window& w) {
  return (h.start + h.begin * s.dilation[0]) * s.in[1] + w.start + w.begin * s.dilation[1];
}

// Whether the window is small enough and places, and those a few steps beyond, fit 32 bits.
bool fits_vectors(const PoolShape& s) {
  constexpr int64_t kMost = int64_t{1} << 29;
  return s.kernel[1] <= kMaxTaps && s.kernel[0] * s.dilation[0] < kMost && s.kernel[1] * s.dilation[1] < kMost &&
         s.in[0] < kMost && s.in[1] < kMost && s.stride[1] < kMost / kRun &&
         (s.in[0] + s.kernel[0] * s.dilation[0]) * (s.in[1] + s.kernel[1] * s.dilation[1]) < kMost;
}

// The definition with indices, for images of any size; neighbouring pixels are `step` apart.
void max_plane_with_indices(const PoolShape& s, const float* in, float* out, int64_t* indices, int64_t step) {
  for (int64_t oh = 0; oh < s.out[0]; ++oh) {
    const Window h = window_of(s, 0, oh);
    for (int64_t ow = 0; ow < s.out[1]; ++ow) {
      const Window w = window_of(s, 1, ow);
      float best = kLowest;
      int64_t index = first_place(s, h, w);
      for (int64_t kh = h.begin; kh < h.end; ++kh) {
        for (int64_t kw = w.begin; kw < w.end; ++kw) {
          const int64_t at = (h.start + kh * s.dilation[0]) * s.in[1] + w.start + kw * s.dilation[1];
          if (!beats(in[at * step], best)) continue;
          best = in[at * step];
          index = at;
        }
      }
      const int64_t to = (oh * s.out[1] + ow) * step;
      out[to] = best;
      indices[to] = index;
    }
  }
}

struct Tables {
  const ElementwiseTable& elementwise;
  const ConvTable& conv;
  void join(Binary op, float* into, const float* from, int64_t n) const {
    elementwise.binary(op, into, from, 1, into, n, 1.0f, false);
  }
};

// Input columns, from -padding on, that the windows of one output row reach over.
int64_t reach(const PoolShape& s) {
  return (s.out[1] - 1) * s.stride[1] + (s.kernel[1] - 1) * s.dilation[1] + 1;
}

bool fits_pieces(const PoolShape& s) {
  return s.out[1] <= kPiece && reach(s) < 2 * kPiece && s.padding[1] + s.in[1] < 2 * kPiece;
}

// One output row of one NCHW plane: the window's rows are joined first, then shifted copies of the result.
// The row between carries `fill` where the window leaves the image.
void pool_row(const PoolShape& s, const Tables& tables, Binary op, float fill, const float* in, int64_t oh,
              float* out) {
  const Window h = window_of(s, 0, oh);
  float row[2 * kPiece];
  float column[kPiece + kVectorSlack];
  const int64_t needed = reach(s);
  const int64_t inside = std::min(s.in[1], std::max<int64_t>(0, needed - s.padding[1]));
  std::fill(row, row + std::max(needed, s.padding[1] + inside) + 1, fill);
  float* image = row + s.padding[1];
  for (int64_t kh = h.begin; kh < h.end; ++kh) {
    const float* from = in + (h.start + kh * s.dilation[0]) * s.in[1];
    if (kh == h.begin) {
      std::memcpy(image, from, static_cast<size_t>(inside) * sizeof(float));
    } else {
      tables.join(op, image, from, inside);
    }
  }
  tables.conv.gather(row, s.stride[1], s.out[1], out);
  for (int64_t kw = 1; kw < s.kernel[1]; ++kw) {
    tables.conv.gather(row + kw * s.dilation[1], s.stride[1], s.out[1], column);
    tables.join(op, out, column, s.out[1]);
  }
}

// One output pixel of an NHWC image: channels side by side.
void pool_pixel(const PoolShape& s, const Tables& tables, Binary op, float fill, const float* in, int64_t oh,
                int64_t ow, float* out) {
  const Window h = window_of(s, 0, oh);
  const Window w = window_of(s, 1, ow);
  bool first = true;
  for (int64_t kh = h.begin; kh < h.end; ++kh) {
    for (int64_t kw = w.begin; kw < w.end; ++kw) {
      const int64_t y = h.start + kh * s.dilation[0];
      const int64_t x = w.start + kw * s.dilation[1];
      const float* from = in + (y * s.in[1] + x) * s.channels;
      if (first) {
        std::memcpy(out, from, static_cast<size_t>(s.channels) * sizeof(float));
        first = false;
      } else {
        tables.join(op, out, from, s.channels);
      }
    }
  }
  if (first) std::fill(out, out + s.channels, fill);
}

// What all rows of an NCHW image share for the outputs [ow, ow + count): where their first tap inside the image stands
// in its row, and which of them have each tap inside.
struct RunOfRow {
  int64_t ow, count;
  int32_t first_column[kRun];
  int64_t begin[kMaxTaps], end[kMaxTaps];
};

RunOfRow run_of_row(const PoolShape& s, int64_t ow) {
  RunOfRow run;
  run.ow = ow;
  run.count = std::min(kRun, s.out[1] - ow);
  for (int64_t i = 0; i < run.count; ++i) {
    const Window w = window_of(s, 1, ow + i);
    run.first_column[i] = static_cast<int32_t>(w.start + w.begin * s.dilation[1]);
  }
  for (int64_t kw = 0; kw < s.kernel[1]; ++kw) {
    const int64_t shift = kw * s.dilation[1] - s.padding[1];  // column = output * stride + shift
    const int64_t room = s.in[1] - shift;
    const int64_t begin = shift >= 0 ? 0 : (-shift + s.stride[1] - 1) / s.stride[1];
    const int64_t end = room <= 0 ? 0 : (room + s.stride[1] - 1) / s.stride[1];
    run.begin[kw] = std::max(begin, ow);
    run.end[kw] = std::min(end, ow + run.count);
  }
  return run;
}

// Those outputs of one row, tap after tap.
void max_run_with_indices(const PoolShape& s, const RunOfRow& run, const float* in, int64_t oh, float* out,
                          int64_t* indices) {
  const Window h = window_of(s, 0, oh);
  const auto first_row = static_cast<int32_t>((h.start + h.begin * s.dilation[0]) * s.in[1]);
  Best best;
  float column[kRun];
  for (int64_t i = 0; i < run.count; ++i) {
    best.values[i] = kLowest;
    best.places[i] = first_row + run.first_column[i];
  }
  for (int64_t kh = h.begin; kh < h.end; ++kh) {
    const int64_t row = (h.start + kh * s.dilation[0]) * s.in[1];
    for (int64_t kw = 0; kw < s.kernel[1]; ++kw) {
      const int64_t first = run.begin[kw], taken = run.end[kw] - first;
      if (taken <= 0) continue;
      const int64_t place = row + first * s.stride[1] + kw * s.dilation[1] - s.padding[1];
      const float* from = in + place;
      if (s.stride[1] != 1) {
        for (int64_t i = 0; i < taken; ++i) column[i] = from[i * s.stride[1]];
        from = column;
      }
      keep_better(from, taken, static_cast<int32_t>(place), static_cast<int32_t>(s.stride[1]),
                  best.values + (first - run.ow), best.places + (first - run.ow));
    }
  }
  store(best, run.count, out, indices);
}

// `count` neighbouring channels, from `channel` on, of one output pixel of an NHWC image; count <= kRun.
void max_channels_with_indices(const PoolShape& s, const float* in, int64_t oh, int64_t ow, int64_t channel,
                               int64_t count, float* out, int64_t* indices) {
  const Window h = window_of(s, 0, oh);
  const Window w = window_of(s, 1, ow);
  Best best;
  std::fill(best.values, best.values + count, kLowest);
  std::fill(best.places, best.places + count, static_cast<int32_t>(first_place(s, h, w)));
  for (int64_t kh = h.begin; kh < h.end; ++kh) {
    for (int64_t kw = w.begin; kw < w.end; ++kw) {
      const int64_t place = (h.start + kh * s.dilation[0]) * s.in[1] + w.start + kw * s.dilation[1];
      keep_better(in + place * s.channels + channel, count, static_cast<int32_t>(place), 0, best.values, best.places);
    }
  }
  store(best, count, out, indices);
}

// All images with indices.
void max_with_indices(const PoolShape& s, ConvLayout layout, const float* in, float* out, int64_t* indices,
                      const Parallel& parallel) {
  const int64_t in_plane = s.in[0] * s.in[1];
  const int64_t out_plane = s.out[0] * s.out[1];
  if (!fits_vectors(s)) {
    const bool last = layout == ConvLayout::kNhwc;
    parallel_for(parallel, s.batch * s.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t batch = i / s.channels, c = i % s.channels;
        const int64_t from = last ? batch * in_plane * s.channels + c : i * in_plane;
        const int64_t to = last ? batch * out_plane * s.channels + c : i * out_plane;
        max_plane_with_indices(s, in + from, out + to, indices + to, last ? s.channels : 1);
      }
    });
  } else if (layout == ConvLayout::kNchw) {
    parallel_for(parallel, s.batch * s.channels * s.out[0], 16, [&](int64_t begin, int64_t end) {
      for (int64_t ow = 0; ow < s.out[1]; ow += kRun) {
        const RunOfRow run = run_of_row(s, ow);
        for (int64_t row = begin; row < end; ++row) {
          const int64_t to = row * s.out[1] + ow;
          max_run_with_indices(s, run, in + row / s.out[0] * in_plane, row % s.out[0], out + to, indices + to);
        }
      }
    });
  } else {
    parallel_for(parallel, s.batch * out_plane, 8, [&](int64_t begin, int64_t end) {
      for (int64_t pixel = begin; pixel < end; ++pixel) {
        const float* image = in + pixel / out_plane * in_plane * s.channels;
        const int64_t place = pixel % out_plane;
        for (int64_t c = 0; c < s.channels; c += kRun) {
          const int64_t count = std::min(kRun, s.channels - c), to = pixel * s.channels + c;
          max_channels_with_indices(s, image, place / s.out[1], place % s.out[1], c, count, out + to, indices + to);
        }
      }
    });
  }
}

int64_t plane_grain(const PoolShape& s) {
  return 1 + 32768 / std::max<int64_t>(1, s.out[0] * s.out[1] * s.kernel[0] * s.kernel[1]);
}

// Elements that the average of one output pixel is divided by.
float divisor_of(const PoolShape& s, int64_t oh, int64_t ow, bool count_include_pad, int64_t divisor) {
  if (divisor != 0) return static_cast<float>(divisor);
  int64_t count = 1;
  const int64_t position[2] = {oh, ow};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t start = position[d] * s.stride[d] - s.padding[d];
    const int64_t end = std::min(start + s.kernel[d], s.in[d] + s.padding[d]);
    const int64_t inside = std::min(end, s.in[d]) - std::max<int64_t>(start, 0);
    count *= std::max<int64_t>(0, count_include_pad ? end - start : inside);
  }
  // A window of padding only has the sum 0.
  return static_cast<float>(std::max<int64_t>(1, count));
}

float sum_window_plain(const PoolShape& s, const float* in, const Window& h, const Window& w) {
  float sum = 0;
  for (int64_t kh = h.begin; kh < h.end; ++kh) {
    for (int64_t kw = w.begin; kw < w.end; ++kw) sum += in[(h.start + kh) * s.in[1] + w.start + kw];
  }
  return sum;
}

}  // namespace

void max_pool2d(const PoolShape& s, ConvLayout layout, const float* in, float* out, int64_t* indices,
                const Parallel& parallel) {
  const Tables tables{elementwise_table(active_isa()), conv_table(active_isa())};
  if (indices != nullptr) return max_with_indices(s, layout, in, out, indices, parallel);
  const int64_t in_plane = s.in[0] * s.in[1];
  const int64_t out_plane = s.out[0] * s.out[1];
  if (layout == ConvLayout::kNchw) {
    const bool plain = !fits_pieces(s);
    parallel_for(parallel, s.batch * s.channels, plane_grain(s), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        float* to = out + c * out_plane;
        if (plain) {
          max_plane_plain(s, in + c * in_plane, to);
          continue;
        }
        for (int64_t oh = 0; oh < s.out[0]; ++oh) {
          pool_row(s, tables, Binary::kMax, kLowest, in + c * in_plane, oh, to + oh * s.out[1]);
        }
      }
    });
    return;
  }
  parallel_for(parallel, s.batch * s.out[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* image = in + i / s.out[0] * in_plane * s.channels;
      for (int64_t ow = 0; ow < s.out[1]; ++ow) {
        pool_pixel(s, tables, Binary::kMax, kLowest, image, i % s.out[0], ow, out + (i * s.out[1] + ow) * s.channels);
      }
    }
  });
}

void avg_pool2d(const PoolShape& s, ConvLayout layout, const float* in, float* out, bool count_include_pad,
                int64_t divisor, const Parallel& parallel) {
  const Tables tables{elementwise_table(active_isa()), conv_table(active_isa())};
  const int64_t in_plane = s.in[0] * s.in[1];
  const int64_t out_plane = s.out[0] * s.out[1];
  if (layout == ConvLayout::kNchw) {
    const bool plain = !fits_pieces(s);
    parallel_for(parallel, s.batch * s.channels, plane_grain(s), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        for (int64_t oh = 0; oh < s.out[0]; ++oh) {
          float* to = out + c * out_plane + oh * s.out[1];
          if (!plain) pool_row(s, tables, Binary::kAdd, 0.0f, in + c * in_plane, oh, to);
          for (int64_t ow = 0; ow < s.out[1]; ++ow) {
            if (plain) to[ow] = sum_window_plain(s, in + c * in_plane, window_of(s, 0, oh), window_of(s, 1, ow));
            to[ow] /= divisor_of(s, oh, ow, count_include_pad, divisor);
          }
        }
      }
    });
    return;
  }
  parallel_for(parallel, s.batch * s.out[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* image = in + i / s.out[0] * in_plane * s.channels;
      for (int64_t ow = 0; ow < s.out[1]; ++ow) {
        float* to = out + (i * s.out[1] + ow) * s.channels;
        pool_pixel(s, tables, Binary::kAdd, 0.0f, image, i % s.out[0], ow, to);
        const float count = divisor_of(s, i % s.out[0], ow, count_include_pad, divisor);
        tables.elementwise.binary(Binary::kDiv, to, &count, 0, to, s.channels, 1.0f, false);
      }
    }
  });
}

void adaptive_avg_pool2d(const PoolShape& s, ConvLayout layout, const float* in, float* out, const Parallel& parallel) {
  const Tables tables{elementwise_table(active_isa()), conv_table(active_isa())};
  const RowsTable& rows = rows_table(active_isa());
  const int64_t in_plane = s.in[0] * s.in[1];
  const int64_t out_plane = s.out[0] * s.out[1];
  const auto begin_of = [&](size_t d, int64_t o) { return o * s.in[d] / s.out[d]; };
  const auto end_of = [&](size_t d, int64_t o) { return ((o + 1) * s.in[d] + s.out[d] - 1) / s.out[d]; };
  if (layout == ConvLayout::kNchw) {
    parallel_for(parallel, s.batch * s.channels, 1 + 32768 / std::max<int64_t>(1, in_plane),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t c = begin; c < end; ++c) {
                     const float* plane = in + c * in_plane;
                     if (out_plane == 1) {
                       out[c] = rows.sum(plane, in_plane) / static_cast<float>(in_plane);
                       continue;
                     }
                     for (int64_t o = 0; o < out_plane; ++o) {
                       const int64_t y0 = begin_of(0, o / s.out[1]), y1 = end_of(0, o / s.out[1]);
                       const int64_t x0 = begin_of(1, o % s.out[1]), x1 = end_of(1, o % s.out[1]);
                       float sum = 0;
                       for (int64_t y = y0; y < y1; ++y) {
                         for (int64_t x = x0; x < x1; ++x) sum += plane[y * s.in[1] + x];
                       }
                       out[c * out_plane + o] = sum / static_cast<float>((y1 - y0) * (x1 - x0));
                     }
                   }
                 });
    return;
  }
  parallel_for(parallel, s.batch * out_plane, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* image = in + i / out_plane * in_plane * s.channels;
      const int64_t o = i % out_plane;
      const int64_t y0 = begin_of(0, o / s.out[1]), y1 = end_of(0, o / s.out[1]);
      const int64_t x0 = begin_of(1, o % s.out[1]), x1 = end_of(1, o % s.out[1]);
      float* to = out + i * s.channels;
      std::fill(to, to + s.channels, 0.0f);
      for (int64_t y = y0; y < y1; ++y) {
        for (int64_t x = x0; x < x1; ++x)
          tables.join(Binary::kAdd, to, image + (y * s.in[1] + x) * s.channels, s.channels);
      }
      const float count = static_cast<float>((y1 - y0) * (x1 - x0));
      tables.elementwise.binary(Binary::kDiv, to, &count, 0, to, s.channels, 1.0f, false);
    }
  });
}

}  // namespace pteron::engine
