#include "engine/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/elementwise_table.h"
#include "engine/isa_parameterized.h"

namespace pteron::engine {
namespace {

class CopyTest : public IsaParameterized {};

// A random permutation (or broadcast) of a contiguous array, checked element by element.
TEST_P(CopyTest, AnyPermutation) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    TestRandom random(seed);
    const int rank = static_cast<int>(random.between(0, 5));
    const size_t bytes = std::array<size_t, 5>{1, 2, 4, 8, 3}[static_cast<size_t>(random.below(5))];
    std::vector<int64_t> sizes, order;
    for (int i = 0; i < rank; ++i) {
      sizes.push_back(random.below(20) == 0 ? 0 : random.between(1, rank > 3 ? 7 : 40));
      order.push_back(i);
    }
    for (int i = rank - 1; i > 0; --i)
      std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(random.below(i + 1))]);
    std::vector<int64_t> src_strides(sizes.size()), dst_strides(sizes.size());
    int64_t source = 1, target = 1;
    for (int i = rank - 1; i >= 0; --i) {
      const size_t p = static_cast<size_t>(order[static_cast<size_t>(i)]);
      src_strides[p] = random.below(8) == 0 ? 0 : source;
      source *= sizes[p];
      dst_strides[static_cast<size_t>(i)] = target;
      target *= sizes[static_cast<size_t>(i)];
    }
    std::vector<unsigned char> src((static_cast<size_t>(source) + 1) * bytes),
        dst((static_cast<size_t>(target) + 1) * bytes, 0xee);
    for (auto& b : src) b = static_cast<unsigned char>(random.bits());
    strided_copy(src.data(), src_strides.data(), dst.data(), dst_strides.data(), sizes.data(), rank, bytes,
                 test_threads(2));
    for (int64_t i = 0; i < target; ++i) {
      int64_t from = 0;
      for (size_t d = 0; d < sizes.size(); ++d) from += i / dst_strides[d] % sizes[d] * src_strides[d];
      ASSERT_EQ(std::memcmp(&dst[static_cast<size_t>(i) * bytes], &src[static_cast<size_t>(from) * bytes], bytes), 0)
          << "element " << i << " seed " << seed;
    }
    for (size_t b = 0; b < bytes; ++b) ASSERT_EQ(dst[static_cast<size_t>(target) * bytes + b], 0xee) << "seed " << seed;
  }
}

TEST_P(CopyTest, LongLinesAreCutIntoRanges) {
  std::vector<float> src(200001), dst(100001);
  for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<float>(i);
  const int64_t size = 100001, two = 2, one = 1, back = -1;
  strided_copy(src.data(), &two, dst.data(), &one, &size, 1, 4, test_threads(3));
  for (size_t i = 0; i < dst.size(); ++i) ASSERT_EQ(dst[i], src[2 * i]);
  strided_copy(src.data() + 100000, &back, dst.data(), &one, &size, 1, 4, test_threads(3));
  for (size_t i = 0; i < dst.size(); ++i) ASSERT_EQ(dst[i], src[100000 - i]);
}

TEST_P(CopyTest, EveryHalfSurvivesTheRoundTrip) {
  std::vector<uint16_t> all(65536), back(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(65536);
  for (Type type : {Type::kF16, Type::kBF16}) {
    convert(all.data(), type, wide.data(), Type::kF32, 65536, Parallel{});
    convert(wide.data(), Type::kF32, back.data(), type, 65536, Parallel{});
    for (size_t i = 0; i < all.size(); ++i) {
      const float one = type == Type::kF16 ? to_float(Half{all[i]}) : to_float(BFloat16{all[i]});
      if (std::isnan(one)) {
        ASSERT_TRUE(std::isnan(wide[i])) << i;
      } else {
        ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(one)) << i;
        ASSERT_EQ(back[i], all[i]) << i;
      }
    }
  }
}

TEST(HalfTest, KnownValues) {
  EXPECT_EQ(to_float(Half{0x3c00}), 1.0f);
  EXPECT_EQ(to_float(Half{0xc000}), -2.0f);
  EXPECT_EQ(to_float(Half{0x7bff}), 65504.0f);
  EXPECT_EQ(to_float(Half{0x0001}), 0x1p-24f);
  EXPECT_EQ(to_float(Half{0x7c00}), std::numeric_limits<float>::infinity());
  EXPECT_EQ(to_half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(to_half(65520.0f).bits, 0x7c00);
  // Ties go to the even neighbour.
  EXPECT_EQ(to_half(1.0f + 0x1p-11f).bits, 0x3c00);
  EXPECT_EQ(to_half(1.0f + 3 * 0x1p-11f).bits, 0x3c02);
  EXPECT_EQ(to_half(0x1p-25f).bits, 0);
  EXPECT_EQ(to_half(0x1.000002p-25f).bits, 1);
  EXPECT_EQ(to_half(std::numeric_limits<float>::quiet_NaN()).bits & 0x7fff, 0x7e00);
}

TEST(BFloat16Test, KnownValues) {
  EXPECT_EQ(to_float(BFloat16{0x3f80}), 1.0f);
  EXPECT_EQ(to_bfloat16(1.0f + 0x1p-8f).bits, 0x3f80);
  EXPECT_EQ(to_bfloat16(1.0f + 3 * 0x1p-8f).bits, 0x3f82);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::bit_cast<float>(0x7f800001u)))));
}

TEST_P(CopyTest, VectorAndSingleRoundingAgree) {
  TestRandom random(5);
  std::vector<float> x;
  for (int i = 0; i < 100000; ++i) x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random.bits())));
  std::vector<uint16_t> half(x.size()), brain(x.size());
  convert(x.data(), Type::kF32, half.data(), Type::kF16, static_cast<int64_t>(x.size()), Parallel{});
  convert(x.data(), Type::kF32, brain.data(), Type::kBF16, static_cast<int64_t>(x.size()), Parallel{});
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) continue;
    ASSERT_EQ(half[i], to_half(x[i]).bits) << x[i];
    ASSERT_EQ(brain[i], to_bfloat16(x[i]).bits) << x[i];
  }
}

template <class From, class To>
std::vector<To> converted(const std::vector<From>& from, Type from_type, Type to_type) {
  std::vector<To> to(from.size());
  convert(from.data(), from_type, to.data(), to_type, static_cast<int64_t>(from.size()), Parallel{});
  return to;
}

TEST(ConvertTest, FloatsToIntegersTruncate) {
  const std::vector<float> x{-2.75f, -0.5f, 0.99f, 3.5f, 300.0f};
  EXPECT_EQ((converted<float, int32_t>(x, Type::kF32, Type::kI32)), (std::vector<int32_t>{-2, 0, 0, 3, 300}));
  EXPECT_EQ((converted<float, int64_t>(x, Type::kF32, Type::kI64)), (std::vector<int64_t>{-2, 0, 0, 3, 300}));
  EXPECT_EQ((converted<float, uint8_t>(x, Type::kF32, Type::kU8)), (std::vector<uint8_t>{254, 0, 0, 3, 44}));
}

TEST(ConvertTest, IntegersWrapAround) {
  const std::vector<int64_t> x{-1, 255, 256, int64_t{1} << 40};
  EXPECT_EQ((converted<int64_t, uint8_t>(x, Type::kI64, Type::kU8)), (std::vector<uint8_t>{255, 255, 0, 0}));
  EXPECT_EQ((converted<int64_t, int32_t>(x, Type::kI64, Type::kI32)), (std::vector<int32_t>{-1, 255, 256, 0}));
  EXPECT_EQ((converted<int64_t, uint64_t>(x, Type::kI64, Type::kU64)),
            (std::vector<uint64_t>{~uint64_t{0}, 255, 256, uint64_t{1} << 40}));
}

TEST(ConvertTest, LargeIntegersRoundOnce) {
  // 2^60 + 2^36 + 1 lies just above a tie of float; by way of double it would be rounded to the tie first.
  const int64_t value = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;
  EXPECT_EQ((converted<int64_t, float>({value}, Type::kI64, Type::kF32))[0], static_cast<float>(value));
  EXPECT_EQ((converted<uint64_t, double>({~uint64_t{0}}, Type::kU64, Type::kF64))[0], 0x1p64);
}

TEST(ConvertTest, AnythingButZeroIsTrue) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ((converted<float, uint8_t>({0.0f, -0.0f, 0.25f, nan}, Type::kF32, Type::kBool)),
            (std::vector<uint8_t>{0, 0, 1, 1}));
  EXPECT_EQ((converted<int32_t, uint8_t>({0, 256}, Type::kI32, Type::kBool)), (std::vector<uint8_t>{0, 1}));
}

TEST(ConvertTest, OutOfRangeIsDefined) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ((converted<float, int32_t>({inf, 3e9f}, Type::kF32, Type::kI32)),
            (std::vector<int32_t>(2, std::numeric_limits<int32_t>::min())));
  EXPECT_EQ((converted<double, int64_t>({1e300}, Type::kF64, Type::kI64))[0], std::numeric_limits<int64_t>::min());
}

TEST_P(CopyTest, TableIsItsOwn) {
  EXPECT_STREQ(copy_table(GetParam()).isa, isa_name(GetParam()));
}

PTERON_FOR_EACH_ISA(CopyTest);

}  // namespace
}  // namespace pteron::engine
