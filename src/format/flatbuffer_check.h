// Structural verification of a flatbuffer, before any of its fields is looked at.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>

#include "base/error.h"

namespace pteron::format {

// The root table of the `size` bytes at `data`, once every offset, vector, string and vtable in it is known to lie
// inside. `what` names the buffer: "the program".
//
// The verifier aborts on buffers of 2 GiB and more and visits a table once for every path that leads to it, so both
// are limited: an ordinary table takes eight bytes with the offset that points to it, and no table nests deeper than
// seven levels in any of our schemas.
template <typename Table>
Result<const Table*> check_flatbuffer(const uint8_t* data, uint64_t size, const char* what) {
  constexpr uint64_t kLargest = uint64_t{0x7fffffff};
  constexpr flatbuffers::uoffset_t kDeepest = 16;
  if (size >= kLargest) {
    return error(PTERON_UNSUPPORTED, "%s takes %" PRIu64 " bytes without its segments, expected less than 2 GiB", what,
                 size);
  }
  const auto most_tables = static_cast<flatbuffers::uoffset_t>(size / 4 + 1024);
  flatbuffers::Verifier verifier(data, static_cast<size_t>(size), kDeepest, most_tables, true);
  if (!verifier.VerifyBuffer<Table>(nullptr)) {
    return error(PTERON_INVALID_FILE,
                 "%s is damaged: a table, vector or string in its flatbuffer of %" PRIu64
                 " bytes lies outside of it, is misaligned or is not terminated",
                 what, size);
  }
  return flatbuffers::GetRoot<Table>(data);
}

}  // namespace pteron::format
