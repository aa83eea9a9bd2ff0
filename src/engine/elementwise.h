// Vectorised fp32 loops over contiguous memory.
//
// Accuracy: +, -, *, /, sqrt, min, max, abs, neg and comparisons-based functions are exact (correctly rounded); exp,
// log, tanh and sigmoid stay within a few units in the last place (rtol 1e-6) of the exact value over the whole range.
// So do silu and gelu but where they run out to zero: gelu follows 1 + erf, whose error is absolute for negative
// numbers, and silu loses relative accuracy below -87. NaN, infinities, signed zeros and denormals are as in libm. The
// same element gives the same bits wherever it stands in the array and for any thread count. In and out may be the same
// pointer; other overlaps are not allowed.
#pragma once

#include <cstdint>

#include "engine/parallel.h"

namespace pteron::engine {

enum class Unary : uint8_t {
  kRelu,       // NaN stays NaN
  kClamp,      // min(max(x, p0), p1); NaN stays NaN
  kLeakyRelu,  // x > 0 ? x : p0 * x
  kElu,        // x > 0 ? x * p1 : (exp(x * p2) - 1) * p0 * p1; alpha, scale and input_scale of aten::elu
  kSigmoid,
  kTanh,
  kExp,
  kLog,
  kGeluErf,
  kGeluTanh,
  kSilu,
  kHardswish,
  kHardsigmoid,
  kSqrt,
  kRsqrt,  // 1 / sqrt(x), both correctly rounded
  kReciprocal,
  kAbs,
  kNeg,
  kSquare,
  kErf,
  kFloor,
  kCeil,
  kTrunc,
  kRound,  // half to even
};

struct UnaryParams {
  float p0 = 0;
  float p1 = 0;
  float p2 = 0;
};

void unary(Unary op, const float* in, float* out, int64_t count, const UnaryParams& params, const Parallel& parallel);

enum class Binary : uint8_t {
  kAdd,  // a + alpha * b
  kSub,  // a - alpha * b
  kMul,
  kDiv,
  kMin,  // NaN if either is NaN
  kMax,
};

// How the second operand relates to the first, seen as a matrix [rows, cols].
enum class Spread : uint8_t {
  kFull,    // b[rows, cols]
  kScalar,  // b[1]
  kRow,     // b[rows]: one value per row
  kCol,     // b[cols]: one value per column
};

// out[r, c] = a[r, c] op b[...]; swapped: b op a (alpha then scales a). alpha is used by kAdd and kSub only.
void binary(Binary op, const float* a, const float* b, float* out, int64_t rows, int64_t cols, Spread spread,
            float alpha, bool swapped, const Parallel& parallel);

}  // namespace pteron::engine
