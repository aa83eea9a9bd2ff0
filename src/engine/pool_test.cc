#include "engine/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/isa_parameterized.h"

namespace pteron::engine {
namespace {

class PoolTest : public IsaParameterized {};

struct Addressing {
  const PoolShape& s;
  ConvLayout layout;
  size_t operator()(const std::array<int64_t, 2>& size, int64_t n, int64_t c, int64_t h, int64_t w) const {
    return static_cast<size_t>(layout == ConvLayout::kNchw ? ((n * s.channels + c) * size[0] + h) * size[1] + w
                                                           : ((n * size[0] + h) * size[1] + w) * s.channels + c);
  }
};

PoolShape random_shape(TestRandom& random, bool dilated) {
  PoolShape s;
  s.batch = random.between(1, 2);
  s.channels = random.between(1, 35);
  for (size_t d = 0; d < 2; ++d) {
    s.kernel[d] = random.between(1, 4);
    s.stride[d] = random.between(1, 3);
    s.padding[d] = random.between(0, s.kernel[d] / 2);
    s.dilation[d] = dilated ? random.between(1, 2) : 1;
    s.in[d] = random.between(9, 40);
    s.out[d] = (s.in[d] + 2 * s.padding[d] - s.dilation[d] * (s.kernel[d] - 1) - 1) / s.stride[d] + 1;
    // Ceil mode: one more window that still begins inside the image.
    if (random.below(2) != 0 && s.out[d] * s.stride[d] - s.padding[d] < s.in[d]) ++s.out[d];
  }
  return s;
}

TEST_P(PoolTest, MaxMatchesTheDefinition) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    TestRandom random(seed);
    const PoolShape s = random_shape(random, true);
    std::vector<float> x = random_floats(random, s.batch * s.channels * s.in[0] * s.in[1]);
    if (seed % 4 == 0) x[x.size() / 2] = x[x.size() / 3] = std::numeric_limits<float>::quiet_NaN();
    for (ConvLayout layout : {ConvLayout::kNchw, ConvLayout::kNhwc}) {
      const Addressing address{s, layout};
      const size_t count = static_cast<size_t>(s.batch * s.channels * s.out[0] * s.out[1]);
      std::vector<float> y(count), z(count);
      std::vector<int64_t> index(count);
      max_pool2d(s, layout, x.data(), y.data(), nullptr, test_threads(2));
      max_pool2d(s, layout, x.data(), z.data(), index.data(), test_threads(2));
      for (int64_t n = 0; n < s.batch; ++n)
        for (int64_t c = 0; c < s.channels; ++c)
          for (int64_t oh = 0; oh < s.out[0]; ++oh)
            for (int64_t ow = 0; ow < s.out[1]; ++ow) {
              float best = -std::numeric_limits<float>::infinity();
              int64_t place = -1;
              for (int64_t kh = 0; kh < s.kernel[0]; ++kh)
                for (int64_t kw = 0; kw < s.kernel[1]; ++kw) {
                  const int64_t h = oh * s.stride[0] - s.padding[0] + kh * s.dilation[0];
                  const int64_t w = ow * s.stride[1] - s.padding[1] + kw * s.dilation[1];
                  if (h < 0 || h >= s.in[0] || w < 0 || w >= s.in[1]) continue;
                  const float v = x[address(s.in, n, c, h, w)];
                  if (v > best || std::isnan(v)) {
                    place = h * s.in[1] + w;
                    best = v;
                  }
                }
              const size_t to = address(s.out, n, c, oh, ow);
              ASSERT_TRUE(y[to] == best || (std::isnan(best) && std::isnan(y[to]))) << "seed " << seed;
              ASSERT_TRUE(z[to] == best || (std::isnan(best) && std::isnan(z[to]))) << "seed " << seed;
              ASSERT_EQ(index[to], place) << "seed " << seed;
            }
    }
  }
}

TEST_P(PoolTest, AverageMatchesTheDefinition) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    TestRandom random(seed);
    const PoolShape s = random_shape(random, false);
    const bool include_pad = seed % 2 != 0;
    const int64_t divisor = seed % 5 == 0 ? 3 : 0;
    const std::vector<float> x = random_floats(random, s.batch * s.channels * s.in[0] * s.in[1]);
    for (ConvLayout layout : {ConvLayout::kNchw, ConvLayout::kNhwc}) {
      const Addressing address{s, layout};
      std::vector<float> y(static_cast<size_t>(s.batch * s.channels * s.out[0] * s.out[1]));
      avg_pool2d(s, layout, x.data(), y.data(), include_pad, divisor, test_threads(2));
      for (int64_t n = 0; n < s.batch; ++n)
        for (int64_t c = 0; c < s.channels; ++c)
          for (int64_t oh = 0; oh < s.out[0]; ++oh)
            for (int64_t ow = 0; ow < s.out[1]; ++ow) {
              double sum = 0;
              int64_t inside = 0, padded = 0;
              for (int64_t h = oh * s.stride[0] - s.padding[0]; h < oh * s.stride[0] - s.padding[0] + s.kernel[0]; ++h)
                for (int64_t w = ow * s.stride[1] - s.padding[1]; w < ow * s.stride[1] - s.padding[1] + s.kernel[1];
                     ++w) {
                  padded += h < s.in[0] + s.padding[0] && w < s.in[1] + s.padding[1];
                  if (h < 0 || h >= s.in[0] || w < 0 || w >= s.in[1]) continue;
                  sum += x[address(s.in, n, c, h, w)];
                  ++inside;
                }
              const int64_t count = divisor != 0 ? divisor : include_pad ? padded : inside;
              ASSERT_NEAR(y[address(s.out, n, c, oh, ow)], sum / static_cast<double>(count), 2e-6) << "seed " << seed;
            }
    }
  }
}

TEST_P(PoolTest, AdaptiveAverageMatchesTheDefinition) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    TestRandom random(seed);
    PoolShape s;
    s.batch = 2;
    s.channels = random.between(1, 20);
    s.in = {random.between(1, 12), random.between(1, 12)};
    s.out = {seed % 3 == 0 ? 1 : random.between(1, 7), seed % 3 == 0 ? 1 : random.between(1, 7)};
    const std::vector<float> x = random_floats(random, s.batch * s.channels * s.in[0] * s.in[1]);
    for (ConvLayout layout : {ConvLayout::kNchw, ConvLayout::kNhwc}) {
      const Addressing address{s, layout};
      std::vector<float> y(static_cast<size_t>(s.batch * s.channels * s.out[0] * s.out[1]));
      adaptive_avg_pool2d(s, layout, x.data(), y.data(), test_threads(2));
      for (int64_t n = 0; n < s.batch; ++n)
        for (int64_t c = 0; c < s.channels; ++c)
          for (int64_t oh = 0; oh < s.out[0]; ++oh)
            for (int64_t ow = 0; ow < s.out[1]; ++ow) {
              const auto lo = [&](size_t d, int64_t o) { return o * s.in[d] / s.out[d]; };
              const auto hi = [&](size_t d, int64_t o) {
                return static_cast<int64_t>(
                    std::ceil(static_cast<double>((o + 1) * s.in[d]) / static_cast<double>(s.out[d])));
              };
              double sum = 0;
              int64_t count = 0;
              for (int64_t h = lo(0, oh); h < hi(0, oh); ++h)
                for (int64_t w = lo(1, ow); w < hi(1, ow); ++w, ++count) sum += x[address(s.in, n, c, h, w)];
              ASSERT_NEAR(y[address(s.out, n, c, oh, ow)], sum / static_cast<double>(count), 2e-6) << "seed " << seed;
            }
    }
  }
}

TEST_P(PoolTest, WideRowsTakeThePlainPath) {
  PoolShape s;
  s.in = {1, 5000};
  s.out = {1, 2500};
  s.kernel = {1, 2};
  s.stride = {1, 2};
  TestRandom random(1);
  const std::vector<float> x = random_floats(random, 5000);
  std::vector<float> max(2500), average(2500);
  max_pool2d(s, ConvLayout::kNchw, x.data(), max.data(), nullptr, Parallel{});
  avg_pool2d(s, ConvLayout::kNchw, x.data(), average.data(), true, 0, Parallel{});
  for (size_t i = 0; i < 2500; ++i) {
    ASSERT_EQ(max[i], std::max(x[2 * i], x[2 * i + 1]));
    ASSERT_NEAR(average[i], (x[2 * i] + x[2 * i + 1]) / 2, 1e-7);
  }
}

PTERON_FOR_EACH_ISA(PoolTest);

}  // namespace
}  // namespace pteron::engine
