// Element types of the engine: C++ types for the two 16-bit floats, and an enum that names all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pteron::engine {

// IEEE binary16 and bfloat16 as bits; conversions are in copy.h.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

enum class Type : uint8_t { kBool, kU8, kI8, kI16, kI32, kI64, kF16, kBF16, kF32, kF64, kU16, kU32, kU64 };

constexpr size_t size_of(Type type) {
  switch (type) {
    case Type::kBool:
    case Type::kU8:
    case Type::kI8:
      return 1;
    case Type::kI16:
    case Type::kU16:
    case Type::kF16:
    case Type::kBF16:
      return 2;
    case Type::kI32:
    case Type::kU32:
    case Type::kF32:
      return 4;
    case Type::kI64:
    case Type::kU64:
    case Type::kF64:
      return 8;
  }
  return 0;
}

// The type sums are kept in: float for the 16-bit floats, otherwise the type itself (integers wrap around).
template <class T>
struct AccumulatorOf {
  using type = T;
};
template <>
struct AccumulatorOf<Half> {
  using type = float;
};
template <>
struct AccumulatorOf<BFloat16> {
  using type = float;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::type;

}  // namespace pteron::engine
