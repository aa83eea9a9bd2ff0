#include "kernels/convolution_backward.h"

#include <algorithm>
#include <array>

#include "kernels/convolution_shape.h"
#include "kernels/dense.h"
#include "kernels/parallel.h"

namespace pteron::kernels {
namespace {

using engine::ConvShape;
using engine::ConvStrides;
using Triple = std::array<int64_t, 3>;

int64_t volume(const Triple& sizes) {
  return sizes[0] * sizes[1] * sizes[2];
}

// A dense [batch, channels, depth, height, width].
ConvStrides dense_strides(int64_t channels, const Triple& sizes) {
  const int64_t plane = volume(sizes);
  return {channels * plane, plane, sizes[1] * sizes[2], sizes[2], 1};
}

// The dense images of a convolution's input channels.
template <class T>
View image_view(const ConvShape& shape, const Triple& sizes, T* data) {
  View view;
  view.data = reinterpret_cast<char*>(data);
  view.dtype = sizeof(T) == 8 ? PTERON_FLOAT64 : PTERON_FLOAT32;
  view.rank = 5;
  const int64_t all[] = {shape.batch, shape.in_channels, sizes[0], sizes[1], sizes[2]};
  std::copy(all, all + 5, view.sizes);
  set_contiguous_strides(view);
  return view;
}

// The gradient of a convolution is the transposed one, and the other way round, with the same weights.
template <class T>
int input_gradient(KernelContext& context, const ConvShape& forward, const Triple& out, bool transposed, const T* grad,
                   const T* weight, T* result) {
  ConvShape shape = forward;
  std::swap(shape.in_channels, shape.out_channels);
  shape.in = out;
  shape.output_padding = {0, 0, 0};
  const ConvStrides grad_strides = dense_strides(forward.out_channels, out);
  if (!transposed) {
    // Input pixels that no window reached to the right of the last one.
    for (size_t d = 0; d < 3; ++d) {
      shape.output_padding[d] = forward.in[d] - engine::conv_transpose_out_size(shape, static_cast<int>(d));
    }
  }
  // A transposed convolution's output padding may make room for another window: what it gives is left out.
  Triple reached = forward.in;
  if (transposed) {
    for (int d = 0; d < 3; ++d) reached[static_cast<size_t>(d)] = engine::conv_out_size(shape, d);
  }
  const size_t bytes =
      transposed ? engine::conv_generic_scratch_bytes<T>(shape) : engine::conv_transpose_scratch_bytes<T>(shape);
  void* scratch = scratch_array(context, static_cast<int64_t>(bytes), 1);
  T* target = result;
  if (reached != forward.in) {
    target = static_cast<T*>(scratch_array(context, forward.batch * forward.in_channels * volume(reached), sizeof(T)));
  }
  if (scratch == nullptr || target == nullptr) return PTERON_OUT_OF_MEMORY;
  const auto run = transposed ? &engine::conv_generic<T> : &engine::conv_transpose<T>;
  run(shape, grad, grad_strides, weight, nullptr, target, dense_strides(forward.in_channels, reached), scratch,
      runtime_pool());
  if (reached != forward.in) {
    View part = image_view(forward, reached, target), whole = image_view(forward, forward.in, result);
    std::copy(whole.sizes, whole.sizes + 5, part.sizes);
    copy_view(whole, part);
  }
  return PTERON_OK;
}

// One dimension of the positions `coarse` whose window at tap `tap` lies inside `fine` pixels.
struct Reach {
  int64_t begin, end;
};

Reach reach(const ConvShape& s, size_t d, int64_t tap, int64_t coarse, int64_t fine) {
  const int64_t shift = tap * s.dilation[d] - s.padding[d];  // fine = coarse * stride + shift
  const int64_t begin = shift >= 0 ? 0 : (-shift + s.stride[d] - 1) / s.stride[d];
  const int64_t room = fine - shift;
  const int64_t end = room <= 0 ? 0 : (room + s.stride[d] - 1) / s.stride[d];
  return {begin, std::min(end, coarse)};
}

// Sum over all images and positions p of coarse[p] * fine[p * stride - padding + tap * dilation] for one pair of
// channels; `coarse` and `fine` are those channels of the first image.
template <class T>
double tap_sum(const ConvShape& s, const T* coarse, int64_t coarse_batch, const Triple& coarse_size, const T* fine,
               int64_t fine_batch, const Triple& fine_size, const Triple& tap) {
  Reach at[3];
  for (size_t d = 0; d < 3; ++d) at[d] = reach(s, d, tap[d], coarse_size[d], fine_size[d]);
  double sum = 0;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t z = at[0].begin; z < at[0].end; ++z) {
      for (int64_t y = at[1].begin; y < at[1].end; ++y) {
        const int64_t fine_z = z * s.stride[0] - s.padding[0] + tap[0] * s.dilation[0];
        const int64_t fine_y = y * s.stride[1] - s.padding[1] + tap[1] * s.dilation[1];
        const T* left = coarse + n * coarse_batch + (z * coarse_size[1] + y) * coarse_size[2];
        const T* right = fine + n * fine_batch + (fine_z * fine_size[1] + fine_y) * fine_size[2] - s.padding[2] +
                         tap[2] * s.dilation[2];
        for (int64_t x = at[2].begin; x < at[2].end; ++x) {
          sum += static_cast<double>(left[x]) * static_cast<double>(right[x * s.stride[2]]);
        }
      }
    }
  }
  return sum;
}

// The weights are [coarse channels, fine channels / groups, kernel...]: for a convolution the output is the coarse side
// and the input the fine one, for a transposed convolution the other way round.
template <class T>
void weight_gradient(const ConvShape& s, const T* coarse, int64_t coarse_channels, const Triple& coarse_size,
                     const T* fine, int64_t fine_channels, const Triple& fine_size, T* result) {
  const int64_t taps = volume(s.kernel);
  const int64_t fine_in_group = fine_channels / s.groups, coarse_in_group = coarse_channels / s.groups;
  const int64_t coarse_plane = volume(coarse_size), fine_plane = volume(fine_size);
  parallel_for(coarse_channels * fine_in_group, 1, [&](int64_t begin, int64_t end) {
    for (int64_t pair = begin; pair < end; ++pair) {
      const int64_t c = pair / fine_in_group;
      const int64_t f = c / coarse_in_group * fine_in_group + pair % fine_in_group;
      for (int64_t tap = 0; tap < taps; ++tap) {
        const Triple place{tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
        result[pair * taps + tap] =
            static_cast<T>(tap_sum(s, coarse + c * coarse_plane, coarse_channels * coarse_plane, coarse_size,
                                   fine + f * fine_plane, fine_channels * fine_plane, fine_size, place));
      }
    }
  });
}

template <class T>
void bias_gradient(const ConvShape& s, const T* grad, int64_t pixels, T* result) {
  for (int64_t c = 0; c < s.out_channels; ++c) {
    double sum = 0;
    for (int64_t n = 0; n < s.batch; ++n) {
      const T* plane = grad + (n * s.out_channels + c) * pixels;
      for (int64_t p = 0; p < pixels; ++p) sum += static_cast<double>(plane[p]);
    }
    result[c] = static_cast<T>(sum);
  }
}

struct Gradients {
  const Tensor& output;
  const Tensor& input;
  const Tensor& weight;
  bool transposed;
  Tensor* to_input;   // null: not wanted
  Tensor* to_weight;  // null: not wanted
  Tensor* to_bias;    // null: not wanted
};

template <class T>
int run(KernelContext& context, const ConvShape& shape, const Triple& out, const Gradients& gradients) {
  constexpr int kDtype = sizeof(T) == 8 ? PTERON_FLOAT64 : PTERON_FLOAT32;
  const auto* grad = static_cast<const T*>(dense_input(context, gradients.output, kDtype));
  const auto* input = static_cast<const T*>(dense_input(context, gradients.input, kDtype));
  const auto* weight = static_cast<const T*>(dense_input(context, gradients.weight, kDtype));
  if (grad == nullptr || input == nullptr || weight == nullptr) return PTERON_OUT_OF_MEMORY;
  const bool nothing = gradients.output.numel() == 0;
  if (gradients.to_input != nullptr && gradients.to_input->numel() != 0) {
    const DenseOutput result(context, *gradients.to_input, kDtype);
    if (result.data() == nullptr) return PTERON_OUT_OF_MEMORY;
    if (nothing) {
      std::fill(result.as<T>(), result.as<T>() + gradients.to_input->numel(), T{0});
    } else {
      PTERON_PASS(input_gradient(context, shape, out, gradients.transposed, grad, weight, result.as<T>()));
    }
    result.finish();
  }
  if (gradients.to_weight != nullptr && gradients.to_weight->numel() != 0) {
    const DenseOutput result(context, *gradients.to_weight, kDtype);
    if (result.data() == nullptr) return PTERON_OUT_OF_MEMORY;
    if (gradients.transposed) {
      weight_gradient(shape, input, shape.in_channels, shape.in, grad, shape.out_channels, out, result.as<T>());
    } else {
      weight_gradient(shape, grad, shape.out_channels, out, input, shape.in_channels, shape.in, result.as<T>());
    }
    result.finish();
  }
  if (gradients.to_bias != nullptr) {
    const DenseOutput result(context, *gradients.to_bias, kDtype);
    if (result.data() == nullptr) return PTERON_OUT_OF_MEMORY;
    bias_gradient(shape, grad, volume(out), result.as<T>());
    result.finish();
  }
  return PTERON_OK;
}

int require_dtype(KernelContext& context, const Tensor& tensor, const char* name, const Tensor& input) {
  PTERON_REQUIRE(context, tensor.dtype() == input.dtype(), "%s is of dtype %s, but input of %s", name,
                 pteron_dtype_name(tensor.dtype()), pteron_dtype_name(input.dtype()));
  return PTERON_OK;
}

}  // namespace

int convolution_backward_out(KernelContext& context, const Tensor& grad_output, const Tensor& input,
                             const Tensor& weight, std::optional<IntList>, IntList stride, IntList padding,
                             IntList dilation, bool transposed, IntList output_padding, int64_t groups,
                             BoolList output_mask, Tensor& grad_input, Tensor& grad_weight, Tensor& grad_bias) {
  PTERON_REQUIRE(context, output_mask.size() == 3, "output_mask has %zu entries, expected 3", output_mask.size());
  ConvShape shape;
  int64_t sizes[5];
  const ConvolutionSettings settings{stride, padding, dilation, transposed, output_padding, groups};
  PTERON_PASS(describe_convolution(context, input, weight, std::nullopt, settings, &shape, sizes));
  PTERON_PASS(require_dtype(context, grad_output, "grad_output", input));
  PTERON_REQUIRE(context, grad_output.rank() == input.rank(), "grad_output has %d dimensions, but input has %d",
                 grad_output.rank(), input.rank());
  Triple out{1, 1, 1};
  for (int dim = 0; dim < input.rank(); ++dim) {
    PTERON_REQUIRE(context, grad_output.size(dim) == sizes[dim],
                   "grad_output has the size %lld in dimension %d, but the convolution's output %lld",
                   number(grad_output.size(dim)), dim, number(sizes[dim]));
    if (dim >= 2) out[static_cast<size_t>(dim + 3 - input.rank())] = sizes[dim];
  }
  PTERON_PASS(check_convolution_amount(context, shape, weight));
  // The gradient's own convolution runs over the output.
  ConvShape reversed = shape;
  reversed.in = out;
  reversed.in_channels = shape.out_channels;
  PTERON_PASS(check_convolution_amount(context, reversed, weight));

  Gradients gradients{grad_output, input, weight, transposed, nullptr, nullptr, nullptr};
  if (output_mask[0] != 0) {
    PTERON_PASS(require_dtype(context, grad_input, "grad_input", input));
    PTERON_PASS(context.resize(grad_input, input.sizes()));
    gradients.to_input = &grad_input;
  }
  if (output_mask[1] != 0) {
    PTERON_PASS(require_dtype(context, grad_weight, "grad_weight", input));
    PTERON_PASS(context.resize(grad_weight, weight.sizes()));
    gradients.to_weight = &grad_weight;
  }
  if (output_mask[2] != 0) {
    PTERON_PASS(require_dtype(context, grad_bias, "grad_bias", input));
    const int64_t channels[] = {shape.out_channels};
    PTERON_PASS(context.resize(grad_bias, IntList(channels, 1)));
    gradients.to_bias = &grad_bias;
  }
  if (input.dtype() == PTERON_FLOAT64) return run<double>(context, shape, out, gradients);
  return run<float>(context, shape, out, gradients);
}

}  // namespace pteron::kernels
