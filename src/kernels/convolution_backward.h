// The gradients of a convolution.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// Gradients of input, weight and bias for the settings of aten::convolution; output_mask says which are wanted, the
// others are left alone.
int convolution_backward_out(KernelContext& context, const Tensor& grad_output, const Tensor& input,
                             const Tensor& weight, std::optional<IntList> bias_sizes, IntList stride, IntList padding,
                             IntList dilation, bool transposed, IntList output_padding, int64_t groups,
                             BoolList output_mask, Tensor& grad_input, Tensor& grad_weight, Tensor& grad_bias);

}  // namespace pteron::kernels
