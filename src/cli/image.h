// Pictures as tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/tensors.h"

namespace pteron::cli {

struct ImageOptions {
  bool channels_last = false;                         // --layout nhwc
  bool fit_input = false;                             // --resize input
  std::optional<std::pair<int64_t, int64_t>> resize;  // --resize HEIGHTxWIDTH
  std::vector<double> mean;                           // per channel, or one for all
  std::vector<double> standard_deviation;
};

// Parses "224x224" (height first) or "input" into `options`. Failure kUsage.
void parse_resize(const std::string& text, ImageOptions* options);

// A PNG or JPEG as a tensor for an input of `dtype` and declared `shape`: [N, C, H, W] or [C, H, W] (layout nchw),
// [N, H, W, C] or [H, W, C] (nhwc), or [H, W]; N must be 1. C = 1 makes the picture gray, 3 keeps colours, 4 adds
// alpha. For float inputs a pixel p becomes (p / 255 - mean) / std; for uint8 inputs it stays. Resizing is bilinear
// with half-pixel centres and no smoothing, in float32, as torch's interpolate(mode="bilinear", align_corners=False).
// Failure kInputRefused.
Tensor image_tensor(std::string_view bytes, DType dtype, const std::vector<int64_t>& shape, const ImageOptions& options,
                    const std::string& where);

}  // namespace pteron::cli
