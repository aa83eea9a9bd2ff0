// NumPy's `.npz` files: zip archives of `.npy` members.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/tensors.h"

namespace pteron::cli {

// The bytes of each `.npy` member by its name without ".npy", in the archive's order. Stored and deflated members,
// zip64. Failure kInputRefused.
std::vector<std::pair<std::string, std::string>> read_npz(std::string_view bytes, const std::string& where);

// Stored members. Failure kInputOutput when the archive would need more than 4 GiB: use .safetensors.
std::string write_npz(const NamedTensors& tensors);

}  // namespace pteron::cli
