#include "engine/conv.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "engine/conv_table.h"
#include "engine/gemm_table.h"
#include "engine/slots.h"

namespace pteron::engine {
namespace {

size_t round_up_64(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

bool is_pointwise(const ConvShape& s) {
  for (size_t d = 0; d < 3; ++d) {
    if (s.kernel[d] != 1 || s.stride[d] != 1 || s.padding[d] != 0) return false;
  }
  return s.groups == 1;
}

int64_t taps_of(const ConvShape& s) {
  return s.kernel[0] * s.kernel[1] * s.kernel[2];
}
int64_t depth_of(const ConvShape& s) {
  return s.in_channels / s.groups * taps_of(s);
}

// ---- padded planes (NCHW) -------------------------------------------------------------------------------------------

// A channel's image is copied, with its padding, into planes where every tap of every stride reads consecutive pixels:
// output pixel (y, x) and tap kh touch input row y * stride + kh * dilation - padding, so all rows of equal remainder
// modulo the stride form one plane in which the tap is a plain offset. The taps of one dimension fall into stride /
// gcd(dilation, stride) such remainders, in turn.
struct PlaneDim {
  int64_t phases;  // planes along this dimension
  int64_t period;  // tap % period is the tap's plane
  int64_t size;    // of a plane
};

PlaneDim plane_dim(const ConvPlan& plan, size_t d) {
  const ConvShape& s = plan.shape;
  PlaneDim dim{};
  dim.period = s.stride[d] / std::gcd(s.dilation[d], s.stride[d]);
  dim.phases = std::min(s.kernel[d], dim.period);
  dim.size = plan.out[d] + (s.kernel[d] - 1) * s.dilation[d] / s.stride[d];
  return dim;
}

struct Planes {
  PlaneDim h, w;
  int64_t plane() const { return h.size * w.size; }
  int64_t channel() const { return h.phases * w.phases * plane(); }
};

Planes planes_of(const ConvPlan& plan) {
  return {plane_dim(plan, 1), plane_dim(plan, 2)};
}

void write_tap_offsets(const ConvPlan& plan, const Planes& planes, int64_t* offsets) {
  const ConvShape& s = plan.shape;
  for (int64_t kh = 0; kh < s.kernel[1]; ++kh) {
    for (int64_t kw = 0; kw < s.kernel[2]; ++kw) {
      const int64_t plane = kh % planes.h.period * planes.w.phases + kw % planes.w.period;
      const int64_t y = kh * s.dilation[1] / s.stride[1];
      const int64_t x = kw * s.dilation[2] / s.stride[2];
      *offsets++ = plane * planes.plane() + y * planes.w.size + x;
    }
  }
}

void fill_planes(const ConvPlan& plan, const Planes& planes, const ConvTable& table, const float* in, float* dst) {
  const ConvShape& s = plan.shape;
  const int64_t height = s.in[1];
  const int64_t width = s.in[2];
  const int64_t stride = s.stride[2];
  for (int64_t ph = 0; ph < planes.h.phases; ++ph) {
    const int64_t first_row = ph * s.dilation[1] % s.stride[1] - s.padding[1];
    for (int64_t pw = 0; pw < planes.w.phases; ++pw) {
      const int64_t first_col = pw * s.dilation[2] % stride - s.padding[2];
      // Columns [x0, x1) of the plane lie inside the image.
      const int64_t x0 = std::min(planes.w.size, first_col >= 0 ? 0 : divide_up(-first_col, stride));
      const int64_t x1 =
          std::max(x0, std::min(planes.w.size, width <= first_col ? 0 : divide_up(width - first_col, stride)));
      for (int64_t y = 0; y < planes.h.size; ++y, dst += planes.w.size) {
        const int64_t row = first_row + y * s.stride[1];
        if (row < 0 || row >= height || x0 == x1) {
          std::memset(dst, 0, static_cast<size_t>(planes.w.size) * sizeof(float));
          continue;
        }
        for (int64_t x = 0; x < x0; ++x) dst[x] = 0;
        table.gather(in + row * width + first_col + x0 * stride, stride, x1 - x0, dst + x0);
        for (int64_t x = x1; x < planes.w.size; ++x) dst[x] = 0;
      }
    }
  }
}

// ---- NCHW by GEMM: weights are A, patches are B ---------------------------------------------------------------------

// Where the weights are too far apart for A to be read in place (see rows_collide in gemm.cc), a copy is packed.
bool weights_stay(const ConvShape& s) {
  return depth_of(s) * static_cast<int64_t>(sizeof(float)) % 1024 != 0;
}

struct PatchPlan {
  int64_t pixels;
  int64_t rows;  // output channels of a group
  int64_t depth;
  int64_t strip_rows;
  int64_t tile_cols;
  int64_t col_tiles;
  int64_t row_tiles;
  int64_t tile_rows;
};

// A tile is up to eight strips of pixels wide and all output channels high: its patches are gathered once. Only when
// that leaves threads without work are the tiles narrower, then lower (and the patches gathered again).
PatchPlan plan_patches(const ConvPlan& plan, const GemmTable<float>& table, int threads) {
  const ConvShape& s = plan.shape;
  PatchPlan p{};
  p.pixels = plan.out[1] * plan.out[2];
  p.rows = s.out_channels / s.groups;
  p.depth = depth_of(s);
  const int64_t row_strips = divide_up(p.rows, table.max_rows);
  p.strip_rows = divide_up(p.rows, row_strips);
  const int64_t col_strips = divide_up(p.pixels, table.strip_cols);
  const int64_t wanted = threads > 1 ? 2 * int64_t{threads} : 1;
  const int64_t col_tiles =
      std::max(divide_up(col_strips, 8), std::min(divide_up(wanted, s.groups), divide_up(col_strips, 2)));
  const int64_t strips = divide_up(col_strips, col_tiles);
  p.tile_cols = strips * table.strip_cols;
  p.col_tiles = divide_up(p.pixels, p.tile_cols);
  const int64_t row_tiles = std::min(row_strips, divide_up(wanted, p.col_tiles * s.groups));
  p.tile_rows = divide_up(row_strips, row_tiles) * p.strip_rows;
  p.row_tiles = divide_up(p.rows, p.tile_rows);
  return p;
}

constexpr int64_t kMaxSegments = 33;  // a strip of 32 pixels, each in a row of its own, and one more

int64_t tile_buffer_floats(const GemmTable<float>& table) {
  return kBlockK * 8 * table.strip_cols + kVectorSlack;
}

int64_t slots_for(const Parallel& parallel) {
  return parallel.run == nullptr ? 1 : std::max(1, std::min(parallel.threads, kMaxSlots));
}

struct NchwScratch {
  size_t planes;
  size_t tiles;
  size_t total;
};

// [tap offsets][planes of one image][a tile of patches for each slot]
NchwScratch nchw_scratch(const ConvPlan& plan, const Parallel& parallel) {
  NchwScratch layout{};
  layout.planes = round_up_64(static_cast<size_t>(taps_of(plan.shape)) * sizeof(int64_t));
  size_t bytes = layout.planes;
  if (plan.algorithm != ConvAlgorithm::kPointwise) {
    const int64_t floats = plan.shape.in_channels * planes_of(plan).channel() + kVectorSlack;
    bytes += round_up_64(static_cast<size_t>(floats) * sizeof(float));
  }
  layout.tiles = bytes;
  const size_t tile =
      round_up_64(static_cast<size_t>(tile_buffer_floats(gemm_table<float>(active_isa()))) * sizeof(float));
  layout.total = bytes + tile * static_cast<size_t>(slots_for(parallel));
  return layout;
}

struct NchwCall {
  const ConvPlan& plan;
  const PatchPlan& patches;
  const GemmTable<float>& gemm;
  const ConvTable& conv;
  const float* weights;
  int64_t lda;
  const float* bias;
  float lo, hi;
  const float* in;      // image (pointwise) or null
  const float* planes;  // padded planes or null
  int64_t channel_stride;
  int64_t plane_width;
  const int64_t* tap_offsets;
  float* out;
};

int64_t list_segments(const NchwCall& call, int64_t pixel, int64_t count, PatchSegment* segments) {
  const int64_t width = call.plan.out[2];
  int64_t found = 0;
  for (int64_t column = 0; column < count;) {
    const int64_t y = (pixel + column) / width;
    const int64_t x = (pixel + column) % width;
    const int64_t length = std::min(width - x, count - column);
    segments[found++] = {column, y * call.plane_width + x, length};
    column += length;
  }
  return found;
}

// Gathers rows [k0, k0 + depth) of the patches of `cols` pixels from `pixel` on, strip after strip.
void gather_tile(const NchwCall& call, int64_t group, int64_t pixel, int64_t cols, int64_t k0, int64_t depth,
                 float* dst) {
  const int64_t width = call.gemm.strip_cols;
  for (int64_t j = 0; j < cols; j += width) {
    const int64_t n = std::min(width, cols - j);
    if (call.in != nullptr) {
      const float* from = call.in + k0 * call.patches.pixels + pixel + j;
      call.gemm.pack_strip(from, call.patches.pixels, 1, depth, n, 1.0f, dst);
    } else {
      PatchSegment segments[kMaxSegments];
      PatchStrip strip{};
      strip.planes = call.planes + group * (call.plan.shape.in_channels / call.plan.shape.groups) * call.channel_stride;
      strip.channel_stride = call.channel_stride;
      strip.tap_offsets = call.tap_offsets;
      strip.taps = taps_of(call.plan.shape);
      strip.k_begin = k0;
      strip.k_end = k0 + depth;
      strip.segments = segments;
      strip.segment_count = list_segments(call, pixel + j, n, segments);
      strip.dst = dst;
      strip.width = n > call.gemm.lanes ? width : call.gemm.lanes;
      call.conv.pack_patches(strip);
    }
    dst += depth * width;
  }
}

void multiply_tile(const NchwCall& call, int64_t group, int64_t row0, int64_t pixel, float* buffer) {
  const PatchPlan& p = call.patches;
  const int64_t rows = std::min(p.tile_rows, p.rows - row0);
  const int64_t cols = std::min(p.tile_cols, p.pixels - pixel);
  const int64_t blocks = std::max<int64_t>(1, divide_up(p.depth, kBlockK));
  const int64_t depth = divide_up(p.depth, blocks);
  const int64_t channel0 = group * p.rows + row0;
  const bool clamp =
      call.lo != -std::numeric_limits<float>::infinity() || call.hi != std::numeric_limits<float>::infinity();
  GemmStrip<float> s{};
  s.lda = call.lda;
  s.b = buffer;
  s.ldc = p.pixels;
  s.n = cols;
  s.lo = call.lo;
  s.hi = call.hi;
  int64_t k0 = 0;
  do {
    s.k = std::min(depth, p.depth - k0);
    gather_tile(call, group, pixel, cols, k0, s.k, buffer);
    s.b_strip_stride = s.k * call.gemm.strip_cols;
    s.accumulate = k0 > 0;
    s.clamp = clamp && k0 + s.k == p.depth;
    for (int64_t i = 0; i < rows; i += p.strip_rows) {
      s.rows = std::min(p.strip_rows, rows - i);
      s.a = call.weights + (channel0 + i) * call.lda + k0;
      s.c = call.out + (channel0 + i) * p.pixels + pixel;
      s.row_bias = call.bias != nullptr ? call.bias + channel0 + i : nullptr;
      call.gemm.strip(s);
    }
    k0 += s.k;
  } while (k0 < p.depth);
}

void run_nchw(const ConvPlan& plan, const float* in, const float* weights, const float* bias, float lo, float hi,
              float* out, void* scratch, const Parallel& parallel) {
  const ConvShape& s = plan.shape;
  const GemmTable<float>& gemm = gemm_table<float>(active_isa());
  const ConvTable& conv = conv_table(active_isa());
  const PatchPlan patches = plan_patches(plan, gemm, parallel.threads);
  const NchwScratch layout = nchw_scratch(plan, parallel);
  const Planes planes = planes_of(plan);
  char* memory = static_cast<char*>(scratch);
  auto* tap_offsets = reinterpret_cast<int64_t*>(memory);
  float* plane_memory = reinterpret_cast<float*>(memory + layout.planes);
  const size_t tile_bytes = round_up_64(static_cast<size_t>(tile_buffer_floats(gemm)) * sizeof(float));
  write_tap_offsets(plan, planes, tap_offsets);
  const bool pointwise = plan.algorithm == ConvAlgorithm::kPointwise;
  SlotAllocator slots(static_cast<int>(slots_for(parallel)));
  const int64_t lda =
      weights_stay(s) ? patches.depth : static_cast<int64_t>(packed_a_bytes<float>(1, patches.depth) / sizeof(float));
  for (int64_t image = 0; image < s.batch; ++image) {
    const float* image_in = in + image * s.in_channels * s.in[1] * s.in[2];
    if (!pointwise) {
      const int64_t grain = 1 + 8192 / (planes.channel() + 1);
      parallel_for(parallel, s.in_channels, grain, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          fill_planes(plan, planes, conv, image_in + c * s.in[1] * s.in[2], plane_memory + c * planes.channel());
        }
      });
    }
    const NchwCall call{plan,
                        patches,
                        gemm,
                        conv,
                        weights,
                        lda,
                        bias,
                        lo,
                        hi,
                        pointwise ? image_in : nullptr,
                        plane_memory,
                        planes.channel(),
                        planes.w.size,
                        tap_offsets,
                        out + image * s.out_channels * patches.pixels};
    const int64_t tiles = s.groups * patches.col_tiles * patches.row_tiles;
    const int64_t work = patches.tile_rows * patches.tile_cols * patches.depth;
    parallel_for(parallel, tiles, 1 + 100000 / (work + 1), [&](int64_t begin, int64_t end) {
      const SlotAllocator::Slot slot(slots);
      float* buffer = reinterpret_cast<float*>(memory + layout.tiles + tile_bytes * static_cast<size_t>(slot.index()));
      for (int64_t t = begin; t < end; ++t) {
        const int64_t row0 = t % patches.row_tiles * patches.tile_rows;
        const int64_t pixel = t / patches.row_tiles % patches.col_tiles * patches.tile_cols;
        multiply_tile(call, t / (patches.row_tiles * patches.col_tiles), row0, pixel, buffer);
      }
    });
  }
}

// ---- NCHW depthwise -----------------------------------------------------------------------------------------------

size_t depthwise_buffer_bytes(const ConvPlan& plan) {
  return round_up_64(static_cast<size_t>(planes_of(plan).channel() + kVectorSlack) * sizeof(float));
}

void run_depthwise_nchw(const ConvPlan& plan, const float* in, const float* weights, const float* bias, float lo,
                        float hi, float* out, void* scratch, const Parallel& parallel) {
  const ConvShape& s = plan.shape;
  const ConvTable& conv = conv_table(active_isa());
  const Planes planes = planes_of(plan);
  const int64_t taps = taps_of(s);
  auto* tap_offsets = static_cast<int64_t*>(scratch);
  char* buffers = static_cast<char*>(scratch) + round_up_64(static_cast<size_t>(taps) * sizeof(int64_t));
  const size_t buffer_bytes = depthwise_buffer_bytes(plan);
  write_tap_offsets(plan, planes, tap_offsets);
  const int64_t multiplier = s.out_channels / s.groups;
  const int64_t out_plane = plan.out[1] * plan.out[2];
  SlotAllocator slots(static_cast<int>(slots_for(parallel)));
  const int64_t grain = 1 + 65536 / (out_plane * taps * multiplier + 1);
  parallel_for(parallel, s.batch * s.in_channels, grain, [&](int64_t begin, int64_t end) {
    const SlotAllocator::Slot slot(slots);
    float* buffer = reinterpret_cast<float*>(buffers + buffer_bytes * static_cast<size_t>(slot.index()));
    for (int64_t i = begin; i < end; ++i) {
      fill_planes(plan, planes, conv, in + i * s.in[1] * s.in[2], buffer);
      for (int64_t m = 0; m < multiplier; ++m) {
        const int64_t channel = i % s.in_channels * multiplier + m;
        DepthwisePlane d{};
        d.planes = buffer;
        d.tap_offsets = tap_offsets;
        d.weights = weights + channel * taps;
        d.taps = taps;
        d.row_pitch = planes.w.size;
        d.bias = bias != nullptr ? bias[channel] : 0.0f;
        d.lo = lo;
        d.hi = hi;
        d.out = out + (i * multiplier + m) * out_plane;
        d.rows = plan.out[1];
        d.cols = plan.out[2];
        conv.depthwise_plane(d);
      }
    }
  });
}

// ---- NHWC -----------------------------------------------------------------------------------------------------------

// Row of the patch matrix of one output pixel, k in [k0, k0 + depth) with k = (kh * kernel width + kw) * channels + c.
void write_patch(const ConvPlan& plan, const float* image, int64_t group, int64_t pixel, int64_t k0, int64_t depth,
                 float* dst) {
  if (depth == 0) return;
  const ConvShape& s = plan.shape;
  const int64_t channels = s.in_channels / s.groups;
  const int64_t oh = pixel / plan.out[2];
  const int64_t ow = pixel % plan.out[2];
  int64_t kh = k0 / channels / s.kernel[2];
  int64_t kw = k0 / channels % s.kernel[2];
  int64_t channel = k0 % channels;
  // Neighbouring taps of a row are neighbours in memory too when nothing lies between them: they are copied as one run.
  const bool row_runs = s.groups == 1 && s.dilation[2] == 1;
  for (int64_t done = 0; done < depth;) {
    const int64_t y = oh * s.stride[1] - s.padding[1] + kh * s.dilation[1];
    const int64_t x = ow * s.stride[2] - s.padding[2] + kw * s.dilation[2];
    int64_t run_taps = 1;
    const bool inside = y >= 0 && y < s.in[1] && x >= 0 && x < s.in[2];
    if (inside && row_runs) run_taps = std::min(s.kernel[2] - kw, s.in[2] - x);
    // Only the last run can be shorter than its taps, and then the loop ends.
    const int64_t run = std::min(run_taps * channels - channel, depth - done);
    if (inside) {
      std::memcpy(dst + done, image + (y * s.in[2] + x) * s.in_channels + group * channels + channel,
                  static_cast<size_t>(run) * sizeof(float));
    } else {
      std::memset(dst + done, 0, static_cast<size_t>(run) * sizeof(float));
    }
    done += run;
    channel = 0;
    kw += run_taps;
    if (kw == s.kernel[2]) {
      kw = 0;
      ++kh;
    }
  }
}

size_t nhwc_group_bytes(const ConvShape& s) {
  return packed_b_bytes<float>(depth_of(s), s.out_channels / s.groups);
}

void run_nhwc(const ConvPlan& plan, const float* in, const float* packed, const float* bias, float lo, float hi,
              float* out, const Parallel& parallel) {
  const ConvShape& s = plan.shape;
  const GemmTable<float>& gemm = gemm_table<float>(active_isa());
  const int64_t pixels = plan.out[1] * plan.out[2];
  const int64_t cols = s.out_channels / s.groups;
  const int64_t depth = depth_of(s);
  const int64_t block = divide_up(depth, std::max<int64_t>(1, divide_up(depth, kBlockK)));
  const int64_t strip_rows = divide_up(pixels, divide_up(pixels, gemm.max_rows));
  const int64_t tile_rows = strip_rows * 4;
  const int64_t row_tiles = divide_up(pixels, tile_rows);
  const int64_t tail = cols % gemm.strip_cols;
  const int64_t narrow_cols = tail <= gemm.lanes ? tail : 0;
  const bool clamp = lo != -std::numeric_limits<float>::infinity() || hi != std::numeric_limits<float>::infinity();
  parallel_for(parallel, s.batch * s.groups * row_tiles, 1, [&](int64_t begin, int64_t end) {
    alignas(64) float buffer[kMaxStripRows * kStripStride];
    for (int64_t t = begin; t < end; ++t) {
      const int64_t pixel0 = t % row_tiles * tile_rows;
      const int64_t group = t / row_tiles % s.groups;
      const int64_t batch = t / (row_tiles * s.groups);
      const float* image = in + batch * s.in[1] * s.in[2] * s.in_channels;
      const float* b = packed + group * static_cast<int64_t>(nhwc_group_bytes(s) / sizeof(float));
      const int64_t rows = std::min(tile_rows, pixels - pixel0);
      int64_t k0 = 0;
      do {
        GemmStrip<float> strip{};
        strip.a = buffer;
        strip.lda = kStripStride;
        strip.k = std::min(block, depth - k0);
        strip.b_strip_stride = depth * gemm.strip_cols;
        strip.ldc = s.out_channels;
        strip.accumulate = k0 > 0;
        strip.clamp = clamp && k0 + strip.k == depth;
        strip.lo = lo;
        strip.hi = hi;
        for (int64_t i = 0; i < rows; i += strip_rows) {
          strip.rows = std::min(strip_rows, rows - i);
          for (int64_t r = 0; r < strip.rows; ++r) {
            write_patch(plan, image, group, pixel0 + i + r, k0, strip.k, buffer + r * kStripStride);
          }
          strip.c = out + (batch * pixels + pixel0 + i) * s.out_channels + group * cols;
          strip.col_bias = bias != nullptr ? bias + group * cols : nullptr;
          strip.n = cols - narrow_cols;
          strip.b = b + k0 * gemm.strip_cols;
          if (strip.n > 0) gemm.strip(strip);
          if (narrow_cols > 0) {
            strip.b = b + strip.n * depth + k0 * gemm.lanes;
            strip.c += strip.n;
            if (strip.col_bias != nullptr) strip.col_bias += strip.n;
            strip.n = narrow_cols;
            gemm.strip(strip);
          }
        }
        k0 += strip.k;
      } while (k0 < depth);
    }
  });
}

void run_pointwise_nhwc(const ConvPlan& plan, const float* in, const float* packed, const float* bias, float lo,
                        float hi, float* out, const Parallel& parallel) {
  const ConvShape& s = plan.shape;
  Gemm<float> g;
  g.m = s.batch * plan.out[1] * plan.out[2];
  g.n = s.out_channels;
  g.k = s.in_channels;
  g.a = {in, s.in_channels, 1};
  g.packed_b = packed;
  g.c = out;
  g.c_row_stride = s.out_channels;
  g.col_bias = bias;
  g.lo = lo;
  g.hi = hi;
  gemm(g, nullptr, parallel);
}

constexpr int64_t kMaxDepthwiseRows = 64;

void run_depthwise_nhwc(const ConvPlan& plan, const float* in, const float* packed, const float* bias, float lo,
                        float hi, float* out, const Parallel& parallel) {
  const ConvShape& s = plan.shape;
  const ConvTable& conv = conv_table(active_isa());
  const int64_t out_row = plan.out[2] * s.out_channels;
  const int64_t grain = 1 + 65536 / (out_row * taps_of(s) + 1);
  parallel_for(parallel, s.batch * plan.out[1], grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t oh = i % plan.out[1];
      int64_t row_offset[kMaxDepthwiseRows];
      int64_t weight_row[kMaxDepthwiseRows];
      DepthwiseRow d{};
      for (int64_t kh = 0; kh < s.kernel[1]; ++kh) {
        const int64_t y = oh * s.stride[1] - s.padding[1] + kh * s.dilation[1];
        if (y < 0 || y >= s.in[1]) continue;
        row_offset[d.row_count] = y * s.in[2] * s.in_channels;
        weight_row[d.row_count++] = kh;
      }
      d.in = in + i / plan.out[1] * s.in[1] * s.in[2] * s.in_channels;
      d.channels = s.in_channels;
      d.in_width = s.in[2];
      d.kernel_width = s.kernel[2];
      d.stride = s.stride[2];
      d.padding = s.padding[2];
      d.dilation = s.dilation[2];
      d.row_offset = row_offset;
      d.weight_row = weight_row;
      d.weights = packed;
      d.bias = bias;
      d.lo = lo;
      d.hi = hi;
      d.out = out + i * out_row;
      d.out_width = plan.out[2];
      conv.depthwise_row(d);
    }
  });
}

ConvStrides dense_strides(const ConvPlan& plan, bool output) {
  const int64_t channels = output ? plan.shape.out_channels : plan.shape.in_channels;
  const std::array<int64_t, 3>& size = output ? plan.out : plan.shape.in;
  const int64_t volume = size[0] * size[1] * size[2];
  if (plan.layout == ConvLayout::kNchw) return {channels * volume, volume, size[1] * size[2], size[2], 1};
  return {channels * volume, 1, size[1] * size[2] * channels, size[2] * channels, channels};
}

void clamp_in_place(float* out, int64_t count, float lo, float hi, const Parallel& parallel) {
  if (lo == -std::numeric_limits<float>::infinity() && hi == std::numeric_limits<float>::infinity()) return;
  parallel_for(parallel, count, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float value = out[i] < lo ? lo : out[i];
      out[i] = hi < value ? hi : value;
    }
  });
}

}  // namespace

int64_t conv_out_size(const ConvShape& s, int d) {
  const size_t i = static_cast<size_t>(d);
  const int64_t room = s.in[i] + 2 * s.padding[i] - s.dilation[i] * (s.kernel[i] - 1) - 1;
  return room < 0 ? 0 : room / s.stride[i] + 1;
}

int64_t conv_transpose_out_size(const ConvShape& s, int d) {
  const size_t i = static_cast<size_t>(d);
  return (s.in[i] - 1) * s.stride[i] - 2 * s.padding[i] + s.dilation[i] * (s.kernel[i] - 1) + s.output_padding[i] + 1;
}

ConvPlan conv_plan(const ConvShape& shape, ConvLayout layout) {
  ConvPlan plan;
  plan.shape = shape;
  plan.layout = layout;
  for (int d = 0; d < 3; ++d) plan.out[static_cast<size_t>(d)] = conv_out_size(shape, d);
  const bool flat = shape.in[0] == 1 && shape.kernel[0] == 1 && shape.padding[0] == 0;
  const bool depthwise = shape.groups > 1 && shape.groups == shape.in_channels;
  if (!flat) {
    plan.algorithm = ConvAlgorithm::kGeneric;
  } else if (is_pointwise(shape)) {
    plan.algorithm = ConvAlgorithm::kPointwise;
  } else if (depthwise && (layout == ConvLayout::kNchw ||
                           (shape.out_channels == shape.in_channels && shape.kernel[1] <= kMaxDepthwiseRows))) {
    plan.algorithm = ConvAlgorithm::kDepthwise;
  } else {
    plan.algorithm = ConvAlgorithm::kImplicit;
  }
  return plan;
}

size_t conv_packed_bytes(const ConvPlan& plan) {
  const ConvShape& s = plan.shape;
  if (plan.algorithm == ConvAlgorithm::kGeneric) return 0;
  if (plan.layout == ConvLayout::kNchw) {
    if (plan.algorithm == ConvAlgorithm::kDepthwise || weights_stay(s)) return 0;
    return packed_a_bytes<float>(s.out_channels, depth_of(s));
  }
  if (plan.algorithm == ConvAlgorithm::kDepthwise) {
    return round_up_64(static_cast<size_t>(s.out_channels * taps_of(s)) * sizeof(float));
  }
  return nhwc_group_bytes(s) * static_cast<size_t>(s.groups);
}

void conv_pack_weights(const ConvPlan& plan, const float* weights, void* packed) {
  if (conv_packed_bytes(plan) == 0) return;
  const ConvShape& s = plan.shape;
  const int64_t depth = depth_of(s);
  const int64_t taps = taps_of(s);
  float* dst = static_cast<float*>(packed);
  if (plan.layout == ConvLayout::kNchw) {
    pack_a<float>({weights, depth, 1}, s.out_channels, depth, dst);
    return;
  }
  if (plan.algorithm == ConvAlgorithm::kDepthwise) {
    for (int64_t t = 0; t < taps; ++t) {
      for (int64_t c = 0; c < s.out_channels; ++c) dst[t * s.out_channels + c] = weights[c * taps + t];
    }
    return;
  }
  const int64_t cols = s.out_channels / s.groups;
  const int64_t channels = s.in_channels / s.groups;
  const GemmTable<float>& gemm = gemm_table<float>(active_isa());
  for (int64_t g = 0; g < s.groups; ++g, dst += nhwc_group_bytes(s) / sizeof(float)) {
    for (int64_t col = 0; col < cols; col += gemm.strip_cols) {
      const int64_t n = std::min<int64_t>(gemm.strip_cols, cols - col);
      const int64_t width = n > gemm.lanes ? gemm.strip_cols : gemm.lanes;
      const float* from = weights + (g * cols + col) * depth;
      // Depth becomes (tap, channel): that is how channels-last patches lie in memory.
      for (int64_t t = 0; t < taps; ++t) {
        gemm.pack_strip(from + t, taps, depth, channels, n, 1.0f, dst + col * depth + t * channels * width);
      }
    }
  }
}

size_t conv_scratch_bytes(const ConvPlan& plan, const Parallel& parallel) {
  if (plan.algorithm == ConvAlgorithm::kGeneric) return conv_generic_scratch_bytes<float>(plan.shape);
  if (plan.layout == ConvLayout::kNhwc) return 0;
  if (plan.algorithm == ConvAlgorithm::kDepthwise) {
    return round_up_64(static_cast<size_t>(taps_of(plan.shape)) * sizeof(int64_t)) +
           depthwise_buffer_bytes(plan) * static_cast<size_t>(slots_for(parallel));
  }
  return nchw_scratch(plan, parallel).total;
}

void conv_run(const ConvPlan& plan, const float* in, const void* packed, const float* bias, float lo, float hi,
              float* out, void* scratch, const Parallel& parallel) {
  const ConvShape& s = plan.shape;
  const int64_t count = s.batch * s.out_channels * plan.out[0] * plan.out[1] * plan.out[2];
  if (count <= 0) return;
  const float* weights = static_cast<const float*>(packed);
  const bool nchw = plan.layout == ConvLayout::kNchw;
  switch (plan.algorithm) {
    case ConvAlgorithm::kGeneric:
      conv_generic<float>(s, in, dense_strides(plan, false), weights, bias, out, dense_strides(plan, true), scratch,
                          parallel);
      return clamp_in_place(out, count, lo, hi, parallel);
    case ConvAlgorithm::kPointwise:
      if (!nchw) return run_pointwise_nhwc(plan, in, weights, bias, lo, hi, out, parallel);
      return run_nchw(plan, in, weights, bias, lo, hi, out, scratch, parallel);
    case ConvAlgorithm::kImplicit:
      if (!nchw) return run_nhwc(plan, in, weights, bias, lo, hi, out, parallel);
      return run_nchw(plan, in, weights, bias, lo, hi, out, scratch, parallel);
    case ConvAlgorithm::kDepthwise:
      if (!nchw) return run_depthwise_nhwc(plan, in, weights, bias, lo, hi, out, parallel);
      return run_depthwise_nchw(plan, in, weights, bias, lo, hi, out, scratch, parallel);
  }
}

namespace isa_scalar {
extern const ConvTable conv_table;
}
#if defined(__x86_64__)
namespace isa_avx2 {
extern const ConvTable conv_table;
}
namespace isa_avx512 {
extern const ConvTable conv_table;
}
#endif

const ConvTable& conv_table(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) return isa_avx512::conv_table;
  if (isa == Isa::kAvx2) return isa_avx2::conv_table;
#endif
  (void)isa;
  return isa_scalar::conv_table;
}

}  // namespace pteron::engine
