// The one place that compiles stb_image: PNG and JPEG from memory, nothing else, and no picture larger than 2^15.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_MAX_DIMENSIONS (1 << 15)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

#include "cli/pixels.h"

namespace pteron::cli {

void PixelsFree::operator()(unsigned char* pixels) const {
  stbi_image_free(pixels);
}

Pixels decode_pixels(const unsigned char* bytes, int size, int channels, int* height, int* width, const char** reason) {
  int found = 0;
  Pixels pixels(stbi_load_from_memory(bytes, size, width, height, &found, channels));
  *reason = pixels == nullptr ? stbi_failure_reason() : "";
  return pixels;
}

}  // namespace pteron::cli
