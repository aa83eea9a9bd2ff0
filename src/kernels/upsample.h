// Resizing and sampling of images [batch, channels, height, width].
#pragma once

#include "kernels/kernel_types.h"

namespace pteron::kernels {

// Either output_size or scale_factors is given.
int upsample_bilinear2d_out(KernelContext& context, const Tensor& input, std::optional<IntList> output_size,
                            bool align_corners, std::optional<DoubleList> scale_factors, Tensor& out);
int upsample_nearest2d_out(KernelContext& context, const Tensor& input, std::optional<IntList> output_size,
                           std::optional<DoubleList> scale_factors, Tensor& out);
// With antialiasing: where the image shrinks, the filter widens so that every input pixel counts.
int upsample_bilinear2d_aa_out(KernelContext& context, const Tensor& self, IntList output_size, bool align_corners,
                               std::optional<double> scales_h, std::optional<double> scales_w, Tensor& out);

// grid [batch, out height, out width, 2]: x and y from -1 to 1 for each output pixel. interpolation_mode: 0 bilinear,
// 1 nearest, 2 bicubic. padding_mode: 0 zeros, 1 border, 2 reflection.
int grid_sampler_2d_out(KernelContext& context, const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                        int64_t padding_mode, bool align_corners, Tensor& out);

}  // namespace pteron::kernels
