// A run's outputs as a file.
#pragma once

#include <string>

#include "pteron/method.h"

namespace pteron::cli {

// Writes `.npz` or `.safetensors` with keys "0", "1", ...: tensors as they are, ints, doubles and bools as tensors of
// rank 0, their lists as rank 1. Outputs that are "none" are left out. Failure kUsage for another ending or an output
// that no tensor holds, kInputOutput.
void write_outputs(const Outputs& outputs, const std::string& path);

// Failure kUsage when `path` ends otherwise; asked before a run, so that nothing is computed in vain.
void require_output_name(const std::string& path);

}  // namespace pteron::cli
