// Pooling of images [channels, height, width] or [batch, channels, height, width].
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// Lists hold height and width, or one number for both; an empty stride is the kernel size.
int avg_pool2d_out(KernelContext& context, const Tensor& self, IntList kernel_size, IntList stride, IntList padding,
                   bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out);

// The first largest element of each window, or its last NaN. indices: its position in the image, row by row.
int max_pool2d_with_indices_out(KernelContext& context, const Tensor& self, IntList kernel_size, IntList stride,
                                IntList padding, IntList dilation, bool ceil_mode, Tensor& out, Tensor& indices);

// Adds each element of grad_output to the place that `indices` names; the window's settings do not matter any more.
int max_pool2d_with_indices_backward_out(KernelContext& context, const Tensor& grad_output, const Tensor& self,
                                         IntList kernel_size, IntList stride, IntList padding, IntList dilation,
                                         bool ceil_mode, const Tensor& indices, Tensor& grad_input);

int adaptive_avg_pool2d_out(KernelContext& context, const Tensor& self, IntList output_size, Tensor& out);

}  // namespace pteron::kernels
