// The fuzzer's bytes in a block of exactly their size that starts where readers want it, so that AddressSanitizer sees
// a read behind the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "base/bytes.h"

namespace pteron::fuzz {

inline Bytes exact_block(const uint8_t* data, size_t size) {
  constexpr std::align_val_t kAlignment{16};
  auto* block = static_cast<uint8_t*>(::operator new(size, kAlignment));
  std::shared_ptr<const void> owner(block,
                                    [](const uint8_t* p) { ::operator delete(const_cast<uint8_t*>(p), kAlignment); });
  if (size != 0) std::memcpy(block, data, size);
  return Bytes(block, size, std::move(owner));
}

}  // namespace pteron::fuzz
