#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/copy.h"
#include "engine/elementwise_table.h"

namespace pteron::engine {

float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

BFloat16 to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((bits >> 16) | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

float to_float(Half value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
  const uint32_t magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00) {
    const uint32_t quiet = magnitude > 0x7c00 ? 0x400000u : 0;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (magnitude & 0x3ff) << 13);
  }
  // Exponent and fraction moved into place are the value times 2^-112, denormals included; the product is exact.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

Half to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff))};
  // 65520 is half way between the largest half and the next power of two: from there on infinity.
  if (magnitude >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00)};
  if (magnitude < 0x38800000u) {
    // Below 2^-14 the spacing is 2^-24, which is the spacing of floats in [0.5, 1): the addition rounds there.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u))};
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return {static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
}

namespace {

// Every conversion goes through one of three exact types: double for floats, int64_t and uint64_t for integers. That is
// 13 loops in and 39 out instead of 169 pairs.
constexpr int64_t kChunk = 256;

// Float to integer truncates; what the integer cannot hold gives its lowest value, as the x86 instructions do, instead
// of undefined behaviour.
int64_t truncate(double value) {
  if (value >= -0x1p63 && value < 0x1p63) return static_cast<int64_t>(value);
  return std::numeric_limits<int64_t>::min();
}

template <class To, class From>
To convert_one(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_same_v<To, Half>) {
    return to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<From, double> && std::is_integral_v<To>) {
    if constexpr (std::is_same_v<To, int32_t>) {
      if (!(value > -2147483649.0 && value < 2147483648.0)) return std::numeric_limits<int32_t>::min();
    }
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (value >= 0x1p63 && value < 0x1p64) return static_cast<uint64_t>(value);
    }
    return static_cast<To>(truncate(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class Wide>
void widen_all(const void* src, Wide* dst, int64_t count) {
  const From* from = static_cast<const From*>(src);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
      dst[i] = static_cast<Wide>(to_float(from[i]));
    } else {
      dst[i] = static_cast<Wide>(from[i]);
    }
  }
}

template <class To, class Wide>
void narrow_all(const Wide* src, void* dst, int64_t count) {
  To* to = static_cast<To*>(dst);
  for (int64_t i = 0; i < count; ++i) to[i] = convert_one<To>(src[i]);
}

template <class Wide>
void narrow_to(Type type, const Wide* src, void* dst, int64_t count) {
  switch (type) {
    case Type::kBool:
      return narrow_all<bool>(src, dst, count);
    case Type::kU8:
      return narrow_all<uint8_t>(src, dst, count);
    case Type::kI8:
      return narrow_all<int8_t>(src, dst, count);
    case Type::kI16:
      return narrow_all<int16_t>(src, dst, count);
    case Type::kU16:
      return narrow_all<uint16_t>(src, dst, count);
    case Type::kI32:
      return narrow_all<int32_t>(src, dst, count);
    case Type::kU32:
      return narrow_all<uint32_t>(src, dst, count);
    case Type::kI64:
      return narrow_all<int64_t>(src, dst, count);
    case Type::kU64:
      return narrow_all<uint64_t>(src, dst, count);
    case Type::kF16:
      return narrow_all<Half>(src, dst, count);
    case Type::kBF16:
      return narrow_all<BFloat16>(src, dst, count);
    case Type::kF32:
      return narrow_all<float>(src, dst, count);
    case Type::kF64:
      return narrow_all<double>(src, dst, count);
  }
}

template <class From, class Wide>
void convert_chunks(const void* src, Type dst_type, void* dst, int64_t count) {
  Wide chunk[kChunk];
  for (int64_t i = 0; i < count; i += kChunk) {
    const int64_t n = std::min(kChunk, count - i);
    widen_all<From>(static_cast<const From*>(src) + i, chunk, n);
    narrow_to(dst_type, chunk, static_cast<char*>(dst) + static_cast<size_t>(i) * size_of(dst_type), n);
  }
}

void convert_any(const void* src, Type src_type, void* dst, Type dst_type, int64_t count) {
  switch (src_type) {
    case Type::kBool:
      return convert_chunks<bool, int64_t>(src, dst_type, dst, count);
    case Type::kU8:
      return convert_chunks<uint8_t, int64_t>(src, dst_type, dst, count);
    case Type::kI8:
      return convert_chunks<int8_t, int64_t>(src, dst_type, dst, count);
    case Type::kI16:
      return convert_chunks<int16_t, int64_t>(src, dst_type, dst, count);
    case Type::kU16:
      return convert_chunks<uint16_t, int64_t>(src, dst_type, dst, count);
    case Type::kI32:
      return convert_chunks<int32_t, int64_t>(src, dst_type, dst, count);
    case Type::kU32:
      return convert_chunks<uint32_t, int64_t>(src, dst_type, dst, count);
    case Type::kI64:
      return convert_chunks<int64_t, int64_t>(src, dst_type, dst, count);
    case Type::kU64:
      return convert_chunks<uint64_t, uint64_t>(src, dst_type, dst, count);
    case Type::kF16:
      return convert_chunks<Half, double>(src, dst_type, dst, count);
    case Type::kBF16:
      return convert_chunks<BFloat16, double>(src, dst_type, dst, count);
    case Type::kF32:
      return convert_chunks<float, double>(src, dst_type, dst, count);
    case Type::kF64:
      return convert_chunks<double, double>(src, dst_type, dst, count);
  }
}

void convert_range(const void* src, Type src_type, void* dst, Type dst_type, int64_t count) {
  const CopyTable& table = copy_table(active_isa());
  if (src_type == dst_type) {
    std::memcpy(dst, src, static_cast<size_t>(count) * size_of(src_type));
  } else if (src_type == Type::kF16 && dst_type == Type::kF32) {
    table.half_to_float(static_cast<const uint16_t*>(src), static_cast<float*>(dst), count);
  } else if (src_type == Type::kBF16 && dst_type == Type::kF32) {
    table.bfloat16_to_float(static_cast<const uint16_t*>(src), static_cast<float*>(dst), count);
  } else if (src_type == Type::kF32 && dst_type == Type::kF16) {
    table.float_to_half(static_cast<const float*>(src), static_cast<uint16_t*>(dst), count);
  } else if (src_type == Type::kF32 && dst_type == Type::kBF16) {
    table.float_to_bfloat16(static_cast<const float*>(src), static_cast<uint16_t*>(dst), count);
  } else if (src_type == Type::kU8 && dst_type == Type::kF32) {
    widen_all<uint8_t>(src, static_cast<float*>(dst), count);
  } else {
    convert_any(src, src_type, dst, dst_type, count);
  }
}

}  // namespace

void convert(const void* src, Type src_type, void* dst, Type dst_type, int64_t count, const Parallel& parallel) {
  parallel_for(parallel, count, 16384, [&](int64_t begin, int64_t end) {
    convert_range(static_cast<const char*>(src) + static_cast<size_t>(begin) * size_of(src_type), src_type,
                  static_cast<char*>(dst) + static_cast<size_t>(begin) * size_of(dst_type), dst_type, end - begin);
  });
}

}  // namespace pteron::engine
