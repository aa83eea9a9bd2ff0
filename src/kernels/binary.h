// Arithmetic on two operands, with PyTorch's promotion: the operands meet in their common dtype, the result is
// converted to the out tensor's. Integers wrap around; dividing one by zero is an error.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

int add_out(KernelContext& context, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out);
int add_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Scalar alpha, Tensor& out);
int sub_out(KernelContext& context, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out);
int sub_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Scalar alpha, Tensor& out);
int rsub_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Scalar alpha, Tensor& out);
int mul_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int mul_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int div_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int div_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int div_out_mode(KernelContext& context, const Tensor& self, const Tensor& other,
                 std::optional<std::string_view> rounding_mode, Tensor& out);
int div_scalar_mode_out(KernelContext& context, const Tensor& self, Scalar other,
                        std::optional<std::string_view> rounding_mode, Tensor& out);
int floor_divide_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int fmod_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int fmod_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int remainder_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int remainder_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int pow_tensor_tensor_out(KernelContext& context, const Tensor& self, const Tensor& exponent, Tensor& out);
int pow_tensor_scalar_out(KernelContext& context, const Tensor& self, Scalar exponent, Tensor& out);
int pow_scalar_out(KernelContext& context, Scalar self, const Tensor& exponent, Tensor& out);
int maximum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int minimum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int atan2_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);

int bitwise_and_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int bitwise_and_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int bitwise_or_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int bitwise_or_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int bitwise_xor_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int bitwise_xor_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int bitwise_left_shift_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int bitwise_left_shift_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);
int bitwise_right_shift_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
int bitwise_right_shift_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out);

}  // namespace pteron::kernels
