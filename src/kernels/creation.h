// Operators that make tensors from numbers.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

int full_out(KernelContext& context, IntList size, Scalar fill_value, Tensor& out);
int full_like_out(KernelContext& context, const Tensor& self, Scalar fill_value, std::optional<int64_t> memory_format,
                  Tensor& out);
int ones_out(KernelContext& context, IntList size, Tensor& out);
int zeros_out(KernelContext& context, IntList size, Tensor& out);
// Contents are whatever the memory held.
int empty_out(KernelContext& context, IntList size, std::optional<int64_t> memory_format, Tensor& out);
int arange_out(KernelContext& context, Scalar end, Tensor& out);
int arange_start_out(KernelContext& context, Scalar start, Scalar end, Scalar step, Tensor& out);
// Each index i `repeats[i]` times, in order: [0, 2, 1] gives [1, 1, 2].
int repeat_interleave_out(KernelContext& context, const Tensor& repeats, std::optional<int64_t> output_size,
                          Tensor& out);
int scalar_tensor_out(KernelContext& context, Scalar value, Tensor& out);
// Uniform in [0, 1), normal with mean 0 and variance 1; from the method's generator.
int rand_out(KernelContext& context, IntList size, Tensor& out);
int randn_out(KernelContext& context, IntList size, Tensor& out);
// out = input * mask / (1 - p), mask true with probability 1 - p; all true when not training.
int native_dropout_out(KernelContext& context, const Tensor& input, double p, std::optional<bool> train, Tensor& out,
                       Tensor& mask);

}  // namespace pteron::kernels
