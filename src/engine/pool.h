// 2-D pooling on contiguous fp32 images, NCHW or NHWC.
#pragma once

#include <array>
#include <cstdint>

#include "engine/conv.h"
#include "engine/parallel.h"

namespace pteron::engine {

// Pairs are height, width. `out` is decided by the caller (ceil mode included): windows that begin outside the padded
// image must have been removed.
struct PoolShape {
  int64_t batch = 1;
  int64_t channels = 1;
  std::array<int64_t, 2> in{1, 1};
  std::array<int64_t, 2> out{1, 1};
  std::array<int64_t, 2> kernel{1, 1};
  std::array<int64_t, 2> stride{1, 1};
  std::array<int64_t, 2> padding{0, 0};
  std::array<int64_t, 2> dilation{1, 1};  // maximum only
};

// NaN wins, the last of several. indices (may be null): position h * in_width + w of the chosen element, in the
// output's layout.
void max_pool2d(const PoolShape& shape, ConvLayout layout, const float* in, float* out, int64_t* indices,
                const Parallel& parallel);

// divisor 0: the number of elements of the window, of those inside the image only unless count_include_pad (then
// those inside the padded image).
void avg_pool2d(const PoolShape& shape, ConvLayout layout, const float* in, float* out, bool count_include_pad,
                int64_t divisor, const Parallel& parallel);

// Window of output o: [floor(o * in / out), ceil((o + 1) * in / out)). kernel, stride, padding are not used.
void adaptive_avg_pool2d(const PoolShape& shape, ConvLayout layout, const float* in, float* out,
                         const Parallel& parallel);

}  // namespace pteron::engine
