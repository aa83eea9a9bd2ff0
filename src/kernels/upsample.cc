#include "kernels/upsample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "kernels/dense.h"
#include "kernels/parallel.h"

namespace pteron::kernels {
namespace {

constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();

// One dimension of a resize.
struct Axis {
  int64_t in = 0;
  int64_t out = 0;
  std::optional<double> scale;  // output pixels for each input pixel, as the caller gave it
};

int check_axis(KernelContext& context, const char* name, const Axis& axis) {
  PTERON_REQUIRE(context, axis.in >= 1 && axis.in <= kLimit && axis.out >= 1 && axis.out <= kLimit,
                 "the %s cannot be resized from %lld to %lld", name, number(axis.in), number(axis.out));
  PTERON_REQUIRE(context, !axis.scale.has_value() || std::isfinite(*axis.scale), "the scale of the %s is not finite",
                 name);
  return PTERON_OK;
}

// Input pixels for each output pixel; at most a number that is far beyond any image but keeps all arithmetic finite.
template <class T>
T input_step(const Axis& axis) {
  if (axis.scale.has_value() && *axis.scale > 0) return static_cast<T>(std::min(1.0 / *axis.scale, 1e15));
  return static_cast<T>(axis.in) / static_cast<T>(axis.out);
}

template <class T>
T corner_step(const Axis& axis, bool align_corners) {
  if (!align_corners) return input_step<T>(axis);
  return axis.out > 1 ? static_cast<T>(axis.in - 1) / static_cast<T>(axis.out - 1) : T{0};
}

int64_t clamp_index(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index, 0, size - 1);
}

int read_axes(KernelContext& context, const Tensor& input, const std::optional<IntList>& output_size,
              const std::optional<DoubleList>& scale_factors, Axis* axes) {
  PTERON_REQUIRE(context, input.rank() == 4, "input has %d dimensions, expected 4", input.rank());
  PTERON_REQUIRE(context, output_size.has_value() != scale_factors.has_value(),
                 "one of output_size and scale_factors must be given");
  for (size_t i = 0; i < 2; ++i) {
    axes[i].in = input.size(static_cast<int>(i) + 2);
    if (output_size.has_value()) {
      PTERON_REQUIRE(context, output_size->size() == 2, "output_size has %zu entries, expected 2", output_size->size());
      axes[i].out = (*output_size)[i];
    } else {
      PTERON_REQUIRE(context, scale_factors->size() == 2, "scale_factors has %zu entries, expected 2",
                     scale_factors->size());
      const double scale = (*scale_factors)[i];
      const double size = static_cast<double>(axes[i].in) * scale;
      PTERON_REQUIRE(context, size >= 0 && size <= static_cast<double>(kLimit), "scale_factors holds %g", scale);
      axes[i].out = static_cast<int64_t>(size);
      axes[i].scale = scale;
    }
    PTERON_PASS(check_axis(context, i == 0 ? "height" : "width", axes[i]));
  }
  return PTERON_OK;
}

int begin(KernelContext& context, const Tensor& input, const Axis* axes, Tensor& out) {
  PTERON_REQUIRE(context, out.dtype() == input.dtype(), "out is of dtype %s, but input of %s",
                 pteron_dtype_name(out.dtype()), pteron_dtype_name(input.dtype()));
  const int64_t sizes[] = {input.size(0), input.size(1), axes[0].out, axes[1].out};
  return context.resize(out, IntList(sizes, 4));
}

// ---- Separable filters ---------------------------------------------------------------------------------------------

// For each output position the input pixels [first, first + count) and their weights, `width` of them reserved.
template <class T>
struct Filter {
  int64_t width = 0;
  int64_t* first = nullptr;
  int64_t* count = nullptr;
  T* weights = nullptr;
};

template <class T>
int allocate_filter(KernelContext& context, int64_t out, int64_t width, Filter<T>* filter) {
  filter->width = width;
  filter->first = static_cast<int64_t*>(scratch_array(context, out, sizeof(int64_t)));
  filter->count = static_cast<int64_t*>(scratch_array(context, out, sizeof(int64_t)));
  filter->weights = static_cast<T*>(scratch_array(context, out, sizeof(T) * static_cast<size_t>(width)));
  return filter->first == nullptr || filter->count == nullptr || filter->weights == nullptr ? PTERON_OUT_OF_MEMORY
                                                                                            : PTERON_OK;
}

template <class T>
int linear_filter(KernelContext& context, const Axis& axis, bool align_corners, Filter<T>* filter) {
  PTERON_PASS(allocate_filter(context, axis.out, 2, filter));
  const T step = corner_step<T>(axis, align_corners);
  for (int64_t i = 0; i < axis.out; ++i) {
    T* weights = filter->weights + 2 * i;
    filter->count[i] = 2;
    if (axis.in == axis.out) {
      filter->first[i] = i;
      filter->count[i] = 1;
      weights[0] = 1;
      continue;
    }
    const T position =
        align_corners ? step * static_cast<T>(i) : std::max(step * (static_cast<T>(i) + T{0.5}) - T{0.5}, T{0});
    const T clipped = std::min(position, static_cast<T>(axis.in));
    const int64_t low = std::min(static_cast<int64_t>(clipped), axis.in - 1);
    const T fraction = std::min(std::max(position - static_cast<T>(low), T{0}), T{1});
    filter->first[i] = low;
    if (low + 1 >= axis.in) {
      filter->count[i] = 1;
      weights[0] = 1;
    } else {
      weights[0] = T{1} - fraction;
      weights[1] = fraction;
    }
  }
  return PTERON_OK;
}

// A triangle as wide as two input pixels, or as two output pixels where those are larger.
template <class T>
int antialias_filter(KernelContext& context, const Axis& axis, bool align_corners, Filter<T>* filter) {
  const T step = corner_step<T>(axis, align_corners);
  const T support = step >= 1 ? step : T{1};
  const T inverse = step >= 1 ? T{1} / step : T{1};
  // A step beyond the image reaches all of it.
  const int64_t width = support < static_cast<T>(axis.in)
                            ? std::min<int64_t>(static_cast<int64_t>(std::ceil(support)) * 2 + 1, axis.in)
                            : axis.in;
  PTERON_PASS(allocate_filter(context, axis.out, width, filter));
  const T size = static_cast<T>(axis.in);
  for (int64_t i = 0; i < axis.out; ++i) {
    if (axis.in == axis.out) {
      filter->first[i] = i;
      filter->count[i] = 1;
      filter->weights[i * width] = 1;
      continue;
    }
    const T center = std::min(step * (static_cast<T>(i) + T{0.5}), 2 * size + support);
    const auto low = static_cast<int64_t>(std::clamp(center - support + T{0.5}, T{0}, size));
    const auto high = static_cast<int64_t>(std::clamp(center + support + T{0.5}, T{0}, size));
    // Scales that do not fit the sizes may reach beyond the image: nothing is summed there.
    const int64_t count = std::min(high - low, width);
    T* weights = filter->weights + i * width;
    T total = 0;
    for (int64_t j = 0; j < count; ++j) {
      const T distance = std::abs((static_cast<T>(j + low) - center + T{0.5}) * inverse);
      weights[j] = distance < 1 ? 1 - distance : T{0};
      total += weights[j];
    }
    for (int64_t j = 0; j < count; ++j) weights[j] = total != 0 ? weights[j] / total : T{0};
    if (count <= 0) weights[0] = 0;
    filter->first[i] = std::min(low, axis.in - 1);
    filter->count[i] = std::max<int64_t>(count, 1);
  }
  return PTERON_OK;
}

// Each line of `inner` neighbouring values is treated alike: 1 along the width of row-major images.
template <class T>
void filter_lines(const T* in, T* out, int64_t outer, const Axis& axis, int64_t inner, const Filter<T>& filter) {
  parallel_for(outer * axis.out, 1 + 4096 / (filter.width * inner), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t o = line / axis.out, i = line % axis.out;
      const T* from = in + (o * axis.in + filter.first[i]) * inner;
      T* to = out + line * inner;
      const T* weights = filter.weights + i * filter.width;
      for (int64_t p = 0; p < inner; ++p) to[p] = from[p] * weights[0];
      for (int64_t j = 1; j < filter.count[i]; ++j) {
        for (int64_t p = 0; p < inner; ++p) to[p] += from[j * inner + p] * weights[j];
      }
    }
  });
}

template <class T>
using MakeFilter = int (*)(KernelContext&, const Axis&, bool, Filter<T>*);

template <class T>
int resize_separably(KernelContext& context, const Tensor& input, const Axis* axes, bool align_corners,
                     MakeFilter<T> make_filter, Tensor& out) {
  constexpr int kDtype = sizeof(T) == 8 ? PTERON_FLOAT64 : PTERON_FLOAT32;
  Filter<T> rows, cols;
  PTERON_PASS(make_filter(context, axes[0], align_corners, &rows));
  PTERON_PASS(make_filter(context, axes[1], align_corners, &cols));
  const ImageLayout layout = image_layout(out, input);
  const bool last = layout.layout == engine::ConvLayout::kNhwc;
  const int64_t inner = last ? input.size(1) : 1;
  const int64_t planes = last ? input.size(0) : input.size(0) * input.size(1);
  const auto* x = static_cast<const T*>(dense_input(context, input, kDtype, layout.order));
  const DenseOutput y(context, out, kDtype, layout.order);
  // Along the width first, then along the height.
  int64_t count = 0;
  const int64_t sizes[] = {planes, axes[0].in, axes[1].out, inner};
  PTERON_REQUIRE(context, checked_numel(sizes, 4, &count), "resizing from %lld by %lld to %lld by %lld is too large",
                 number(axes[0].in), number(axes[1].in), number(axes[0].out), number(axes[1].out));
  auto* between = static_cast<T*>(scratch_array(context, count, sizeof(T)));
  if (x == nullptr || y.data() == nullptr || between == nullptr) return PTERON_OUT_OF_MEMORY;
  filter_lines(x, between, planes * axes[0].in, axes[1], inner, cols);
  filter_lines<T>(between, y.as<T>(), planes, axes[0], axes[1].out * inner, rows);
  y.finish();
  return PTERON_OK;
}

int resize_image(KernelContext& context, const Tensor& input, const Axis* axes, bool align_corners, bool antialias,
                 Tensor& out) {
  PTERON_PASS(begin(context, input, axes, out));
  if (out.numel() == 0) return PTERON_OK;
  if (input.dtype() == PTERON_FLOAT64) {
    return resize_separably<double>(context, input, axes, align_corners,
                                    antialias ? &antialias_filter<double> : &linear_filter<double>, out);
  }
  return resize_separably<float>(context, input, axes, align_corners,
                                 antialias ? &antialias_filter<float> : &linear_filter<float>, out);
}

}  // namespace

int upsample_bilinear2d_out(KernelContext& context, const Tensor& input, std::optional<IntList> output_size,
                            bool align_corners, std::optional<DoubleList> scale_factors, Tensor& out) {
  Axis axes[2];
  PTERON_PASS(read_axes(context, input, output_size, scale_factors, axes));
  return resize_image(context, input, axes, align_corners, false, out);
}

int upsample_bilinear2d_aa_out(KernelContext& context, const Tensor& self, IntList output_size, bool align_corners,
                               std::optional<double> scales_h, std::optional<double> scales_w, Tensor& out) {
  Axis axes[2];
  PTERON_PASS(read_axes(context, self, output_size, std::nullopt, axes));
  axes[0].scale = scales_h;
  axes[1].scale = scales_w;
  PTERON_PASS(check_axis(context, "height", axes[0]));
  PTERON_PASS(check_axis(context, "width", axes[1]));
  return resize_image(context, self, axes, align_corners, true, out);
}

namespace {

template <class T>
void copy_nearest(const char* in, char* out, int64_t count, const int64_t* columns, int64_t inner) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + i * inner * int64_t{sizeof(T)}, in + columns[i] * inner * int64_t{sizeof(T)},
                static_cast<size_t>(inner) * sizeof(T));
  }
}

int64_t* nearest_positions(KernelContext& context, const Axis& axis) {
  auto* positions = static_cast<int64_t*>(scratch_array(context, axis.out, sizeof(int64_t)));
  if (positions == nullptr) return nullptr;
  const float step = input_step<float>(axis);
  const float last = static_cast<float>(axis.in - 1);
  for (int64_t i = 0; i < axis.out; ++i) {
    // As PyTorch does: exact where the image stays or doubles, whatever the scale says.
    if (axis.out == axis.in || axis.out == 2 * axis.in) {
      positions[i] = i / (axis.out / axis.in);
      continue;
    }
    positions[i] = clamp_index(static_cast<int64_t>(std::min(last, std::floor(static_cast<float>(i) * step))), axis.in);
  }
  return positions;
}

}  // namespace

int upsample_nearest2d_out(KernelContext& context, const Tensor& input, std::optional<IntList> output_size,
                           std::optional<DoubleList> scale_factors, Tensor& out) {
  Axis axes[2];
  PTERON_PASS(read_axes(context, input, output_size, scale_factors, axes));
  PTERON_PASS(begin(context, input, axes, out));
  if (out.numel() == 0) return PTERON_OK;
  const ImageLayout layout = image_layout(out, input);
  const bool last = layout.layout == engine::ConvLayout::kNhwc;
  const int64_t inner = last ? input.size(1) : 1;
  const int64_t planes = last ? input.size(0) : input.size(0) * input.size(1);
  const auto* x = static_cast<const char*>(dense_input(context, input, input.dtype(), layout.order));
  const DenseOutput y(context, out, out.dtype(), layout.order);
  const int64_t* rows = nearest_positions(context, axes[0]);
  const int64_t* cols = nearest_positions(context, axes[1]);
  if (x == nullptr || y.data() == nullptr || rows == nullptr || cols == nullptr) return PTERON_OUT_OF_MEMORY;
  const auto bytes = static_cast<int64_t>(input.element_size());
  const auto copy = bytes == 1   ? &copy_nearest<uint8_t>
                    : bytes == 2 ? &copy_nearest<uint16_t>
                    : bytes == 4 ? &copy_nearest<uint32_t>
                                 : &copy_nearest<uint64_t>;
  const int64_t row_bytes = inner * bytes;
  parallel_for(planes * axes[0].out, 1 + 8192 / (axes[1].out * inner), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t from = line / axes[0].out * axes[0].in + rows[line % axes[0].out];
      copy(x + from * axes[1].in * row_bytes, y.as<char>() + line * axes[1].out * row_bytes, axes[1].out, cols, inner);
    }
  });
  y.finish();
  return PTERON_OK;
}

namespace {

// ---- Sampling at given points --------------------------------------------------------------------------------------

enum class Interpolation : uint8_t { kBilinear, kNearest, kBicubic };
enum class Padding : uint8_t { kZeros, kBorder, kReflection };

struct Sampling {
  Interpolation interpolation;
  Padding padding;
  bool align_corners;
};

// From [-1, 1] to pixels.
template <class T>
T to_pixels(T coordinate, int64_t size, bool align_corners) {
  if (align_corners) return (coordinate + 1) / 2 * static_cast<T>(size - 1);
  return ((coordinate + 1) * static_cast<T>(size) - 1) / 2;
}

// Folds a position into [low / 2, high / 2].
template <class T>
T reflect(T position, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return 0;
  const T low = static_cast<T>(twice_low) / 2;
  const T span = static_cast<T>(twice_high - twice_low) / 2;
  const T distance = std::abs(position - low);
  const T rest = std::fmod(distance, span);
  const T flips = std::floor(distance / span);
  return std::fmod(flips, T{2}) == 0 ? rest + low : span - rest + low;
}

template <class T>
T pad_position(T position, int64_t size, const Sampling& sampling) {
  if (sampling.padding == Padding::kZeros) return position;
  if (sampling.padding == Padding::kReflection) {
    position = sampling.align_corners ? reflect(position, 0, 2 * (size - 1)) : reflect(position, -1, 2 * size - 1);
  }
  return position > 0 ? std::min(position, static_cast<T>(size - 1)) : T{0};  // NaN goes to 0
}

// A position as an integer; those far outside any image (NaN too) become one that is outside as well.
template <class T>
int64_t to_index(T position) {
  constexpr T kFar = T{1} * (int64_t{1} << 40);
  return position > -kFar && position < kFar ? static_cast<int64_t>(position) : -(int64_t{1} << 40);
}

template <class T>
struct Image {
  const T* data;
  int64_t height, width;
  int64_t step;  // between neighbouring pixels
  T pixel(int64_t y, int64_t x) const {
    return y >= 0 && y < height && x >= 0 && x < width ? data[(y * width + x) * step] : T{0};
  }
};

// Keys's kernel with a = -0.75: R. G. Keys, "Cubic convolution interpolation for digital image processing", 1981.
template <class T>
void cubic_weights(T fraction, T* weights) {
  constexpr T a = T{-0.75};
  const auto near = [](T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  weights[0] = far(fraction + 1);
  weights[1] = near(fraction);
  weights[2] = near(1 - fraction);
  weights[3] = far(2 - fraction);
}

// Where and with which weights one output pixel reads: a square of `taps` by `taps`.
template <class T>
struct Taps {
  int count = 0;
  int64_t x[4], y[4];
  T x_weights[4], y_weights[4];
};

template <class T>
Taps<T> taps_at(T x, T y, const Image<T>& image, const Sampling& sampling) {
  Taps<T> taps;
  x = to_pixels(x, image.width, sampling.align_corners);
  y = to_pixels(y, image.height, sampling.align_corners);
  if (sampling.interpolation == Interpolation::kBicubic) {
    const T x_floor = std::floor(x), y_floor = std::floor(y);
    taps.count = 4;
    cubic_weights(x - x_floor, taps.x_weights);
    cubic_weights(y - y_floor, taps.y_weights);
    for (int i = 0; i < 4; ++i) {
      taps.x[i] = to_index(pad_position(x_floor + static_cast<T>(i - 1), image.width, sampling));
      taps.y[i] = to_index(pad_position(y_floor + static_cast<T>(i - 1), image.height, sampling));
    }
    return taps;
  }
  x = pad_position(x, image.width, sampling);
  y = pad_position(y, image.height, sampling);
  if (sampling.interpolation == Interpolation::kNearest) {
    taps.count = 1;
    taps.x[0] = to_index(std::nearbyint(x));
    taps.y[0] = to_index(std::nearbyint(y));
    taps.x_weights[0] = taps.y_weights[0] = 1;
    return taps;
  }
  const T x_floor = std::floor(x), y_floor = std::floor(y);
  taps.count = 2;
  for (int i = 0; i < 2; ++i) {
    taps.x[i] = to_index(x_floor) + i;
    taps.y[i] = to_index(y_floor) + i;
  }
  taps.x_weights[1] = x - x_floor;
  taps.x_weights[0] = x_floor + 1 - x;
  taps.y_weights[1] = y - y_floor;
  taps.y_weights[0] = y_floor + 1 - y;
  return taps;
}

template <class T>
T sample(const Image<T>& image, const Taps<T>& taps) {
  T sum = 0;
  for (int i = 0; i < taps.count; ++i) {
    T row = 0;
    for (int j = 0; j < taps.count; ++j) row += image.pixel(taps.y[i], taps.x[j]) * taps.x_weights[j];
    sum += row * taps.y_weights[i];
  }
  return sum;
}

template <class T>
int sample_images(KernelContext& context, const Tensor& input, const Tensor& grid, const Sampling& sampling,
                  Tensor& out) {
  constexpr int kDtype = sizeof(T) == 8 ? PTERON_FLOAT64 : PTERON_FLOAT32;
  const ImageLayout layout = image_layout(out, input);
  const bool last = layout.layout == engine::ConvLayout::kNhwc;
  const auto* x = static_cast<const T*>(dense_input(context, input, kDtype, layout.order));
  const auto* points = static_cast<const T*>(dense_input(context, grid, kDtype));
  const DenseOutput y(context, out, kDtype, layout.order);
  if (x == nullptr || points == nullptr || y.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  const int64_t channels = input.size(1), in_pixels = input.size(2) * input.size(3);
  const int64_t pixels = grid.size(1) * grid.size(2);
  const int64_t in_step = last ? channels : 1;
  parallel_for(grid.size(0) * pixels, 1 + 512 / (channels + 1), [&](int64_t begin, int64_t end) {
    for (int64_t point = begin; point < end; ++point) {
      const int64_t n = point / pixels, p = point % pixels;
      Image<T> image{x + n * channels * in_pixels, input.size(2), input.size(3), in_step};
      const Taps<T> taps = taps_at(points[2 * point], points[2 * point + 1], image, sampling);
      T* to = y.as<T>() + n * channels * pixels + (last ? p * channels : p);
      for (int64_t c = 0; c < channels; ++c) {
        to[last ? c : c * pixels] = sample(image, taps);
        image.data += last ? 1 : in_pixels;
      }
    }
  });
  y.finish();
  return PTERON_OK;
}

}  // namespace

int grid_sampler_2d_out(KernelContext& context, const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                        int64_t padding_mode, bool align_corners, Tensor& out) {
  PTERON_REQUIRE(context, input.rank() == 4, "input has %d dimensions, expected 4", input.rank());
  PTERON_REQUIRE(context, grid.rank() == 4 && grid.size(3) == 2,
                 "grid has %d dimensions, expected 4, the last of size 2", grid.rank());
  PTERON_REQUIRE(context, grid.size(0) == input.size(0), "grid is for %lld images, but input has %lld",
                 number(grid.size(0)), number(input.size(0)));
  PTERON_REQUIRE(context,
                 input.size(2) >= 1 && input.size(3) >= 1 && input.size(2) <= kLimit && input.size(3) <= kLimit,
                 "images of %lld by %lld cannot be sampled", number(input.size(2)), number(input.size(3)));
  PTERON_REQUIRE(context, interpolation_mode >= 0 && interpolation_mode <= 2,
                 "interpolation_mode is %lld, expected 0 (bilinear), 1 (nearest) or 2 (bicubic)",
                 number(interpolation_mode));
  PTERON_REQUIRE(context, padding_mode >= 0 && padding_mode <= 2,
                 "padding_mode is %lld, expected 0 (zeros), 1 (border) or 2 (reflection)", number(padding_mode));
  PTERON_REQUIRE(context, grid.dtype() == input.dtype() && out.dtype() == input.dtype(),
                 "grid is of dtype %s and out of %s, but input of %s", pteron_dtype_name(grid.dtype()),
                 pteron_dtype_name(out.dtype()), pteron_dtype_name(input.dtype()));
  const int64_t sizes[] = {input.size(0), input.size(1), grid.size(1), grid.size(2)};
  PTERON_PASS(context.resize(out, IntList(sizes, 4)));
  if (out.numel() == 0) return PTERON_OK;
  const Sampling sampling{static_cast<Interpolation>(interpolation_mode), static_cast<Padding>(padding_mode),
                          align_corners};
  if (input.dtype() == PTERON_FLOAT64) return sample_images<double>(context, input, grid, sampling, out);
  return sample_images<float>(context, input, grid, sampling, out);
}

}  // namespace pteron::kernels
