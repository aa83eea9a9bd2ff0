#include "kernels/binary.h"

#include <atomic>
#include <cmath>
#include <type_traits>

#include "kernels/elementwise.h"

namespace pteron::kernels {
namespace {

// Integer arithmetic wraps around: it is done on the unsigned type, where that is defined.
template <class T>
using Wrapping = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;

struct Add {
  template <class T>
  static T apply(T a, T b, const Params& params) {
    using W = Wrapping<T>;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(params.get<T>(0)) * static_cast<W>(b));
  }
};

struct Subtract {
  template <class T>
  static T apply(T a, T b, const Params& params) {
    using W = Wrapping<T>;
    return static_cast<T>(static_cast<W>(a) - static_cast<W>(params.get<T>(0)) * static_cast<W>(b));
  }
};

struct Multiply {
  template <class T>
  static T apply(T a, T b, const Params&) {
    using W = Wrapping<T>;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};

struct Divide {
  template <class T>
  static T apply(T a, T b, const Params&) {
    return a / b;
  }
};

// Quotient and remainder of integers with the two cases that trap: a zero divisor, and the smallest number by -1.
int64_t integer_quotient(int64_t a, int64_t b, const Params& params) {
  if (b == 0) {
    params.fail();
    return 0;
  }
  if (b == -1) return static_cast<int64_t>(-static_cast<uint64_t>(a));
  return a / b;
}

int64_t integer_remainder(int64_t a, int64_t b, const Params& params) {
  if (b == 0) {
    params.fail();
    return 0;
  }
  return b == -1 ? 0 : a % b;
}

struct DivideTruncating {
  template <class T>
  static T apply(T a, T b, const Params& params) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return integer_quotient(a, b, params);
    } else {
      return std::trunc(a / b);
    }
  }
};

// As Python's //: for floats the quotient is taken from the exact remainder, so that it agrees with `remainder`.
struct DivideFlooring {
  template <class T>
  static T apply(T a, T b, const Params& params) {
    if constexpr (std::is_same_v<T, int64_t>) {
      const int64_t quotient = integer_quotient(a, b, params);
      const int64_t rest = integer_remainder(a, b, params);
      return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
    } else {
      if (b == 0) return a / b;
      const T rest = std::fmod(a, b);
      T quotient = (a - rest) / b;
      if (rest != 0 && (b < 0) != (rest < 0)) quotient -= T{1};
      if (quotient == 0) return std::copysign(T{0}, a / b);
      T floored = std::floor(quotient);
      if (quotient - floored > T{0.5}) floored += T{1};
      return floored;
    }
  }
};

// The sign of the dividend.
struct Fmod {
  template <class T>
  static T apply(T a, T b, const Params& params) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return integer_remainder(a, b, params);
    } else {
      return std::fmod(a, b);
    }
  }
};

// The sign of the divisor.
struct Remainder {
  template <class T>
  static T apply(T a, T b, const Params& params) {
    if constexpr (std::is_same_v<T, int64_t>) {
      const int64_t rest = integer_remainder(a, b, params);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
      const T rest = std::fmod(a, b);
      return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
    }
  }
};

int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<int64_t>(result);
}

struct Power {
  template <class T>
  static T apply(T base, T exponent, const Params&) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return integer_power(base, exponent);
    } else {
      return std::pow(base, exponent);
    }
  }
};

// Exponents that PyTorch does not send through pow().
struct Square {
  template <class T>
  static T apply(T x, const Params&) {
    return x * x;
  }
};
struct Cube {
  template <class T>
  static T apply(T x, const Params&) {
    return x * x * x;
  }
};
struct SquareRoot {
  template <class T>
  static T apply(T x, const Params&) {
    return std::sqrt(x);
  }
};
struct InverseSquareRoot {
  template <class T>
  static T apply(T x, const Params&) {
    return T{1} / std::sqrt(x);
  }
};
struct Inverse {
  template <class T>
  static T apply(T x, const Params&) {
    return T{1} / x;
  }
};
struct InverseSquare {
  template <class T>
  static T apply(T x, const Params&) {
    return T{1} / (x * x);
  }
};

// NaN wins from either side.
struct Maximum {
  template <class T>
  static T apply(T a, T b, const Params&) {
    if constexpr (!std::is_same_v<T, int64_t>) {
      if (a != a) return a;
      return a > b || b != b ? (b != b ? b : a) : b;
    } else {
      return a > b ? a : b;
    }
  }
};
struct Minimum {
  template <class T>
  static T apply(T a, T b, const Params&) {
    if constexpr (!std::is_same_v<T, int64_t>) {
      if (a != a) return a;
      return a < b || b != b ? (b != b ? b : a) : b;
    } else {
      return a < b ? a : b;
    }
  }
};

struct ArcTangent2 {
  template <class T>
  static T apply(T a, T b, const Params&) {
    return std::atan2(a, b);
  }
};

struct BitAnd {
  static int64_t apply(int64_t a, int64_t b, const Params&) { return a & b; }
};
struct BitOr {
  static int64_t apply(int64_t a, int64_t b, const Params&) { return a | b; }
};
struct BitXor {
  static int64_t apply(int64_t a, int64_t b, const Params&) { return a ^ b; }
};
// A shift by a negative number or by the width and more leaves nothing (left) or the sign (right). Values are held in
// 64 bits, so the width of the dtype comes in when the result is narrowed.
struct ShiftLeft {
  static int64_t apply(int64_t a, int64_t b, const Params&) {
    return b < 0 || b > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  }
};
struct ShiftRight {
  static int64_t apply(int64_t a, int64_t b, const Params&) { return b < 0 || b > 63 ? a >> 63 : a >> b; }
};

int common_dtype(const Operand& a, const Operand& b) {
  Promotion promotion;
  for (const Operand* operand : {&a, &b}) {
    if (operand->is_tensor()) {
      promotion.add(operand->tensor());
    } else {
      promotion.add(operand->scalar());
    }
  }
  return promotion.result();
}

int floating_dtype(int common) {
  return is_floating(common) ? common : static_cast<int>(PTERON_FLOAT32);
}

int run(KernelContext& context, const Operation& operation, Tensor& out, const Operand& a, const Operand& b,
        const Params& params = Params()) {
  PTERON_PASS(require_castable(context, operation.common, out.dtype()));
  return elementwise(context, operation, out, {a, b}, params);
}

template <class F, engine::Binary op>
int run_arithmetic(KernelContext& context, const Operand& a, const Operand& b, Tensor& out) {
  return run(context, with_engine<op>(arithmetic<F, 2>(common_dtype(a, b))), out, a, b);
}

template <class F>
int run_with_alpha(KernelContext& context, const Operand& a, const Operand& b, const Scalar& alpha, Tensor& out) {
  const int common = common_dtype(a, b);
  PTERON_REQUIRE(context, is_floating(common) || !alpha.is_double(), "alpha is a float but the operands are integers");
  if constexpr (std::is_same_v<F, Subtract>) {
    PTERON_REQUIRE(context, common != PTERON_BOOL, "subtraction of two bool tensors is not defined; use logical_xor");
  }
  Params params;
  params.set(0, alpha);
  constexpr engine::Binary op = std::is_same_v<F, Add> ? engine::Binary::kAdd : engine::Binary::kSub;
  return run(context, with_engine<op>(arithmetic<F, 2>(common)), out, a, b, params);
}

template <class F>
int run_floating(KernelContext& context, const Operand& a, const Operand& b, Tensor& out, int64_t cost = 1) {
  Operation operation = floating<F, 2>(floating_dtype(common_dtype(a, b)));
  if constexpr (std::is_same_v<F, Divide>) operation = with_engine<engine::Binary::kDiv>(operation);
  operation.cost = cost;
  return run(context, operation, out, a, b);
}

// Integer operations that fail for some values.
template <class F>
int run_division(KernelContext& context, const Operand& a, const Operand& b, Tensor& out) {
  std::atomic<bool> failed = false;
  Params params;
  params.failed = &failed;
  Operation operation = arithmetic<F, 2>(common_dtype(a, b));
  operation.cost = 8;
  PTERON_PASS(run(context, operation, out, a, b, params));
  PTERON_REQUIRE(context, !failed.load(std::memory_order_relaxed), "integer division by zero");
  return PTERON_OK;
}

template <class F>
int run_bitwise(KernelContext& context, const Operand& a, const Operand& b, Tensor& out) {
  const int common = common_dtype(a, b);
  PTERON_REQUIRE(context, !is_floating(common), "a bitwise operation needs integers or bools, found %s",
                 pteron_dtype_name(common));
  return run(context, integral<F, 2>(common), out, a, b);
}

int run_division_mode(KernelContext& context, const Operand& a, const Operand& b,
                      const std::optional<std::string_view>& mode, Tensor& out) {
  if (!mode.has_value()) return run_floating<Divide>(context, a, b, out);
  if (*mode == "floor") return run_division<DivideFlooring>(context, a, b, out);
  if (*mode == "trunc") return run_division<DivideTruncating>(context, a, b, out);
  return pteron_kernel_fail(context.raw(), PTERON_KERNEL_FAILED,
                            "rounding_mode is \"%.*s\", expected none, \"floor\" or \"trunc\"",
                            static_cast<int>(mode->size()), mode->data());
}

}  // namespace

int add_out(KernelContext& context, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out) {
  return run_with_alpha<Add>(context, self, other, alpha, out);
}

int add_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Scalar alpha, Tensor& out) {
  return run_with_alpha<Add>(context, self, other, alpha, out);
}

int sub_out(KernelContext& context, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out) {
  return run_with_alpha<Subtract>(context, self, other, alpha, out);
}

int sub_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Scalar alpha, Tensor& out) {
  return run_with_alpha<Subtract>(context, self, other, alpha, out);
}

int rsub_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Scalar alpha, Tensor& out) {
  return run_with_alpha<Subtract>(context, other, self, alpha, out);
}

int mul_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_arithmetic<Multiply, engine::Binary::kMul>(context, self, other, out);
}

int mul_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return run_arithmetic<Multiply, engine::Binary::kMul>(context, self, other, out);
}

int div_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_floating<Divide>(context, self, other, out);
}

int div_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return run_floating<Divide>(context, self, other, out);
}

int div_out_mode(KernelContext& context, const Tensor& self, const Tensor& other,
                 std::optional<std::string_view> rounding_mode, Tensor& out) {
  return run_division_mode(context, self, other, rounding_mode, out);
}

int div_scalar_mode_out(KernelContext& context, const Tensor& self, Scalar other,
                        std::optional<std::string_view> rounding_mode, Tensor& out) {
  return run_division_mode(context, self, other, rounding_mode, out);
}

int floor_divide_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_division<DivideFlooring>(context, self, other, out);
}

int fmod_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_division<Fmod>(context, self, other, out);
}

int fmod_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return run_division<Fmod>(context, self, other, out);
}

int remainder_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_division<Remainder>(context, self, other, out);
}

int remainder_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return run_division<Remainder>(context, self, other, out);
}

int pow_tensor_tensor_out(KernelContext& context, const Tensor& self, const Tensor& exponent, Tensor& out) {
  Operation operation = arithmetic<Power, 2>(common_dtype(self, exponent));
  operation.cost = 32;
  return run(context, operation, out, self, exponent);
}

int pow_tensor_scalar_out(KernelContext& context, const Tensor& self, Scalar exponent, Tensor& out) {
  const int common = common_dtype(self, exponent);
  PTERON_PASS(require_castable(context, common, out.dtype()));
  if (is_floating(common)) {
    const double power = exponent.to_double();
    if (power == 2)
      return elementwise(context, with_engine<engine::Unary::kSquare>(floating<Square, 1>(common)), out, {self});
    if (power == 3) return elementwise(context, floating<Cube, 1>(common), out, {self});
    if (power == 0.5)
      return elementwise(context, with_engine<engine::Unary::kSqrt>(floating<SquareRoot, 1>(common)), out, {self});
    if (power == -0.5)
      return elementwise(context, with_engine<engine::Unary::kRsqrt>(floating<InverseSquareRoot, 1>(common)), out,
                         {self});
    if (power == -1)
      return elementwise(context, with_engine<engine::Unary::kReciprocal>(floating<Inverse, 1>(common)), out, {self});
    if (power == -2) return elementwise(context, floating<InverseSquare, 1>(common), out, {self});
  } else {
    PTERON_REQUIRE(context, exponent.to_int() >= 0, "integers cannot be raised to the negative power %lld",
                   static_cast<long long>(exponent.to_int()));
  }
  Operation operation = arithmetic<Power, 2>(common);
  operation.cost = 32;
  return run(context, operation, out, self, exponent);
}

int pow_scalar_out(KernelContext& context, Scalar self, const Tensor& exponent, Tensor& out) {
  Operation operation = arithmetic<Power, 2>(common_dtype(self, exponent));
  operation.cost = 32;
  return run(context, operation, out, self, exponent);
}

int maximum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_arithmetic<Maximum, engine::Binary::kMax>(context, self, other, out);
}

int minimum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_arithmetic<Minimum, engine::Binary::kMin>(context, self, other, out);
}

int atan2_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_floating<ArcTangent2>(context, self, other, out, 32);
}

int bitwise_and_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_bitwise<BitAnd>(context, self, other, out);
}

int bitwise_and_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return run_bitwise<BitAnd>(context, self, other, out);
}

int bitwise_or_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_bitwise<BitOr>(context, self, other, out);
}

int bitwise_or_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return run_bitwise<BitOr>(context, self, other, out);
}

int bitwise_xor_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_bitwise<BitXor>(context, self, other, out);
}

int bitwise_xor_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return run_bitwise<BitXor>(context, self, other, out);
}

int bitwise_left_shift_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_bitwise<ShiftLeft>(context, self, other, out);
}

int bitwise_left_shift_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return run_bitwise<ShiftLeft>(context, self, other, out);
}

int bitwise_right_shift_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return run_bitwise<ShiftRight>(context, self, other, out);
}

int bitwise_right_shift_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return run_bitwise<ShiftRight>(context, self, other, out);
}

}  // namespace pteron::kernels
