#include "kernels/convolution_shape.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "kernels/dense.h"

namespace pteron::kernels {
namespace {

using engine::ConvShape;
using engine::ConvStrides;

// Products of two numbers up to this one, and sums of a few such products, fit int64.
constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();

int read_list(KernelContext& context, const char* name, IntList list, int dims, int64_t lowest,
              std::array<int64_t, 3>* values) {
  PTERON_REQUIRE(context, list.size() == 1 || list.size() == static_cast<size_t>(dims),
                 "%s has %zu entries, expected 1 or %d", name, list.size(), dims);
  for (int dim = 0; dim < dims; ++dim) {
    const int64_t value = list.size() == 1 ? list[0] : list[static_cast<size_t>(dim)];
    PTERON_REQUIRE(context, value >= lowest && value <= kLimit, "%s is %lld, expected %lld to %lld", name,
                   number(value), number(lowest), number(kLimit));
    (*values)[static_cast<size_t>(dim + 3 - dims)] = value;
  }
  return PTERON_OK;
}

int check_channels(KernelContext& context, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                   const ConvolutionSettings& settings, ConvShape* shape) {
  const int64_t groups = settings.groups;
  PTERON_REQUIRE(context, groups >= 1 && groups <= kLimit, "groups is %lld, expected at least 1", number(groups));
  shape->groups = groups;
  shape->batch = input.size(0);
  shape->in_channels = input.size(1);
  PTERON_REQUIRE(context, weight.size(0) % groups == 0, "weight's first size %lld is not divisible by groups %lld",
                 number(weight.size(0)), number(groups));
  if (settings.transposed) {
    PTERON_REQUIRE(context, weight.size(1) <= kLimit, "weight has %lld output channels, at most %lld are possible",
                   number(weight.size(1)), number(kLimit));
    PTERON_REQUIRE(context, input.size(1) == weight.size(0), "input has %lld channels, but weight is for %lld",
                   number(input.size(1)), number(weight.size(0)));
    shape->out_channels = weight.size(1) * groups;
  } else {
    PTERON_REQUIRE(context, input.size(1) % groups == 0 && input.size(1) / groups == weight.size(1),
                   "input has %lld channels in %lld groups, but weight is for %lld channels a group",
                   number(input.size(1)), number(groups), number(weight.size(1)));
    shape->out_channels = weight.size(0);
  }
  if (bias.has_value()) {
    PTERON_REQUIRE(context, bias->rank() == 1 && bias->size(0) == shape->out_channels,
                   "bias has %lld elements in %d dimensions, expected [%lld]", number(bias->numel()), bias->rank(),
                   number(shape->out_channels));
  }
  return PTERON_OK;
}

}  // namespace

int describe_convolution(KernelContext& context, const Tensor& input, const Tensor& weight,
                         const std::optional<Tensor>& bias, const ConvolutionSettings& settings, ConvShape* shape,
                         int64_t* out_sizes) {
  const int rank = input.rank();
  PTERON_REQUIRE(context, rank >= 3 && rank <= 5, "input has %d dimensions, expected 3 to 5", rank);
  PTERON_REQUIRE(context, weight.rank() == rank, "weight has %d dimensions, but input has %d", weight.rank(), rank);
  PTERON_REQUIRE(context, weight.dtype() == input.dtype(), "weight is of dtype %s, but input of %s",
                 pteron_dtype_name(weight.dtype()), pteron_dtype_name(input.dtype()));
  PTERON_PASS(check_channels(context, input, weight, bias, settings, shape));

  const int dims = rank - 2;
  PTERON_PASS(read_list(context, "stride", settings.stride, dims, 1, &shape->stride));
  PTERON_PASS(read_list(context, "padding", settings.padding, dims, 0, &shape->padding));
  PTERON_PASS(read_list(context, "dilation", settings.dilation, dims, 1, &shape->dilation));
  if (settings.transposed) {
    PTERON_PASS(read_list(context, "output_padding", settings.output_padding, dims, 0, &shape->output_padding));
  }
  out_sizes[0] = shape->batch;
  out_sizes[1] = shape->out_channels;
  for (int dim = 2; dim < rank; ++dim) {
    const int place = dim + 3 - rank;
    const auto at = static_cast<size_t>(place);
    const int64_t in = input.size(dim), kernel = weight.size(dim);
    PTERON_REQUIRE(context, kernel >= 1 && kernel <= kLimit && in <= kLimit,
                   "dimension %d: a kernel of %lld on an input of %lld is not possible", dim, number(kernel),
                   number(in));
    shape->in[at] = in;
    shape->kernel[at] = kernel;
    if (settings.transposed) {
      PTERON_REQUIRE(context, shape->output_padding[at] < std::max(shape->stride[at], shape->dilation[at]),
                     "output_padding is %lld, expected less than the stride %lld or the dilation %lld",
                     number(shape->output_padding[at]), number(shape->stride[at]), number(shape->dilation[at]));
      out_sizes[dim] = engine::conv_transpose_out_size(*shape, place);
      PTERON_REQUIRE(context, out_sizes[dim] >= 0, "dimension %d: the output would have the size %lld", dim,
                     number(out_sizes[dim]));
    } else {
      out_sizes[dim] = engine::conv_out_size(*shape, place);
      PTERON_REQUIRE(context, out_sizes[dim] >= 1,
                     "dimension %d: the kernel of size %lld and dilation %lld is larger than the input of %lld and its "
                     "padding of %lld on both sides",
                     dim, number(kernel), number(shape->dilation[at]), number(in), number(shape->padding[at]));
    }
  }
  return PTERON_OK;
}

int check_convolution_amount(KernelContext& context, const ConvShape& shape, const Tensor& weight) {
  constexpr int64_t kMost = int64_t{1} << 48;
  int64_t padded = shape.in_channels, pairs = weight.numel();
  bool fits = true;
  for (size_t dim = 0; dim < 3; ++dim) {
    fits = fits && checked_multiply(padded, shape.in[dim] + 2 * shape.padding[dim], &padded) &&
           checked_multiply(pairs, std::max<int64_t>(shape.in[dim], 1), &pairs);
  }
  PTERON_REQUIRE(context, fits && padded <= kMost && pairs <= kMost,
                 "the convolution is too large: padding %lld by %lld by %lld around %lld channels of %lld by %lld by "
                 "%lld, and %lld weights",
                 number(shape.padding[0]), number(shape.padding[1]), number(shape.padding[2]),
                 number(shape.in_channels), number(shape.in[0]), number(shape.in[1]), number(shape.in[2]),
                 number(weight.numel()));
  return PTERON_OK;
}

ConvStrides image_strides(const Tensor& tensor) {
  ConvStrides strides{tensor.stride(0), tensor.stride(1), 0, 0, 0};
  for (int dim = 2; dim < tensor.rank(); ++dim)
    strides[static_cast<size_t>(dim + 5 - tensor.rank())] = tensor.stride(dim);
  return strides;
}

}  // namespace pteron::kernels
