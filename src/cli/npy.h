// NumPy's `.npy` files, versions 1 to 3.
//
// Element types that NumPy does not have follow what the ml_dtypes package writes: bfloat16 is '<V2'; the 8-bit floats
// are '|V1', which does not say which one, so a reader must know. A structured type of one field named after a dtype
// ([('float8_e5m2', '|V1')]) is read as that dtype.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pteron/tensor.h"

namespace pteron::cli {

// Reads an array. Fortran order and big-endian elements are converted. `where` names the file in messages; `expected`
// decides what '|V1' means. Failure kInputRefused for bytes that are no good `.npy`.
Tensor read_npy(std::string_view bytes, const std::string& where, std::optional<DType> expected = std::nullopt);

// The text of an array of rank 0 of NumPy's text type ('<U5'), as UTF-8; empty when the array is something else.
// Failure kInputRefused for bytes that are no good `.npy`.
std::optional<std::string> read_npy_text(std::string_view bytes, const std::string& where);

// A `.npy` of version 1, C order, aligned to 64 bytes.
std::string write_npy(const TensorView& tensor);

}  // namespace pteron::cli
