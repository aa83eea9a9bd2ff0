#include "kernels/unary.h"

#include <cmath>
#include <type_traits>

#include "kernels/elementwise.h"
#include "kernels/shape.h"

namespace pteron::kernels {
namespace {

struct ArcCosine {
  template <class T>
  static T apply(T x, const Params&) {
    return std::acos(x);
  }
};
struct InverseHyperbolicCosine {
  template <class T>
  static T apply(T x, const Params&) {
    return std::acosh(x);
  }
};
struct ArcSine {
  template <class T>
  static T apply(T x, const Params&) {
    return std::asin(x);
  }
};
struct InverseHyperbolicSine {
  template <class T>
  static T apply(T x, const Params&) {
    return std::asinh(x);
  }
};
struct ArcTangent {
  template <class T>
  static T apply(T x, const Params&) {
    return std::atan(x);
  }
};
struct InverseHyperbolicTangent {
  template <class T>
  static T apply(T x, const Params&) {
    return std::atanh(x);
  }
};
struct Cosine {
  template <class T>
  static T apply(T x, const Params&) {
    return std::cos(x);
  }
};
struct HyperbolicCosine {
  template <class T>
  static T apply(T x, const Params&) {
    return std::cosh(x);
  }
};
struct ErrorFunction {
  template <class T>
  static T apply(T x, const Params&) {
    return std::erf(x);
  }
};
struct Exponential {
  template <class T>
  static T apply(T x, const Params&) {
    return std::exp(x);
  }
};
struct ExponentialMinusOne {
  template <class T>
  static T apply(T x, const Params&) {
    return std::expm1(x);
  }
};
struct Logarithm {
  template <class T>
  static T apply(T x, const Params&) {
    return std::log(x);
  }
};
struct Logarithm10 {
  template <class T>
  static T apply(T x, const Params&) {
    return std::log10(x);
  }
};
struct LogarithmOfOnePlus {
  template <class T>
  static T apply(T x, const Params&) {
    return std::log1p(x);
  }
};
struct Logarithm2 {
  template <class T>
  static T apply(T x, const Params&) {
    return std::log2(x);
  }
};
struct Reciprocal {
  template <class T>
  static T apply(T x, const Params&) {
    return T{1} / x;
  }
};
struct InverseSquareRoot {
  template <class T>
  static T apply(T x, const Params&) {
    return T{1} / std::sqrt(x);
  }
};
struct Sigmoid {
  template <class T>
  static T apply(T x, const Params&) {
    return T{1} / (T{1} + std::exp(-x));
  }
};
struct Sine {
  template <class T>
  static T apply(T x, const Params&) {
    return std::sin(x);
  }
};
struct HyperbolicSine {
  template <class T>
  static T apply(T x, const Params&) {
    return std::sinh(x);
  }
};
struct SquareRoot {
  template <class T>
  static T apply(T x, const Params&) {
    return std::sqrt(x);
  }
};
struct Tangent {
  template <class T>
  static T apply(T x, const Params&) {
    return std::tan(x);
  }
};
struct HyperbolicTangent {
  template <class T>
  static T apply(T x, const Params&) {
    return std::tanh(x);
  }
};
struct Ceiling {
  template <class T>
  static T apply(T x, const Params&) {
    return std::ceil(x);
  }
};
struct Floor {
  template <class T>
  static T apply(T x, const Params&) {
    return std::floor(x);
  }
};
struct RoundHalfToEven {
  template <class T>
  static T apply(T x, const Params&) {
    return std::nearbyint(x);
  }
};
struct Truncate {
  template <class T>
  static T apply(T x, const Params&) {
    return std::trunc(x);
  }
};

struct Absolute {
  template <class T>
  static T apply(T x, const Params&) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x;
    } else {
      return std::abs(x);
    }
  }
};
struct Negative {
  template <class T>
  static T apply(T x, const Params&) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return static_cast<int64_t>(-static_cast<uint64_t>(x));
    } else {
      return -x;
    }
  }
};
struct Sign {
  template <class T>
  static T apply(T x, const Params&) {
    return static_cast<T>((x > 0) - (x < 0));
  }
};
// NaN stays NaN.
struct Relu {
  template <class T>
  static T apply(T x, const Params&) {
    return x < 0 ? T{0} : x;
  }
};
struct BitNot {
  static int64_t apply(int64_t x, const Params&) { return ~x; }
};
struct BoolNot {
  static uint8_t apply(uint8_t x, const Params&) { return x ^ 1; }
};
struct Same {
  template <class T>
  static T apply(T x, const Params&) {
    return x;
  }
};

struct Logit {
  template <class T>
  static T apply(T x, const Params& params) {
    const T eps = params.get<T>(0);
    if (eps >= 0) {
      const T most = T{1} - eps;
      x = x < eps ? eps : (x > most ? most : x);
    }
    return std::log(x / (T{1} - x));
  }
};

// x times the normal distribution function.
struct GeluErf {
  template <class T>
  static T apply(T x, const Params&) {
    return x * T{0.5} * (T{1} + std::erf(x * T{0.70710678118654752440}));
  }
};
// Its approximation by tanh: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
struct GeluTanh {
  template <class T>
  static T apply(T x, const Params&) {
    const T inner = T{0.79788456080286535588} * (x + T{0.044715} * x * x * x);
    return T{0.5} * x * (T{1} + std::tanh(inner));
  }
};
struct Elu {
  template <class T>
  static T apply(T x, const Params& params) {
    const T alpha = params.get<T>(0), scale = params.get<T>(1), input_scale = params.get<T>(2);
    return x < 0 ? std::expm1(x * input_scale) * (alpha * scale) : x * scale;
  }
};
struct Clamp {
  template <class T>
  static T apply(T x, const Params& params) {
    const T low = params.get<T>(0), high = params.get<T>(1);
    x = x < low ? low : x;
    return x > high ? high : x;
  }
};
struct LeakyRelu {
  template <class T>
  static T apply(T x, const Params& params) {
    return x > 0 ? x : x * params.get<T>(0);
  }
};
struct Gate {
  template <class T>
  static T apply(T a, T b, const Params&) {
    return a / (T{1} + std::exp(-b));
  }
};

// Roughly what one call of a mathematical function costs, in additions.
constexpr int64_t kFunctionCost = 16;

int floating_dtype(int dtype) {
  return is_floating(dtype) ? dtype : static_cast<int>(PTERON_FLOAT32);
}

// The engine's function for a functor, where it has one.
template <class F>
inline constexpr std::optional<engine::Unary> kEngine = std::nullopt;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Exponential> = engine::Unary::kExp;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Logarithm> = engine::Unary::kLog;
template <>
inline constexpr std::optional<engine::Unary> kEngine<HyperbolicTangent> = engine::Unary::kTanh;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Sigmoid> = engine::Unary::kSigmoid;
template <>
inline constexpr std::optional<engine::Unary> kEngine<SquareRoot> = engine::Unary::kSqrt;
template <>
inline constexpr std::optional<engine::Unary> kEngine<InverseSquareRoot> = engine::Unary::kRsqrt;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Reciprocal> = engine::Unary::kReciprocal;
template <>
inline constexpr std::optional<engine::Unary> kEngine<ErrorFunction> = engine::Unary::kErf;
template <>
inline constexpr std::optional<engine::Unary> kEngine<GeluErf> = engine::Unary::kGeluErf;
template <>
inline constexpr std::optional<engine::Unary> kEngine<GeluTanh> = engine::Unary::kGeluTanh;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Elu> = engine::Unary::kElu;
template <>
inline constexpr std::optional<engine::Unary> kEngine<LeakyRelu> = engine::Unary::kLeakyRelu;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Clamp> = engine::Unary::kClamp;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Absolute> = engine::Unary::kAbs;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Negative> = engine::Unary::kNeg;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Relu> = engine::Unary::kRelu;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Ceiling> = engine::Unary::kCeil;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Floor> = engine::Unary::kFloor;
template <>
inline constexpr std::optional<engine::Unary> kEngine<Truncate> = engine::Unary::kTrunc;
template <>
inline constexpr std::optional<engine::Unary> kEngine<RoundHalfToEven> = engine::Unary::kRound;

template <class F>
Operation accelerated(const Operation& operation) {
  if constexpr (kEngine<F>.has_value()) {
    return with_engine<*kEngine<F>>(operation);
  } else {
    return operation;
  }
}

template <class F>
int float_unary(KernelContext& context, const Tensor& self, Tensor& out, const Params& params = Params()) {
  const int common = floating_dtype(self.dtype());
  PTERON_PASS(require_castable(context, common, out.dtype()));
  Operation operation = accelerated<F>(floating<F, 1>(common));
  operation.common = -1;  // integers go to float directly
  operation.cost = kFunctionCost;
  return elementwise(context, operation, out, {self}, params);
}

template <class F>
int same_unary(KernelContext& context, const Tensor& self, Tensor& out, const Params& params = Params()) {
  PTERON_PASS(require_castable(context, self.dtype(), out.dtype()));
  return elementwise(context, accelerated<F>(arithmetic<F, 1>(self.dtype())), out, {self}, params);
}

template <class F>
int rounding_unary(KernelContext& context, const Tensor& self, Tensor& out) {
  return is_floating(self.dtype()) ? same_unary<F>(context, self, out) : same_unary<Same>(context, self, out);
}

}  // namespace

int acos_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<ArcCosine>(context, self, out);
}

int acosh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<InverseHyperbolicCosine>(context, self, out);
}

int asin_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<ArcSine>(context, self, out);
}

int asinh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<InverseHyperbolicSine>(context, self, out);
}

int atan_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<ArcTangent>(context, self, out);
}

int atanh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<InverseHyperbolicTangent>(context, self, out);
}

int cos_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<Cosine>(context, self, out);
}

int cosh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<HyperbolicCosine>(context, self, out);
}

int erf_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<ErrorFunction>(context, self, out);
}

int exp_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<Exponential>(context, self, out);
}

int expm1_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<ExponentialMinusOne>(context, self, out);
}

int log_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<Logarithm>(context, self, out);
}

int log10_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<Logarithm10>(context, self, out);
}

int log1p_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<LogarithmOfOnePlus>(context, self, out);
}

int log2_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<Logarithm2>(context, self, out);
}

int reciprocal_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<Reciprocal>(context, self, out);
}

int rsqrt_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<InverseSquareRoot>(context, self, out);
}

int sigmoid_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<Sigmoid>(context, self, out);
}

int sin_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<Sine>(context, self, out);
}

int sinh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<HyperbolicSine>(context, self, out);
}

int sqrt_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<SquareRoot>(context, self, out);
}

int tan_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<Tangent>(context, self, out);
}

int tanh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return float_unary<HyperbolicTangent>(context, self, out);
}

int ceil_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return rounding_unary<Ceiling>(context, self, out);
}

int floor_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return rounding_unary<Floor>(context, self, out);
}

int round_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return rounding_unary<RoundHalfToEven>(context, self, out);
}

int trunc_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return rounding_unary<Truncate>(context, self, out);
}

int abs_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return same_unary<Absolute>(context, self, out);
}

int neg_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return same_unary<Negative>(context, self, out);
}

int sign_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return same_unary<Sign>(context, self, out);
}

int relu_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return same_unary<Relu>(context, self, out);
}

int conj_physical_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return same_unary<Same>(context, self, out);
}

int bitwise_not_out(KernelContext& context, const Tensor& self, Tensor& out) {
  if (self.dtype() == PTERON_BOOL) {
    Operation operation;
    operation.set_compute(Compute::kBool);
    operation.fn = &chunk1<BoolNot, uint8_t, uint8_t>;
    return elementwise(context, operation, out, {self});
  }
  return elementwise(context, integral<BitNot, 1>(self.dtype()), out, {self});
}

int logit_out(KernelContext& context, const Tensor& self, std::optional<double> eps, Tensor& out) {
  Params params;
  params.set(0, Scalar(eps.value_or(-1.0)));
  return float_unary<Logit>(context, self, out, params);
}

int gelu_out(KernelContext& context, const Tensor& self, std::string_view approximate, Tensor& out) {
  if (approximate == "none") return float_unary<GeluErf>(context, self, out);
  if (approximate == "tanh") return float_unary<GeluTanh>(context, self, out);
  return pteron_kernel_fail(context.raw(), PTERON_KERNEL_FAILED,
                            "approximate is \"%.*s\", expected \"none\" or \"tanh\"",
                            static_cast<int>(approximate.size()), approximate.data());
}

int elu_out(KernelContext& context, const Tensor& self, Scalar alpha, Scalar scale, Scalar input_scale, Tensor& out) {
  Params params;
  params.set(0, alpha);
  params.set(1, scale);
  params.set(2, input_scale);
  return float_unary<Elu>(context, self, out, params);
}

int hardtanh_out(KernelContext& context, const Tensor& self, Scalar min_val, Scalar max_val, Tensor& out) {
  Params params;
  params.set(0, min_val);
  params.set(1, max_val);
  return same_unary<Clamp>(context, self, out, params);
}

int leaky_relu_out(KernelContext& context, const Tensor& self, Scalar negative_slope, Tensor& out) {
  Params params;
  params.set(0, negative_slope);
  return float_unary<LeakyRelu>(context, self, out, params);
}

int glu_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  PTERON_REQUIRE(context, self.rank() > 0 && self.size(axis) % 2 == 0,
                 "dimension %d must have an even size to be halved", axis);
  View first = view_of(self);
  first.sizes[axis] /= 2;
  View second = first;
  second.data += first.sizes[axis] * first.strides[axis] * static_cast<int64_t>(self.element_size());
  PTERON_PASS(context.resize(out, IntList(first.sizes, static_cast<size_t>(first.rank))));
  Operation operation = floating<Gate, 2>(floating_dtype(self.dtype()));
  operation.cost = kFunctionCost;
  const View inputs[] = {first, second};
  elementwise_views(operation, view_of(out), inputs, 2, Params());
  return PTERON_OK;
}

}  // namespace pteron::kernels
