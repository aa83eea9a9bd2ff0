// Element types of tensors.
//
//   static_assert(pteron::DTypeOf<float>::value == pteron::DType::kFloat32);
//   pteron::BFloat16 half = pteron::BFloat16::from_float(1.5f);
//   float back = half.to_float();
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pteron/c/tensor.h"

namespace pteron {
inline namespace v1_0 {

enum class DType : uint8_t {
  kUInt8 = PTERON_UINT8,
  kInt8 = PTERON_INT8,
  kInt16 = PTERON_INT16,
  kInt32 = PTERON_INT32,
  kInt64 = PTERON_INT64,
  kFloat16 = PTERON_FLOAT16,
  kFloat32 = PTERON_FLOAT32,
  kFloat64 = PTERON_FLOAT64,
  kBool = PTERON_BOOL,
  kBFloat16 = PTERON_BFLOAT16,
  kFloat8E5M2 = PTERON_FLOAT8_E5M2,
  kFloat8E4M3FN = PTERON_FLOAT8_E4M3FN,
  kFloat8E5M2FNUZ = PTERON_FLOAT8_E5M2FNUZ,
  kFloat8E4M3FNUZ = PTERON_FLOAT8_E4M3FNUZ,
  kUInt16 = PTERON_UINT16,
  kUInt32 = PTERON_UINT32,
  kUInt64 = PTERON_UINT64
};

// Bytes of one element.
inline size_t dtype_size(DType dtype) {
  return pteron_dtype_size(static_cast<int32_t>(dtype));
}
// "float32", "bfloat16", "bool", ...: static text.
inline const char* dtype_name(DType dtype) {
  return pteron_dtype_name(static_cast<int32_t>(dtype));
}

// IEEE 754 binary16, as its bits. Conversions round to nearest, ties to even.
struct Half {
  uint16_t bits = 0;

  static Half from_float(float value) {
    uint32_t word;
    std::memcpy(&word, &value, sizeof(word));
    const uint32_t sign = (word >> 16) & 0x8000u;
    const uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return Half{static_cast<uint16_t>(sign | 0x7e00u)};
    // 65520 is the least value that rounds to infinity.
    if (magnitude >= 0x477ff000u) return Half{static_cast<uint16_t>(sign | 0x7c00u)};
    const uint32_t exponent = magnitude >> 23;
    if (exponent >= 113) {  // a normal half: rebias from 127 to 15, drop 13 bits
      const uint32_t rebiased = magnitude - (112u << 23);
      const uint32_t rounded = rebiased + 0xfffu + ((rebiased >> 13) & 1u);
      return Half{static_cast<uint16_t>(sign | (rounded >> 13))};
    }
    if (exponent < 102) return Half{static_cast<uint16_t>(sign)};  // below half of the least subnormal
    const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t shift = 126 - exponent;  // 14..24
    const uint32_t kept = significand >> shift;
    const uint32_t rest = significand & ((1u << shift) - 1u);
    const uint32_t middle = 1u << (shift - 1u);
    const uint32_t up = rest > middle || (rest == middle && (kept & 1u) != 0) ? 1u : 0u;
    return Half{static_cast<uint16_t>(sign | (kept + up))};
  }

  float to_float() const {
    const uint32_t sign = (static_cast<uint32_t>(bits) & 0x8000u) << 16;
    uint32_t exponent = (static_cast<uint32_t>(bits) >> 10) & 0x1fu;
    uint32_t significand = static_cast<uint32_t>(bits) & 0x3ffu;
    uint32_t word = sign;
    if (exponent == 0x1f) {
      word |= 0x7f800000u | (significand << 13);
    } else if (exponent != 0) {
      word |= ((exponent + 112u) << 23) | (significand << 13);
    } else if (significand != 0) {
      exponent = 113;
      while ((significand & 0x400u) == 0) {
        significand <<= 1;
        --exponent;
      }
      word |= (exponent << 23) | ((significand & 0x3ffu) << 13);
    }
    float value;
    std::memcpy(&value, &word, sizeof(value));
    return value;
  }
};

// The upper half of a float32, as its bits. Conversions round to nearest, ties to even.
struct BFloat16 {
  uint16_t bits = 0;

  static BFloat16 from_float(float value) {
    uint32_t word;
    std::memcpy(&word, &value, sizeof(word));
    if ((word & 0x7fffffffu) > 0x7f800000u) return BFloat16{static_cast<uint16_t>((word >> 16) | 0x40u)};
    word += 0x7fffu + ((word >> 16) & 1u);
    return BFloat16{static_cast<uint16_t>(word >> 16)};
  }

  float to_float() const {
    const uint32_t word = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &word, sizeof(value));
    return value;
  }
};

// The four 8-bit float types, as their bits.
struct Float8E5M2 {
  uint8_t bits = 0;
};
struct Float8E4M3FN {
  uint8_t bits = 0;
};
struct Float8E5M2FNUZ {
  uint8_t bits = 0;
};
struct Float8E4M3FNUZ {
  uint8_t bits = 0;
};

namespace detail {

template <typename T>
struct NotAnElementType : std::false_type {};

template <typename T>
constexpr DType dtype_of() {
  static_assert(!std::is_const_v<T>, "ask for the element type without const");
  if constexpr (std::is_same_v<T, bool>) {
    return DType::kBool;
  } else if constexpr (std::is_same_v<T, float>) {
    return DType::kFloat32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::kFloat64;
  } else if constexpr (std::is_same_v<T, Half>) {
    return DType::kFloat16;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return DType::kBFloat16;
  } else if constexpr (std::is_same_v<T, Float8E5M2>) {
    return DType::kFloat8E5M2;
  } else if constexpr (std::is_same_v<T, Float8E4M3FN>) {
    return DType::kFloat8E4M3FN;
  } else if constexpr (std::is_same_v<T, Float8E5M2FNUZ>) {
    return DType::kFloat8E5M2FNUZ;
  } else if constexpr (std::is_same_v<T, Float8E4M3FNUZ>) {
    return DType::kFloat8E4M3FNUZ;
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    // By size, so that both long and long long are int64 wherever they have 8 bytes.
    return sizeof(T) == 1   ? DType::kInt8
           : sizeof(T) == 2 ? DType::kInt16
           : sizeof(T) == 4 ? DType::kInt32
                            : DType::kInt64;
  } else if constexpr (std::is_integral_v<T>) {
    return sizeof(T) == 1   ? DType::kUInt8
           : sizeof(T) == 2 ? DType::kUInt16
           : sizeof(T) == 4 ? DType::kUInt32
                            : DType::kUInt64;
  } else {
    static_assert(NotAnElementType<T>::value,
                  "no tensor holds this type: use the standard integers, bool, float, double, pteron::Half, "
                  "pteron::BFloat16 or the pteron::Float8 types");
    return DType::kUInt8;
  }
}

}  // namespace detail

// The DType of a C++ element type; does not compile for a type that no tensor holds.
template <typename T>
struct DTypeOf {
  static constexpr DType value = detail::dtype_of<T>();
};

}  // namespace v1_0
}  // namespace pteron
