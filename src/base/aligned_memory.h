// Memory on a cache line's boundary, owned by a shared pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pteron {

constexpr size_t kMemoryAlignment = 64;

// `size` uninitialised bytes aligned to kMemoryAlignment; never null, also for 0. Null pointer when memory is short.
std::shared_ptr<uint8_t> allocate_aligned(size_t size);

}  // namespace pteron
