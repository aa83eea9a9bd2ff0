// Matrix products. 16-bit floats are summed in float and rounded once; integers wrap around. A constant second matrix
// is packed when the plan is made.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// A constant matrix in the engine's packed form.
struct PackedMatrix {
  const void* values = nullptr;
  int64_t k = 0;
  int64_t n = 0;
};

int mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out);
int mm_prepare(PackedMatrix** state, KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out);

// out = beta * self + alpha * mat1 @ mat2
int addmm_out(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
              Scalar alpha, Tensor& out);
int addmm_prepare(PackedMatrix** state, KernelContext& context, const Tensor& self, const Tensor& mat1,
                  const Tensor& mat2, Scalar beta, Scalar alpha, Tensor& out);

int bmm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out);

// out = input @ weight.T + bias
int linear_out(KernelContext& context, const Tensor& input, const Tensor& weight, std::optional<Tensor> bias,
               Tensor& out);
int linear_prepare(PackedMatrix** state, KernelContext& context, const Tensor& input, const Tensor& weight,
                   std::optional<Tensor> bias, Tensor& out);

}  // namespace pteron::kernels
