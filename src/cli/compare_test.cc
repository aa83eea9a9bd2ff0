#include "cli/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pteron::cli {
namespace {

template <typename T>
Difference compare(const std::vector<T>& found, const std::vector<T>& expected, std::optional<double> absolute = {},
                   std::optional<double> relative = {}) {
  Value a(TensorView::of(found).value());
  Value b(TensorView::of(expected).value());
  const pteron_value raw_a = a.raw();
  const pteron_value raw_b = b.raw();
  return compare_values(ValueView(&raw_a), ValueView(&raw_b), absolute, relative);
}

TEST(Compare, EqualTensorsPass) {
  EXPECT_TRUE(compare<float>({1, 2}, {1, 2}).within);
}

TEST(Compare, TheLargestDifferencesAreKept) {
  const Difference difference = compare<double>({1.5, 10}, {1, 8}, 10, 0);
  EXPECT_EQ(difference.largest_absolute, 2);
  EXPECT_EQ(difference.largest_relative, 0.5);
}

TEST(Compare, ToleranceIsAbsolutePlusRelative) {
  EXPECT_TRUE(compare<double>({103}, {100}, 1, 0.02).within);
  EXPECT_FALSE(compare<double>({103.1}, {100}, 1, 0.02).within);
}

TEST(Compare, NanEqualsNan) {
  EXPECT_TRUE(compare<float>({NAN}, {NAN}).within);
}
TEST(Compare, NanIsNoNumber) {
  EXPECT_FALSE(compare<float>({NAN}, {1}, 1e30, 1e30).within);
}
TEST(Compare, InfinityEqualsItself) {
  EXPECT_TRUE(compare<float>({INFINITY}, {INFINITY}).within);
}
TEST(Compare, InfinityIsNotItsOpposite) {
  EXPECT_FALSE(compare<float>({INFINITY}, {-INFINITY}, 1e30, 1).within);
}
TEST(Compare, AnInfiniteExpectationIsNoExcuse) {
  EXPECT_FALSE(compare<float>({1}, {INFINITY}, 0, 1).within);
}

TEST(Compare, IntegersAreExact) {
  EXPECT_FALSE(compare<int64_t>({1000001}, {1000000}).within);
}

TEST(Compare, LargeIntegersAreToldApart) {
  EXPECT_FALSE(compare<int64_t>({9007199254740993}, {9007199254740992}).within);
}

TEST(Compare, ShapesMustAgree) {
  const Difference difference = compare<float>({1, 2}, {1});
  EXPECT_FALSE(difference.within);
  EXPECT_EQ(difference.reason, "expected float32 [1], found float32 [2]");
}

TEST(Compare, TheWorstElementIsNamed) {
  EXPECT_EQ(compare<float>({1, 5, 3}, {1, 2, 4}).reason,
            "2 of 3 elements out of tolerance; worst at 1: expected 2, found 5");
}

TEST(Compare, ScalarsCompareAsNumbers) {
  Value a(int64_t{3});
  Value b(int64_t{4});
  const pteron_value raw_a = a.raw();
  const pteron_value raw_b = b.raw();
  EXPECT_FALSE(compare_values(ValueView(&raw_a), ValueView(&raw_b), {}, {}).within);
}

}  // namespace
}  // namespace pteron::cli
