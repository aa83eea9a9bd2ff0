// Convolution, 1-D to 3-D (a missing leading dimension has size 1), forward and transposed.
//
//   ConvShape s; s.batch = 1; s.in_channels = 64; s.out_channels = 64; s.in = {1, 56, 56};
//   s.kernel = {1, 3, 3}; s.padding = {0, 1, 1};
//   ConvPlan plan = conv_plan(s, ConvLayout::kNchw);
//   conv_pack_weights(plan, weight, packed);  // once, conv_packed_bytes(plan) bytes; if 0, packed is weight itself
//   conv_run(plan, x, packed, bias, lo, hi, y, scratch, parallel);  // conv_scratch_bytes(plan, parallel) bytes
//
// All packed and scratch memory is aligned to 64 bytes by the caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/gemm.h"
#include "engine/parallel.h"
#include "engine/scalar_types.h"

namespace pteron::engine {

enum class ConvLayout : uint8_t {
  kNchw,  // contiguous [N, C, D, H, W]
  kNhwc,  // channels last: contiguous [N, D, H, W, C]
};

// Triples are depth, height, width. 2-D: depth 1, kernel 1, padding 0, stride 1, dilation 1. All sizes in elements.
// Weights are always contiguous [out_channels, in_channels / groups, kd, kh, kw]; for a transposed convolution
// [in_channels, out_channels / groups, kd, kh, kw]. Preconditions (the caller checks them): sizes >= 0, channels
// divisible by groups, stride and dilation >= 1, padding >= 0, kernel >= 1, out sizes >= 0.
struct ConvShape {
  int64_t batch = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t groups = 1;
  std::array<int64_t, 3> in{1, 1, 1};
  std::array<int64_t, 3> kernel{1, 1, 1};
  std::array<int64_t, 3> stride{1, 1, 1};
  std::array<int64_t, 3> padding{0, 0, 0};
  std::array<int64_t, 3> dilation{1, 1, 1};
  std::array<int64_t, 3> output_padding{0, 0, 0};  // transposed only
};

// Output size in dimension d: floor((in + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1, at least 0.
int64_t conv_out_size(const ConvShape& shape, int d);
// Transposed: (in - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1.
int64_t conv_transpose_out_size(const ConvShape& shape, int d);

// ---- fp32, 1-D and 2-D and 3-D, planned and packed -------------------------------------------------------------

enum class ConvAlgorithm : uint8_t {
  kPointwise,  // 1x1, stride 1, no padding, one group: the image is the matrix
  kImplicit,   // patches are gathered into the packed operand of the GEMM, group by group
  kDepthwise,  // one input channel per group
  kGeneric,    // 3-D: conv_generic
};

// What to do for one shape: plain data, copy it freely. The packed weights depend on the layout, channels, groups and
// kernel only, so a plan for another batch, image size, stride or padding may use them if `algorithm` is the same.
struct ConvPlan {
  ConvShape shape;
  ConvLayout layout = ConvLayout::kNchw;
  ConvAlgorithm algorithm = ConvAlgorithm::kGeneric;
  std::array<int64_t, 3> out{1, 1, 1};
};

ConvPlan conv_plan(const ConvShape& shape, ConvLayout layout);
// 0: no packed form is needed, hand the weights themselves to conv_run as `packed`.
size_t conv_packed_bytes(const ConvPlan& plan);
void conv_pack_weights(const ConvPlan& plan, const float* weights, void* packed);
size_t conv_scratch_bytes(const ConvPlan& plan, const Parallel& parallel);

// in and out in the plan's layout, not overlapping; bias has out_channels values or is null; the result is clamped
// to [lo, hi] (NaN stays). -inf, +inf: no clamp. relu: 0, +inf. relu6: 0, 6.
void conv_run(const ConvPlan& plan, const float* in, const void* packed, const float* bias, float lo, float hi,
              float* out, void* scratch, const Parallel& parallel);

// ---- any type, any layout, 1-D to 3-D, forward and transposed ----------------------------------------------------

// Strides of the activations in elements: batch, channel, depth, height, width.
using ConvStrides = std::array<int64_t, 5>;

// T as for Gemm<T>; sums in Accumulator<T>; bias in T or null. out is written entirely.
template <class T>
size_t conv_generic_scratch_bytes(const ConvShape& shape);
template <class T>
void conv_generic(const ConvShape& shape, const T* in, const ConvStrides& in_strides, const T* weights, const T* bias,
                  T* out, const ConvStrides& out_strides, void* scratch, const Parallel& parallel);
template <class T>
size_t conv_transpose_scratch_bytes(const ConvShape& shape);
template <class T>
void conv_transpose(const ConvShape& shape, const T* in, const ConvStrides& in_strides, const T* weights, const T* bias,
                    T* out, const ConvStrides& out_strides, void* scratch, const Parallel& parallel);

}  // namespace pteron::engine
