// A limit on what decoding a flatbuffer may allocate.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace pteron::format {

// In a flatbuffer any number of tables can point at the same vector, so that a small file may unfold into an enormous
// number of items. Whoever copies something out of the file takes its bytes from here; a file that shares nothing
// takes at most its own size.
class DecodeBudget {
 public:
  explicit DecodeBudget(uint64_t file_bytes) : left_(file_bytes * 2 + (uint64_t{1} << 20)) {}

  Status take(uint64_t bytes) {
    if (bytes > left_) {
      return error(PTERON_INVALID_FILE, "the file unfolds into more data than it holds: its tables share vectors");
    }
    left_ -= bytes;
    return {};
  }

 private:
  uint64_t left_;
};

}  // namespace pteron::format
