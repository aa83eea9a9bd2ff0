// Convolution of any type, layout and number of dimensions through an explicit patch matrix.
#include <algorithm>
#include <type_traits>

#include "engine/conv.h"
#include "engine/copy.h"

namespace pteron::engine {
namespace {

size_t round_up_64(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

template <class T>
Accumulator<T> widen(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return to_float(value);
  } else {
    return value;
  }
}
template <class T>
T narrow(Accumulator<T> value) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(value);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(value);
  } else {
    return value;
  }
}

// Hands out consecutive 64-byte aligned pieces of scratch memory; with a null base it only counts.
class Carver {
 public:
  explicit Carver(void* base) : base_(static_cast<char*>(base)) {}
  template <class T>
  T* take(int64_t count) {
    char* at = base_ == nullptr ? nullptr : base_ + used_;
    used_ += round_up_64(static_cast<size_t>(std::max<int64_t>(count, 0)) * sizeof(T));
    return reinterpret_cast<T*>(at);
  }
  size_t used() const { return used_; }

 private:
  char* base_;
  size_t used_ = 0;
};

struct Position {
  int64_t d, h, w;
};
Position position_of(int64_t index, const std::array<int64_t, 3>& size) {
  return {index / (size[1] * size[2]), index / size[2] % size[1], index % size[2]};
}
int64_t volume(const std::array<int64_t, 3>& size) {
  return size[0] * size[1] * size[2];
}

// Output pixels at a time: bounds the patch matrix.
constexpr int64_t kChunk = 1024;

struct Sizes {
  int64_t channels, cols, taps, depth;
};
Sizes sizes_of(const ConvShape& s) {
  const int64_t taps = volume(s.kernel);
  return {s.in_channels / s.groups, s.out_channels / s.groups, taps, s.in_channels / s.groups * taps};
}

std::array<int64_t, 3> out_sizes(const ConvShape& s, bool transposed) {
  std::array<int64_t, 3> out{};
  for (int d = 0; d < 3; ++d) {
    out[static_cast<size_t>(d)] = transposed ? conv_transpose_out_size(s, d) : conv_out_size(s, d);
  }
  return out;
}

template <class T>
struct ForwardScratch {
  using Acc = Accumulator<T>;
  Acc* weights;
  Acc* bias;
  Acc* patches;
  Acc* result;
  void* gemm;
  size_t bytes;
};

template <class T>
Gemm<Accumulator<T>> forward_gemm(const ConvShape& s, int64_t pixels) {
  const Sizes sizes = sizes_of(s);
  Gemm<Accumulator<T>> g;
  g.m = sizes.cols;
  g.n = pixels;
  g.k = sizes.depth;
  g.a = {nullptr, sizes.depth, 1};
  g.b = {nullptr, pixels, 1};
  g.c_row_stride = pixels;
  return g;
}

template <class T>
ForwardScratch<T> forward_scratch(const ConvShape& s, void* base) {
  using Acc = Accumulator<T>;
  const Sizes sizes = sizes_of(s);
  const int64_t pixels = std::min(kChunk, std::max<int64_t>(1, volume(out_sizes(s, false))));
  Carver carver(base);
  ForwardScratch<T> f{};
  f.weights = carver.take<Acc>(std::is_same_v<T, Acc> ? 0 : s.out_channels * sizes.depth);
  f.bias = carver.take<Acc>(s.out_channels);
  f.patches = carver.take<Acc>(sizes.depth * pixels);
  f.result = carver.take<Acc>(sizes.cols * pixels);
  size_t gemm_bytes = gemm_scratch_bytes(forward_gemm<T>(s, pixels));
  // A last, shorter chunk may take another path through gemm() than whole ones.
  for (int64_t n : {int64_t{1}, volume(out_sizes(s, false)) % kChunk}) {
    if (n > 0 && n <= pixels) gemm_bytes = std::max(gemm_bytes, gemm_scratch_bytes(forward_gemm<T>(s, n)));
  }
  f.gemm = carver.take<char>(static_cast<int64_t>(gemm_bytes));
  f.bytes = carver.used();
  return f;
}

// Row k = (channel, tap) of the patches of output pixels [pixel0, pixel0 + pixels).
template <class T>
void write_patch_row(const ConvShape& s, const std::array<int64_t, 3>& out, const T* in, const ConvStrides& strides,
                     int64_t channel, int64_t tap, int64_t pixel0, int64_t pixels, Accumulator<T>* dst) {
  const Position t = position_of(tap, s.kernel);
  const T* from = in + channel * strides[1];
  for (int64_t p = 0; p < pixels; ++p) {
    const Position o = position_of(pixel0 + p, out);
    const int64_t d = o.d * s.stride[0] - s.padding[0] + t.d * s.dilation[0];
    const int64_t h = o.h * s.stride[1] - s.padding[1] + t.h * s.dilation[1];
    const int64_t w = o.w * s.stride[2] - s.padding[2] + t.w * s.dilation[2];
    const bool inside = d >= 0 && d < s.in[0] && h >= 0 && h < s.in[1] && w >= 0 && w < s.in[2];
    dst[p] = inside ? widen(from[d * strides[2] + h * strides[3] + w * strides[4]]) : Accumulator<T>{0};
  }
}

template <class T>
struct TransposeScratch {
  using Acc = Accumulator<T>;
  Acc* weights;
  Acc* image;
  Acc* columns;
  Acc* planes;
  void* gemm;
  size_t bytes;
};

// columns[(out channel, tap), input pixel] = sum over input channels of weights * image.
template <class T>
Gemm<Accumulator<T>> transpose_gemm(const ConvShape& s) {
  const Sizes sizes = sizes_of(s);
  Gemm<Accumulator<T>> g;
  g.m = sizes.cols * sizes.taps;
  g.n = volume(s.in);
  g.k = sizes.channels;
  g.a = {nullptr, 1, g.m};
  g.b = {nullptr, g.n, 1};
  g.c_row_stride = g.n;
  return g;
}

template <class T>
TransposeScratch<T> transpose_scratch(const ConvShape& s, void* base) {
  using Acc = Accumulator<T>;
  const Sizes sizes = sizes_of(s);
  Carver carver(base);
  TransposeScratch<T> f{};
  f.weights = carver.take<Acc>(std::is_same_v<T, Acc> ? 0 : s.in_channels * sizes.cols * sizes.taps);
  f.image = carver.take<Acc>(sizes.channels * volume(s.in));
  f.columns = carver.take<Acc>(sizes.cols * sizes.taps * volume(s.in));
  f.planes = carver.take<Acc>(sizes.cols * volume(out_sizes(s, true)));
  f.gemm = carver.take<char>(static_cast<int64_t>(gemm_scratch_bytes(transpose_gemm<T>(s))));
  f.bytes = carver.used();
  return f;
}

// The weights as Accumulator<T>: themselves, or converted into `copy`.
template <class T>
const Accumulator<T>* widen_weights(const T* weights, int64_t count, Accumulator<T>* copy) {
  if constexpr (std::is_same_v<T, Accumulator<T>>) {
    return weights;
  } else {
    for (int64_t i = 0; i < count; ++i) copy[i] = widen(weights[i]);
    return copy;
  }
}

// Integers wrap around in unsigned arithmetic.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

}  // namespace

template <class T>
size_t conv_generic_scratch_bytes(const ConvShape& shape) {
  return forward_scratch<T>(shape, nullptr).bytes;
}

template <class T>
void conv_generic(const ConvShape& s, const T* in, const ConvStrides& in_strides, const T* weights, const T* bias,
                  T* out, const ConvStrides& out_strides, void* scratch, const Parallel& parallel) {
  using Acc = Accumulator<T>;
  const std::array<int64_t, 3> size = out_sizes(s, false);
  const int64_t total = volume(size);
  if (s.batch * s.out_channels * total <= 0) return;
  const Sizes sizes = sizes_of(s);
  const ForwardScratch<T> f = forward_scratch<T>(s, scratch);
  const Acc* wide_weights = widen_weights(weights, s.out_channels * sizes.depth, f.weights);
  for (int64_t c = 0; c < s.out_channels && bias != nullptr; ++c) f.bias[c] = widen(bias[c]);
  for (int64_t batch = 0; batch < s.batch; ++batch) {
    for (int64_t group = 0; group < s.groups; ++group) {
      for (int64_t pixel0 = 0; pixel0 < total; pixel0 += kChunk) {
        const int64_t pixels = std::min(kChunk, total - pixel0);
        const T* from = in + batch * in_strides[0] + group * sizes.channels * in_strides[1];
        parallel_for(parallel, sizes.depth, 16, [&](int64_t begin, int64_t end) {
          for (int64_t k = begin; k < end; ++k) {
            write_patch_row(s, size, from, in_strides, k / sizes.taps, k % sizes.taps, pixel0, pixels,
                            f.patches + k * pixels);
          }
        });
        Gemm<Acc> g = forward_gemm<T>(s, pixels);
        g.a.data = wide_weights + group * sizes.cols * sizes.depth;
        g.b.data = f.patches;
        g.c = f.result;
        g.row_bias = bias != nullptr ? f.bias + group * sizes.cols : nullptr;
        gemm(g, f.gemm, parallel);
        parallel_for(parallel, sizes.cols, 4, [&](int64_t begin, int64_t end) {
          for (int64_t c = begin; c < end; ++c) {
            T* to = out + batch * out_strides[0] + (group * sizes.cols + c) * out_strides[1];
            for (int64_t p = 0; p < pixels; ++p) {
              const Position o = position_of(pixel0 + p, size);
              to[o.d * out_strides[2] + o.h * out_strides[3] + o.w * out_strides[4]] =
                  narrow<T>(f.result[c * pixels + p]);
            }
          }
        });
      }
    }
  }
}

template <class T>
size_t conv_transpose_scratch_bytes(const ConvShape& shape) {
  return transpose_scratch<T>(shape, nullptr).bytes;
}

template <class T>
void conv_transpose(const ConvShape& s, const T* in, const ConvStrides& in_strides, const T* weights, const T* bias,
                    T* out, const ConvStrides& out_strides, void* scratch, const Parallel& parallel) {
  using Acc = Accumulator<T>;
  const std::array<int64_t, 3> size = out_sizes(s, true);
  const int64_t total = volume(size);
  if (s.batch * s.out_channels * total <= 0) return;
  const Sizes sizes = sizes_of(s);
  const int64_t pixels = volume(s.in);
  const TransposeScratch<T> f = transpose_scratch<T>(s, scratch);
  const Acc* wide_weights = widen_weights(weights, s.in_channels * sizes.cols * sizes.taps, f.weights);
  for (int64_t batch = 0; batch < s.batch; ++batch) {
    for (int64_t group = 0; group < s.groups; ++group) {
      const T* from = in + batch * in_strides[0] + group * sizes.channels * in_strides[1];
      parallel_for(parallel, sizes.channels, 4, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          for (int64_t p = 0; p < pixels; ++p) {
            const Position i = position_of(p, s.in);
            f.image[c * pixels + p] =
                widen(from[c * in_strides[1] + i.d * in_strides[2] + i.h * in_strides[3] + i.w * in_strides[4]]);
          }
        }
      });
      Gemm<Acc> g = transpose_gemm<T>(s);
      g.a.data = wide_weights + group * sizes.channels * sizes.cols * sizes.taps;
      g.b.data = f.image;
      g.c = f.columns;
      gemm(g, f.gemm, parallel);
      // Every thread owns whole output channels, and adds taps and pixels in one order.
      parallel_for(parallel, sizes.cols, 1, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          const int64_t channel = group * sizes.cols + c;
          Acc* plane = f.planes + c * total;
          std::fill(plane, plane + total, bias != nullptr ? widen(bias[channel]) : Acc{0});
          for (int64_t tap = 0; tap < sizes.taps; ++tap) {
            const Position t = position_of(tap, s.kernel);
            const Acc* column = f.columns + (c * sizes.taps + tap) * pixels;
            for (int64_t p = 0; p < pixels; ++p) {
              const Position i = position_of(p, s.in);
              const int64_t d = i.d * s.stride[0] - s.padding[0] + t.d * s.dilation[0];
              const int64_t h = i.h * s.stride[1] - s.padding[1] + t.h * s.dilation[1];
              const int64_t w = i.w * s.stride[2] - s.padding[2] + t.w * s.dilation[2];
              if (d < 0 || d >= size[0] || h < 0 || h >= size[1] || w < 0 || w >= size[2]) continue;
              Acc& sum = plane[(d * size[1] + h) * size[2] + w];
              sum = wrapping_add(sum, column[p]);
            }
          }
          T* to = out + batch * out_strides[0] + channel * out_strides[1];
          for (int64_t p = 0; p < total; ++p) {
            const Position o = position_of(p, size);
            to[o.d * out_strides[2] + o.h * out_strides[3] + o.w * out_strides[4]] = narrow<T>(plane[p]);
          }
        }
      });
    }
  }
}

#define PTERON_INSTANTIATE(T)                                                                             \
  template size_t conv_generic_scratch_bytes<T>(const ConvShape&);                                        \
  template void conv_generic<T>(const ConvShape&, const T*, const ConvStrides&, const T*, const T*, T*,   \
                                const ConvStrides&, void*, const Parallel&);                              \
  template size_t conv_transpose_scratch_bytes<T>(const ConvShape&);                                      \
  template void conv_transpose<T>(const ConvShape&, const T*, const ConvStrides&, const T*, const T*, T*, \
                                  const ConvStrides&, void*, const Parallel&);
PTERON_INSTANTIATE(float)
PTERON_INSTANTIATE(double)
PTERON_INSTANTIATE(Half)
PTERON_INSTANTIATE(BFloat16)
PTERON_INSTANTIATE(int8_t)
PTERON_INSTANTIATE(uint8_t)
PTERON_INSTANTIATE(int16_t)
PTERON_INSTANTIATE(int32_t)
PTERON_INSTANTIATE(int64_t)
#undef PTERON_INSTANTIATE

}  // namespace pteron::engine
