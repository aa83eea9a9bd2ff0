// Convolution in one to three dimensions, forward and transposed, in any layout.
#pragma once

#include "engine/conv.h"
#include "kernels/kernel_types.h"

namespace pteron::kernels {

// Constant weights as the engine wants them.
struct PreparedConvolution {
  engine::ConvLayout layout = engine::ConvLayout::kNchw;
  engine::ConvAlgorithm algorithm = engine::ConvAlgorithm::kGeneric;
  const void* packed = nullptr;
};

// input [batch, channels, spatial...], weight [out channels, channels / groups, kernel...] (transposed: [channels, out
// channels / groups, kernel...]), bias [out channels]; lists have one entry for each spatial dimension, or one for all.
int convolution_out(KernelContext& context, const Tensor& input, const Tensor& weight, std::optional<Tensor> bias,
                    IntList stride, IntList padding, IntList dilation, bool transposed, IntList output_padding,
                    int64_t groups, Tensor& out);
int convolution_prepare(PreparedConvolution** state, KernelContext& context, const Tensor& input, const Tensor& weight,
                        std::optional<Tensor> bias, IntList stride, IntList padding, IntList dilation, bool transposed,
                        IntList output_padding, int64_t groups, Tensor& out);

}  // namespace pteron::kernels
