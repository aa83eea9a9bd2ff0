// What the arguments of a convolution mean: checked, and as the engine takes them.
#pragma once

#include "engine/conv.h"
#include "kernels/kernel_types.h"

namespace pteron::kernels {

// The schema's arguments apart from the tensors.
struct ConvolutionSettings {
  IntList stride;
  IntList padding;
  IntList dilation;
  bool transposed;
  IntList output_padding;
  int64_t groups;
};

// Checks the arguments, describes the convolution to the engine and computes the sizes of the result [input's rank].
int describe_convolution(KernelContext& context, const Tensor& input, const Tensor& weight,
                         const std::optional<Tensor>& bias, const ConvolutionSettings& settings,
                         engine::ConvShape* shape, int64_t* out_sizes);

// The engine's scratch memory is at most a few times the padded image, or one value for each pair of a weight and an
// input pixel: with these bounds its size cannot overflow.
int check_convolution_amount(KernelContext& context, const engine::ConvShape& shape, const Tensor& weight);

engine::ConvStrides image_strides(const Tensor& tensor);

}  // namespace pteron::kernels
