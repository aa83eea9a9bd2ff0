// Unary and binary loops, compiled once for each instruction set.
#pragma once

#include "engine/elementwise_table.h"
#include "engine/math-inl.h"

namespace pteron::engine {
namespace PTERON_ISA_NAMESPACE {

// Applies f to every vector; the tail goes through the same f, so an element's bits do not depend on where it stands.
template <class F>
PTERON_INLINE void map(const float* in, float* out, int64_t count, F f) {
  int64_t i = 0;
  for (; i + lanes<float>() <= count; i += lanes<float>()) store(out + i, f(load(in + i)));
  if (i < count) {
    const int n = static_cast<int>(count - i);
    store_n(out + i, f(load_n(in + i, n)), n);
  }
}

static void unary(Unary op, const float* in, float* out, int64_t count, const UnaryParams& params) {
  const F32 p0 = set1(params.p0);
  const F32 p1 = set1(params.p1);
  const F32 p2 = set1(params.p2);
  const F32 zero = set1(0.0f);
  const F32 half = set1(0.5f);
  const F32 one = set1(1.0f);
  switch (op) {
    case Unary::kRelu:
      return map(in, out, count, [=](F32 x) { return at_least<float>(x, zero); });
    case Unary::kClamp:
      return map(in, out, count, [=](F32 x) { return at_most<float>(at_least<float>(x, p0), p1); });
    case Unary::kLeakyRelu:
      return map(in, out, count, [=](F32 x) { return select(x > zero, x, x * p0); });
    case Unary::kElu:
      return map(in, out, count,
                 [=](F32 x) { return select(x > zero, x * p1, exponential_minus_one(x * p2) * p0 * p1); });
    case Unary::kSigmoid:
      return map(in, out, count, [](F32 x) { return logistic(x); });
    case Unary::kTanh:
      return map(in, out, count, [](F32 x) { return hyperbolic_tangent(x); });
    case Unary::kExp:
      return map(in, out, count, [](F32 x) { return exponential(x); });
    case Unary::kLog:
      return map(in, out, count, [](F32 x) { return logarithm(x); });
    case Unary::kGeluErf:
      return map(in, out, count, [=](F32 x) { return x * half * (one + error_function(x * set1(0.707106781f))); });
    case Unary::kGeluTanh:
      return map(in, out, count, [=](F32 x) {
        const F32 inner = set1(0.797884561f) * (x + set1(0.044715f) * x * x * x);
        return half * x * (one + hyperbolic_tangent(inner));
      });
    case Unary::kSilu:
      return map(in, out, count, [](F32 x) { return x * logistic(x); });
    case Unary::kHardswish:
      return map(in, out, count, [=](F32 x) {
        const F32 gate = at_most<float>(at_least<float>(x + set1(3.0f), zero), set1(6.0f));
        return x * gate / set1(6.0f);
      });
    case Unary::kHardsigmoid:
      return map(in, out, count,
                 [=](F32 x) { return at_most<float>(at_least<float>(x + set1(3.0f), zero), set1(6.0f)) / set1(6.0f); });
    case Unary::kSqrt:
      return map(in, out, count, [](F32 x) { return square_root(x); });
    case Unary::kRsqrt:
      return map(in, out, count, [=](F32 x) { return one / square_root(x); });
    case Unary::kReciprocal:
      return map(in, out, count, [=](F32 x) { return one / x; });
    case Unary::kAbs:
      return map(in, out, count, [](F32 x) { return absolute(x); });
    case Unary::kNeg:
      return map(in, out, count, [](F32 x) { return -x; });
    case Unary::kSquare:
      return map(in, out, count, [](F32 x) { return x * x; });
    case Unary::kErf:
      return map(in, out, count, [](F32 x) { return error_function(x); });
    case Unary::kFloor:
      return map(in, out, count, [](F32 x) { return round_down(x); });
    case Unary::kCeil:
      return map(in, out, count, [](F32 x) { return round_up(x); });
    case Unary::kTrunc:
      return map(in, out, count, [](F32 x) { return round_to_zero(x); });
    case Unary::kRound:
      return map(in, out, count, [](F32 x) { return round_even(x); });
  }
}

template <class F>
PTERON_INLINE void map2(const float* a, const float* b, int b_step, float* out, int64_t count, F f) {
  int64_t i = 0;
  if (b_step == 0) {
    const F32 right = set1(*b);
    for (; i + lanes<float>() <= count; i += lanes<float>()) store(out + i, f(load(a + i), right));
    if (i < count) {
      const int n = static_cast<int>(count - i);
      store_n(out + i, f(load_n(a + i, n), right), n);
    }
    return;
  }
  for (; i + lanes<float>() <= count; i += lanes<float>()) store(out + i, f(load(a + i), load(b + i)));
  if (i < count) {
    const int n = static_cast<int>(count - i);
    store_n(out + i, f(load_n(a + i, n), load_n(b + i, n)), n);
  }
}

static void binary(Binary op, const float* a, const float* b, int b_step, float* out, int64_t count, float alpha,
                   bool swapped) {
  const F32 scale = set1(alpha);
  switch (op) {
    case Binary::kAdd:
      if (swapped) return map2(a, b, b_step, out, count, [=](F32 x, F32 y) { return x * scale + y; });
      return map2(a, b, b_step, out, count, [=](F32 x, F32 y) { return y * scale + x; });
    case Binary::kSub:
      if (swapped) return map2(a, b, b_step, out, count, [=](F32 x, F32 y) { return y - x * scale; });
      return map2(a, b, b_step, out, count, [=](F32 x, F32 y) { return x - y * scale; });
    case Binary::kMul:
      return map2(a, b, b_step, out, count, [](F32 x, F32 y) { return x * y; });
    case Binary::kDiv:
      if (swapped) return map2(a, b, b_step, out, count, [](F32 x, F32 y) { return y / x; });
      return map2(a, b, b_step, out, count, [](F32 x, F32 y) { return x / y; });
    case Binary::kMin:
      return map2(a, b, b_step, out, count, [](F32 x, F32 y) { return select((x < y) | (x != x), x, y); });
    case Binary::kMax:
      return map2(a, b, b_step, out, count, [](F32 x, F32 y) { return select((x > y) | (x != x), x, y); });
  }
}

static void affine(const float* a, const float* b, const float* c, int step, float* out, int64_t count) {
  if (step == 0) {
    const F32 scale = set1(*b);
    const F32 shift = set1(*c);
    return map(a, out, count, [=](F32 x) { return x * scale + shift; });
  }
  int64_t i = 0;
  for (; i + lanes<float>() <= count; i += lanes<float>()) store(out + i, load(a + i) * load(b + i) + load(c + i));
  if (i < count) {
    const int n = static_cast<int>(count - i);
    store_n(out + i, load_n(a + i, n) * load_n(b + i, n) + load_n(c + i, n), n);
  }
}

extern const ElementwiseTable elementwise_table;
constexpr ElementwiseTable elementwise_table = {kIsaName, unary, binary, affine};

}  // namespace PTERON_ISA_NAMESPACE
}  // namespace pteron::engine
