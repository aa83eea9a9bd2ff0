#include "format/constant_copies.h"

#include <cinttypes>
#include <cstring>

#include "base/aligned_memory.h"
#include "base/error.h"

namespace pteron::format {

Result<const uint8_t*> ConstantCopies::aligned(const ByteView& entry, size_t alignment) {
  if (reinterpret_cast<uintptr_t>(entry.data) % alignment == 0) return entry.data;
  const auto known = copies_.find(entry.data);
  if (known != copies_.end() && known->second.size >= entry.size) return known->second.data;
  if (entry.size > left_) {
    return error(PTERON_INVALID_FILE, "the misaligned constants of the file overlap");
  }
  left_ -= entry.size;
  std::shared_ptr<uint8_t> memory = allocate_aligned(static_cast<size_t>(entry.size));
  if (memory == nullptr) {
    return error(PTERON_OUT_OF_MEMORY, "no memory for an aligned copy of a constant of %" PRIu64 " bytes", entry.size);
  }
  std::memcpy(memory.get(), entry.data, static_cast<size_t>(entry.size));
  copies_[entry.data] = {memory.get(), entry.size};
  owners_.push_back(memory);
  return memory.get();
}

}  // namespace pteron::format
