// Reductions over dimensions. Sums are kept in float lanes of fixed number within a chunk and in double across chunks
// (16-bit floats too; integers in int64), in an order that depends on the sizes alone.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// No dimensions given, or an empty list: all of them.
int sum_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim, bool keepdim,
            std::optional<int64_t> dtype, Tensor& out);
int mean_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim, bool keepdim,
             std::optional<int64_t> dtype, Tensor& out);
int mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out);
int prod_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out);
int prod_int_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, std::optional<int64_t> dtype,
                 Tensor& out);
int amax_out(KernelContext& context, const Tensor& self, IntList dim, bool keepdim, Tensor& out);
int amin_out(KernelContext& context, const Tensor& self, IntList dim, bool keepdim, Tensor& out);
int max_unary_out(KernelContext& context, const Tensor& self, Tensor& out);
int min_unary_out(KernelContext& context, const Tensor& self, Tensor& out);
int max_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices);
int min_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices);
int argmax_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out);
int argmin_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out);
int any_all_out(KernelContext& context, const Tensor& self, Tensor& out);
int any_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& out);
// An empty list reduces nothing here: each element becomes whether it is not zero.
int any_dims_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim, bool keepdim, Tensor& out);

// The sum of squared distances from the mean, divided by max(0, count - correction).
int var_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim, bool unbiased, bool keepdim,
            Tensor& out);
int var_correction_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim,
                       std::optional<Scalar> correction, bool keepdim, Tensor& out);
int var_mean_correction_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim,
                            std::optional<Scalar> correction, bool keepdim, Tensor& variance, Tensor& mean);

int cumsum_out(KernelContext& context, const Tensor& self, int64_t dim, std::optional<int64_t> dtype, Tensor& out);

}  // namespace pteron::kernels
