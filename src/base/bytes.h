// A read-only stretch of memory with whatever keeps it alive: a mapping, a buffer, a caller's object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace pteron {

class Bytes {
 public:
  Bytes() = default;
  Bytes(const uint8_t* data, size_t size, std::shared_ptr<const void> owner)
      : data_(data), size_(size), owner_(std::move(owner)) {}

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  // A part that shares the owner. The range must lie inside; callers check with range_fits().
  Bytes part(size_t offset, size_t size) const { return Bytes(data_ + offset, size, owner_); }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<const void> owner_;
};

}  // namespace pteron
