#include "engine/gemm.h"

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
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}
// Half a unit of the type's precision at 1, plus what a long float sum loses.
template <class T>
double tolerance() {
  if constexpr (std::is_same_v<T, Half>) return 1e-3;
  if constexpr (std::is_same_v<T, BFloat16>) return 8e-3;
  if constexpr (std::is_same_v<T, double>) return 1e-13;
  return 2e-6;
}

template <class T>
struct Problem {
  int64_t m, n, k;
  bool a_transposed = false, b_transposed = false;
  int64_t a_pad = 0, b_pad = 0, c_pad = 0;
  double alpha = 1, beta = 0;
  int c0 = 0;  // 0 none, 1 full, 2 broadcast over rows, 3 in place
  bool row_bias = false, col_bias = false, clamp = false;
  bool pack_a = false, pack_b = false;
  bool odd_strides = false;  // neither stride of A and B is 1
};

template <class T>
void check(const Problem<T>& p, uint64_t seed, const Parallel& parallel, std::vector<T>* result = nullptr) {
  using Acc = Accumulator<T>;
  TestRandom random(seed);
  const auto fill = [&](int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    for (T& v : values) v = from_double<T>(random.real());
    return values;
  };
  const int64_t step = p.odd_strides ? 2 : 1;
  const int64_t lda = ((p.a_transposed ? p.m : p.k) + p.a_pad) * step;
  const int64_t ldb = ((p.b_transposed ? p.k : p.n) + p.b_pad) * step;
  const int64_t ldc = p.n + p.c_pad;
  const std::vector<T> a = fill(lda * (p.a_transposed ? p.k : p.m) + 1);
  const std::vector<T> b = fill(ldb * (p.b_transposed ? p.n : p.k) + 1);
  std::vector<T> c0 = fill(ldc * p.m + p.n + 1);
  std::vector<T> c = fill(ldc * p.m + 1);
  const std::vector<T> c_before = c;
  std::vector<Acc> rows(static_cast<size_t>(p.m)), cols(static_cast<size_t>(p.n));
  for (Acc& v : rows) v = static_cast<Acc>(random.real());
  for (Acc& v : cols) v = static_cast<Acc>(random.real());

  Gemm<T> g;
  g.m = p.m;
  g.n = p.n;
  g.k = p.k;
  g.a = p.a_transposed ? MatrixView<T>{a.data(), step, lda} : MatrixView<T>{a.data(), lda, step};
  g.b = p.b_transposed ? MatrixView<T>{b.data(), step, ldb} : MatrixView<T>{b.data(), ldb, step};
  g.c = c.data();
  g.c_row_stride = ldc;
  g.alpha = static_cast<Acc>(p.alpha);
  g.beta = static_cast<Acc>(p.beta);
  if (p.c0 == 1) g.c0 = {c0.data(), ldc, 1};
  if (p.c0 == 2) g.c0 = {c0.data(), 0, 1};
  if (p.c0 == 3) g.c0 = {c.data(), ldc, 1};
  if (p.row_bias) g.row_bias = rows.data();
  if (p.col_bias) g.col_bias = cols.data();
  if (p.clamp) {
    g.lo = static_cast<Acc>(-0.5);
    g.hi = static_cast<Acc>(0.75);
  }
  std::vector<double> expected(static_cast<size_t>(p.m * p.n));
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int64_t q = 0; q < p.k; ++q) {
        sum += to_double(g.a.data[i * g.a.row_stride + q * g.a.col_stride]) *
               to_double(g.b.data[q * g.b.row_stride + j * g.b.col_stride]);
      }
      sum *= static_cast<double>(g.alpha);
      if (p.c0 != 0) sum += p.beta * to_double(g.c0.data[i * g.c0.row_stride + j * g.c0.col_stride]);
      if (p.row_bias) sum += static_cast<double>(rows[static_cast<size_t>(i)]);
      if (p.col_bias) sum += static_cast<double>(cols[static_cast<size_t>(j)]);
      if (p.clamp) sum = std::fmin(std::fmax(sum, -0.5), 0.75);
      expected[static_cast<size_t>(i * p.n + j)] = sum;
    }
  }
  AlignedBuffer packed_a(packed_a_bytes<T>(p.m, p.k));
  AlignedBuffer packed_b(packed_b_bytes<T>(p.k, p.n));
  if (p.pack_a) {
    pack_a<T>(g.a, p.m, p.k, static_cast<Acc*>(packed_a.get()));
    g.packed_a = static_cast<const Acc*>(packed_a.get());
  }
  if (p.pack_b) {
    pack_b<T>(g.b, p.k, p.n, static_cast<Acc*>(packed_b.get()), parallel);
    g.packed_b = static_cast<const Acc*>(packed_b.get());
  }
  AlignedBuffer scratch(gemm_scratch_bytes(g));
  gemm(g, scratch.get(), parallel);
  EXPECT_TRUE(scratch.intact());
  EXPECT_TRUE(packed_a.intact());
  EXPECT_TRUE(packed_b.intact());

  const double allowed = tolerance<T>() * (1 + std::sqrt(static_cast<double>(p.k)));
  int64_t wrong = 0;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      const double got = to_double(c[static_cast<size_t>(i * ldc + j)]);
      const double want = expected[static_cast<size_t>(i * p.n + j)];
      if (!(std::abs(got - want) <= allowed * (1 + std::abs(want) / (1 + std::sqrt(static_cast<double>(p.k)))))) {
        if (++wrong == 1) {
          ADD_FAILURE() << "C[" << i << "," << j << "] is " << got << ", expected " << want << "; m " << p.m << " n "
                        << p.n << " k " << p.k << " at " << p.a_transposed << " bt " << p.b_transposed << " pa "
                        << p.pack_a << " pb " << p.pack_b << " c0 " << p.c0 << " isa " << isa_name(active_isa())
                        << " seed " << seed;
        }
      }
    }
    for (int64_t j = p.n; j < ldc; ++j) {
      const size_t at = static_cast<size_t>(i * ldc + j);
      if (std::memcmp(&c[at], &c_before[at], sizeof(T)) != 0 && ++wrong == 1) {
        ADD_FAILURE() << "wrote beyond row " << i << " of C, isa " << isa_name(active_isa());
      }
    }
  }
  if (result != nullptr) *result = c;
}

class GemmTest : public IsaParameterized {};

template <class T>
Problem<T> random_problem(TestRandom& random) {
  static constexpr int64_t kSizes[] = {0,  1,  2,  3,  4,  5,  7,  8,  13, 14,  15,
                                       16, 17, 29, 31, 32, 33, 47, 64, 65, 100, 130};
  static constexpr int64_t kDepths[] = {0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 64, 100, 255, 256, 257, 300, 513};
  Problem<T> p{};
  p.m = kSizes[random.below(std::size(kSizes))];
  p.n = random.below(6) == 0 ? 1 : kSizes[random.below(std::size(kSizes))];
  p.k = kDepths[random.below(std::size(kDepths))];
  p.a_transposed = random.below(2) != 0;
  p.b_transposed = random.below(2) != 0;
  p.a_pad = random.below(3);
  p.b_pad = random.below(3);
  p.c_pad = random.below(3);
  p.odd_strides = random.below(8) == 0;
  p.pack_a = random.below(3) == 0 && (std::is_same_v<T, float> || std::is_same_v<T, double>);
  p.pack_b = random.below(3) == 0;
  p.alpha = random.below(3) == 0 && !(p.pack_a && p.pack_b) ? 0.5 * static_cast<double>(random.below(4)) : 1;
  p.c0 = static_cast<int>(random.below(4));
  p.beta = p.c0 == 0 ? 0 : 0.5 * static_cast<double>(random.below(4));
  p.row_bias = random.below(3) == 0;
  p.col_bias = random.below(3) == 0;
  p.clamp = random.below(3) == 0;
  return p;
}

template <class T>
void check_random(int cases) {
  for (int i = 0; i < cases; ++i) {
    const uint64_t seed = 1000 + static_cast<uint64_t>(i);
    TestRandom random(seed);
    check(random_problem<T>(random), seed, Parallel{});
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(GemmTest, FloatMatchesTheDefinition) {
  check_random<float>(600);
}
TEST_P(GemmTest, DoubleMatchesTheDefinition) {
  check_random<double>(300);
}
TEST_P(GemmTest, HalfMatchesTheDefinition) {
  check_random<Half>(200);
}
TEST_P(GemmTest, BFloat16MatchesTheDefinition) {
  check_random<BFloat16>(200);
}

TEST_P(GemmTest, SeveralTilesInEachDirection) {
  Problem<float> p{.m = 300, .n = 700, .k = 530};
  check(p, 1, Parallel{});
  p.pack_b = true;
  check(p, 2, Parallel{});
}

TEST_P(GemmTest, RowsAKibibyteApartAreCopied) {
  check(Problem<float>{.m = 40, .n = 40, .k = 512}, 3, Parallel{});
  check(Problem<float>{.m = 40, .n = 40, .k = 512, .pack_a = true}, 3, Parallel{});
}

TEST_P(GemmTest, ThreadsDoNotChangeABit) {
  for (const Problem<float>& p :
       {Problem<float>{.m = 200, .n = 600, .k = 300}, Problem<float>{.m = 2, .n = 5000, .k = 300},
        Problem<float>{.m = 3, .n = 5000, .k = 300, .b_transposed = true},
        Problem<float>{.m = 5000, .n = 1, .k = 300}}) {
    std::vector<float> one, three;
    check(p, 5, Parallel{}, &one);
    check(p, 5, test_threads(3), &three);
    EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof(float)), 0) << "m " << p.m;
  }
}

TEST_P(GemmTest, NanPassesTheClamp) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t m : {int64_t{1}, int64_t{6}}) {
    std::vector<float> a(static_cast<size_t>(m), nan), b{1, 2, 3}, c(static_cast<size_t>(m * 3));
    Gemm<float> g;
    g.m = m;
    g.n = 3;
    g.k = 1;
    g.a = {a.data(), 1, 1};
    g.b = {b.data(), 3, 1};
    g.c = c.data();
    g.c_row_stride = 3;
    g.lo = 0;
    AlignedBuffer scratch(gemm_scratch_bytes(g));
    gemm(g, scratch.get(), Parallel{});
    for (float v : c) EXPECT_TRUE(std::isnan(v)) << "m " << m;
  }
}

TEST_P(GemmTest, BetaZeroIgnoresNanInC0) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> a{2}, b{3}, c{nan};
  Gemm<float> g;
  g.m = g.n = g.k = 1;
  g.a = {a.data(), 1, 1};
  g.b = {b.data(), 1, 1};
  g.c = c.data();
  g.c_row_stride = 1;
  g.c0 = {c.data(), 1, 1};
  gemm(g, nullptr, Parallel{});
  EXPECT_EQ(c[0], 6.0f);
}

TEST_P(GemmTest, BatchesWithOffsetsAndThreads) {
  constexpr int64_t kM = 5, kN = 19, kK = 23, kCount = 7;
  TestRandom random(9);
  const std::vector<float> a = random_floats(random, kCount * kM * kK);
  const std::vector<float> b = random_floats(random, 2 * kK * kN);
  std::vector<float> c(kCount * kM * kN);
  std::vector<int64_t> b_offsets;
  for (int64_t i = 0; i < kCount; ++i) b_offsets.push_back(i % 2 * kK * kN);
  Gemm<float> g;
  g.m = kM;
  g.n = kN;
  g.k = kK;
  g.a = {a.data(), kK, 1};
  g.b = {b.data(), kN, 1};
  g.c = c.data();
  g.c_row_stride = kN;
  GemmBatch batch;
  batch.count = kCount;
  batch.a_stride = kM * kK;
  batch.c_stride = kM * kN;
  batch.b_offsets = b_offsets.data();
  const Parallel parallel = test_threads(2);
  AlignedBuffer scratch(gemm_batched_scratch_bytes(g, batch, parallel));
  gemm_batched(g, batch, scratch.get(), parallel);
  EXPECT_TRUE(scratch.intact());
  for (int64_t i = 0; i < kCount; ++i) {
    for (int64_t r = 0; r < kM; ++r) {
      for (int64_t j = 0; j < kN; ++j) {
        double sum = 0;
        for (int64_t q = 0; q < kK; ++q) {
          sum += static_cast<double>(a[static_cast<size_t>((i * kM + r) * kK + q)]) *
                 static_cast<double>(b[static_cast<size_t>(b_offsets[static_cast<size_t>(i)] + q * kN + j)]);
        }
        ASSERT_NEAR(c[static_cast<size_t>((i * kM + r) * kN + j)], sum, 1e-5);
      }
    }
  }
}

template <class T>
void check_integers() {
  constexpr int64_t kM = 3, kN = 70, kK = 50;
  TestRandom random(4);
  std::vector<T> a(kM * kK), b(kK * kN), c(kM * kN);
  for (T& v : a) v = static_cast<T>(random.bits());
  for (T& v : b) v = static_cast<T>(random.bits());
  Gemm<T> g;
  g.m = kM;
  g.n = kN;
  g.k = kK;
  g.a = {a.data(), kK, 1};
  g.b = {b.data(), 1, kK};
  g.c = c.data();
  g.c_row_stride = kN;
  gemm(g, nullptr, Parallel{});
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      uint64_t sum = 0;
      for (int64_t q = 0; q < kK; ++q) {
        sum += static_cast<uint64_t>(a[static_cast<size_t>(i * kK + q)]) *
               static_cast<uint64_t>(b[static_cast<size_t>(j * kK + q)]);
      }
      ASSERT_EQ(c[static_cast<size_t>(i * kN + j)], static_cast<T>(sum));
    }
  }
}

TEST(IntegerGemmTest, WrapsAround) {
  check_integers<int8_t>();
  check_integers<uint8_t>();
  check_integers<int16_t>();
  check_integers<int32_t>();
  check_integers<int64_t>();
}

PTERON_FOR_EACH_ISA(GemmTest);

}  // namespace
}  // namespace pteron::engine
