#include "engine/elementwise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "engine/elementwise_table.h"
#include "engine/isa_parameterized.h"
#include "engine/test_random.h"

namespace pteron::engine {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

class ElementwiseTest : public IsaParameterized {};

// Distance of the neighbouring floats at `value`.
double ulp(double value) {
  const float f = std::fabs(static_cast<float>(value));
  if (!(f < kInf)) return std::ldexp(1.0, 104);
  return static_cast<double>(std::nextafter(f, kInf)) - static_cast<double>(f);
}

std::vector<float> samples(double lo, double hi) {
  TestRandom random(7);
  std::vector<float> x;
  for (int i = 0; i < 20000; ++i) x.push_back(static_cast<float>(lo + (random.real() + 1) / 2 * (hi - lo)));
  // Small magnitudes of either sign, if the interval has them.
  for (int e = -149; e < 8; ++e) {
    for (double sign : {-1.0, 1.0}) {
      const double v = sign * std::ldexp(1.0 + std::fabs(random.real()), e);
      if (v >= lo && v <= hi) x.push_back(static_cast<float>(v));
    }
  }
  return x;
}

struct Case {
  const char* name;
  Unary op;
  double (*exact)(double);
  double lo, hi;
  double ulps;          // allowed, relative to the result
  double absolute = 0;  // allowed besides
};

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}
double gelu(double x) {
  return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

const Case kCases[] = {
    {"exp", Unary::kExp, [](double x) { return std::exp(x); }, -110, 90, 1.5, 0},
    {"log", Unary::kLog, [](double x) { return std::log(x); }, 0, 100, 2, 0},
    {"log near one", Unary::kLog, [](double x) { return std::log(x); }, 0.6, 1.6, 2, 0},
    {"tanh", Unary::kTanh, [](double x) { return std::tanh(x); }, -12, 12, 4, 0},
    {"sigmoid", Unary::kSigmoid, logistic, -100, 100, 4, 0},
    {"erf", Unary::kErf, [](double x) { return std::erf(x); }, -6, 6, 2, 0},
    // Below -87 the sigmoid is denormal and has fewer bits.
    {"silu", Unary::kSilu, [](double x) { return x * logistic(x); }, -87, 90, 5, 0},
    // PyTorch's formula: 1 + erf cancels for negative x, so the error is absolute there.
    {"gelu", Unary::kGeluErf, gelu, -8, 8, 4, 3e-7},
    {"gelu tanh", Unary::kGeluTanh, gelu_tanh, -8, 8, 4, 4e-7},
    {"hardswish", Unary::kHardswish, [](double x) { return x * std::fmin(std::fmax(x + 3, 0), 6) / 6; }, -5, 5, 3,
     3e-7},
    {"hardsigmoid", Unary::kHardsigmoid, [](double x) { return std::fmin(std::fmax(x + 3, 0), 6) / 6; }, -5, 5, 2,
     6e-8},
    {"sqrt", Unary::kSqrt, [](double x) { return std::sqrt(x); }, 0, 1e6, 0.51, 0},
    {"rsqrt", Unary::kRsqrt, [](double x) { return 1 / std::sqrt(x); }, 1e-6, 1e6, 1.51, 0},
    {"reciprocal", Unary::kReciprocal, [](double x) { return 1 / x; }, 0.1, 1e6, 0.51, 0},
    {"square", Unary::kSquare, [](double x) { return x * x; }, -100, 100, 0.51, 0},
    {"abs", Unary::kAbs, [](double x) { return std::fabs(x); }, -100, 100, 0, 0},
    {"neg", Unary::kNeg, [](double x) { return -x; }, -100, 100, 0, 0},
    {"floor", Unary::kFloor, [](double x) { return std::floor(x); }, -100, 100, 0, 0},
    {"ceil", Unary::kCeil, [](double x) { return std::ceil(x); }, -100, 100, 0, 0},
    {"trunc", Unary::kTrunc, [](double x) { return std::trunc(x); }, -100, 100, 0, 0},
    {"round", Unary::kRound, [](double x) { return std::nearbyint(x); }, -100, 100, 0, 0},
    {"round large", Unary::kRound, [](double x) { return std::nearbyint(x); }, 4e6, 3e7, 0, 0},
    {"floor large", Unary::kFloor, [](double x) { return std::floor(x); }, -3e7, 3e7, 0, 0},
};

TEST_P(ElementwiseTest, FunctionsAreAccurate) {
  for (const Case& c : kCases) {
    const std::vector<float> x = samples(c.lo, c.hi);
    std::vector<float> y(x.size());
    unary(c.op, x.data(), y.data(), static_cast<int64_t>(x.size()), {}, Parallel{});
    double worst = 0;
    float worst_x = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = c.exact(x[i]);
      const float rounded = static_cast<float>(want);
      if (std::bit_cast<uint32_t>(rounded) == std::bit_cast<uint32_t>(y[i])) continue;
      const double error = std::fabs(static_cast<double>(y[i]) - want);
      const double ulps = std::fmax(0, error - c.absolute) / ulp(want);
      if (!(ulps <= worst)) {
        worst = ulps;
        worst_x = x[i];
      }
    }
    EXPECT_LE(worst, c.ulps) << c.name << " at x = " << worst_x << ", isa " << isa_name(GetParam());
  }
}

std::vector<float> apply(Unary op, std::vector<float> x, const UnaryParams& params = {}) {
  unary(op, x.data(), x.data(), static_cast<int64_t>(x.size()), params, Parallel{});
  return x;
}

void expect_same(const std::vector<float>& got, const std::vector<float>& want, const char* name) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << name << " element " << i << " is " << got[i];
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want[i]))
          << name << " element " << i << " is " << got[i] << ", expected " << want[i];
    }
  }
}

TEST_P(ElementwiseTest, SpecialValues) {
  expect_same(apply(Unary::kExp, {kNan, kInf, -kInf, 0.0f, -0.0f, 89.0f, -110.0f}), {kNan, kInf, 0, 1, 1, kInf, 0},
              "exp");
  expect_same(apply(Unary::kLog, {kNan, kInf, -kInf, 0.0f, -0.0f, 1.0f, -1.0f}),
              {kNan, kInf, kNan, -kInf, -kInf, 0, kNan}, "log");
  expect_same(apply(Unary::kTanh, {kNan, kInf, -kInf, 0.0f, -0.0f, kTiny}), {kNan, 1, -1, 0.0f, -0.0f, kTiny}, "tanh");
  expect_same(apply(Unary::kSigmoid, {kNan, kInf, -kInf, 0.0f}), {kNan, 1, 0, 0.5f}, "sigmoid");
  expect_same(apply(Unary::kErf, {kNan, kInf, -kInf, 0.0f, -0.0f}), {kNan, 1, -1, 0.0f, -0.0f}, "erf");
  expect_same(apply(Unary::kRelu, {kNan, kInf, -kInf, -1.0f, 2.0f}), {kNan, kInf, 0, 0, 2}, "relu");
  expect_same(apply(Unary::kClamp, {kNan, kInf, -kInf, 0.5f}, {-1, 1, 0}), {kNan, 1, -1, 0.5f}, "clamp");
  expect_same(apply(Unary::kSqrt, {kNan, kInf, -1.0f, -0.0f}), {kNan, kInf, kNan, -0.0f}, "sqrt");
  expect_same(apply(Unary::kRound, {kNan, kInf, -kInf, 0.5f, 1.5f, 2.5f, -0.5f, -0.25f}),
              {kNan, kInf, -kInf, 0, 2, 2, -0.0f, -0.0f}, "round");
  expect_same(apply(Unary::kFloor, {kNan, kInf, -kInf, -0.0f, -0.25f, 0.75f}), {kNan, kInf, -kInf, -0.0f, -1, 0},
              "floor");
  expect_same(apply(Unary::kCeil, {kNan, kInf, -kInf, -0.0f, -0.25f, 0.75f}), {kNan, kInf, -kInf, -0.0f, -0.0f, 1},
              "ceil");
  expect_same(apply(Unary::kTrunc, {kNan, -kInf, -0.75f, 1.75f}), {kNan, -kInf, -0.0f, 1}, "trunc");
  expect_same(apply(Unary::kLeakyRelu, {kNan, -2.0f, 3.0f}, {0.5f, 0, 0}), {kNan, -1, 3}, "leaky relu");
  expect_same(apply(Unary::kElu, {kNan, -kInf, 3.0f}, {2, 1, 1}), {kNan, -2, 3}, "elu");
}

TEST_P(ElementwiseTest, EluIsAccurateNearZero) {
  const std::vector<float> y = apply(Unary::kElu, {-1e-4f, -1e-12f, -0.3f, -20.0f}, {1, 1, 1});
  const double want[] = {std::expm1(static_cast<double>(-1e-4f)), std::expm1(static_cast<double>(-1e-12f)),
                         std::expm1(static_cast<double>(-0.3f)), std::expm1(-20.0)};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], want[i], 2.5 * ulp(want[i])) << i;
}

TEST_P(ElementwiseTest, BitsDoNotDependOnPosition) {
  TestRandom random(3);
  const std::vector<float> x = random_floats(random, 300, 5);
  for (Unary op : {Unary::kExp, Unary::kTanh, Unary::kGeluErf, Unary::kLog, Unary::kSigmoid}) {
    const std::vector<float> all = apply(op, x);
    for (size_t start : {size_t{1}, size_t{7}, size_t{250}, size_t{299}}) {
      const std::vector<float> part = apply(op, {x.begin() + static_cast<int64_t>(start), x.end()});
      EXPECT_EQ(std::memcmp(part.data(), all.data() + start, part.size() * 4), 0)
          << static_cast<int>(op) << " " << start;
    }
  }
}

double combine(Binary op, double a, double b, double alpha) {
  switch (op) {
    case Binary::kAdd:
      return a + alpha * b;
    case Binary::kSub:
      return a - alpha * b;
    case Binary::kMul:
      return a * b;
    case Binary::kDiv:
      return a / b;
    case Binary::kMin:
      return a < b ? a : b;
    case Binary::kMax:
      return a > b ? a : b;
  }
  return 0;
}

TEST_P(ElementwiseTest, BinaryWithEverySpread) {
  TestRandom random(11);
  for (Binary op : {Binary::kAdd, Binary::kSub, Binary::kMul, Binary::kDiv, Binary::kMin, Binary::kMax}) {
    for (Spread spread : {Spread::kFull, Spread::kScalar, Spread::kRow, Spread::kCol}) {
      for (bool swapped : {false, true}) {
        for (const auto& [rows, cols] :
             {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {2, 33}, {7, 16}, {0, 4}, {150, 300}}) {
          const std::vector<float> a = random_floats(random, rows * cols),
                                   b = random_floats(random, rows * cols + cols + 1);
          std::vector<float> out(a.size());
          const float alpha = op == Binary::kAdd || op == Binary::kSub ? 0.5f : 1.0f;
          binary(op, a.data(), b.data(), out.data(), rows, cols, spread, alpha, swapped, test_threads(2));
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t c = 0; c < cols; ++c) {
              const int64_t at = r * cols + c;
              const int64_t from = spread == Spread::kFull     ? at
                                   : spread == Spread::kScalar ? 0
                                   : spread == Spread::kRow    ? r
                                                               : c;
              const double x = a[static_cast<size_t>(at)], y = b[static_cast<size_t>(from)];
              const double want = swapped ? combine(op, y, x, alpha) : combine(op, x, y, alpha);
              ASSERT_NEAR(out[static_cast<size_t>(at)], want,
                          0.51 * ulp(want) + 1e-12 + 6e-8 * (op == Binary::kAdd || op == Binary::kSub))
                  << "op " << static_cast<int>(op) << " spread " << static_cast<int>(spread) << " swapped " << swapped;
            }
          }
        }
      }
    }
  }
}

TEST_P(ElementwiseTest, MinAndMaxGiveNanForEitherNan) {
  const float a[] = {kNan, 1.0f}, b[] = {1.0f, kNan};
  for (Binary op : {Binary::kMin, Binary::kMax}) {
    float out[2] = {};
    binary(op, a, b, out, 1, 2, Spread::kFull, 1, false, Parallel{});
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1])) << static_cast<int>(op);
  }
}

TEST_P(ElementwiseTest, TableIsItsOwn) {
  EXPECT_STREQ(elementwise_table(GetParam()).isa, isa_name(GetParam()));
}

PTERON_FOR_EACH_ISA(ElementwiseTest);

}  // namespace
}  // namespace pteron::engine
