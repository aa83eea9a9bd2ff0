#include "runtime/primitives.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "base/checked.h"
#include "runtime/tensor.h"

namespace pteron::runtime {
namespace {

// A scalar operand. A bool is the int 0 or 1, as in Python.
struct Number {
  bool is_double = false;
  int64_t integer = 0;
  double real = 0;  // the value as a double, whatever the kind

  static Number of(int64_t value) { return {false, value, static_cast<double>(value)}; }
  static Number of(double value) { return {true, 0, value}; }
  bool is_zero() const { return is_double ? real == 0 : integer == 0; }
};

// A number as text, for messages.
struct NumberText {
  char text[40];
  explicit NumberText(const Number& number) {
    if (number.is_double) {
      std::snprintf(text, sizeof text, "%.17g", number.real);
    } else {
      std::snprintf(text, sizeof text, "%" PRId64, number.integer);
    }
  }
};

// One call of a primitive. The result goes to the last argument, content and kind.
class Call {
 public:
  Call(pteron_kernel_context* context, pteron_value* const* args, size_t count)
      : context_(context), args_(args), count_(count) {}

  pteron_kernel_context* context() const { return context_; }
  const pteron_value& argument(size_t index) const { return *args_[index]; }
  pteron_tensor& tensor(size_t index) const { return *args_[index]->as.tensor; }

  int give(int64_t value) const {
    pteron_value& out = result();
    out.kind = PTERON_KIND_INT;
    out.as.as_int = value;
    return PTERON_OK;
  }
  int give(double value) const {
    pteron_value& out = result();
    out.kind = PTERON_KIND_DOUBLE;
    out.as.as_double = value;
    return PTERON_OK;
  }
  int give(bool value) const {
    pteron_value& out = result();
    out.kind = PTERON_KIND_BOOL;
    out.as.as_bool = value ? 1 : 0;
    return PTERON_OK;
  }
  int give(const Number& value) const { return value.is_double ? give(value.real) : give(value.integer); }
  int give(const pteron_value& value) const {
    pteron_value& out = result();
    out.kind = value.kind;
    out.as = value.as;
    return PTERON_OK;
  }

  // Reads argument `index` as a number; on failure the reason is recorded.
  bool read(size_t index, Number* number) const {
    const pteron_value& value = argument(index);
    switch (value.kind) {
      case PTERON_KIND_INT:
        *number = Number::of(value.as.as_int);
        return true;
      case PTERON_KIND_BOOL:
        *number = Number::of(int64_t{value.as.as_bool != 0});
        return true;
      case PTERON_KIND_DOUBLE:
        *number = Number::of(value.as.as_double);
        return true;
      default:
        pteron_kernel_fail(context_, PTERON_KERNEL_FAILED, "argument %zu is %s, expected an int, double or bool", index,
                           pteron_kind_name(value.kind));
        return false;
    }
  }

  int too_large(const char* operation, const Number& a, const Number& b) const {
    return pteron_kernel_fail(context_, PTERON_KERNEL_FAILED, "%s of %s and %s does not fit 64 bits", operation,
                              NumberText(a).text, NumberText(b).text);
  }
  int division_by_zero(const Number& a) const {
    return pteron_kernel_fail(context_, PTERON_KERNEL_FAILED, "division of %s by zero", NumberText(a).text);
  }

 private:
  pteron_value& result() const { return *args_[count_ - 1]; }

  pteron_kernel_context* context_;
  pteron_value* const* args_;
  size_t count_;
};

// Kernels from functions on a call, checked for the number of arguments (a program's calls are checked at load; this is
// for whoever calls the kernel otherwise).
template <size_t arity, int (*function)(const Call&)>
int run(pteron_kernel_context* context, pteron_value* const* args, size_t count) {
  if (count != arity) {
    return pteron_kernel_fail(context, PTERON_KERNEL_FAILED, "called with %zu arguments, expected %zu", count, arity);
  }
  return function(Call(context, args, count));
}

template <int (*function)(const Call&, const Number&)>
int unary(const Call& call) {
  Number a;
  return call.read(0, &a) ? function(call, a) : PTERON_KERNEL_FAILED;
}

template <int (*function)(const Call&, const Number&, const Number&)>
int binary(const Call& call) {
  Number a;
  Number b;
  return call.read(0, &a) && call.read(1, &b) ? function(call, a, b) : PTERON_KERNEL_FAILED;
}

bool on_doubles(const Number& a, const Number& b) {
  return a.is_double || b.is_double;
}

// ---- Arithmetic

int add(const Call& call, const Number& a, const Number& b) {
  if (on_doubles(a, b)) return call.give(a.real + b.real);
  int64_t sum = 0;
  return checked_add(a.integer, b.integer, &sum) ? call.give(sum) : call.too_large("the sum", a, b);
}

int subtract(const Call& call, const Number& a, const Number& b) {
  if (on_doubles(a, b)) return call.give(a.real - b.real);
  int64_t difference = 0;
  if (__builtin_sub_overflow(a.integer, b.integer, &difference)) return call.too_large("the difference", a, b);
  return call.give(difference);
}

int multiply(const Call& call, const Number& a, const Number& b) {
  if (on_doubles(a, b)) return call.give(a.real * b.real);
  int64_t product = 0;
  return checked_multiply(a.integer, b.integer, &product) ? call.give(product) : call.too_large("the product", a, b);
}

// Quotient rounded down and remainder with the sign of `b`; b is not 0, and not -1 with the smallest a.
struct Division {
  int64_t quotient;
  int64_t remainder;
};
Division divide_down(int64_t a, int64_t b) {
  Division division{a / b, a % b};
  if (division.remainder != 0 && (division.remainder < 0) != (b < 0)) {
    division.quotient -= 1;
    division.remainder += b;
  }
  return division;
}

// The remainder with the sign of b, 0 with the sign of b too; exact, since fmod is.
double remainder_down(double a, double b) {
  double remainder = std::fmod(a, b);
  if (remainder == 0) return std::copysign(0.0, b);
  if ((remainder < 0) != (b < 0)) remainder += b;
  return remainder;
}

double quotient_down(double a, double b) {
  const double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;  // a whole number but for rounding
  if (remainder != 0 && (remainder < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double down = std::floor(quotient);
  return quotient - down > 0.5 ? down + 1 : down;
}

int floor_divide(const Call& call, const Number& a, const Number& b) {
  if (b.is_zero()) return call.division_by_zero(a);
  if (on_doubles(a, b)) return call.give(quotient_down(a.real, b.real));
  if (a.integer == INT64_MIN && b.integer == -1) return call.too_large("the quotient", a, b);
  return call.give(divide_down(a.integer, b.integer).quotient);
}

int modulo(const Call& call, const Number& a, const Number& b) {
  if (b.is_zero()) return call.division_by_zero(a);
  if (on_doubles(a, b)) return call.give(remainder_down(a.real, b.real));
  if (b.integer == -1) return call.give(int64_t{0});  // the smallest int by -1 would trap
  return call.give(divide_down(a.integer, b.integer).remainder);
}

int true_divide(const Call& call, const Number& a, const Number& b) {
  return b.is_zero() ? call.division_by_zero(a) : call.give(a.real / b.real);
}

int negate(const Call& call, const Number& a) {
  if (a.is_double) return call.give(-a.real);
  if (a.integer == INT64_MIN) return call.too_large("the difference", Number::of(int64_t{0}), a);
  return call.give(-a.integer);
}

// ---- Comparison

enum class Order { kLess, kEqual, kGreater, kNone };

template <typename T>
Order order_of(T a, T b) {
  if (a < b) return Order::kLess;
  if (a > b) return Order::kGreater;
  return a == b ? Order::kEqual : Order::kNone;
}

constexpr double kTwoTo63 = 9223372036854775808.0;

bool fits_int(double value) {
  return value >= -kTwoTo63 && value < kTwoTo63;  // false for NaN
}

// By value: converting the int to double could round it.
Order compare_int_with_double(int64_t a, double b) {
  if (std::isnan(b)) return Order::kNone;
  if (!fits_int(b)) return b > 0 ? Order::kLess : Order::kGreater;
  const double whole = std::trunc(b);
  const Order order = order_of(a, static_cast<int64_t>(whole));
  return order == Order::kEqual ? order_of(whole, b) : order;
}

Order compare(const Number& a, const Number& b) {
  if (a.is_double == b.is_double) return a.is_double ? order_of(a.real, b.real) : order_of(a.integer, b.integer);
  if (b.is_double) return compare_int_with_double(a.integer, b.real);
  const Order order = compare_int_with_double(b.integer, a.real);
  if (order == Order::kLess) return Order::kGreater;
  return order == Order::kGreater ? Order::kLess : order;
}

int equal(const Call& call, const Number& a, const Number& b) {
  return call.give(compare(a, b) == Order::kEqual);
}
int less(const Call& call, const Number& a, const Number& b) {
  return call.give(compare(a, b) == Order::kLess);
}
int greater(const Call& call, const Number& a, const Number& b) {
  return call.give(compare(a, b) == Order::kGreater);
}
int less_or_equal(const Call& call, const Number& a, const Number& b) {
  const Order order = compare(a, b);
  return call.give(order == Order::kLess || order == Order::kEqual);
}
int greater_or_equal(const Call& call, const Number& a, const Number& b) {
  const Order order = compare(a, b);
  return call.give(order == Order::kGreater || order == Order::kEqual);
}

int give_one_of(const Call& call, const Number& a, const Number& b, bool second) {
  const Number& chosen = second ? b : a;
  return on_doubles(a, b) ? call.give(chosen.real) : call.give(chosen.integer);
}
int maximum(const Call& call, const Number& a, const Number& b) {
  return give_one_of(call, a, b, compare(b, a) == Order::kGreater);
}
int minimum(const Call& call, const Number& a, const Number& b) {
  return give_one_of(call, a, b, compare(b, a) == Order::kLess);
}

int logical_not(const Call& call, const Number& a) {
  return call.give(a.is_zero());
}

int select(const Call& call) {
  Number condition;
  Number ignored;
  if (!call.read(0, &condition) || !call.read(1, &ignored) || !call.read(2, &ignored)) return PTERON_KERNEL_FAILED;
  return call.give(call.argument(condition.is_zero() ? 2 : 1));
}

// ---- Conversion

int to_double(const Call& call, const Number& a) {
  return call.give(a.real);
}

template <double (*rounding)(double)>
int to_int(const Call& call, const Number& a) {
  if (!a.is_double) return call.give(a.integer);
  const double rounded = rounding(a.real);
  if (fits_int(rounded)) return call.give(static_cast<int64_t>(rounded));
  return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED, "%s is no int of 64 bits", NumberText(a).text);
}

double truncate(double value) {
  return std::trunc(value);
}
double round_up(double value) {
  return std::ceil(value);
}
// To the nearest, halves to even, whatever rounding mode the process has set.
double round_to_even(double value) {
  const double down = std::floor(value);
  const double above = value - down;
  if (above != 0.5) return above < 0.5 ? down : down + 1;
  return std::fmod(down, 2) == 0 ? down : down + 1;
}

// ---- Tensors to scalars

int size_of_dim(const Call& call) {
  const pteron_tensor& self = call.tensor(0);
  Number dim;
  if (!call.read(1, &dim)) return PTERON_KERNEL_FAILED;
  const int64_t index = dim.integer < 0 ? dim.integer + self.rank : dim.integer;
  if (dim.is_double || index < 0 || index >= self.rank) {
    return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED,
                              "dimension %s of a tensor %s, expected an int in [%d, %d)", NumberText(dim).text,
                              describe(self).c_str(), -self.rank, self.rank);
  }
  return call.give(self.sizes[index]);
}

int number_of_elements(const Call& call) {
  return call.give(pteron_tensor_numel(&call.tensor(0)));
}

template <typename T>
T element(const pteron_tensor& tensor) {
  T value;
  std::memcpy(&value, tensor.data, sizeof value);
  return value;
}

float bfloat16_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

double float16_to_double(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(fraction + 0x400, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

int only_element(const Call& call) {
  const pteron_tensor& self = call.tensor(0);
  if (pteron_tensor_numel(&self) != 1 || self.data == nullptr) {
    return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED, "a tensor %s has no single element",
                              describe(self).c_str());
  }
  switch (self.dtype) {
    case PTERON_BOOL:
      return call.give(element<uint8_t>(self) != 0);
    case PTERON_UINT8:
      return call.give(int64_t{element<uint8_t>(self)});
    case PTERON_INT8:
      return call.give(int64_t{element<int8_t>(self)});
    case PTERON_INT16:
      return call.give(int64_t{element<int16_t>(self)});
    case PTERON_UINT16:
      return call.give(int64_t{element<uint16_t>(self)});
    case PTERON_INT32:
      return call.give(int64_t{element<int32_t>(self)});
    case PTERON_UINT32:
      return call.give(int64_t{element<uint32_t>(self)});
    case PTERON_INT64:
      return call.give(element<int64_t>(self));
    case PTERON_UINT64: {
      int64_t value = 0;
      if (checked_cast(element<uint64_t>(self), &value)) return call.give(value);
      return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED, "%" PRIu64 " is no int of 64 bits",
                                element<uint64_t>(self));
    }
    case PTERON_FLOAT16:
      return call.give(float16_to_double(element<uint16_t>(self)));
    case PTERON_BFLOAT16:
      return call.give(double{bfloat16_to_float(element<uint16_t>(self))});
    case PTERON_FLOAT32:
      return call.give(double{element<float>(self)});
    case PTERON_FLOAT64:
      return call.give(element<double>(self));
    default:
      return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED, "an element of dtype %s cannot become a scalar",
                                pteron_dtype_name(self.dtype));
  }
}

// ---- Slots

// Gives `to` room for slot `index`. The slots that are there must not move, so only the outermost dimension grows.
int grow_to(const Call& call, pteron_tensor* to, int64_t index) {
  if ((to->flags & PTERON_TENSOR_RESIZABLE) == 0) {
    if (index < to->sizes[0]) return PTERON_OK;
    return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED, "slot %" PRId64 " of a tensor %s of fixed shape",
                              index, describe(*to).c_str());
  }
  if (index == INT64_MAX) {
    return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED, "slot %" PRId64 " is out of range", index);
  }
  int64_t sizes[PTERON_MAX_RANK];
  std::copy_n(to->sizes, to->rank, sizes);
  sizes[0] = index == 0 ? 1 : std::max(to->sizes[0], index + 1);
  return pteron_kernel_resize(call.context(), to, sizes, to->rank);
}

int copy_to_slot(const Call& call) {
  pteron_tensor& to = call.tensor(0);
  const pteron_tensor& from = call.tensor(1);
  Number index;
  if (!call.read(2, &index)) return PTERON_KERNEL_FAILED;
  const bool fits = to.dtype == from.dtype && to.rank == from.rank + 1 &&
                    std::equal(from.sizes, from.sizes + from.rank, to.sizes + 1);
  if (!fits) {
    return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED, "a tensor %s is no slot of a tensor %s",
                              describe(from).c_str(), describe(to).c_str());
  }
  if (index.is_double || index.integer < 0) {
    return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED, "slot %s, expected an int that is not negative",
                              NumberText(index).text);
  }
  if (to.dim_order != nullptr && to.dim_order[0] != 0) {
    return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED,
                              "the first dimension of %s is not the outermost one", describe(to).c_str());
  }
  if (const int code = grow_to(call, &to, index.integer)) return code;

  pteron_tensor slot = to;
  slot.rank = from.rank;
  slot.sizes = to.sizes + 1;
  slot.strides = to.strides + 1;
  slot.dim_order = nullptr;
  // Within `to`, whose bytes fit its capacity.
  const int64_t offset = index.integer * to.strides[0] * static_cast<int64_t>(pteron_dtype_size(to.dtype));
  if (to.data != nullptr) slot.data = static_cast<uint8_t*>(to.data) + offset;
  const Status copied = copy_tensor(from, slot);
  return copied.ok() ? PTERON_OK : pteron_kernel_fail(call.context(), copied.code(), "%s", copied.message());
}

// ---- Views

// The sizes a view shall have, with a -1 worked out; false when they do not describe `self`.
bool view_sizes(const pteron_tensor& self, const int64_t* wanted, int32_t rank, int64_t* sizes) {
  int32_t open = -1;
  for (int32_t i = 0; i < rank; ++i) {
    sizes[i] = wanted[i];
    if (wanted[i] >= 0) continue;
    if (wanted[i] != -1 || open >= 0) return false;
    open = i;
    sizes[i] = 1;
  }
  int64_t known = 0;
  if (!checked_numel(sizes, static_cast<size_t>(rank), &known)) return false;
  const int64_t numel = pteron_tensor_numel(&self);
  if (open < 0) return known == numel;
  if (known == 0 || numel % known != 0) return false;
  sizes[open] = numel / known;
  return true;
}

int view(const Call& call) {
  const pteron_tensor& self = call.tensor(0);
  const auto& size = call.argument(1).as.int_list;
  pteron_tensor& out = call.tensor(2);
  int64_t sizes[PTERON_MAX_RANK];
  const auto rank = static_cast<int32_t>(std::min<size_t>(size.count, PTERON_MAX_RANK + 1));
  if (self.dtype != out.dtype || rank != out.rank || !view_sizes(self, size.items, rank, sizes)) {
    return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED, "a tensor %s cannot be viewed as %s in a tensor %s",
                              describe(self).c_str(), shape_text(size.items, rank).c_str(), describe(out).c_str());
  }
  // What `out` can hold is what lies at its new memory, so that is set before its sizes are.
  pteron_tensor& target = out;
  void* const old_data = target.data;
  const size_t old_capacity = target.capacity;
  target.capacity = std::max<size_t>(self.capacity, tensor_bytes(self));
  if (const int code = pteron_kernel_resize(call.context(), &target, sizes, rank)) {
    target.capacity = old_capacity;
    return code;
  }
  target.data = self.data;
  const bool same_order = has_layout(self, nullptr) && has_layout(target, nullptr);
  if (!same_order && !same_layout(self, target)) {
    target.data = old_data;
    target.capacity = old_capacity;
    return pteron_kernel_fail(call.context(), PTERON_KERNEL_FAILED,
                              "a view from %s to %s would change the order of the elements: their layouts differ",
                              describe(self).c_str(), describe(target).c_str());
  }
  target.flags = (target.flags & ~uint32_t{PTERON_TENSOR_READ_ONLY}) | (self.flags & PTERON_TENSOR_READ_ONLY);
  return PTERON_OK;
}

// ---- The table

constexpr pteron_kernel record(const char* name, const char* schema, pteron_kernel_fn fn) {
  return {sizeof(pteron_kernel), name, schema, nullptr, PTERON_DEVICE_CPU, 0, fn, nullptr, nullptr};
}

constexpr const char* kBinary = "(Scalar a, Scalar b, *, Scalar(a!) out) -> Scalar(a!)";
constexpr const char* kComparison = "(Scalar a, Scalar b, *, bool(a!) out) -> bool(a!)";
constexpr const char* kUnary = "(Scalar a, *, Scalar(a!) out) -> Scalar(a!)";

constexpr pteron_kernel kTable[] = {
    record("executorch_prim::add.Scalar", kBinary, run<3, binary<add>>),
    record("executorch_prim::sub.Scalar", kBinary, run<3, binary<subtract>>),
    record("executorch_prim::mul.Scalar", kBinary, run<3, binary<multiply>>),
    record("executorch_prim::floordiv.Scalar", kBinary, run<3, binary<floor_divide>>),
    record("executorch_prim::floordiv.int", kBinary, run<3, binary<floor_divide>>),
    record("executorch_prim::mod.Scalar", kBinary, run<3, binary<modulo>>),
    record("executorch_prim::mod.int", kBinary, run<3, binary<modulo>>),
    record("executorch_prim::truediv.Scalar", kBinary, run<3, binary<true_divide>>),
    record("executorch_prim::sym_max.Scalar", kBinary, run<3, binary<maximum>>),
    record("executorch_prim::sym_min.Scalar", kBinary, run<3, binary<minimum>>),
    record("executorch_prim::eq.Scalar", kComparison, run<3, binary<equal>>),
    record("executorch_prim::lt.Scalar", kComparison, run<3, binary<less>>),
    record("executorch_prim::le.Scalar", kComparison, run<3, binary<less_or_equal>>),
    record("executorch_prim::gt.Scalar", kComparison, run<3, binary<greater>>),
    record("executorch_prim::ge.Scalar", kComparison, run<3, binary<greater_or_equal>>),
    record("executorch_prim::neg.Scalar", kUnary, run<2, unary<negate>>),
    record("executorch_prim::sym_not.Scalar", "(Scalar a, *, bool(a!) out) -> bool(a!)", run<2, unary<logical_not>>),
    record("executorch_prim::sym_ite.Scalar", "(Scalar condition, Scalar a, Scalar b, *, Scalar(a!) out) -> Scalar(a!)",
           run<4, select>),
    record("executorch_prim::sym_float.Scalar", kUnary, run<2, unary<to_double>>),
    record("executorch_prim::sym_int.Scalar", kUnary, run<2, unary<to_int<truncate>>>),
    record("executorch_prim::trunc.Scalar", kUnary, run<2, unary<to_int<truncate>>>),
    record("executorch_prim::ceil.Scalar", kUnary, run<2, unary<to_int<round_up>>>),
    record("executorch_prim::round.Scalar", kUnary, run<2, unary<to_int<round_to_even>>>),
    record("aten::sym_size.int", "(Tensor self, int dim, *, SymInt(a!) out) -> SymInt(a!)", run<3, size_of_dim>),
    record("aten::sym_numel", "(Tensor self, *, SymInt(a!) out) -> SymInt(a!)", run<2, number_of_elements>),
    record("aten::_local_scalar_dense", "(Tensor self, *, Scalar(a!) out) -> Scalar(a!)", run<2, only_element>),
    record("executorch_prim::et_copy_index.tensor", "(Tensor(a!) to, Tensor from, int index) -> ()",
           run<3, copy_to_slot>),
    record("executorch_prim::et_view.default", "(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
           run<3, view>),
};

// The registry takes pointers to records.
struct Pointers {
  const pteron_kernel* kernels[std::size(kTable)];
};
constexpr Pointers pointers_to_table() {
  Pointers pointers{};
  for (size_t i = 0; i < std::size(kTable); ++i) pointers.kernels[i] = &kTable[i];
  return pointers;
}
constexpr Pointers kPointers = pointers_to_table();

}  // namespace

constinit pteron_component primitives_component = {
    sizeof(pteron_component),
    PTERON_BACKEND_ABI_MAJOR,
    PTERON_BACKEND_ABI_MINOR,
    0,
    0,
    "primitives",
    PTERON_VERSION,
    kPointers.kernels,
    std::size(kTable),
    nullptr,
    0,
    nullptr,
    PTERON_OK,
    nullptr,
};

}  // namespace pteron::runtime
