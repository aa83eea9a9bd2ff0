// Softmax, normalisations and reductions against their definitions in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/isa_parameterized.h"
#include "engine/norm.h"
#include "engine/reduce.h"
#include "engine/softmax.h"

namespace pteron::engine {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Dims {
  int64_t outer, size, inner;
};
const Dims kDims[] = {{1, 1, 1},   {3, 7, 1},  {2, 16, 1},  {5, 33, 1},  {1, 1000, 1},  {2, 5, 3},
                      {1, 70, 40}, {3, 1, 17}, {2, 3, 300}, {1, 300, 2}, {40, 2000, 1}, {0, 4, 4}};

class RowsTest : public IsaParameterized {};

size_t at(const Dims& d, int64_t o, int64_t s, int64_t i) {
  return static_cast<size_t>((o * d.size + s) * d.inner + i);
}

TEST_P(RowsTest, SoftmaxMatchesTheDefinition) {
  TestRandom random(1);
  for (const Dims& d : kDims) {
    const std::vector<float> x = random_floats(random, d.outer * d.size * d.inner, 8);
    std::vector<float> y(x.size()), log_y(x.size());
    softmax(x.data(), y.data(), d.outer, d.size, d.inner, test_threads(2));
    log_softmax(x.data(), log_y.data(), d.outer, d.size, d.inner, test_threads(2));
    for (int64_t o = 0; o < d.outer; ++o) {
      for (int64_t i = 0; i < d.inner; ++i) {
        double max = -1e30, sum = 0;
        for (int64_t s = 0; s < d.size; ++s) max = std::fmax(max, x[at(d, o, s, i)]);
        for (int64_t s = 0; s < d.size; ++s) sum += std::exp(x[at(d, o, s, i)] - max);
        for (int64_t s = 0; s < d.size; ++s) {
          const double z = x[at(d, o, s, i)] - max;
          ASSERT_NEAR(y[at(d, o, s, i)], std::exp(z) / sum, 1e-6 * std::exp(z) / sum + 1e-12)
              << d.size << " " << d.inner;
          ASSERT_NEAR(log_y[at(d, o, s, i)], z - std::log(sum), 3e-6) << d.size << " " << d.inner;
        }
      }
    }
  }
}

TEST_P(RowsTest, SoftmaxOfInfinities) {
  for (int64_t inner : {1, 2}) {
    std::vector<float> x;
    for (float v : {-kInf, 0.0f, -kInf}) x.insert(x.end(), static_cast<size_t>(inner), v);
    std::vector<float> y(x.size());
    softmax(x.data(), y.data(), 1, 3, inner, Parallel{});
    EXPECT_EQ(y.front(), 0.0f);
    EXPECT_EQ(y[static_cast<size_t>(inner)], 1.0f);
    std::fill(x.begin(), x.end(), -kInf);
    softmax(x.data(), y.data(), 1, 3, inner, Parallel{});
    for (float v : y) EXPECT_TRUE(std::isnan(v));
    x.back() = kNan;
    softmax(x.data(), y.data(), 1, 3, inner, Parallel{});
    EXPECT_TRUE(std::isnan(y.back()));
  }
}

TEST_P(RowsTest, SumAndMeanMatchTheDefinition) {
  TestRandom random(2);
  for (const Dims& d : kDims) {
    const std::vector<float> x = random_floats(random, d.outer * d.size * d.inner);
    std::vector<float> sum(static_cast<size_t>(d.outer * d.inner)), mean(sum.size());
    reduce(Reduce::kSum, x.data(), sum.data(), d.outer, d.size, d.inner, test_threads(2));
    reduce(Reduce::kMean, x.data(), mean.data(), d.outer, d.size, d.inner, Parallel{});
    for (int64_t o = 0; o < d.outer; ++o) {
      for (int64_t i = 0; i < d.inner; ++i) {
        double exact = 0;
        for (int64_t s = 0; s < d.size; ++s) exact += x[at(d, o, s, i)];
        ASSERT_NEAR(sum[static_cast<size_t>(o * d.inner + i)], exact, 1e-5);
        ASSERT_NEAR(mean[static_cast<size_t>(o * d.inner + i)], exact / static_cast<double>(d.size), 1e-6);
      }
    }
  }
}

TEST_P(RowsTest, LongSumsStayAccurate) {
  // Added one after another, ten million times 0.1 is off by 9 %.
  const int64_t count = 10000000;
  const std::vector<float> x(static_cast<size_t>(count), 0.1f);
  const double exact = static_cast<double>(0.1f) * static_cast<double>(count);
  float sum = 0;
  reduce(Reduce::kSum, x.data(), &sum, 1, count, 1, Parallel{});
  EXPECT_NEAR(sum, exact, exact * 1e-6);
  float sums[2] = {};
  reduce(Reduce::kSum, x.data(), sums, 1, count / 2, 2, Parallel{});
  EXPECT_NEAR(sums[0], exact / 2, exact * 1e-6);
}

TEST_P(RowsTest, EmptySums) {
  float out[3] = {5, 5, 5};
  reduce(Reduce::kSum, nullptr, out, 1, 0, 3, Parallel{});
  EXPECT_EQ(out[2], 0.0f);
  reduce(Reduce::kMean, nullptr, out, 1, 0, 3, Parallel{});
  EXPECT_TRUE(std::isnan(out[0]));
}

TEST_P(RowsTest, ExtremesAndTheirPlaces) {
  TestRandom random(3);
  for (const Dims& d : kDims) {
    std::vector<float> x = random_floats(random, d.outer * d.size * d.inner);
    // Coarse values, so that there are ties, and now and then a NaN.
    for (float& v : x) v = random.below(500) == 0 ? kNan : std::round(v * 20);
    std::vector<float> max(static_cast<size_t>(d.outer * d.inner)), min(max.size());
    std::vector<int64_t> arg(max.size()), arg_least(max.size());
    reduce(Reduce::kMax, x.data(), max.data(), d.outer, d.size, d.inner, Parallel{});
    reduce(Reduce::kMin, x.data(), min.data(), d.outer, d.size, d.inner, test_threads(2));
    arg_max(x.data(), arg.data(), d.outer, d.size, d.inner, test_threads(2));
    arg_min(x.data(), arg_least.data(), d.outer, d.size, d.inner, Parallel{});
    for (int64_t o = 0; o < d.outer; ++o) {
      for (int64_t i = 0; i < d.inner; ++i) {
        int64_t want_max = 0, want_min = 0;
        for (int64_t s = 1; s < d.size; ++s) {
          const float v = x[at(d, o, s, i)], best = x[at(d, o, want_max, i)], least = x[at(d, o, want_min, i)];
          if (!std::isnan(best) && (std::isnan(v) || v > best)) want_max = s;
          if (!std::isnan(least) && (std::isnan(v) || v < least)) want_min = s;
        }
        const size_t to = static_cast<size_t>(o * d.inner + i);
        ASSERT_EQ(arg[to], want_max) << d.size << " " << d.inner;
        ASSERT_EQ(arg_least[to], want_min) << d.size << " " << d.inner;
        const float best = x[at(d, o, want_max, i)], least = x[at(d, o, want_min, i)];
        ASSERT_TRUE(max[to] == best || (std::isnan(best) && std::isnan(max[to]))) << d.size << " " << d.inner;
        ASSERT_TRUE(min[to] == least || (std::isnan(least) && std::isnan(min[to]))) << d.size << " " << d.inner;
      }
    }
  }
}

TEST_P(RowsTest, LayerNormOfLargeMean) {
  TestRandom random(4);
  for (int64_t cols : {1, 2, 15, 64, 771}) {
    constexpr int64_t kRows = 3;
    std::vector<float> x = random_floats(random, kRows * cols);
    for (float& v : x) v += 100;
    const std::vector<float> weight = random_floats(random, cols), bias = random_floats(random, cols);
    std::vector<float> y(x.size()), mean(kRows), rstd(kRows);
    layer_norm(x.data(), weight.data(), bias.data(), 1e-5f, y.data(), mean.data(), rstd.data(), kRows, cols,
               Parallel{});
    for (int64_t r = 0; r < kRows; ++r) {
      double m = 0, v = 0;
      for (int64_t c = 0; c < cols; ++c) m += x[static_cast<size_t>(r * cols + c)];
      m /= static_cast<double>(cols);
      for (int64_t c = 0; c < cols; ++c) v += std::pow(x[static_cast<size_t>(r * cols + c)] - m, 2);
      const double s = 1 / std::sqrt(v / static_cast<double>(cols) + static_cast<double>(1e-5f));
      EXPECT_NEAR(mean[static_cast<size_t>(r)], m, 2e-5);
      for (int64_t c = 0; c < cols; ++c) {
        const size_t i = static_cast<size_t>(r * cols + c);
        const size_t k = static_cast<size_t>(c);
        // The rounding of the mean, 4e-6, is magnified by rstd.
        ASSERT_NEAR(y[i], (x[i] - m) * s * weight[k] + bias[k], 1e-5 + 8e-6 * s) << cols;
      }
    }
  }
}

TEST_P(RowsTest, RmsNorm) {
  TestRandom random(5);
  constexpr int64_t kCols = 77;
  const std::vector<float> x = random_floats(random, 2 * kCols), weight = random_floats(random, kCols);
  std::vector<float> y(x.size());
  rms_norm(x.data(), weight.data(), 1e-6f, y.data(), 2, kCols, Parallel{});
  for (size_t r = 0; r < 2; ++r) {
    double square = 0;
    for (size_t c = 0; c < kCols; ++c) square += std::pow(x[r * kCols + c], 2);
    for (size_t c = 0; c < kCols; ++c) {
      ASSERT_NEAR(y[r * kCols + c], x[r * kCols + c] / std::sqrt(square / kCols + 1e-6) * weight[c], 2e-6);
    }
  }
}

TEST_P(RowsTest, GroupNorm) {
  TestRandom random(6);
  constexpr int64_t kBatch = 2, kChannels = 6, kInner = 19, kGroups = 3, kMembers = kChannels / kGroups;
  const std::vector<float> x = random_floats(random, kBatch * kChannels * kInner);
  const std::vector<float> weight = random_floats(random, kChannels), bias = random_floats(random, kChannels);
  std::vector<float> y(x.size()), mean(kBatch * kGroups), rstd(mean.size());
  group_norm(x.data(), weight.data(), bias.data(), 1e-5f, y.data(), mean.data(), rstd.data(), kBatch, kChannels, kInner,
             kGroups, test_threads(2));
  for (int64_t g = 0; g < kBatch * kGroups; ++g) {
    double m = 0, v = 0;
    const auto value = [&](int64_t i) {
      return static_cast<double>(x[static_cast<size_t>(g * kMembers * kInner + i)]);
    };
    for (int64_t i = 0; i < kMembers * kInner; ++i) m += value(i) / (kMembers * kInner);
    for (int64_t i = 0; i < kMembers * kInner; ++i) v += (value(i) - m) * (value(i) - m) / (kMembers * kInner);
    const double s = 1 / std::sqrt(v + 1e-5);
    EXPECT_NEAR(rstd[static_cast<size_t>(g)], s, 1e-5);
    for (int64_t i = 0; i < kMembers * kInner; ++i) {
      const size_t c = static_cast<size_t>(g % kGroups * kMembers + i / kInner);
      ASSERT_NEAR(y[static_cast<size_t>(g * kMembers * kInner + i)], (value(i) - m) * s * weight[c] + bias[c], 3e-6);
    }
  }
}

TEST_P(RowsTest, ChannelAffineBothLayouts) {
  TestRandom random(7);
  constexpr int64_t kOuter = 3, kChannels = 21, kInner = 18;
  const std::vector<float> x = random_floats(random, kOuter * kChannels * kInner);
  const std::vector<float> scale = random_floats(random, kChannels), shift = random_floats(random, kChannels);
  std::vector<float> first(x.size()), last(x.size());
  channel_affine(x.data(), scale.data(), shift.data(), first.data(), kOuter, kChannels, kInner, test_threads(2));
  channel_affine(x.data(), scale.data(), shift.data(), last.data(), kOuter * kInner, kChannels, 1, Parallel{});
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i / kInner % kChannels, d = i % kChannels;
    ASSERT_NEAR(first[i], x[i] * scale[c] + shift[c], 3e-7);
    ASSERT_NEAR(last[i], x[i] * scale[d] + shift[d], 3e-7);
  }
}

TEST_P(RowsTest, ThreadsDoNotChangeABit) {
  TestRandom random(8);
  const std::vector<float> x = random_floats(random, 64 * 3000);
  std::vector<float> one(x.size()), many(x.size());
  softmax(x.data(), one.data(), 64, 3000, 1, Parallel{});
  softmax(x.data(), many.data(), 64, 3000, 1, test_threads(3));
  EXPECT_EQ(std::memcmp(one.data(), many.data(), x.size() * 4), 0);
  reduce(Reduce::kSum, x.data(), one.data(), 2, 96, 1000, Parallel{});
  reduce(Reduce::kSum, x.data(), many.data(), 2, 96, 1000, test_threads(3));
  EXPECT_EQ(std::memcmp(one.data(), many.data(), 2000 * 4), 0);
}

PTERON_FOR_EACH_ISA(RowsTest);

}  // namespace
}  // namespace pteron::engine
