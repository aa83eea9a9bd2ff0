// Inputs written on the command line: `3`, `[1, 2]`, `[[1.5, nan]]`, `true`, `zeros`, `random:SEED`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tensors.h"

namespace pteron::cli {

// A number as it was written.
struct LiteralNumber {
  enum class Kind { kInteger, kUnsigned, kDouble, kBool } kind = Kind::kInteger;
  int64_t integer = 0;            // kInteger, kBool (0 or 1)
  uint64_t unsigned_integer = 0;  // kUnsigned: above the range of int64
  double number = 0;              // the value as a double, whatever the kind
};

// A number (rank 0) or nested lists of numbers, all of one length at each depth.
struct Literal {
  std::vector<int64_t> shape;
  std::vector<LiteralNumber> numbers;
};

// Failure kInputRefused with the position of what is wrong; `where` names the input.
Literal parse_literal(std::string_view text, const std::string& where);

// The numbers as a tensor of `dtype`. A rank-0 literal becomes any `shape` of one element. Numbers that the dtype
// cannot hold (300 as uint8, 1.5 as int64) are refused; floats are rounded. Failure kInputRefused.
Tensor literal_tensor(const Literal& literal, DType dtype, const std::vector<int64_t>& shape, const std::string& where);

// Reproducible on every machine: floats are multiples of 2^-24 in [0, 1), integers are 0 to 9, bools 0 or 1, from
// splitmix64 started with `seed`.
Tensor random_tensor(DType dtype, const std::vector<int64_t>& shape, uint64_t seed, const std::string& where);

// Splits `random:SEED` into its seed. Failure kInputRefused.
uint64_t parse_seed(std::string_view text, const std::string& where);

// Writes `number` as element `index` of row-major data; rounds to floats. Only for values that fit.
void store_element(void* data, DType dtype, size_t index, const LiteralNumber& number);

}  // namespace pteron::cli
