// Blobs that a program holds by key.
#pragma once

#include <vector>

#include <program_generated.h>
#include "format/program_file.h"
#include "format/segment_table.h"

namespace pteron::format {

// Every key is present and there once.
Result<std::vector<NamedData>> read_named_data(const pte::Program& program, const SegmentTable& segments);

}  // namespace pteron::format
