#include "cli/image.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>

#include "cli/failure.h"
#include "cli/literal.h"
#include "cli/pixels.h"

namespace pteron::cli {
namespace {

constexpr int64_t kLargestSide = 1 << 15;

struct Extent {
  int64_t channels;
  int64_t height;
  int64_t width;
};

// Rows of pixels of floats, channels innermost.
struct Picture {
  Extent extent;
  std::vector<float> values;
};

Extent wanted_extent(const std::vector<int64_t>& shape, const ImageOptions& options, const std::string& where) {
  const size_t rank = shape.size();
  if (rank < 2 || rank > 4) {
    fail(kInputRefused, "%s: a picture does not fit an input of %zu dimensions; 2 to 4 are needed", where.c_str(),
         rank);
  }
  if (rank == 4 && shape[0] != 1) {
    fail(kInputRefused, "%s: the input takes %lld pictures at once; a picture file holds one", where.c_str(),
         static_cast<long long>(shape[0]));
  }
  Extent extent{1, shape[rank - 2], shape[rank - 1]};
  if (rank > 2 && options.channels_last) extent = {shape[rank - 1], shape[rank - 3], shape[rank - 2]};
  if (rank > 2 && !options.channels_last) extent.channels = shape[rank - 3];
  if (extent.channels != 1 && extent.channels != 3 && extent.channels != 4) {
    fail(kInputRefused, "%s: the input has %lld channels in layout %s; pictures have 1, 3 or 4 (see --layout)",
         where.c_str(), static_cast<long long>(extent.channels), options.channels_last ? "nhwc" : "nchw");
  }
  return extent;
}

Picture decode(std::string_view bytes, int64_t channels, const std::string& where) {
  if (bytes.size() > INT_MAX) fail(kInputRefused, "%s: the picture file is too large", where.c_str());
  int height = 0;
  int width = 0;
  const char* reason = "";
  const Pixels pixels =
      decode_pixels(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()),
                    static_cast<int>(channels), &height, &width, &reason);
  if (pixels == nullptr) fail(kInputRefused, "%s: the picture cannot be read: %s", where.c_str(), reason);
  Picture picture{{channels, height, width}, {}};
  const auto count = static_cast<size_t>(channels) * static_cast<size_t>(height) * static_cast<size_t>(width);
  picture.values.assign(pixels.get(), pixels.get() + count);
  return picture;
}

// Source position and weight of the pixel after it, for one output coordinate.
struct Tap {
  int64_t first;
  int64_t second;
  float weight;
};

std::vector<Tap> taps(int64_t from, int64_t to) {
  std::vector<Tap> list;
  list.reserve(static_cast<size_t>(to));
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  for (int64_t i = 0; i < to; ++i) {
    const float position = std::max(0.0f, scale * (static_cast<float>(i) + 0.5f) - 0.5f);
    const int64_t first = std::min(static_cast<int64_t>(position), from - 1);
    list.push_back({first, std::min(first + 1, from - 1), position - static_cast<float>(first)});
  }
  return list;
}

Picture resized(const Picture& from, int64_t height, int64_t width) {
  const int64_t channels = from.extent.channels;
  Picture to{{channels, height, width}, std::vector<float>(static_cast<size_t>(channels * height * width))};
  const std::vector<Tap> rows = taps(from.extent.height, height);
  const std::vector<Tap> columns = taps(from.extent.width, width);
  const auto at = [&](int64_t y, int64_t x, int64_t c) {
    return from.values[static_cast<size_t>((y * from.extent.width + x) * channels + c)];
  };
  size_t out = 0;
  for (const Tap& y : rows) {
    for (const Tap& x : columns) {
      for (int64_t c = 0; c < channels; ++c) {
        const float above = at(y.first, x.first, c) * (1 - x.weight) + at(y.first, x.second, c) * x.weight;
        const float below = at(y.second, x.first, c) * (1 - x.weight) + at(y.second, x.second, c) * x.weight;
        to.values[out++] = above * (1 - y.weight) + below * y.weight;
      }
    }
  }
  return to;
}

double per_channel(const std::vector<double>& values, int64_t channel, double otherwise) {
  if (values.empty()) return otherwise;
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

void require_per_channel(const std::vector<double>& values, int64_t channels, const char* option,
                         const std::string& where) {
  if (values.size() <= 1 || values.size() == static_cast<size_t>(channels)) return;
  fail(kUsage, "%s: %s has %zu numbers; give one, or one per channel (%lld)", where.c_str(), option, values.size(),
       static_cast<long long>(channels));
}

}  // namespace

void parse_resize(const std::string& text, ImageOptions* options) {
  if (text == "input") {
    options->fit_input = true;
    return;
  }
  int64_t sides[2] = {0, 0};
  const char* at = text.data();
  const char* last = at + text.size();
  bool good = true;
  for (int i = 0; i < 2 && good; ++i) {
    const auto [end, problem] = std::from_chars(at, last, sides[i]);
    good = problem == std::errc() && sides[i] >= 1 && sides[i] <= kLargestSide &&
           (i == 0 ? end != last && *end == 'x' : end == last);
    at = end + (i == 0 && good ? 1 : 0);
  }
  if (!good) {
    fail(kUsage, "--resize takes HEIGHTxWIDTH with sides from 1 to %lld, or 'input' for the input's own, not '%s'",
         static_cast<long long>(kLargestSide), printable_text(text).c_str());
  }
  options->resize = {sides[0], sides[1]};
}

Tensor image_tensor(std::string_view bytes, DType dtype, const std::vector<int64_t>& shape, const ImageOptions& options,
                    const std::string& where) {
  if (!is_floating(dtype) && dtype != DType::kUInt8) {
    fail(kInputRefused, "%s: a picture fits inputs of float types and uint8, this one takes %s", where.c_str(),
         dtype_name(dtype));
  }
  const bool scaled = is_floating(dtype);
  if (!scaled && (!options.mean.empty() || !options.standard_deviation.empty())) {
    fail(kUsage, "%s: --mean and --std are for float inputs, this one takes uint8", where.c_str());
  }
  const Extent wanted = wanted_extent(shape, options, where);
  require_per_channel(options.mean, wanted.channels, "--mean", where);
  require_per_channel(options.standard_deviation, wanted.channels, "--std", where);
  for (const double value : options.standard_deviation) {
    if (value == 0) fail(kUsage, "%s: --std must not be 0", where.c_str());
  }

  Picture picture = decode(bytes, wanted.channels, where);
  if (options.fit_input || options.resize) {
    const auto [height, width] = options.resize.value_or(std::pair(wanted.height, wanted.width));
    if (height < 1 || width < 1 || height > kLargestSide || width > kLargestSide) {
      fail(kInputRefused, "%s: a picture cannot be resized to %lld x %lld", where.c_str(),
           static_cast<long long>(height), static_cast<long long>(width));
    }
    picture = resized(picture, height, width);
  }

  const Extent& extent = picture.extent;
  std::vector<int64_t> sizes = {extent.height, extent.width};
  if (shape.size() > 2) sizes.insert(options.channels_last ? sizes.end() : sizes.begin(), extent.channels);
  if (shape.size() > 3) sizes.insert(sizes.begin(), 1);
  Tensor tensor = make_tensor(dtype, sizes, where);
  for (int64_t c = 0; c < extent.channels; ++c) {
    const double mean = per_channel(options.mean, c, 0);
    const double deviation = per_channel(options.standard_deviation, c, 1);
    for (int64_t p = 0; p < extent.height * extent.width; ++p) {
      const float pixel = picture.values[static_cast<size_t>(p * extent.channels + c)];
      LiteralNumber number;
      number.kind = LiteralNumber::Kind::kDouble;
      number.number = (static_cast<double>(pixel) / 255 - mean) / deviation;
      number.integer = std::lround(pixel);
      if (!scaled) number.kind = LiteralNumber::Kind::kInteger;
      const int64_t index = options.channels_last ? p * extent.channels + c : c * extent.height * extent.width + p;
      store_element(tensor.raw()->data, dtype, static_cast<size_t>(index), number);
    }
  }
  return tensor;
}

}  // namespace pteron::cli
