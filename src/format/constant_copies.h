// Aligned copies of constants that a file stores where their element type cannot be read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "format/program_file.h"

namespace pteron::format {

class ConstantCopies {
 public:
  // All copies together may take twice the file: an honest file needs each byte at most once.
  explicit ConstantCopies(uint64_t file_bytes) : left_(file_bytes * 2) {}

  // `entry.data`, or a copy of the entry when that is not a multiple of `alignment` (a power of two, at most 64). An
  // entry is copied once, however many tensors use it.
  Result<const uint8_t*> aligned(const ByteView& entry, size_t alignment);

  std::vector<std::shared_ptr<const void>> take() { return std::move(owners_); }

 private:
  struct Copy {
    const uint8_t* data;
    uint64_t size;
  };
  std::map<const uint8_t*, Copy> copies_;
  std::vector<std::shared_ptr<const void>> owners_;
  uint64_t left_;
};

}  // namespace pteron::format
