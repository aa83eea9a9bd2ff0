#include "engine/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/copy.h"
#include "engine/isa_parameterized.h"
#include "engine/test_random.h"

namespace pteron::engine {
namespace {

int64_t volume(const std::array<int64_t, 3>& s) {
  return s[0] * s[1] * s[2];
}

std::string describe(const ConvShape& s) {
  const auto list = [](const std::array<int64_t, 3>& v) {
    return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
  };
  return "batch " + std::to_string(s.batch) + " ic " + std::to_string(s.in_channels) + " oc " +
         std::to_string(s.out_channels) + " groups " + std::to_string(s.groups) + " in " + list(s.in) + " kernel " +
         list(s.kernel) + " stride " + list(s.stride) + " padding " + list(s.padding) + " dilation " +
         list(s.dilation) + " output padding " + list(s.output_padding) + " isa " + isa_name(active_isa());
}

std::array<int64_t, 3> out_size(const ConvShape& s, bool transposed) {
  return transposed
             ? std::array{conv_transpose_out_size(s, 0), conv_transpose_out_size(s, 1), conv_transpose_out_size(s, 2)}
             : std::array{conv_out_size(s, 0), conv_out_size(s, 1), conv_out_size(s, 2)};
}

ConvStrides strides_of(const std::array<int64_t, 3>& size, int64_t channels, ConvLayout layout) {
  if (layout == ConvLayout::kNchw) return {channels * volume(size), volume(size), size[1] * size[2], size[2], 1};
  return {channels * volume(size), 1, size[1] * size[2] * channels, size[2] * channels, channels};
}

// The definition: every tap adds weight * input to the output pixel it touches. Works for both directions.
std::vector<double> reference(const ConvShape& s, bool transposed, const std::vector<double>& in, const ConvStrides& is,
                              const std::vector<double>& weights, const std::vector<double>& bias,
                              const ConvStrides& os) {
  const std::array<int64_t, 3> out = out_size(s, transposed);
  std::vector<double> result(static_cast<size_t>(s.batch * s.out_channels * volume(out)));
  const int64_t icg = s.in_channels / s.groups, ocg = s.out_channels / s.groups;
  // `small` is the side with the larger index range walked by stride: the output (forward) or the input (transposed).
  const std::array<int64_t, 3>& walked = transposed ? s.in : out;
  const std::array<int64_t, 3>& touched = transposed ? out : s.in;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t oc = 0; oc < s.out_channels; ++oc) {
      for (int64_t d = 0; d < out[0]; ++d)
        for (int64_t h = 0; h < out[1]; ++h)
          for (int64_t w = 0; w < out[2]; ++w) {
            result[static_cast<size_t>(n * os[0] + oc * os[1] + d * os[2] + h * os[3] + w * os[4])] =
                bias.empty() ? 0 : bias[static_cast<size_t>(oc)];
          }
      const int64_t group = oc / ocg;
      for (int64_t c = 0; c < icg; ++c) {
        const int64_t ic = group * icg + c;
        for (int64_t t = 0; t < volume(s.kernel); ++t) {
          const int64_t kd = t / (s.kernel[1] * s.kernel[2]), kh = t / s.kernel[2] % s.kernel[1], kw = t % s.kernel[2];
          const size_t wi = static_cast<size_t>(transposed ? (ic * ocg + oc % ocg) * volume(s.kernel) + t
                                                           : (oc * icg + c) * volume(s.kernel) + t);
          for (int64_t d = 0; d < walked[0]; ++d)
            for (int64_t h = 0; h < walked[1]; ++h)
              for (int64_t w = 0; w < walked[2]; ++w) {
                const int64_t td = d * s.stride[0] - s.padding[0] + kd * s.dilation[0];
                const int64_t th = h * s.stride[1] - s.padding[1] + kh * s.dilation[1];
                const int64_t tw = w * s.stride[2] - s.padding[2] + kw * s.dilation[2];
                if (td < 0 || td >= touched[0] || th < 0 || th >= touched[1] || tw < 0 || tw >= touched[2]) continue;
                const auto at = [](const ConvStrides& st, int64_t b, int64_t ch, int64_t x, int64_t y, int64_t z) {
                  return static_cast<size_t>(b * st[0] + ch * st[1] + x * st[2] + y * st[3] + z * st[4]);
                };
                const size_t from = transposed ? at(is, n, ic, d, h, w) : at(is, n, ic, td, th, tw);
                const size_t to = transposed ? at(os, n, oc, td, th, tw) : at(os, n, oc, d, h, w);
                result[to] += in[from] * weights[wi];
              }
        }
      }
    }
  }
  return result;
}

class ConvTest : public IsaParameterized {};

std::vector<double> as_double(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

void check(const ConvShape& s, ConvLayout layout, uint64_t seed, const Parallel& parallel,
           std::vector<float>* result = nullptr, bool clamp = false) {
  TestRandom random(seed);
  const std::array<int64_t, 3> out = out_size(s, false);
  const std::vector<float> in = random_floats(random, s.batch * s.in_channels * volume(s.in));
  const std::vector<float> weights =
      random_floats(random, s.out_channels * (s.in_channels / s.groups) * volume(s.kernel));
  const std::vector<float> bias = random_floats(random, s.out_channels);
  const bool with_bias = random.below(2) != 0;
  // Exactly as large as needed, so that a sanitizer sees what is read or written beyond.
  std::vector<float> got(static_cast<size_t>(s.batch * s.out_channels * volume(out)), 99.0f);
  const ConvPlan plan = conv_plan(s, layout);
  ASSERT_EQ(plan.out, out);
  AlignedBuffer packed(conv_packed_bytes(plan));
  conv_pack_weights(plan, weights.data(), packed.get());
  AlignedBuffer scratch(conv_scratch_bytes(plan, parallel));
  const float inf = std::numeric_limits<float>::infinity();
  conv_run(plan, in.data(), conv_packed_bytes(plan) == 0 ? weights.data() : packed.get(),
           with_bias ? bias.data() : nullptr, clamp ? -0.25f : -inf, clamp ? 0.5f : inf, got.data(), scratch.get(),
           parallel);
  EXPECT_TRUE(packed.intact());
  EXPECT_TRUE(scratch.intact());
  std::vector<double> want =
      reference(s, false, as_double(in), strides_of(s.in, s.in_channels, layout), as_double(weights),
                with_bias ? as_double(bias) : std::vector<double>{}, strides_of(out, s.out_channels, layout));
  const double depth = static_cast<double>(s.in_channels / s.groups * volume(s.kernel));
  for (size_t i = 0; i < got.size(); ++i) {
    const double expected = clamp ? std::fmin(std::fmax(want[i], -0.25), 0.5) : want[i];
    ASSERT_NEAR(got[i], expected, 2e-6 * (1 + std::sqrt(depth)))
        << "element " << i << " of " << got.size() << ", " << describe(s) << " layout " << static_cast<int>(layout)
        << " algorithm " << static_cast<int>(plan.algorithm) << " seed " << seed;
  }
  if (result != nullptr) *result = got;
}

ConvShape random_shape(TestRandom& random, bool flat) {
  ConvShape s;
  s.batch = random.between(1, 2);
  const int64_t kind = random.below(4);
  if (kind == 0) {  // depthwise
    s.groups = random.between(2, 40);
    s.in_channels = s.groups;
    s.out_channels = s.groups * random.between(1, 2);
  } else if (kind == 1) {
    s.groups = random.between(2, 4);
    s.in_channels = s.groups * random.between(1, 5);
    s.out_channels = s.groups * random.between(1, 20);
  } else {
    s.in_channels = random.between(1, 40);
    s.out_channels = random.between(1, 70);
  }
  for (size_t d = flat ? 1 : 0; d < 3; ++d) {
    s.kernel[d] = random.between(1, 5);
    s.stride[d] = random.between(1, 3);
    s.dilation[d] = random.between(1, 2);
    s.padding[d] = random.between(0, 3);
    s.in[d] = random.between(flat ? 1 : 2, flat ? 23 : 6);
    s.output_padding[d] = random.below(std::max(s.stride[d], s.dilation[d]));
  }
  return s;
}

TEST_P(ConvTest, TwoDimensionalMatchesTheDefinition) {
  for (uint64_t seed = 1; seed <= 250 && !HasFailure(); ++seed) {
    TestRandom random(seed);
    const ConvShape s = random_shape(random, true);
    check(s, seed % 2 != 0 ? ConvLayout::kNchw : ConvLayout::kNhwc, seed, Parallel{}, nullptr, seed % 3 == 0);
  }
}

TEST_P(ConvTest, ThreeDimensionalMatchesTheDefinition) {
  for (uint64_t seed = 1; seed <= 20 && !HasFailure(); ++seed) {
    TestRandom random(seed);
    check(random_shape(random, false), seed % 2 != 0 ? ConvLayout::kNchw : ConvLayout::kNhwc, seed, Parallel{});
  }
}

ConvShape square(int64_t ic, int64_t oc, int64_t size, int64_t kernel, int64_t stride, int64_t padding,
                 int64_t groups = 1) {
  ConvShape s;
  s.in_channels = ic;
  s.out_channels = oc;
  s.groups = groups;
  s.in = {1, size, size};
  s.kernel = {1, kernel, kernel};
  s.stride = {1, stride, stride};
  s.padding = {0, padding, padding};
  return s;
}

TEST_P(ConvTest, ShapesOfRealNetworks) {
  for (ConvLayout layout : {ConvLayout::kNchw, ConvLayout::kNhwc}) {
    check(square(3, 64, 40, 7, 2, 3), layout, 1, Parallel{});
    check(square(64, 64, 28, 3, 1, 1), layout, 2, Parallel{});
    check(square(64, 128, 14, 1, 2, 0), layout, 3, Parallel{});
    check(square(256, 64, 14, 1, 1, 0), layout, 4, Parallel{});
    check(square(100, 40, 7, 3, 1, 1), layout, 5, Parallel{});
    check(square(48, 48, 28, 3, 2, 1, 48), layout, 6, Parallel{});
    check(square(48, 48, 7, 5, 1, 2, 48), layout, 7, Parallel{});
    check(square(3, 20, 64, 16, 16, 0), layout, 8, Parallel{});
  }
}

TEST_P(ConvTest, ThreadsDoNotChangeABit) {
  for (ConvLayout layout : {ConvLayout::kNchw, ConvLayout::kNhwc}) {
    for (const ConvShape& s : {square(40, 70, 20, 3, 1, 1), square(40, 70, 5, 3, 1, 1), square(32, 32, 20, 3, 2, 1, 32),
                               square(32, 90, 11, 1, 1, 0)}) {
      std::vector<float> one, four;
      check(s, layout, 3, Parallel{}, &one);
      check(s, layout, 3, test_threads(4), &four);
      EXPECT_EQ(std::memcmp(one.data(), four.data(), one.size() * sizeof(float)), 0) << describe(s);
    }
  }
}

TEST_P(ConvTest, NoInputChannelsGiveTheBias) {
  for (ConvLayout layout : {ConvLayout::kNchw, ConvLayout::kNhwc}) {
    for (int64_t kernel : {1, 3}) check(square(0, 5, 6, kernel, 1, kernel / 2), layout, 1, Parallel{});
  }
}

TEST_P(ConvTest, EmptyOutputsAreLeftAlone) {
  check(square(2, 3, 2, 5, 1, 0), ConvLayout::kNchw, 1, Parallel{});
  ConvShape s = square(2, 3, 8, 3, 1, 0);
  s.batch = 0;
  check(s, ConvLayout::kNhwc, 1, Parallel{});
}

TEST_P(ConvTest, LongOneDimensionalKernel) {
  ConvShape s;
  s.out_channels = 33;
  s.in = {1, 1, 600};
  s.kernel = {1, 1, 512};
  s.stride = {1, 1, 4};
  s.padding = {0, 0, 254};
  check(s, ConvLayout::kNchw, 1, Parallel{});
}

template <class T>
double to_double(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return to_float(value);
  } else {
    return static_cast<double>(value);
  }
}
template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, Half>) return to_half(static_cast<float>(value));
  if constexpr (std::is_same_v<T, BFloat16>) return to_bfloat16(static_cast<float>(value));
  if constexpr (std::is_integral_v<T>) return static_cast<T>(std::lround(value * 10));
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
}

template <class T>
void check_generic(const ConvShape& s, bool transposed, uint64_t seed, double tolerance) {
  TestRandom random(seed);
  const std::array<int64_t, 3> out = out_size(s, transposed);
  for (int64_t size : out) {
    if (size <= 0) return;
  }
  const auto fill = [&](int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    for (T& v : values) v = from_double<T>(random.real());
    return values;
  };
  const auto widen = [](const std::vector<T>& values) {
    std::vector<double> wide;
    for (T v : values) wide.push_back(to_double(v));
    return wide;
  };
  const ConvLayout in_layout = seed % 2 != 0 ? ConvLayout::kNchw : ConvLayout::kNhwc;
  const ConvLayout out_layout = seed % 3 != 0 ? ConvLayout::kNchw : ConvLayout::kNhwc;
  const std::vector<T> in = fill(s.batch * s.in_channels * volume(s.in));
  const std::vector<T> weights = fill(s.out_channels * s.in_channels / s.groups * volume(s.kernel));
  const std::vector<T> bias = fill(s.out_channels);
  std::vector<T> got(static_cast<size_t>(s.batch * s.out_channels * volume(out)));
  const ConvStrides is = strides_of(s.in, s.in_channels, in_layout);
  const ConvStrides os = strides_of(out, s.out_channels, out_layout);
  AlignedBuffer scratch(transposed ? conv_transpose_scratch_bytes<T>(s) : conv_generic_scratch_bytes<T>(s));
  if (transposed) {
    conv_transpose<T>(s, in.data(), is, weights.data(), bias.data(), got.data(), os, scratch.get(), Parallel{});
  } else {
    conv_generic<T>(s, in.data(), is, weights.data(), bias.data(), got.data(), os, scratch.get(), Parallel{});
  }
  EXPECT_TRUE(scratch.intact());
  const std::vector<double> want = reference(s, transposed, widen(in), is, widen(weights), widen(bias), os);
  for (size_t i = 0; i < got.size(); ++i) {
    const double expected = std::is_integral_v<T> ? to_double(static_cast<T>(static_cast<int64_t>(want[i]))) : want[i];
    ASSERT_NEAR(to_double(got[i]), expected, tolerance * (4 + std::abs(expected)))
        << "element " << i << ", " << describe(s) << " transposed " << transposed << " seed " << seed;
  }
}

template <class T>
void check_generic_both(double tolerance) {
  for (uint64_t seed = 1; seed <= 30 && !testing::Test::HasFailure(); ++seed) {
    TestRandom random(seed + 500);
    const ConvShape s = random_shape(random, seed % 4 != 0);
    check_generic<T>(s, true, seed, tolerance);
    check_generic<T>(s, false, seed, tolerance);
  }
}

TEST_P(ConvTest, GenericFloatBothDirections) {
  check_generic_both<float>(1e-5);
}
TEST_P(ConvTest, GenericDoubleBothDirections) {
  check_generic_both<double>(1e-14);
}
TEST_P(ConvTest, GenericHalfBothDirections) {
  check_generic_both<Half>(5e-4);
}
TEST_P(ConvTest, GenericBFloat16BothDirections) {
  check_generic_both<BFloat16>(4e-3);
}
TEST_P(ConvTest, GenericIntegersBothDirections) {
  check_generic_both<int32_t>(0);
  check_generic_both<int8_t>(0);
}

TEST_P(ConvTest, GenericManyPixels) {
  ConvShape s = square(3, 4, 40, 3, 1, 1);
  check_generic<double>(s, false, 1, 1e-14);
}

PTERON_FOR_EACH_ISA(ConvTest);

}  // namespace
}  // namespace pteron::engine
