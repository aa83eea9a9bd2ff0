// Arithmetic on numbers that a file or a caller chose. Every size, offset and product of such numbers goes through
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pteron {

// *out = a + b; false (and *out unspecified) when the sum does not fit. Integers of one type.
template <typename T>
[[nodiscard]] constexpr bool checked_add(T a, std::type_identity_t<T> b, T* out) {
  return !__builtin_add_overflow(a, b, out);
}

// *out = a * b; false when the product does not fit.
template <typename T>
[[nodiscard]] constexpr bool checked_multiply(T a, std::type_identity_t<T> b, T* out) {
  return !__builtin_mul_overflow(a, b, out);
}

// *out = value; false when it does not fit the target type.
template <typename To, typename From>
[[nodiscard]] constexpr bool checked_cast(From value, To* out) {
  return !__builtin_add_overflow(value, From{0}, out);
}

// True when [offset, offset + size) lies in [0, limit). Written with a subtraction so that it cannot wrap.
[[nodiscard]] constexpr bool range_fits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

// Rounds up to a power of two; false when the result does not fit.
[[nodiscard]] constexpr bool checked_align(uint64_t value, uint64_t alignment, uint64_t* out) {
  if (!checked_add(value, alignment - 1, out)) return false;
  *out &= ~(alignment - 1);
  return true;
}

// *out = product of sizes, all of which must be >= 0. A zero does not hide an overflow: the product of the other sizes
// must fit as well, since strides are made of it. False on a negative size or an overflow.
[[nodiscard]] constexpr bool checked_numel(const int64_t* sizes, size_t rank, int64_t* out) {
  int64_t nonzero = 1;
  bool empty = false;
  for (size_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0) return false;
    if (sizes[i] == 0) {
      empty = true;
    } else if (!checked_multiply(nonzero, sizes[i], &nonzero)) {
      return false;
    }
  }
  *out = empty ? 0 : nonzero;
  return true;
}

}  // namespace pteron
