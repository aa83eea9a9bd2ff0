// A `.ptd` file, verified and decoded: bytes by key, most of them described as tensors.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/program_file.h"
#include "format/shape.h"
#include "pteron/result.h"

namespace pteron::format {

struct WeightsEntry {
  std::string_view key;
  ByteView data;            // at least the tensor's bytes when there is a layout, and then aligned for its dtype
  bool has_layout = false;  // false: an opaque blob
  Shape shape;              // with a layout
};

struct WeightsFile {
  Bytes bytes;
  std::vector<std::shared_ptr<const void>> copies;  // data that had to be moved to an aligned place
  std::vector<WeightsEntry> entries;                // in the file's order; keys are unique
};

// Verifies and decodes. `bytes` must be aligned to 16.
Result<WeightsFile> read_weights_file(Bytes bytes);

}  // namespace pteron::format
