#include "kernels/normalization.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/norm.h"
#include "kernels/dense.h"
#include "kernels/parallel.h"

namespace pteron::kernels {
namespace {

// The sum and then the squared deviations of a few strided runs, in double.
struct Moments {
  double mean = 0;
  double variance = 0;  // without Bessel's correction
};

// `runs` runs of `count` consecutive elements, `run_step` apart.
template <class T>
Moments moments(const T* in, int64_t runs, int64_t run_step, int64_t count, int64_t step) {
  const double total = static_cast<double>(runs * count);
  double sum = 0;
  for (int64_t r = 0; r < runs; ++r) {
    for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(in[r * run_step + i * step]);
  }
  Moments result;
  result.mean = sum / total;
  double squares = 0;
  for (int64_t r = 0; r < runs; ++r) {
    for (int64_t i = 0; i < count; ++i) {
      const double deviation = static_cast<double>(in[r * run_step + i * step]) - result.mean;
      squares += deviation * deviation;
    }
  }
  result.variance = squares / total;
  return result;
}

// An optional operand as a dense array: `present` says whether null means absent or out of memory.
struct Parameter {
  const void* data = nullptr;
  bool failed = false;
};

Parameter parameter(KernelContext& context, const std::optional<Tensor>& tensor, int dtype) {
  if (!tensor.has_value()) return {};
  const void* data = dense_input(context, *tensor, dtype);
  return {data, data == nullptr};
}

int check_parameter(KernelContext& context, const std::optional<Tensor>& tensor, const char* name, IntList sizes) {
  if (!tensor.has_value()) return PTERON_OK;
  bool same = static_cast<size_t>(tensor->rank()) == sizes.size();
  for (size_t i = 0; same && i < sizes.size(); ++i) same = tensor->size(static_cast<int>(i)) == sizes[i];
  PTERON_REQUIRE(context, same,
                 "%s has %lld elements in %d dimensions, expected %zu dimensions, the first of size %lld", name,
                 number(tensor->numel()), tensor->rank(), sizes.size(), sizes.empty() ? 1 : number(sizes[0]));
  return PTERON_OK;
}

int working_dtype(int dtype) {
  return dtype == PTERON_FLOAT64 ? PTERON_FLOAT64 : PTERON_FLOAT32;
}

// Normalises rows of doubles; the float version is the engine's.
void normalize_rows(const double* in, const double* weight, const double* bias, double eps, double* out, double* mean,
                    double* rstd, int64_t rows, int64_t cols) {
  parallel_for(rows, 1 + 1024 / (cols + 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const double* x = in + row * cols;
      double* y = out + row * cols;
      const Moments m = moments(x, 1, 0, cols, 1);
      const double scale = 1 / std::sqrt(m.variance + eps);
      for (int64_t i = 0; i < cols; ++i) {
        y[i] = (x[i] - m.mean) * scale * (weight == nullptr ? 1 : weight[i]) + (bias == nullptr ? 0 : bias[i]);
      }
      mean[row] = m.mean;
      rstd[row] = scale;
    }
  });
}

void normalize_groups(const double* in, const double* weight, const double* bias, double eps, double* out, double* mean,
                      double* rstd, int64_t batch, int64_t channels, int64_t pixels, int64_t groups) {
  const int64_t group_channels = channels / groups;
  const int64_t size = group_channels * pixels;
  normalize_rows(in, nullptr, nullptr, eps, out, mean, rstd, batch * groups, size);
  if (weight == nullptr && bias == nullptr) return;
  parallel_for(batch * channels, 1 + 1024 / (pixels + 1), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const double w = weight == nullptr ? 1 : weight[plane % channels];
      const double b = bias == nullptr ? 0 : bias[plane % channels];
      for (int64_t i = 0; i < pixels; ++i) out[plane * pixels + i] = out[plane * pixels + i] * w + b;
    }
  });
}

void fill_with_nan(const DenseOutput& output, int dtype, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (dtype == PTERON_FLOAT64) {
      output.as<double>()[i] = std::numeric_limits<double>::quiet_NaN();
    } else {
      output.as<float>()[i] = std::numeric_limits<float>::quiet_NaN();
    }
  }
}

}  // namespace

int native_layer_norm_out(KernelContext& context, const Tensor& input, IntList normalized_shape,
                          std::optional<Tensor> weight, std::optional<Tensor> bias, double eps, Tensor& out,
                          Tensor& mean, Tensor& rstd) {
  const int rank = input.rank();
  const int inner = static_cast<int>(std::min<size_t>(normalized_shape.size(), kMaxRank + 1));
  PTERON_REQUIRE(context, inner >= 1 && inner <= rank, "normalized_shape has %zu sizes, expected 1 to %d",
                 normalized_shape.size(), rank);
  const int axis = rank - inner;
  int64_t rows = 1, cols = 1;
  int64_t statistics[kMaxRank];
  for (int dim = 0; dim < rank; ++dim) {
    statistics[dim] = dim < axis ? input.size(dim) : 1;
    (dim < axis ? rows : cols) *= input.size(dim);
    PTERON_REQUIRE(context, dim < axis || normalized_shape[static_cast<size_t>(dim - axis)] == input.size(dim),
                   "normalized_shape says %lld for dimension %d, but input has %lld there",
                   number(normalized_shape[static_cast<size_t>(dim - axis)]), dim, number(input.size(dim)));
  }
  PTERON_PASS(check_parameter(context, weight, "weight", normalized_shape));
  PTERON_PASS(check_parameter(context, bias, "bias", normalized_shape));
  PTERON_PASS(context.resize(out, input.sizes()));
  PTERON_PASS(context.resize(mean, IntList(statistics, static_cast<size_t>(rank))));
  PTERON_PASS(context.resize(rstd, IntList(statistics, static_cast<size_t>(rank))));

  const int dtype = working_dtype(input.dtype());
  const void* x = dense_input(context, input, dtype);
  const Parameter w = parameter(context, weight, dtype), b = parameter(context, bias, dtype);
  const DenseOutput y(context, out, dtype), m(context, mean, dtype), r(context, rstd, dtype);
  if (x == nullptr || w.failed || b.failed || y.data() == nullptr || m.data() == nullptr || r.data() == nullptr) {
    return PTERON_OUT_OF_MEMORY;
  }
  if (input.numel() == 0) {
    fill_with_nan(m, dtype, mean.numel());
    fill_with_nan(r, dtype, rstd.numel());
  } else if (dtype == PTERON_FLOAT64) {
    normalize_rows(static_cast<const double*>(x), static_cast<const double*>(w.data),
                   static_cast<const double*>(b.data), eps, y.as<double>(), m.as<double>(), r.as<double>(), rows, cols);
  } else {
    engine::layer_norm(static_cast<const float*>(x), static_cast<const float*>(w.data),
                       static_cast<const float*>(b.data), static_cast<float>(eps), y.as<float>(), m.as<float>(),
                       r.as<float>(), rows, cols, runtime_pool());
  }
  y.finish();
  m.finish();
  r.finish();
  return PTERON_OK;
}

int native_group_norm_out(KernelContext& context, const Tensor& input, std::optional<Tensor> weight,
                          std::optional<Tensor> bias, int64_t batch, int64_t channels, int64_t pixels, int64_t group,
                          double eps, Tensor& out, Tensor& mean, Tensor& rstd) {
  PTERON_REQUIRE(context, input.rank() >= 2, "input has %d dimensions, expected at least 2", input.rank());
  int64_t actual_pixels = 1;
  for (int dim = 2; dim < input.rank(); ++dim) actual_pixels *= input.size(dim);
  PTERON_REQUIRE(context, input.size(0) == batch && input.size(1) == channels && actual_pixels == pixels,
                 "input is [%lld, %lld] with %lld pixels, but N, C, HxW are %lld, %lld, %lld", number(input.size(0)),
                 number(input.size(1)), number(actual_pixels), number(batch), number(channels), number(pixels));
  PTERON_REQUIRE(context, group >= 1 && channels % group == 0, "%lld channels do not divide into %lld groups",
                 number(channels), number(group));
  const int64_t channel_size[] = {channels};
  PTERON_PASS(check_parameter(context, weight, "weight", IntList(channel_size, 1)));
  PTERON_PASS(check_parameter(context, bias, "bias", IntList(channel_size, 1)));
  const int64_t statistics[] = {batch, group};
  PTERON_PASS(context.resize(out, input.sizes()));
  PTERON_PASS(context.resize(mean, IntList(statistics, 2)));
  PTERON_PASS(context.resize(rstd, IntList(statistics, 2)));

  const int dtype = working_dtype(input.dtype());
  const void* x = dense_input(context, input, dtype);
  const Parameter w = parameter(context, weight, dtype), b = parameter(context, bias, dtype);
  const DenseOutput y(context, out, dtype), m(context, mean, dtype), r(context, rstd, dtype);
  if (x == nullptr || w.failed || b.failed || y.data() == nullptr || m.data() == nullptr || r.data() == nullptr) {
    return PTERON_OUT_OF_MEMORY;
  }
  if (input.numel() == 0) {
    fill_with_nan(m, dtype, mean.numel());
    fill_with_nan(r, dtype, rstd.numel());
  } else if (dtype == PTERON_FLOAT64) {
    normalize_groups(static_cast<const double*>(x), static_cast<const double*>(w.data),
                     static_cast<const double*>(b.data), eps, y.as<double>(), m.as<double>(), r.as<double>(), batch,
                     channels, pixels, group);
  } else {
    engine::group_norm(static_cast<const float*>(x), static_cast<const float*>(w.data),
                       static_cast<const float*>(b.data), static_cast<float>(eps), y.as<float>(), m.as<float>(),
                       r.as<float>(), batch, channels, pixels, group, runtime_pool());
  }
  y.finish();
  m.finish();
  r.finish();
  return PTERON_OK;
}

namespace {

// A batch of images as [outer, channels, inner] in memory.
struct Channels {
  DimOrder order;
  int64_t outer = 1, count = 1, inner = 1;
};

Channels channels_of(const Tensor& out, const Tensor& input) {
  Channels channels;
  const ImageLayout layout = image_layout(out, input);
  channels.order = layout.order;
  channels.count = input.size(1);
  int64_t pixels = 1;
  for (int dim = 2; dim < input.rank(); ++dim) pixels *= input.size(dim);
  const bool last = layout.layout == engine::ConvLayout::kNhwc;
  channels.outer = last ? input.size(0) * pixels : input.size(0);
  channels.inner = last ? 1 : pixels;
  return channels;
}

template <class T>
void affine(const T* in, const T* scale, const T* shift, T* out, const Channels& channels) {
  parallel_for(channels.outer * channels.count, 1 + 4096 / channels.inner, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T a = scale[i % channels.count], b = shift[i % channels.count];
      const T* x = in + i * channels.inner;
      T* y = out + i * channels.inner;
      for (int64_t p = 0; p < channels.inner; ++p) y[p] = x[p] * a + b;
    }
  });
}

// scale = weight * invstd, shift = bias - mean * scale.
template <class T>
void fold_statistics(const T* weight, const T* bias, const T* mean, const T* invstd, int64_t count, T* scale,
                     T* shift) {
  for (int64_t c = 0; c < count; ++c) {
    scale[c] = weight == nullptr ? invstd[c] : weight[c] * invstd[c];
    shift[c] = (bias == nullptr ? T{0} : bias[c]) - mean[c] * scale[c];
  }
}

template <class T>
void invert_deviations(const T* variance, double eps, int64_t count, T* invstd) {
  for (int64_t c = 0; c < count; ++c) invstd[c] = T{1} / std::sqrt(variance[c] + static_cast<T>(eps));
}

struct BatchNorm {
  const Tensor& input;
  const std::optional<Tensor>& weight;
  const std::optional<Tensor>& bias;
  double eps;
};

int check(KernelContext& context, const BatchNorm& norm, const std::optional<Tensor>& mean,
          const std::optional<Tensor>& variance) {
  PTERON_REQUIRE(context, norm.input.rank() >= 2, "input has %d dimensions, expected at least 2", norm.input.rank());
  const int64_t channels[] = {norm.input.size(1)};
  PTERON_PASS(check_parameter(context, norm.weight, "weight", IntList(channels, 1)));
  PTERON_PASS(check_parameter(context, norm.bias, "bias", IntList(channels, 1)));
  PTERON_PASS(check_parameter(context, mean, "running_mean", IntList(channels, 1)));
  return check_parameter(context, variance, "running_var", IntList(channels, 1));
}

void apply(const float* in, const float* scale, const float* shift, float* out, const Channels& channels) {
  engine::channel_affine(in, scale, shift, out, channels.outer, channels.count, channels.inner, runtime_pool());
}
void apply(const double* in, const double* scale, const double* shift, double* out, const Channels& channels) {
  affine(in, scale, shift, out, channels);
}

// Normalises with given mean and invstd (dense arrays of T).
template <class T>
int normalize_channels(KernelContext& context, const BatchNorm& norm, const Channels& channels, const T* x,
                       const T* mean, const T* invstd, Tensor& out) {
  constexpr int kDtype = sizeof(T) == 8 ? PTERON_FLOAT64 : PTERON_FLOAT32;
  const Parameter w = parameter(context, norm.weight, kDtype), b = parameter(context, norm.bias, kDtype);
  auto* scale = static_cast<T*>(scratch_array(context, channels.count, sizeof(T)));
  auto* shift = static_cast<T*>(scratch_array(context, channels.count, sizeof(T)));
  const DenseOutput y(context, out, kDtype, channels.order);
  if (w.failed || b.failed || scale == nullptr || shift == nullptr || y.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  fold_statistics(static_cast<const T*>(w.data), static_cast<const T*>(b.data), mean, invstd, channels.count, scale,
                  shift);
  apply(x, scale, shift, y.as<T>(), channels);
  y.finish();
  return PTERON_OK;
}

int make_empty(KernelContext& context, Tensor& tensor) {
  const int64_t none[] = {0};
  return context.resize(tensor, IntList(none, 1));
}

template <class T>
int run_with_statistics(KernelContext& context, const BatchNorm& norm, const Tensor& running_mean,
                        const Tensor& running_var, Tensor& out) {
  constexpr int kDtype = sizeof(T) == 8 ? PTERON_FLOAT64 : PTERON_FLOAT32;
  const Channels channels = channels_of(out, norm.input);
  const auto* x = static_cast<const T*>(dense_input(context, norm.input, kDtype, channels.order));
  const auto* mean = static_cast<const T*>(dense_input(context, running_mean, kDtype));
  const auto* variance = static_cast<const T*>(dense_input(context, running_var, kDtype));
  auto* invstd = static_cast<T*>(scratch_array(context, channels.count, sizeof(T)));
  if (x == nullptr || mean == nullptr || variance == nullptr || invstd == nullptr) return PTERON_OUT_OF_MEMORY;
  invert_deviations(variance, norm.eps, channels.count, invstd);
  return normalize_channels(context, norm, channels, x, mean, invstd, out);
}

int run_inference(KernelContext& context, const BatchNorm& norm, const Tensor& running_mean, const Tensor& running_var,
                  Tensor& out) {
  if (out.numel() == 0) return PTERON_OK;
  if (norm.input.dtype() == PTERON_FLOAT64) {
    return run_with_statistics<double>(context, norm, running_mean, running_var, out);
  }
  return run_with_statistics<float>(context, norm, running_mean, running_var, out);
}

// Moves running = (1 - momentum) * running + momentum * batch.
int move_running(KernelContext& context, Tensor& running, const double* batch, double momentum) {
  const DenseOutput values(context, running, PTERON_FLOAT64);
  if (values.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  copy_to_dense(running, PTERON_FLOAT64, row_major(1), values.data());
  for (int64_t c = 0; c < running.numel(); ++c) {
    values.as<double>()[c] = (1 - momentum) * values.as<double>()[c] + momentum * batch[c];
  }
  values.finish();
  return PTERON_OK;
}

int store_statistics(KernelContext& context, Tensor& tensor, const double* values) {
  const DenseOutput dense(context, tensor, PTERON_FLOAT64);
  if (dense.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  std::memcpy(dense.data(), values, static_cast<size_t>(tensor.numel()) * sizeof(double));
  dense.finish();
  return PTERON_OK;
}

template <class T>
int run_with_batch(KernelContext& context, const BatchNorm& norm, Tensor* running_mean, Tensor* running_var,
                   double momentum, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  constexpr int kDtype = sizeof(T) == 8 ? PTERON_FLOAT64 : PTERON_FLOAT32;
  const Channels channels = channels_of(out, norm.input);
  const int64_t count = channels.count;
  const int64_t elements = channels.outer * channels.inner;
  const auto* x = static_cast<const T*>(dense_input(context, norm.input, kDtype, channels.order));
  auto* mean = static_cast<double*>(scratch_array(context, count, sizeof(double)));
  auto* invstd = static_cast<double*>(scratch_array(context, count, sizeof(double)));
  auto* unbiased = static_cast<double*>(scratch_array(context, count, sizeof(double)));
  auto* mean_t = static_cast<T*>(scratch_array(context, count, sizeof(T)));
  auto* invstd_t = static_cast<T*>(scratch_array(context, count, sizeof(T)));
  if (x == nullptr || mean == nullptr || invstd == nullptr || unbiased == nullptr || mean_t == nullptr ||
      invstd_t == nullptr) {
    return PTERON_OUT_OF_MEMORY;
  }
  parallel_for(count, 1 + 4096 / (elements + 1), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const Moments m = moments(x + c * channels.inner, channels.outer, count * channels.inner, channels.inner, 1);
      mean[c] = m.mean;
      invstd[c] = 1 / std::sqrt(m.variance + norm.eps);
      unbiased[c] = m.variance * static_cast<double>(elements) / static_cast<double>(elements - 1);
      mean_t[c] = static_cast<T>(mean[c]);
      invstd_t[c] = static_cast<T>(invstd[c]);
    }
  });
  if (running_mean != nullptr) PTERON_PASS(move_running(context, *running_mean, mean, momentum));
  if (running_var != nullptr) PTERON_PASS(move_running(context, *running_var, unbiased, momentum));
  PTERON_PASS(store_statistics(context, save_mean, mean));
  PTERON_PASS(store_statistics(context, save_invstd, invstd));
  if (out.numel() == 0) return PTERON_OK;
  return normalize_channels(context, norm, channels, x, mean_t, invstd_t, out);
}

int run_training(KernelContext& context, const BatchNorm& norm, Tensor* running_mean, Tensor* running_var,
                 double momentum, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  const int64_t channels[] = {norm.input.size(1)};
  PTERON_PASS(context.resize(save_mean, IntList(channels, 1)));
  PTERON_PASS(context.resize(save_invstd, IntList(channels, 1)));
  const auto run = norm.input.dtype() == PTERON_FLOAT64 ? &run_with_batch<double> : &run_with_batch<float>;
  return run(context, norm, running_mean, running_var, momentum, out, save_mean, save_invstd);
}

}  // namespace

int batch_norm_no_training_out(KernelContext& context, const Tensor& input, std::optional<Tensor> weight,
                               std::optional<Tensor> bias, const Tensor& running_mean, const Tensor& running_var,
                               double, double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  const BatchNorm norm{input, weight, bias, eps};
  PTERON_PASS(check(context, norm, running_mean, running_var));
  PTERON_PASS(context.resize(out, input.sizes()));
  PTERON_PASS(make_empty(context, save_mean));
  PTERON_PASS(make_empty(context, save_invstd));
  const auto* scales = context.state<ChannelScales>();
  if (scales == nullptr) return run_inference(context, norm, running_mean, running_var, out);
  if (out.numel() == 0) return PTERON_OK;
  const Channels channels = channels_of(out, input);
  const auto* x = static_cast<const float*>(dense_input(context, input, PTERON_FLOAT32, channels.order));
  const DenseOutput y(context, out, PTERON_FLOAT32, channels.order);
  if (x == nullptr || y.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  apply(x, scales->scale, scales->shift, y.as<float>(), channels);
  y.finish();
  return PTERON_OK;
}

int batch_norm_no_training_prepare(ChannelScales** state, KernelContext& context, const Tensor& input,
                                   std::optional<Tensor> weight, std::optional<Tensor> bias, const Tensor& running_mean,
                                   const Tensor& running_var, double, double eps, Tensor&, Tensor&, Tensor&) {
  constexpr size_t kEps = 6;
  const auto constant = [](const Tensor& tensor) { return tensor.data() != nullptr; };
  if (context.computed(kEps) || input.dtype() == PTERON_FLOAT64 || !constant(running_mean) || !constant(running_var) ||
      (weight.has_value() && !constant(*weight)) || (bias.has_value() && !constant(*bias))) {
    return PTERON_OK;
  }
  if (check(context, {input, weight, bias, eps}, running_mean, running_var) != PTERON_OK) return PTERON_OK;
  const int64_t count = running_mean.numel();
  const auto* mean = static_cast<const float*>(dense_input(context, running_mean, PTERON_FLOAT32));
  const auto* variance = static_cast<const float*>(dense_input(context, running_var, PTERON_FLOAT32));
  const Parameter w = parameter(context, weight, PTERON_FLOAT32), b = parameter(context, bias, PTERON_FLOAT32);
  auto* invstd = static_cast<float*>(scratch_array(context, count, sizeof(float)));
  auto* scale = static_cast<float*>(context.allocate(static_cast<size_t>(count) * sizeof(float)));
  auto* shift = static_cast<float*>(context.allocate(static_cast<size_t>(count) * sizeof(float)));
  ChannelScales* made = context.make<ChannelScales>();
  if (mean == nullptr || variance == nullptr || w.failed || b.failed || invstd == nullptr || scale == nullptr ||
      shift == nullptr || made == nullptr) {
    return PTERON_OUT_OF_MEMORY;
  }
  invert_deviations(variance, eps, count, invstd);
  fold_statistics(static_cast<const float*>(w.data), static_cast<const float*>(b.data), mean, invstd, count, scale,
                  shift);
  *made = {scale, shift};
  *state = made;
  return PTERON_OK;
}

int batch_norm_legit_out(KernelContext& context, const Tensor& input, std::optional<Tensor> weight,
                         std::optional<Tensor> bias, Tensor& running_mean, Tensor& running_var, bool training,
                         double momentum, double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  const BatchNorm norm{input, weight, bias, eps};
  PTERON_PASS(check(context, norm, running_mean, running_var));
  PTERON_PASS(context.resize(out, input.sizes()));
  if (training) {
    return run_training(context, norm, &running_mean, &running_var, momentum, out, save_mean, save_invstd);
  }
  PTERON_PASS(make_empty(context, save_mean));
  PTERON_PASS(make_empty(context, save_invstd));
  return run_inference(context, norm, running_mean, running_var, out);
}

int batch_norm_legit_no_stats_out(KernelContext& context, const Tensor& input, std::optional<Tensor> weight,
                                  std::optional<Tensor> bias, bool training, double momentum, double eps, Tensor& out,
                                  Tensor& save_mean, Tensor& save_invstd) {
  PTERON_REQUIRE(context, training, "without running statistics only training is possible");
  const BatchNorm norm{input, weight, bias, eps};
  PTERON_PASS(check(context, norm, std::nullopt, std::nullopt));
  PTERON_PASS(context.resize(out, input.sizes()));
  return run_training(context, norm, nullptr, nullptr, momentum, out, save_mean, save_invstd);
}

}  // namespace pteron::kernels
