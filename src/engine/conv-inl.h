// Gathering of patches and depthwise convolution, compiled once for each instruction set.
#pragma once

#include "engine/conv_table.h"
#include "engine/simd-inl.h"

namespace pteron::engine {
namespace PTERON_ISA_NAMESPACE {

// Segments are copied as whole vectors, in ascending order: what a copy writes beyond its segment is overwritten by the
// next segment, the next row or the next strip, and the last one ends in the slack.
static void pack_patches(const PatchStrip& s) {
  constexpr int64_t kLanes = lanes<float>();
  int64_t tap = s.k_begin % s.taps;
  const float* channel = s.planes + s.k_begin / s.taps * s.channel_stride;
  float* dst = s.dst;
  for (int64_t k = s.k_begin; k < s.k_end; ++k, dst += s.width) {
    const float* src = channel + s.tap_offsets[tap];
    for (int64_t i = 0; i < s.segment_count; ++i) {
      const PatchSegment& segment = s.segments[i];
      const float* from = src + segment.source;
      float* to = dst + segment.column;
      for (int64_t j = 0; j < segment.length; j += kLanes) store(to + j, load(from + j));
    }
    if (++tap == s.taps) {
      tap = 0;
      channel += s.channel_stride;
    }
  }
}

static void gather(const float* src, int64_t stride, int64_t n, float* dst) {
  constexpr int64_t kLanes = lanes<float>();
  int64_t i = 0;
  if (stride == 1) {
    for (; i + kLanes <= n; i += kLanes) store(dst + i, load(src + i));
  } else if (stride == 2) {
    // The second vector reads src[2 * i + 2 * kLanes - 1], one more than needed: it must be followed by an element.
    for (; i + kLanes < n; i += kLanes) {
      const F32 a = load(src + 2 * i);
      const F32 b = load(src + 2 * i + kLanes);
#if defined(__AVX512F__)
      store(dst + i, __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
#elif defined(__AVX2__)
      store(dst + i, __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14));
#else
      store(dst + i, __builtin_shufflevector(a, b, 0, 2, 4, 6));
#endif
    }
  }
  for (; i < n; ++i) dst[i] = src[i * stride];
}

// Rows x one vector of output, all taps.
template <int Rows>
PTERON_INLINE void depthwise_block(const DepthwisePlane& d, int64_t row, int64_t col) {
  const float* src = d.planes + row * d.row_pitch + col;
  F32 acc[Rows];
  PTERON_UNROLL
  for (int r = 0; r < Rows; ++r) acc[r] = set1(d.bias);
  for (int64_t t = 0; t < d.taps; ++t) {
    const F32 weight = set1(d.weights[t]);
    const float* from = src + d.tap_offsets[t];
    PTERON_UNROLL
    for (int r = 0; r < Rows; ++r) acc[r] = weight * load(from + r * d.row_pitch) + acc[r];
  }
  const F32 lo = set1(d.lo);
  const F32 hi = set1(d.hi);
  const int64_t n = d.cols - col;
  PTERON_UNROLL
  for (int r = 0; r < Rows; ++r) {
    const F32 value = at_most<float>(at_least<float>(acc[r], lo), hi);
    float* to = d.out + (row + r) * d.cols + col;
    if (n >= lanes<float>()) {
      store(to, value);
    } else {
      store_n(to, value, static_cast<int>(n));
    }
  }
}

static void depthwise_plane(const DepthwisePlane& d) {
  int64_t row = 0;
  for (; row + 4 <= d.rows; row += 4) {
    for (int64_t col = 0; col < d.cols; col += lanes<float>()) depthwise_block<4>(d, row, col);
  }
  for (; row < d.rows; ++row) {
    for (int64_t col = 0; col < d.cols; col += lanes<float>()) depthwise_block<1>(d, row, col);
  }
}

// Pixels neighbours of one output row, one vector of channels (the first n of it), taps [kw_begin, kw_end) of each row.
template <int Pixels>
PTERON_INLINE void depthwise_pixels(const DepthwiseRow& d, int64_t ow, int64_t c, int64_t n, int64_t kw_begin,
                                    int64_t kw_end) {
  const bool whole = n >= lanes<float>();
  const int part = static_cast<int>(n);
  const int64_t pixel_step = d.stride * d.channels;
  F32 acc[Pixels];
  const F32 bias = d.bias == nullptr ? F32{} : (whole ? load(d.bias + c) : load_n(d.bias + c, part));
  PTERON_UNROLL
  for (int p = 0; p < Pixels; ++p) acc[p] = bias;
  for (int64_t r = 0; r < d.row_count; ++r) {
    const float* row = d.in + d.row_offset[r] + (ow * d.stride - d.padding) * d.channels + c;
    const float* weights = d.weights + d.weight_row[r] * d.kernel_width * d.channels + c;
    for (int64_t kw = kw_begin; kw < kw_end; ++kw) {
      const float* from = row + kw * d.dilation * d.channels;
      const float* w = weights + kw * d.channels;
      if (whole) {
        const F32 weight = load(w);
        PTERON_UNROLL
        for (int p = 0; p < Pixels; ++p) acc[p] = weight * load(from + p * pixel_step) + acc[p];
      } else {
        const F32 weight = load_n(w, part);
        PTERON_UNROLL
        for (int p = 0; p < Pixels; ++p) acc[p] = weight * load_n(from + p * pixel_step, part) + acc[p];
      }
    }
  }
  const F32 lo = set1(d.lo);
  const F32 hi = set1(d.hi);
  PTERON_UNROLL
  for (int p = 0; p < Pixels; ++p) {
    const F32 value = at_most<float>(at_least<float>(acc[p], lo), hi);
    float* to = d.out + (ow + p) * d.channels + c;
    if (whole) {
      store(to, value);
    } else {
      store_n(to, value, part);
    }
  }
}

// First tap inside the image, and one past the last, of output pixel ow.
PTERON_INLINE int64_t first_tap(const DepthwiseRow& d, int64_t ow) {
  const int64_t start = ow * d.stride - d.padding;
  return start >= 0 ? 0 : (-start + d.dilation - 1) / d.dilation;
}
PTERON_INLINE int64_t last_tap(const DepthwiseRow& d, int64_t ow) {
  const int64_t room = d.in_width - (ow * d.stride - d.padding);
  if (room <= 0) return 0;
  const int64_t taps = (room + d.dilation - 1) / d.dilation;
  return taps < d.kernel_width ? taps : d.kernel_width;
}

static void depthwise_row(const DepthwiseRow& d) {
  constexpr int kPixels = 6;
  // Pixels [inner_begin, inner_end) have every tap inside the image.
  int64_t inner_begin = 0;
  while (inner_begin < d.out_width && first_tap(d, inner_begin) > 0) ++inner_begin;
  int64_t inner_end = d.out_width;
  while (inner_end > inner_begin && last_tap(d, inner_end - 1) < d.kernel_width) --inner_end;
  for (int64_t c = 0; c < d.channels; c += lanes<float>()) {
    const int64_t n = d.channels - c;
    for (int64_t ow = 0; ow < inner_begin; ++ow) depthwise_pixels<1>(d, ow, c, n, first_tap(d, ow), last_tap(d, ow));
    int64_t ow = inner_begin;
    for (; ow + kPixels <= inner_end; ow += kPixels) depthwise_pixels<kPixels>(d, ow, c, n, 0, d.kernel_width);
    for (; ow < inner_end; ++ow) depthwise_pixels<1>(d, ow, c, n, 0, d.kernel_width);
    for (; ow < d.out_width; ++ow) depthwise_pixels<1>(d, ow, c, n, first_tap(d, ow), last_tap(d, ow));
  }
}

extern const ConvTable conv_table;
constexpr ConvTable conv_table = {kIsaName, pack_patches, gather, depthwise_plane, depthwise_row};

}  // namespace PTERON_ISA_NAMESPACE
}  // namespace pteron::engine
