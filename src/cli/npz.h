// NumPy's `.npz` files: zip archives of `.npy` members.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/tensors.h"

namespace pteron::cli {

// What a member is for: decides what '|V1' means (see npy.h); may be empty.
using ExpectedDType = std::function<std::optional<DType>(const std::string& key)>;

// Arrays by their member's name without ".npy", in the archive's order. Stored and deflated members, zip64. Failure
// kInputRefused.
NamedTensors read_npz(std::string_view bytes, const std::string& where, const ExpectedDType& expected = nullptr);

// Stored members. Failure kInputOutput when the archive would need more than 4 GiB: use .safetensors.
std::string write_npz(const NamedTensors& tensors);

}  // namespace pteron::cli
