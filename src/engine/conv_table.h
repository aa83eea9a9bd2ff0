// The vector functions under conv.cc, one table for each instruction set.
#pragma once

#include <cstdint>

#include "engine/isa.h"

namespace pteron::engine {

// Vector code may read and write this many floats beyond the end of the buffers that conv.cc makes for it.
inline constexpr int64_t kVectorSlack = 32;

// A piece of an output row inside a strip of consecutive output pixels.
struct PatchSegment {
  int64_t column;  // where it begins in the strip
  int64_t source;  // offset of its first pixel in a plane
  int64_t length;
};

// One strip of the patch matrix: rows are (channel, tap) pairs, columns are output pixels.
struct PatchStrip {
  const float* planes;  // padded planes, channel by channel
  int64_t channel_stride;
  const int64_t* tap_offsets;  // of each tap in a channel's planes
  int64_t taps;
  int64_t k_begin, k_end;  // rows: k = channel * taps + tap
  const PatchSegment* segments;
  int64_t segment_count;
  float* dst;
  int64_t width;  // floats from row to row of dst
};

struct DepthwisePlane {
  const float* planes;  // of one channel
  const int64_t* tap_offsets;
  const float* weights;  // taps values
  int64_t taps;
  int64_t row_pitch;  // of the planes
  float bias;
  float lo, hi;
  float* out;  // contiguous rows x cols
  int64_t rows, cols;
};

// One output row of a channels-last depthwise convolution.
struct DepthwiseRow {
  const float* in;  // the image
  int64_t channels;
  int64_t in_width;
  int64_t kernel_width;
  int64_t stride, padding, dilation;  // along the width
  // Input row r (0 <= r < row_count) is at in + row_offset[r] and belongs to the weights' row weight_row[r].
  const int64_t* row_offset;
  const int64_t* weight_row;
  int64_t row_count;
  const float* weights;  // [kernel_height, kernel_width, channels]
  const float* bias;     // channels values or null
  float lo, hi;
  float* out;  // [out_width, channels]
  int64_t out_width;
};

struct ConvTable {
  const char* isa;
  void (*pack_patches)(const PatchStrip& s);
  // dst[i] = src[i * stride] for i < n.
  void (*gather)(const float* src, int64_t stride, int64_t n, float* dst);
  void (*depthwise_plane)(const DepthwisePlane& d);
  void (*depthwise_row)(const DepthwiseRow& d);
};

const ConvTable& conv_table(Isa isa);

}  // namespace pteron::engine
