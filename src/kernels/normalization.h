// Layer, group and batch normalisation. Computed in float32 (16-bit floats too) or double, with statistics over all
// elements of a slice; what is stored is rounded once.
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// Statistics over the last normalized_shape.size() dimensions. mean and rstd keep the other dimensions, those of the
// slice become 1.
int native_layer_norm_out(KernelContext& context, const Tensor& input, IntList normalized_shape,
                          std::optional<Tensor> weight, std::optional<Tensor> bias, double eps, Tensor& out,
                          Tensor& mean, Tensor& rstd);

// Statistics over each of `group` groups of the C channels of each of the N images of HxW pixels. mean, rstd: [N,
// group].
int native_group_norm_out(KernelContext& context, const Tensor& input, std::optional<Tensor> weight,
                          std::optional<Tensor> bias, int64_t batch, int64_t channels, int64_t pixels, int64_t group,
                          double eps, Tensor& out, Tensor& mean, Tensor& rstd);

// One scale and shift for each channel, from constant statistics.
struct ChannelScales {
  const float* scale = nullptr;
  const float* shift = nullptr;
};

// With given statistics; save_mean and save_invstd become empty.
int batch_norm_no_training_out(KernelContext& context, const Tensor& input, std::optional<Tensor> weight,
                               std::optional<Tensor> bias, const Tensor& running_mean, const Tensor& running_var,
                               double momentum, double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd);
int batch_norm_no_training_prepare(ChannelScales** state, KernelContext& context, const Tensor& input,
                                   std::optional<Tensor> weight, std::optional<Tensor> bias, const Tensor& running_mean,
                                   const Tensor& running_var, double momentum, double eps, Tensor& out,
                                   Tensor& save_mean, Tensor& save_invstd);

// With the batch's own statistics when training; the running ones then move towards them by `momentum`.
int batch_norm_legit_out(KernelContext& context, const Tensor& input, std::optional<Tensor> weight,
                         std::optional<Tensor> bias, Tensor& running_mean, Tensor& running_var, bool training,
                         double momentum, double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd);
int batch_norm_legit_no_stats_out(KernelContext& context, const Tensor& input, std::optional<Tensor> weight,
                                  std::optional<Tensor> bias, bool training, double momentum, double eps, Tensor& out,
                                  Tensor& save_mean, Tensor& save_invstd);

}  // namespace pteron::kernels
