#include "cli/literal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cli/test_failure.h"

namespace pteron::cli {
namespace {

template <typename T>
std::vector<T> tensor_of(const std::string& text, const std::vector<int64_t>& shape = {}) {
  const Tensor tensor = literal_tensor(parse_literal(text, "x"), DTypeOf<T>::value, shape, "x");
  const Span<const T> data = *tensor.data<T>();
  return {data.begin(), data.end()};
}

void expect_refused(const std::string& text, const std::string& part) {
  expect_failure([&] { parse_literal(text, "x"); }, kInputRefused, part);
}

TEST(Literal, ANumberHasNoDimensions) {
  const Literal literal = parse_literal("3", "x");
  EXPECT_TRUE(literal.shape.empty());
  EXPECT_EQ(literal.numbers.at(0).integer, 3);
}

TEST(Literal, ListsGiveTheShape) {
  EXPECT_EQ(parse_literal("[[1, 2, 3], [4, 5, 6]]", "x").shape, (std::vector<int64_t>{2, 3}));
}

TEST(Literal, AnEmptyListIsADimensionOfZero) {
  EXPECT_EQ(parse_literal("[]", "x").shape, std::vector<int64_t>{0});
}

TEST(Literal, EmptyListsNest) {
  EXPECT_EQ(parse_literal("[[],[]]", "x").shape, (std::vector<int64_t>{2, 0}));
}

TEST(Literal, FloatsAndNegativesAndExponents) {
  EXPECT_EQ(tensor_of<float>("[1.5,-2,1e3]"), (std::vector<float>{1.5f, -2.0f, 1000.0f}));
}

TEST(Literal, NanAndInfinities) {
  const std::vector<float> values = tensor_of<float>("[nan, inf, -inf]");
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], INFINITY);
  EXPECT_EQ(values[2], -INFINITY);
}

TEST(Literal, LargeIntegersStayExact) {
  EXPECT_EQ(tensor_of<int64_t>("[9007199254740993]").at(0), 9007199254740993);
  EXPECT_EQ(tensor_of<uint64_t>("[18446744073709551615]").at(0), UINT64_MAX);
}

TEST(Literal, BoolsFromWordsAndBits) {
  const Tensor tensor = literal_tensor(parse_literal("[true, False, 1, 0]", "x"), DType::kBool, {4}, "x");
  const Span<const bool> data = *tensor.data<bool>();
  EXPECT_TRUE(data[0] && !data[1] && data[2] && !data[3]);
}

TEST(Literal, HalvesAreRounded) {
  const Tensor tensor = literal_tensor(parse_literal("[2049]", "x"), DType::kFloat16, {1}, "x");
  EXPECT_EQ(tensor.data<Half>().value()[0].to_float(), 2048.0f);
}

TEST(Literal, Float8TakesTheNearest) {
  const Tensor tensor = literal_tensor(parse_literal("[1.06]", "x"), DType::kFloat8E4M3FN, {1}, "x");
  EXPECT_EQ(tensor.data<Float8E4M3FN>().value()[0].bits, 0x38);  // 1.0; the next is 1.125
}

TEST(Literal, ANumberFillsOneElementOfAnyRank) {
  EXPECT_EQ(literal_tensor(parse_literal("3", "x"), DType::kInt64, {1, 1}, "x").shape(), (Shape{1, 1}));
}

TEST(Literal, ANumberDoesNotFillMore) {
  expect_failure([] { literal_tensor(parse_literal("3", "x"), DType::kInt64, {2}, "x"); }, kInputRefused, "[2]");
}

TEST(Literal, RefusesIntegersOutOfRange) {
  expect_failure([] { tensor_of<uint8_t>("[256]"); }, kInputRefused, "256 is not a value of dtype uint8");
  expect_failure([] { tensor_of<uint32_t>("[-1]"); }, kInputRefused, "-1 is not");
  expect_failure([] { tensor_of<int64_t>("[9223372036854775808]"); }, kInputRefused, "9223372036854775808 is not");
}

TEST(Literal, RefusesFractionsForIntegers) {
  expect_failure([] { tensor_of<int32_t>("[1.5]"); }, kInputRefused, "1.5 is not");
}

TEST(Literal, RefusesRaggedLists) {
  expect_refused("[[1,2],[3]]", "different lengths");
}
TEST(Literal, RefusesNumbersBesideLists) {
  expect_refused("[1,[2]]", "mixed");
}
TEST(Literal, RefusesEmptyListsBesideNumbers) {
  expect_refused("[1,[]]", "mixed");
}
TEST(Literal, RefusesAMissingBracket) {
  expect_refused("[1,2", "missing");
}
TEST(Literal, RefusesTextBehind) {
  expect_refused("[1] 2", "after the value");
}
TEST(Literal, RefusesWords) {
  expect_refused("hello", "a number");
}
TEST(Literal, RefusesNothing) {
  expect_refused("", "a number");
}
TEST(Literal, RefusesDeepNesting) {
  expect_refused(std::string(17, '['), "too deep");
}
TEST(Literal, RefusesEndlessNesting) {
  expect_refused(std::string(1'000'000, '['), "too deep");
}

TEST(Random, TheSameSeedGivesTheSameNumbers) {
  // splitmix64 from 0 begins with 0xe220a8397b1dcdaf; its upper 24 bits over 2^24.
  const Tensor tensor = random_tensor(DType::kFloat32, {2}, 0, "x");
  EXPECT_EQ(tensor.data<float>().value()[0], static_cast<float>(0xe220a8) / 16777216.0f);
}

TEST(Random, IntegersAreSmall) {
  const Tensor tensor = random_tensor(DType::kInt64, {1000}, 5, "x");
  const Span<const int64_t> values = *tensor.data<int64_t>();
  for (const int64_t value : values) {
    ASSERT_GE(value, 0);
    ASSERT_LE(value, 9);
  }
}

TEST(Random, ReadsTheSeed) {
  EXPECT_EQ(parse_seed("random:42", "x"), 42u);
}

TEST(Random, RefusesOtherSeeds) {
  for (const char* text : {"random:", "random:x", "random:-1", "random:1x"}) {
    expect_failure([&] { parse_seed(text, "x"); }, kInputRefused, "seed");
  }
}

}  // namespace
}  // namespace pteron::cli
