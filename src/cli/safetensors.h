// `.safetensors` files: a length, a JSON header, the elements.
#pragma once

#include <string>
#include <string_view>

#include "cli/tensors.h"

namespace pteron::cli {

// Tensors by name, in the order of their data. Every dtype of Pteron: BOOL, U8 to U64, I8 to I64, F16, BF16, F32, F64,
// F8_E4M3, F8_E5M2, F8_E4M3FNUZ, F8_E5M2FNUZ. Failure kInputRefused.
NamedTensors read_safetensors(std::string_view bytes, const std::string& where);

std::string write_safetensors(const NamedTensors& tensors);

}  // namespace pteron::cli
