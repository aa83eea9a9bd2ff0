// Operators that draw from the method's generator: their distribution, not their sequence.

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/test_call.h"

namespace pteron::kernels::testing {
namespace {

constexpr int64_t kCount = 20000;

std::vector<double> drawn(const char* name, int dtype) {
  TensorBox out(dtype, {kCount}, {1});
  Arguments arguments;
  arguments.integers({kCount});
  arguments.tensor(out);
  const Outcome outcome = call(*find_row(name), arguments);
  EXPECT_EQ(outcome.code, PTERON_OK) << outcome.failure;
  std::vector<double> values;
  for (int64_t i = 0; i < kCount; ++i) values.push_back(read_real(dtype, out.element(i)));
  return values;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double variance_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size());
}

class Random : public ::testing::TestWithParam<int> {};

// Bounds are five standard errors of 20000 draws, with room for rounding to 16 bits.
TEST_P(Random, RandIsUniformBelowOne) {
  const std::vector<double> values = drawn("aten::rand.out", GetParam());
  for (double value : values) {
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
  }
  EXPECT_NEAR(mean_of(values), 0.5, 0.0125);
  EXPECT_NEAR(variance_of(values), 1.0 / 12, 0.004);
}

TEST_P(Random, RandnIsStandardNormal) {
  const std::vector<double> values = drawn("aten::randn.out", GetParam());
  EXPECT_NEAR(mean_of(values), 0, 0.036);
  EXPECT_NEAR(variance_of(values), 1, 0.06);
  double beyond_two = 0;
  for (double value : values) beyond_two += std::abs(value) > 2;
  EXPECT_NEAR(beyond_two / kCount, 0.0455, 0.009);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Random,
                         ::testing::Values(PTERON_FLOAT32, PTERON_FLOAT64, PTERON_FLOAT16, PTERON_BFLOAT16),
                         [](const auto& info) { return std::string(pteron_dtype_name(info.param)); });

struct Dropped {
  std::vector<double> values, mask;
};

Dropped dropout(double p, bool train) {
  TensorBox in(PTERON_FLOAT32, {kCount}, {1}), out(PTERON_FLOAT32, {kCount}, {1}), mask(PTERON_BOOL, {kCount}, {1});
  for (int64_t i = 0; i < kCount; ++i) write_element(PTERON_FLOAT32, in.element(i), 3, 3);
  Arguments arguments;
  arguments.tensor(in);
  arguments.real(p);
  arguments.boolean(train);
  arguments.tensor(out);
  arguments.tensor(mask);
  const Outcome outcome = call(*find_row("aten::native_dropout.out"), arguments);
  EXPECT_EQ(outcome.code, PTERON_OK) << outcome.failure;
  Dropped dropped;
  for (int64_t i = 0; i < kCount; ++i) {
    dropped.values.push_back(read_real(PTERON_FLOAT32, out.element(i)));
    dropped.mask.push_back(static_cast<double>(read_integer(PTERON_BOOL, mask.element(i))));
  }
  return dropped;
}

TEST(Dropout, KeepsAsManyAsItShouldAndScalesThem) {
  const Dropped dropped = dropout(0.25, true);
  EXPECT_NEAR(mean_of(dropped.mask), 0.75, 0.016);
  for (int64_t i = 0; i < kCount; ++i) {
    const size_t place = static_cast<size_t>(i);
    ASSERT_FLOAT_EQ(static_cast<float>(dropped.values[place]), dropped.mask[place] != 0 ? 4.0f : 0.0f);
  }
}

TEST(Dropout, DoesNothingWhenNotTraining) {
  const Dropped dropped = dropout(0.25, false);
  EXPECT_EQ(mean_of(dropped.mask), 1);
  EXPECT_EQ(mean_of(dropped.values), 3);
}

TEST(Dropout, DropsEverythingWithCertainty) {
  EXPECT_EQ(mean_of(dropout(1, true).values), 0);
}

}  // namespace
}  // namespace pteron::kernels::testing
