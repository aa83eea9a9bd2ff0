// Decoded pictures: rows from the top, `channels` bytes a pixel.
#pragma once

#include <memory>

namespace pteron::cli {

struct PixelsFree {
  void operator()(unsigned char* pixels) const;
};
using Pixels = std::unique_ptr<unsigned char, PixelsFree>;

// Decodes a PNG or JPEG to 1 (gray), 3 or 4 channels; null with a reason when it cannot.
Pixels decode_pixels(const unsigned char* bytes, int size, int channels, int* height, int* width, const char** reason);

}  // namespace pteron::cli
