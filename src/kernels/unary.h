// Functions of one operand.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// Floating functions: integers and bools are computed as float32.
int acos_out(KernelContext& context, const Tensor& self, Tensor& out);
int acosh_out(KernelContext& context, const Tensor& self, Tensor& out);
int asin_out(KernelContext& context, const Tensor& self, Tensor& out);
int asinh_out(KernelContext& context, const Tensor& self, Tensor& out);
int atan_out(KernelContext& context, const Tensor& self, Tensor& out);
int atanh_out(KernelContext& context, const Tensor& self, Tensor& out);
int cos_out(KernelContext& context, const Tensor& self, Tensor& out);
int cosh_out(KernelContext& context, const Tensor& self, Tensor& out);
int erf_out(KernelContext& context, const Tensor& self, Tensor& out);
int exp_out(KernelContext& context, const Tensor& self, Tensor& out);
int expm1_out(KernelContext& context, const Tensor& self, Tensor& out);
int log_out(KernelContext& context, const Tensor& self, Tensor& out);
int log10_out(KernelContext& context, const Tensor& self, Tensor& out);
int log1p_out(KernelContext& context, const Tensor& self, Tensor& out);
int log2_out(KernelContext& context, const Tensor& self, Tensor& out);
int reciprocal_out(KernelContext& context, const Tensor& self, Tensor& out);
int rsqrt_out(KernelContext& context, const Tensor& self, Tensor& out);
int sigmoid_out(KernelContext& context, const Tensor& self, Tensor& out);
int sin_out(KernelContext& context, const Tensor& self, Tensor& out);
int sinh_out(KernelContext& context, const Tensor& self, Tensor& out);
int sqrt_out(KernelContext& context, const Tensor& self, Tensor& out);
int tan_out(KernelContext& context, const Tensor& self, Tensor& out);
int tanh_out(KernelContext& context, const Tensor& self, Tensor& out);

// Functions that keep the dtype.
int abs_out(KernelContext& context, const Tensor& self, Tensor& out);
int neg_out(KernelContext& context, const Tensor& self, Tensor& out);
int sign_out(KernelContext& context, const Tensor& self, Tensor& out);
int relu_out(KernelContext& context, const Tensor& self, Tensor& out);
int bitwise_not_out(KernelContext& context, const Tensor& self, Tensor& out);
int conj_physical_out(KernelContext& context, const Tensor& self, Tensor& out);
int ceil_out(KernelContext& context, const Tensor& self, Tensor& out);
int floor_out(KernelContext& context, const Tensor& self, Tensor& out);
int round_out(KernelContext& context, const Tensor& self, Tensor& out);
int trunc_out(KernelContext& context, const Tensor& self, Tensor& out);

// log(x / (1 - x)), x first clamped to [eps, 1 - eps] when eps is given.
int logit_out(KernelContext& context, const Tensor& self, std::optional<double> eps, Tensor& out);

// Activations.
int gelu_out(KernelContext& context, const Tensor& self, std::string_view approximate, Tensor& out);
int elu_out(KernelContext& context, const Tensor& self, Scalar alpha, Scalar scale, Scalar input_scale, Tensor& out);
int hardtanh_out(KernelContext& context, const Tensor& self, Scalar min_val, Scalar max_val, Tensor& out);
int leaky_relu_out(KernelContext& context, const Tensor& self, Scalar negative_slope, Tensor& out);
// The first half along `dim` times the sigmoid of the second.
int glu_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out);

}  // namespace pteron::kernels
