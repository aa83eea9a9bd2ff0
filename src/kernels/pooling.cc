#include "kernels/pooling.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/pool.h"
#include "kernels/dense.h"
#include "kernels/parallel.h"

namespace pteron::kernels {
namespace {

using engine::ConvLayout;
using engine::PoolShape;
using Pair = std::array<int64_t, 2>;

constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();

int read_pair(KernelContext& context, const char* name, IntList list, int64_t lowest, Pair* values) {
  PTERON_REQUIRE(context, list.size() == 1 || list.size() == 2, "%s has %zu entries, expected 1 or 2", name,
                 list.size());
  for (size_t i = 0; i < 2; ++i) {
    const int64_t value = list[list.size() == 1 ? 0 : i];
    PTERON_REQUIRE(context, value >= lowest && value <= kLimit, "%s is %lld, expected %lld to %lld", name,
                   number(value), number(lowest), number(kLimit));
    (*values)[i] = value;
  }
  return PTERON_OK;
}

// [C, H, W] counts as a batch of one.
int read_image(KernelContext& context, const Tensor& image, PoolShape* shape) {
  const int rank = image.rank();
  PTERON_REQUIRE(context, rank == 3 || rank == 4, "the image has %d dimensions, expected 3 or 4", rank);
  shape->batch = rank == 4 ? image.size(0) : 1;
  shape->channels = image.size(rank - 3);
  shape->in = {image.size(rank - 2), image.size(rank - 1)};
  PTERON_REQUIRE(context, shape->in[0] <= kLimit && shape->in[1] <= kLimit,
                 "an image of %lld by %lld is too large for pooling", number(shape->in[0]), number(shape->in[1]));
  return PTERON_OK;
}

// Windows that fit; with ceil_mode also a last one that begins inside the image or its left padding.
int64_t count_windows(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, bool ceil_mode) {
  const int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  int64_t count = (room >= 0 ? room / stride : -((-room + stride - 1) / stride)) + 1;
  if (ceil_mode && (count - 1) * stride >= in + padding) --count;
  return count;
}

struct Windows {
  IntList kernel_size, stride, padding, dilation;
  bool ceil_mode;
};

int read_windows(KernelContext& context, const Windows& windows, PoolShape* shape) {
  PTERON_PASS(read_pair(context, "kernel_size", windows.kernel_size, 1, &shape->kernel));
  PTERON_PASS(
      read_pair(context, "stride", windows.stride.empty() ? windows.kernel_size : windows.stride, 1, &shape->stride));
  PTERON_PASS(read_pair(context, "padding", windows.padding, 0, &shape->padding));
  PTERON_PASS(read_pair(context, "dilation", windows.dilation, 1, &shape->dilation));
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = shape->dilation[i] * (shape->kernel[i] - 1) + 1;
    PTERON_REQUIRE(context, shape->padding[i] <= reach / 2,
                   "padding is %lld, at most half of the window's reach of %lld is possible", number(shape->padding[i]),
                   number(reach));
    shape->out[i] = count_windows(shape->in[i], shape->kernel[i], shape->stride[i], shape->padding[i],
                                  shape->dilation[i], windows.ceil_mode);
    PTERON_REQUIRE(context, shape->in[i] > 0 && shape->out[i] > 0,
                   "a window of %lld does not fit an image of %lld by %lld", number(reach), number(shape->in[0]),
                   number(shape->in[1]));
  }
  return PTERON_OK;
}

int resize_image(KernelContext& context, Tensor& out, const Tensor& like, const PoolShape& shape) {
  const int64_t sizes[] = {shape.batch, shape.channels, shape.out[0], shape.out[1]};
  const int64_t* first = like.rank() == 4 ? sizes : sizes + 1;
  return context.resize(out, IntList(first, static_cast<size_t>(like.rank())));
}

// The dimensions of [C, H, W] with channels innermost.
DimOrder image_order(ConvLayout layout, int rank) {
  DimOrder order = row_major(rank);
  if (layout == ConvLayout::kNhwc) {
    order.dims[rank - 3] = rank - 2;
    order.dims[rank - 2] = rank - 1;
    order.dims[rank - 1] = rank - 3;
  }
  return order;
}

ConvLayout choose_layout(const Tensor& out, const Tensor& in) {
  const DimOrder rows = image_order(ConvLayout::kNchw, out.rank()), last = image_order(ConvLayout::kNhwc, out.rank());
  if (is_dense(out, rows) && is_dense(in, rows)) return ConvLayout::kNchw;
  if (is_dense(out, last) && is_dense(in, last)) return ConvLayout::kNhwc;
  return is_dense(out, rows) || !is_dense(out, last) ? ConvLayout::kNchw : ConvLayout::kNhwc;
}

// ---- float64 and integers: plane by plane, row-major --------------------------------------------------------------

template <class Body>
void for_each_plane(const PoolShape& shape, Body&& body) {
  const int64_t work = shape.out[0] * shape.out[1] * shape.kernel[0] * shape.kernel[1];
  parallel_for(shape.batch * shape.channels, 1 + 8192 / (work + 1), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) body(plane);
  });
}

template <class T>
bool is_nan(T value) {
  return value != value;
}

// Begins at the first position inside the image.
int64_t first_inside(int64_t start, int64_t dilation) {
  return start >= 0 ? start : start + (-start + dilation - 1) / dilation * dilation;
}

template <class T>
void max_planes(const PoolShape& s, const T* in, T* out, int64_t* indices) {
  for_each_plane(s, [&](int64_t plane) {
    const T* image = in + plane * s.in[0] * s.in[1];
    int64_t at = plane * s.out[0] * s.out[1];
    for (int64_t oh = 0; oh < s.out[0]; ++oh) {
      for (int64_t ow = 0; ow < s.out[1]; ++ow, ++at) {
        const int64_t h0 = oh * s.stride[0] - s.padding[0], w0 = ow * s.stride[1] - s.padding[1];
        const int64_t h_end = std::min(h0 + (s.kernel[0] - 1) * s.dilation[0] + 1, s.in[0]);
        const int64_t w_end = std::min(w0 + (s.kernel[1] - 1) * s.dilation[1] + 1, s.in[1]);
        const int64_t h_begin = first_inside(h0, s.dilation[0]), w_begin = first_inside(w0, s.dilation[1]);
        T best = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                      : std::numeric_limits<T>::lowest();
        int64_t index = h_begin * s.in[1] + w_begin;
        for (int64_t h = h_begin; h < h_end; h += s.dilation[0]) {
          for (int64_t w = w_begin; w < w_end; w += s.dilation[1]) {
            const T value = image[h * s.in[1] + w];
            if (value > best || is_nan(value)) {
              best = value;
              index = h * s.in[1] + w;
            }
          }
        }
        out[at] = best;
        indices[at] = index;
      }
    }
  });
}

template <class T>
T window_sum(const T* image, int64_t width, Pair begin, Pair end) {
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  Sum sum = 0;
  for (int64_t h = begin[0]; h < end[0]; ++h) {
    for (int64_t w = begin[1]; w < end[1]; ++w) sum += static_cast<Sum>(image[h * width + w]);
  }
  return static_cast<T>(sum);
}

// Integers are divided towards zero.
template <class T>
T divide(T sum, int64_t divisor) {
  if constexpr (std::is_integral_v<T>) {
    return divisor == -1 ? static_cast<T>(-static_cast<uint64_t>(sum)) : sum / divisor;
  } else {
    return sum / static_cast<T>(divisor);
  }
}

template <class T>
void average_planes(const PoolShape& s, const T* in, T* out, bool count_include_pad, int64_t divisor) {
  for_each_plane(s, [&](int64_t plane) {
    const T* image = in + plane * s.in[0] * s.in[1];
    int64_t at = plane * s.out[0] * s.out[1];
    for (int64_t oh = 0; oh < s.out[0]; ++oh) {
      for (int64_t ow = 0; ow < s.out[1]; ++ow, ++at) {
        Pair begin{oh * s.stride[0] - s.padding[0], ow * s.stride[1] - s.padding[1]}, end{};
        int64_t padded = 1, inside = 1;
        for (size_t d = 0; d < 2; ++d) {
          end[d] = std::min(begin[d] + s.kernel[d], s.in[d] + s.padding[d]);
          padded *= end[d] - begin[d];
          begin[d] = std::max<int64_t>(begin[d], 0);
          end[d] = std::min(end[d], s.in[d]);
          inside *= std::max<int64_t>(end[d] - begin[d], 0);
        }
        const int64_t by = divisor != 0 ? divisor : count_include_pad ? padded : inside;
        out[at] = inside == 0 ? T{0} : divide(window_sum(image, s.in[1], begin, end), by);
      }
    }
  });
}

void adaptive_planes(const PoolShape& s, const double* in, double* out) {
  for_each_plane(s, [&](int64_t plane) {
    const double* image = in + plane * s.in[0] * s.in[1];
    double* result = out + plane * s.out[0] * s.out[1];
    for (int64_t oh = 0; oh < s.out[0]; ++oh) {
      for (int64_t ow = 0; ow < s.out[1]; ++ow) {
        const Pair begin{oh * s.in[0] / s.out[0], ow * s.in[1] / s.out[1]};
        const Pair end{((oh + 1) * s.in[0] + s.out[0] - 1) / s.out[0], ((ow + 1) * s.in[1] + s.out[1] - 1) / s.out[1]};
        const double count = static_cast<double>((end[0] - begin[0]) * (end[1] - begin[1]));
        result[oh * s.out[1] + ow] = window_sum(image, s.in[1], begin, end) / count;
      }
    }
  });
}

// An image operator's operands in the computing dtype: float32 in the layout that fits, others row-major.
struct Images {
  int dtype;
  ConvLayout layout;
  DimOrder order;
  const void* in;
};

Images images_of(KernelContext& context, const Tensor& self, const Tensor& out) {
  Images images{};
  images.dtype = computing_dtype(self.dtype());
  images.layout = images.dtype == PTERON_FLOAT32 ? choose_layout(out, self) : ConvLayout::kNchw;
  images.order = image_order(images.layout, self.rank());
  images.in = dense_input(context, self, images.dtype, images.order);
  return images;
}

int require_same_dtype(KernelContext& context, const Tensor& out, const Tensor& self) {
  PTERON_REQUIRE(context, out.dtype() == self.dtype(), "out is of dtype %s, but self of %s",
                 pteron_dtype_name(out.dtype()), pteron_dtype_name(self.dtype()));
  return PTERON_OK;
}

}  // namespace

int avg_pool2d_out(KernelContext& context, const Tensor& self, IntList kernel_size, IntList stride, IntList padding,
                   bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out) {
  constexpr int64_t kNoDilation[] = {1};
  PoolShape shape;
  PTERON_PASS(read_image(context, self, &shape));
  PTERON_PASS(read_windows(context, {kernel_size, stride, padding, IntList(kNoDilation, 1), ceil_mode}, &shape));
  PTERON_REQUIRE(context, divisor_override != 0, "divisor_override is 0");
  PTERON_PASS(require_same_dtype(context, out, self));
  PTERON_PASS(resize_image(context, out, self, shape));
  if (out.numel() == 0) return PTERON_OK;

  const Images images = images_of(context, self, out);
  const DenseOutput y(context, out, images.dtype, images.order);
  if (images.in == nullptr || y.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  const int64_t divisor = divisor_override.value_or(0);
  if (images.dtype == PTERON_FLOAT32) {
    engine::avg_pool2d(shape, images.layout, static_cast<const float*>(images.in), y.as<float>(), count_include_pad,
                       divisor, runtime_pool());
  } else if (images.dtype == PTERON_FLOAT64) {
    average_planes(shape, static_cast<const double*>(images.in), y.as<double>(), count_include_pad, divisor);
  } else {
    average_planes(shape, static_cast<const int64_t*>(images.in), y.as<int64_t>(), count_include_pad, divisor);
  }
  y.finish();
  return PTERON_OK;
}

int max_pool2d_with_indices_out(KernelContext& context, const Tensor& self, IntList kernel_size, IntList stride,
                                IntList padding, IntList dilation, bool ceil_mode, Tensor& out, Tensor& indices) {
  PoolShape shape;
  PTERON_PASS(read_image(context, self, &shape));
  PTERON_PASS(read_windows(context, {kernel_size, stride, padding, dilation, ceil_mode}, &shape));
  PTERON_PASS(require_same_dtype(context, out, self));
  PTERON_PASS(resize_image(context, out, self, shape));
  PTERON_PASS(resize_image(context, indices, self, shape));
  if (out.numel() == 0) return PTERON_OK;

  const Images images = images_of(context, self, out);
  const DenseOutput y(context, out, images.dtype, images.order);
  const DenseOutput places(context, indices, PTERON_INT64, images.order);
  if (images.in == nullptr || y.data() == nullptr || places.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  if (images.dtype == PTERON_FLOAT32) {
    engine::max_pool2d(shape, images.layout, static_cast<const float*>(images.in), y.as<float>(), places.as<int64_t>(),
                       runtime_pool());
  } else if (images.dtype == PTERON_FLOAT64) {
    max_planes(shape, static_cast<const double*>(images.in), y.as<double>(), places.as<int64_t>());
  } else {
    max_planes(shape, static_cast<const int64_t*>(images.in), y.as<int64_t>(), places.as<int64_t>());
  }
  y.finish();
  places.finish();
  return PTERON_OK;
}

namespace {

// False when an index lies outside the image.
template <class T>
bool scatter_gradients(int64_t planes, int64_t in_size, int64_t out_size, const T* grad, const int64_t* indices,
                       T* result) {
  std::atomic<bool> outside{false};
  parallel_for(planes, 1 + 8192 / (out_size + 1), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      T* to = result + plane * in_size;
      std::fill(to, to + in_size, T{0});
      for (int64_t i = 0; i < out_size; ++i) {
        const int64_t index = indices[plane * out_size + i];
        if (index < 0 || index >= in_size) {
          outside.store(true, std::memory_order_relaxed);
        } else {
          to[index] += grad[plane * out_size + i];
        }
      }
    }
  });
  return !outside.load();
}

}  // namespace

int max_pool2d_with_indices_backward_out(KernelContext& context, const Tensor& grad_output, const Tensor& self, IntList,
                                         IntList, IntList, IntList, bool, const Tensor& indices, Tensor& grad_input) {
  PoolShape shape, gradients, places;
  PTERON_PASS(read_image(context, self, &shape));
  PTERON_PASS(read_image(context, grad_output, &gradients));
  PTERON_PASS(read_image(context, indices, &places));
  PTERON_REQUIRE(
      context,
      grad_output.rank() == self.rank() && gradients.batch == shape.batch && gradients.channels == shape.channels,
      "grad_output is of %lld images of %lld channels, but self of %lld of %lld", number(gradients.batch),
      number(gradients.channels), number(shape.batch), number(shape.channels));
  PTERON_REQUIRE(context,
                 indices.rank() == grad_output.rank() && places.batch == gradients.batch &&
                     places.channels == gradients.channels && places.in == gradients.in,
                 "indices and grad_output differ in size");
  PTERON_PASS(require_same_dtype(context, grad_output, self));
  PTERON_PASS(require_same_dtype(context, grad_input, self));
  PTERON_PASS(context.resize(grad_input, self.sizes()));
  if (grad_input.numel() == 0) return PTERON_OK;

  const int dtype = computing_dtype(self.dtype());
  const void* grad = dense_input(context, grad_output, dtype);
  const auto* at = static_cast<const int64_t*>(dense_input(context, indices, PTERON_INT64));
  const DenseOutput y(context, grad_input, dtype);
  if (grad == nullptr || at == nullptr || y.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  const int64_t planes = shape.batch * shape.channels;
  const int64_t in_size = shape.in[0] * shape.in[1], out_size = gradients.in[0] * gradients.in[1];
  const bool inside =
      dtype == PTERON_FLOAT32
          ? scatter_gradients(planes, in_size, out_size, static_cast<const float*>(grad), at, y.as<float>())
          : scatter_gradients(planes, in_size, out_size, static_cast<const double*>(grad), at, y.as<double>());
  PTERON_REQUIRE(context, inside, "indices holds a position outside the image of %lld by %lld", number(shape.in[0]),
                 number(shape.in[1]));
  y.finish();
  return PTERON_OK;
}

int adaptive_avg_pool2d_out(KernelContext& context, const Tensor& self, IntList output_size, Tensor& out) {
  PoolShape shape;
  PTERON_PASS(read_image(context, self, &shape));
  PTERON_PASS(read_pair(context, "output_size", output_size, 0, &shape.out));
  PTERON_REQUIRE(context, shape.channels > 0 && shape.in[0] > 0 && shape.in[1] > 0,
                 "self has %lld channels of %lld by %lld, expected at least one of each", number(shape.channels),
                 number(shape.in[0]), number(shape.in[1]));
  PTERON_PASS(require_same_dtype(context, out, self));
  PTERON_PASS(resize_image(context, out, self, shape));
  if (out.numel() == 0) return PTERON_OK;

  const Images images = images_of(context, self, out);
  const DenseOutput y(context, out, images.dtype, images.order);
  if (images.in == nullptr || y.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  if (images.dtype == PTERON_FLOAT32) {
    engine::adaptive_avg_pool2d(shape, images.layout, static_cast<const float*>(images.in), y.as<float>(),
                                runtime_pool());
  } else {
    adaptive_planes(shape, static_cast<const double*>(images.in), y.as<double>());
  }
  y.finish();
  return PTERON_OK;
}

}  // namespace pteron::kernels
