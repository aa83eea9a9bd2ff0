#include "base/data_source.h"

#include <cinttypes>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/aligned_memory.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"

namespace pteron {
namespace {

// Calls a caller's release function when the last owner is gone.
class Lease {
 public:
  Lease(void (*release)(void* user), void* user) : release_(release), user_(user) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Lease(Lease&& other) noexcept : release_(std::exchange(other.release_, nullptr)), user_(other.user_) {}
  ~Lease() {
    if (release_ != nullptr) release_(user_);
  }

 private:
  void (*release_)(void* user);
  void* user_;
};

}  // namespace

Result<Bytes> borrow_bytes(const void* data, size_t size, void (*release)(void* user), void* user) {
  Lease lease(release, user);
  if (data == nullptr && size != 0) return error(PTERON_INVALID_ARGUMENT, "%zu bytes at a null pointer", size);
  const bool aligned = reinterpret_cast<uintptr_t>(data) % kBytesAlignment == 0;
  if (release == nullptr || !aligned) return copy_bytes(data, size);
  return Bytes(static_cast<const uint8_t*>(data), size, std::make_shared<const Lease>(std::move(lease)));
}

Result<Bytes> read_source(const pteron_data_source& source) {
  const Lease lease(source.release, source.user);
  if (source.read == nullptr) return error(PTERON_INVALID_ARGUMENT, "the data source has no read function");
  size_t size = 0;
  std::shared_ptr<uint8_t> memory;
  if (checked_cast(source.size, &size)) memory = allocate_aligned(size);
  if (memory == nullptr) {
    return error(PTERON_OUT_OF_MEMORY, "no memory for the %" PRIu64 " bytes of the data source", source.size);
  }
  const size_t got = size == 0 ? 0 : source.read(source.user, 0, memory.get(), size);
  if (got != size) {
    return error(PTERON_IO, "the data source gave %zu bytes, expected %zu", got, size);
  }
  return Bytes(memory.get(), size, memory);
}

}  // namespace pteron
