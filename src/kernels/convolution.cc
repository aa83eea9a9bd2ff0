#include "kernels/convolution.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "kernels/dense.h"
#include "kernels/dtypes.h"
#include "kernels/parallel.h"

namespace pteron::kernels {
namespace {

using engine::ConvLayout;
using engine::ConvPlan;
using engine::ConvShape;
using engine::ConvStrides;

// The schema's arguments apart from the tensors.
struct Settings {
  IntList stride;
  IntList padding;
  IntList dilation;
  bool transposed;
  IntList output_padding;
  int64_t groups;
};

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
                   const Settings& settings, ConvShape* shape) {
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

// Checks the arguments, describes the convolution to the engine and computes the sizes of the result.
int describe(KernelContext& context, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
             const Settings& settings, ConvShape* shape, int64_t* out_sizes) {
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

// The engine's scratch memory is at most a few times the padded image, or one value for each pair of a weight and an
// input pixel: with these bounds its size cannot overflow.
int check_amount(KernelContext& context, const ConvShape& shape, const Tensor& weight) {
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

// ---- float32, and 16-bit floats by way of it ---------------------------------------------------------------------

// Packs `weight` for `plan` into memory from `allocate(bytes)`; where the engine takes them as they are, this is the
// tensor's own memory or a dense float32 copy. Null when memory is short.
template <class Allocate>
const void* packed_weights(KernelContext& context, const ConvPlan& plan, const Tensor& weight, Allocate&& allocate) {
  const DimOrder order = row_major(weight.rank());
  const size_t bytes = engine::conv_packed_bytes(plan);
  const bool in_place = weight.dtype() == PTERON_FLOAT32 && is_dense(weight, order);
  if (bytes == 0) {
    if (in_place) return weight.data();
    void* copy = allocate(static_cast<size_t>(weight.numel()) * sizeof(float));
    if (copy != nullptr) copy_to_dense(weight, PTERON_FLOAT32, order, copy);
    return copy;
  }
  const void* dense = dense_input(context, weight, PTERON_FLOAT32, order);
  void* packed = allocate(bytes);
  if (dense == nullptr || packed == nullptr) return nullptr;
  engine::conv_pack_weights(plan, static_cast<const float*>(dense), packed);
  return packed;
}

int run_float(KernelContext& context, const ConvShape& shape, const Tensor& input, const Tensor& weight,
              const std::optional<Tensor>& bias, Tensor& out) {
  const auto* prepared = context.state<PreparedConvolution>();
  ImageLayout images = image_layout(out, input);
  if (prepared != nullptr && prepared->layout != images.layout) {
    // Where both layouts fit (sizes of 1), the one that the weights are packed for.
    const ImageLayout other = image_layout(prepared->layout, input.rank());
    if (is_dense(out, other.order) && is_dense(input, other.order)) images = other;
  }
  const ConvPlan plan = engine::conv_plan(shape, images.layout);
  const void* packed = nullptr;
  if (prepared != nullptr && prepared->layout == plan.layout && prepared->algorithm == plan.algorithm) {
    packed = prepared->packed;
  } else {
    packed = packed_weights(context, plan, weight, [&](size_t bytes) { return context.scratch(bytes); });
  }
  const auto* x = static_cast<const float*>(dense_input(context, input, PTERON_FLOAT32, images.order));
  const void* b = bias.has_value() ? dense_input(context, *bias, PTERON_FLOAT32) : nullptr;
  const DenseOutput y(context, out, PTERON_FLOAT32, images.order);
  const engine::Parallel pool = runtime_pool();
  void* scratch = scratch_array(context, static_cast<int64_t>(engine::conv_scratch_bytes(plan, pool)), 1);
  if (packed == nullptr || x == nullptr || (bias.has_value() && b == nullptr) || y.data() == nullptr ||
      scratch == nullptr) {
    return PTERON_OUT_OF_MEMORY;
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  engine::conv_run(plan, x, packed, static_cast<const float*>(b), -kInfinity, kInfinity, y.as<float>(), scratch, pool);
  y.finish();
  return PTERON_OK;
}

// ---- Any dtype and layout, forward and transposed ----------------------------------------------------------------

template <class T>
int run_generic(KernelContext& context, const ConvShape& shape, const Tensor& input, const Tensor& weight,
                const std::optional<Tensor>& bias, bool transposed, Tensor& out) {
  const auto* w = static_cast<const T*>(dense_input(context, weight, weight.dtype()));
  const auto* b = bias.has_value() ? static_cast<const T*>(dense_input(context, *bias, input.dtype())) : nullptr;
  const size_t bytes =
      transposed ? engine::conv_transpose_scratch_bytes<T>(shape) : engine::conv_generic_scratch_bytes<T>(shape);
  void* scratch = scratch_array(context, static_cast<int64_t>(bytes), 1);
  if (w == nullptr || (bias.has_value() && b == nullptr) || scratch == nullptr) return PTERON_OUT_OF_MEMORY;
  const auto run = transposed ? &engine::conv_transpose<T> : &engine::conv_generic<T>;
  run(shape, input.data<T>(), image_strides(input), w, b, out.data<T>(), image_strides(out), scratch, runtime_pool());
  return PTERON_OK;
}

int run_any(KernelContext& context, const ConvShape& shape, const Tensor& input, const Tensor& weight,
            const std::optional<Tensor>& bias, bool transposed, Tensor& out) {
  switch (input.dtype()) {
    case PTERON_FLOAT32:
      return run_generic<float>(context, shape, input, weight, bias, transposed, out);
    case PTERON_FLOAT64:
      return run_generic<double>(context, shape, input, weight, bias, transposed, out);
    case PTERON_FLOAT16:
      return run_generic<engine::Half>(context, shape, input, weight, bias, transposed, out);
    case PTERON_BFLOAT16:
      return run_generic<engine::BFloat16>(context, shape, input, weight, bias, transposed, out);
    case PTERON_UINT8:
      return run_generic<uint8_t>(context, shape, input, weight, bias, transposed, out);
    case PTERON_INT8:
      return run_generic<int8_t>(context, shape, input, weight, bias, transposed, out);
    case PTERON_INT16:
      return run_generic<int16_t>(context, shape, input, weight, bias, transposed, out);
    case PTERON_INT32:
      return run_generic<int32_t>(context, shape, input, weight, bias, transposed, out);
    case PTERON_INT64:
      return run_generic<int64_t>(context, shape, input, weight, bias, transposed, out);
    default:
      PTERON_REQUIRE(context, false, "input is of dtype %s, which cannot be convolved",
                     pteron_dtype_name(input.dtype()));
  }
}

bool goes_through_float(int dtype) {
  return dtype == PTERON_FLOAT32 || is_half(dtype);
}

}  // namespace

int convolution_out(KernelContext& context, const Tensor& input, const Tensor& weight, std::optional<Tensor> bias,
                    IntList stride, IntList padding, IntList dilation, bool transposed, IntList output_padding,
                    int64_t groups, Tensor& out) {
  ConvShape shape;
  int64_t sizes[5];
  const Settings settings{stride, padding, dilation, transposed, output_padding, groups};
  PTERON_PASS(describe(context, input, weight, bias, settings, &shape, sizes));
  PTERON_REQUIRE(context, out.dtype() == input.dtype(), "out is of dtype %s, but input of %s",
                 pteron_dtype_name(out.dtype()), pteron_dtype_name(input.dtype()));
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(input.rank()))));
  if (out.numel() == 0) return PTERON_OK;
  if (input.numel() == 0) {  // sums of nothing
    fill_view(view_of(out), Scalar(0));
    if (!bias.has_value()) return PTERON_OK;
    View target = view_of(out), channels = view_of(*bias);
    channels.rank = target.rank;
    for (int dim = 0; dim < target.rank; ++dim) {
      channels.sizes[dim] = target.sizes[dim];
      channels.strides[dim] = dim == 1 ? bias->stride(0) : 0;
    }
    copy_view(target, channels);
    return PTERON_OK;
  }
  PTERON_PASS(check_amount(context, shape, weight));
  if (goes_through_float(input.dtype()) && !transposed) {
    return run_float(context, shape, input, weight, bias, out);
  }
  return run_any(context, shape, input, weight, bias, transposed, out);
}

int convolution_prepare(PreparedConvolution** state, KernelContext& context, const Tensor& input, const Tensor& weight,
                        std::optional<Tensor> bias, IntList stride, IntList padding, IntList dilation, bool transposed,
                        IntList output_padding, int64_t groups, Tensor& out) {
  constexpr size_t kFirstSetting = 3, kSettings = 6;
  for (size_t i = 0; i < kSettings; ++i) {
    if (context.computed(kFirstSetting + i)) return PTERON_OK;
  }
  if (weight.data() == nullptr || transposed || !goes_through_float(weight.dtype())) return PTERON_OK;
  ConvShape shape;
  int64_t sizes[5];
  const Settings settings{stride, padding, dilation, transposed, output_padding, groups};
  // What is wrong with the arguments is said when the operator runs: upper-bound sizes may never come.
  if (describe(context, input, weight, bias, settings, &shape, sizes) != PTERON_OK) return PTERON_OK;
  if (out.rank() != input.rank() || check_amount(context, shape, weight) != PTERON_OK) return PTERON_OK;
  const ConvPlan plan = engine::conv_plan(shape, image_layout(out, input).layout);
  const void* packed = packed_weights(context, plan, weight, [&](size_t bytes) { return context.allocate(bytes); });
  PreparedConvolution* prepared = context.make<PreparedConvolution>();
  if (packed == nullptr || prepared == nullptr) return PTERON_OUT_OF_MEMORY;
  *prepared = {plan.layout, plan.algorithm, packed};
  *state = prepared;
  return PTERON_OK;
}

}  // namespace pteron::kernels
