// Tensors made from untrusted sizes, and their elements as numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pteron/tensor.h"

namespace pteron::cli {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// The dtype that dtype_name() calls so.
std::optional<DType> dtype_from_name(const std::string& name);
bool is_float8(DType dtype);
bool is_floating(DType dtype);  // all float types

// Bytes of a row-major tensor; Failure kInputRefused, naming `where`, when the shape has over 16 dimensions, a negative
// size, or does not fit.
size_t checked_bytes(const std::vector<int64_t>& shape, DType dtype, const std::string& where);

// A tensor of zeros; Failure kInputRefused.
Tensor make_tensor(DType dtype, const std::vector<int64_t>& shape, const std::string& where);

// Failure kInputRefused unless every byte is 0 or 1.
void require_bools(const char* data, size_t size, const std::string& where);

// Appends the elements in row-major order.
void append_elements(const TensorView& tensor, std::string* out);

// An element as a number, exact where a double is: integers over 2^53 keep `integer`.
struct Element {
  double number = 0;
  int64_t integer = 0;            // for signed integers and bool
  uint64_t unsigned_integer = 0;  // for unsigned integers
};

// Element `index` of row-major data. 8-bit floats are decoded, too.
Element element_at(const void* data, DType dtype, size_t index);

// "1.5", "-3", "true": shortest text that reads back as the same value of that type.
std::string element_text(const void* data, DType dtype, size_t index);

std::string double_text(double value);

// The tensor itself when it is contiguous, else a copy kept in `*storage`.
TensorView contiguous(const TensorView& tensor, Tensor* storage);

// Control and non-ASCII characters become '?'; over 80 characters are cut.
std::string printable_text(const std::string& text);

}  // namespace pteron::cli
