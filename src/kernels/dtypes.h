// Groups of element types for the operators' table, and PyTorch's rules for mixing them.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/kernel_types.h"

namespace pteron::kernels {

constexpr uint32_t bit(int dtype) {
  return PTERON_DTYPE_BIT(dtype);
}

inline constexpr uint32_t kBool = bit(PTERON_BOOL);
inline constexpr uint32_t kByte = bit(PTERON_UINT8);
inline constexpr uint32_t kFloat = bit(PTERON_FLOAT32);
inline constexpr uint32_t kLong = bit(PTERON_INT64);
inline constexpr uint32_t kInt = bit(PTERON_INT32);
inline constexpr uint32_t kIndex = kInt | kLong;
inline constexpr uint32_t kHalves = bit(PTERON_FLOAT16) | bit(PTERON_BFLOAT16);
inline constexpr uint32_t kFloating = kFloat | bit(PTERON_FLOAT64) | kHalves;
inline constexpr uint32_t kWideUnsigned = bit(PTERON_UINT16) | bit(PTERON_UINT32) | bit(PTERON_UINT64);
// The integers that PyTorch computes with; the wider unsigned ones it only stores, copies and compares for equality.
inline constexpr uint32_t kIntegers =
    bit(PTERON_UINT8) | bit(PTERON_INT8) | bit(PTERON_INT16) | bit(PTERON_INT32) | bit(PTERON_INT64);
inline constexpr uint32_t kReal = kIntegers | kFloating;
inline constexpr uint32_t kRealBool = kReal | kBool;
inline constexpr uint32_t kIntegersBool = kIntegers | kBool;
inline constexpr uint32_t kWhole = kIntegersBool | kWideUnsigned;
inline constexpr uint32_t kStored = kRealBool | kWideUnsigned;
// Everything that has a size: for operators that only move elements.
inline constexpr uint32_t kAny = kStored | bit(PTERON_FLOAT8_E5M2) | bit(PTERON_FLOAT8_E4M3FN) |
                                 bit(PTERON_FLOAT8_E5M2FNUZ) | bit(PTERON_FLOAT8_E4M3FNUZ);

constexpr bool is_in(int dtype, uint32_t group) {
  return dtype >= 0 && dtype < 32 && (group & bit(dtype)) != 0;
}
constexpr bool is_floating(int dtype) {
  return is_in(dtype, kFloating);
}
constexpr bool is_half(int dtype) {
  return is_in(dtype, kHalves);
}
// bool counts as an integer here, as for PyTorch's isIntegralType(dtype, true).
constexpr bool is_integral(int dtype) {
  return is_in(dtype, kIntegersBool | kWideUnsigned);
}

// The common dtype of two, as torch.promote_types.
int promote(int a, int b);

// Collects the operands of one operation and gives their common dtype, as torch.result_type: tensors with dimensions
// come before tensors without, those before Python numbers, and a lower group matters only by its category.
class Promotion {
 public:
  Promotion& add(const Tensor& tensor);
  Promotion& add(const Scalar& scalar);
  int result() const;

 private:
  static constexpr int kNone = -1;
  int dimensioned_ = kNone;
  int zero_dimensional_ = kNone;
  int number_ = kNone;
};

// Whether values of `from` may be written to an out tensor of `to`, as torch.can_cast: no float to integer, nothing
// but bool to bool.
constexpr bool can_cast(int from, int to) {
  if (is_floating(from)) return is_floating(to);
  if (from != PTERON_BOOL && to == PTERON_BOOL) return false;
  return true;
}

// Whether a number may be stored in an element of `dtype`: the integers refuse what overflows them, except that a
// negative number whose positive twin fits an unsigned dtype wraps around, as in PyTorch.
bool scalar_fits(const Scalar& value, int dtype);

// Fails unless can_cast().
int require_castable(KernelContext& context, int from, int to);

}  // namespace pteron::kernels
