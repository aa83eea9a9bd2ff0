#include "kernels/dtypes.h"

#include <cmath>

namespace pteron::kernels {

namespace {

bool is_unsigned(int dtype) {
  return is_in(dtype, kWideUnsigned | kByte);
}

int signed_of_size(size_t bytes) {
  switch (bytes) {
    case 1:
      return PTERON_INT8;
    case 2:
      return PTERON_INT16;
    case 4:
      return PTERON_INT32;
    default:
      return PTERON_INT64;
  }
}

int promote_floats(int a, int b) {
  if (!is_floating(a)) return b;
  if (!is_floating(b)) return a;
  if (is_half(a) && is_half(b)) return PTERON_FLOAT32;  // float16 with bfloat16
  return pteron_dtype_size(a) >= pteron_dtype_size(b) ? a : b;
}

int promote_integers(int a, int b) {
  if (a == PTERON_BOOL) return b;
  if (b == PTERON_BOOL) return a;
  const size_t a_size = pteron_dtype_size(a), b_size = pteron_dtype_size(b);
  if (is_unsigned(a) == is_unsigned(b)) return a_size >= b_size ? a : b;
  const size_t unsigned_size = is_unsigned(a) ? a_size : b_size;
  const size_t signed_size = is_unsigned(a) ? b_size : a_size;
  return signed_of_size(signed_size > unsigned_size ? signed_size : unsigned_size * 2);
}

bool combinable(int dtype) {
  return dtype >= 0;
}

// torch's combine_categories: the lower group counts only when its category is above the higher group's.
int combine(int higher, int lower) {
  if (!combinable(higher)) return lower;
  if (!combinable(lower) || is_floating(higher)) return higher;
  if (higher == PTERON_BOOL || is_floating(lower)) return promote(higher, lower);
  return higher;
}

}  // namespace

int promote(int a, int b) {
  if (a == b) return a;
  if (is_floating(a) || is_floating(b)) return promote_floats(a, b);
  return promote_integers(a, b);
}

Promotion& Promotion::add(const Tensor& tensor) {
  int& group = tensor.rank() > 0 ? dimensioned_ : zero_dimensional_;
  group = group == kNone ? tensor.dtype() : promote(group, tensor.dtype());
  return *this;
}

Promotion& Promotion::add(const Scalar& scalar) {
  const int dtype = scalar.is_double() ? PTERON_FLOAT32 : scalar.is_bool() ? PTERON_BOOL : PTERON_INT64;
  number_ = number_ == kNone ? dtype : promote(number_, dtype);
  return *this;
}

int Promotion::result() const {
  return combine(dimensioned_, combine(zero_dimensional_, number_));
}

bool scalar_fits(const Scalar& value, int dtype) {
  if (!is_integral(dtype) || dtype == PTERON_BOOL) return true;
  if (value.is_double() && !(std::fabs(value.to_double()) < 9223372036854775808.0)) return false;
  if (dtype == PTERON_INT64 || dtype == PTERON_UINT64) return true;
  const int bits = static_cast<int>(8 * pteron_dtype_size(dtype));
  const int64_t number = value.to_int();
  if (!is_unsigned(dtype)) return number >= -(int64_t{1} << (bits - 1)) && number < int64_t{1} << (bits - 1);
  return number > -(int64_t{1} << bits) && number < int64_t{1} << bits;
}

int require_castable(KernelContext& context, int from, int to) {
  PTERON_REQUIRE(context, can_cast(from, to), "the result is of dtype %s and cannot be stored in an out tensor of %s",
                 pteron_dtype_name(from), pteron_dtype_name(to));
  return PTERON_OK;
}

}  // namespace pteron::kernels
