#include "kernels/convolution.h"

#include <limits>

#include "kernels/convolution_shape.h"
#include "kernels/dense.h"
#include "kernels/dtypes.h"
#include "kernels/parallel.h"

namespace pteron::kernels {
namespace {

using engine::ConvPlan;
using engine::ConvShape;

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
  const ConvolutionSettings settings{stride, padding, dilation, transposed, output_padding, groups};
  PTERON_PASS(describe_convolution(context, input, weight, bias, settings, &shape, sizes));
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
  PTERON_PASS(check_convolution_amount(context, shape, weight));
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
  const ConvolutionSettings settings{stride, padding, dilation, transposed, output_padding, groups};
  // What is wrong with the arguments is said when the operator runs: upper-bound sizes may never come.
  if (describe_convolution(context, input, weight, bias, settings, &shape, sizes) != PTERON_OK) return PTERON_OK;
  if (out.rank() != input.rank() || check_convolution_amount(context, shape, weight) != PTERON_OK) return PTERON_OK;
  const ConvPlan plan = engine::conv_plan(shape, image_layout(out, input).layout);
  const void* packed = packed_weights(context, plan, weight, [&](size_t bytes) { return context.allocate(bytes); });
  PreparedConvolution* prepared = context.make<PreparedConvolution>();
  if (packed == nullptr || prepared == nullptr) return PTERON_OUT_OF_MEMORY;
  *prepared = {plan.layout, plan.algorithm, packed};
  *state = prepared;
  return PTERON_OK;
}

}  // namespace pteron::kernels
