// Reading integers of a file's header. Files are little-endian and so is every machine Pteron runs on.
#pragma once

#include <cstdint>
#include <cstring>

namespace pteron::format {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

inline uint32_t load_u32(const uint8_t* from) {
  uint32_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

inline uint64_t load_u64(const uint8_t* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace pteron::format
