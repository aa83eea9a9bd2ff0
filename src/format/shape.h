// The description of a tensor that all files of the family share: element type, sizes, dim order.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pteron/result.h"

namespace pteron::format {

struct Shape {
  uint8_t dtype = 0;
  std::vector<int64_t> sizes;
  std::vector<uint8_t> dim_order;
  uint64_t bytes = 0;
};

// Checks and decodes: sizes present, not negative, at most PTERON_MAX_RANK of them; a dim order of the same length that
// is a permutation; an element type with a size; a byte count (zero sizes left out, so that they cannot hide an
// overflow) below 2^63. PTERON_UNSUPPORTED for element types that exist but have no size of their own.
Result<Shape> read_shape(int8_t scalar_type, const flatbuffers::Vector<int32_t>* sizes,
                         const flatbuffers::Vector<uint8_t>* dim_order);

// "[2, 3]"
std::string sizes_text(const std::vector<int64_t>& sizes);

// "float32 [2, 3]"
std::string shape_text(uint8_t dtype, const std::vector<int64_t>& sizes);

}  // namespace pteron::format
