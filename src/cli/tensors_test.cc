#include "cli/tensors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cli/test_failure.h"

namespace pteron::cli {
namespace {

double float8(uint8_t bits, DType dtype) {
  return element_at(&bits, dtype, 0).number;
}

// Values of the formats' own definitions (OCP 8-bit floating point; FNUZ: no infinities, no negative zero).
TEST(Element, Float8E4M3FN) {
  EXPECT_EQ(float8(0x7e, DType::kFloat8E4M3FN), 448);
  EXPECT_EQ(float8(0x01, DType::kFloat8E4M3FN), std::ldexp(1, -9));
  EXPECT_TRUE(std::isnan(float8(0x7f, DType::kFloat8E4M3FN)));
}

TEST(Element, Float8E5M2) {
  EXPECT_EQ(float8(0x7b, DType::kFloat8E5M2), 57344);
  EXPECT_EQ(float8(0xfc, DType::kFloat8E5M2), -INFINITY);
  EXPECT_TRUE(std::isnan(float8(0x7d, DType::kFloat8E5M2)));
}

TEST(Element, Float8FNUZ) {
  EXPECT_EQ(float8(0x7f, DType::kFloat8E4M3FNUZ), 240);
  EXPECT_EQ(float8(0x7f, DType::kFloat8E5M2FNUZ), 57344);
  EXPECT_TRUE(std::isnan(float8(0x80, DType::kFloat8E4M3FNUZ)));
}

TEST(Element, ShortestText) {
  const float value = 0.1f;
  EXPECT_EQ(element_text(&value, DType::kFloat32, 0), "0.1");
  const uint64_t large = UINT64_MAX;
  EXPECT_EQ(element_text(&large, DType::kUInt64, 0), "18446744073709551615");
}

TEST(Printable, HidesControlCharacters) {
  EXPECT_EQ(printable_text("a\x1b[31m\n"), "a?[31m?");
}

}  // namespace
}  // namespace pteron::cli
