#include "base/aligned_memory.h"

#include <cstdlib>

#include "base/checked.h"

namespace pteron {

std::shared_ptr<uint8_t> allocate_aligned(size_t size) {
  uint64_t rounded = 0;
  if (!checked_align(size == 0 ? 1 : size, kMemoryAlignment, &rounded)) return nullptr;
  void* memory = std::aligned_alloc(kMemoryAlignment, rounded);
  if (memory == nullptr) return nullptr;
  return std::shared_ptr<uint8_t>(static_cast<uint8_t*>(memory), [](uint8_t* p) { std::free(p); });
}

}  // namespace pteron
