#include "pteron/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using pteron::BFloat16;
using pteron::DType;
using pteron::DTypeOf;
using pteron::Half;

TEST(DTypeOf, IntegersBySizeAndSign) {
  EXPECT_EQ(DTypeOf<long>::value, sizeof(long) == 8 ? DType::kInt64 : DType::kInt32);
  EXPECT_EQ(DTypeOf<long long>::value, DType::kInt64);
  EXPECT_EQ(DTypeOf<unsigned short>::value, DType::kUInt16);
}

TEST(DTypeOf, BoolIsNoInteger) {
  EXPECT_EQ(DTypeOf<bool>::value, DType::kBool);
}

TEST(DType, SizeAndName) {
  EXPECT_EQ(pteron::dtype_size(DType::kBFloat16), 2u);
  EXPECT_STREQ(pteron::dtype_name(DType::kBFloat16), "bfloat16");
}

// Every half survives the way to float and back; NaN stays NaN.
TEST(Half, EveryValueComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<uint16_t>(bits)};
    const float value = half.to_float();
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(Half::from_float(value).to_float())) << bits;
    } else {
      EXPECT_EQ(Half::from_float(value).bits, bits);
    }
  }
}

TEST(Half, RoundsTiesToEven) {
  EXPECT_EQ(Half::from_float(2049.0f).to_float(), 2048.0f);
  EXPECT_EQ(Half::from_float(2051.0f).to_float(), 2052.0f);
}

TEST(Half, RoundsSubnormals) {
  const float least = std::ldexp(1.0f, -24);
  EXPECT_EQ(Half::from_float(least * 0.5f).bits, 0x0000);  // a tie; zero is even
  EXPECT_EQ(Half::from_float(least * 0.75f).bits, 0x0001);
  EXPECT_EQ(Half::from_float(least * 1.5f).bits, 0x0002);
}

TEST(Half, OverflowsToInfinity) {
  EXPECT_EQ(Half::from_float(65519.0f).to_float(), 65504.0f);
  EXPECT_EQ(Half::from_float(65520.0f).to_float(), std::numeric_limits<float>::infinity());
}

TEST(BFloat16, EveryValueComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = BFloat16{static_cast<uint16_t>(bits)}.to_float();
    if (!std::isnan(value)) {
      EXPECT_EQ(BFloat16::from_float(value).bits, bits);
    }
  }
}

TEST(BFloat16, RoundsTiesToEven) {
  EXPECT_EQ(BFloat16::from_float(257.0f).to_float(), 256.0f);
  EXPECT_EQ(BFloat16::from_float(259.0f).to_float(), 260.0f);
}

TEST(BFloat16, NanStaysNan) {
  uint32_t word = 0x7f800001;  // its payload lies in the bits that are dropped
  float value;
  std::memcpy(&value, &word, sizeof(value));
  EXPECT_TRUE(std::isnan(BFloat16::from_float(value).to_float()));
}

}  // namespace
