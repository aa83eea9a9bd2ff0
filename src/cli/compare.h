// How far two values are apart.
#pragma once

#include <optional>
#include <string>

#include "pteron/value.h"

namespace pteron::cli {

struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// What --atol and --rtol leave open: 1e-5 and 1e-4 for float32 and float64, 1e-3 and 1e-3 for float16, 1e-2 and 1.6e-2
// for bfloat16, 0.25 of both for 8-bit floats, exact for everything else.
Tolerance tolerance_for(DType dtype, std::optional<double> absolute, std::optional<double> relative);

struct Difference {
  bool within = true;
  double largest_absolute = 0;
  double largest_relative = 0;  // of |found - expected| / |expected|, where expected is not 0
  size_t outside = 0;           // elements out of tolerance
  size_t count = 0;
  Tolerance tolerance;
  std::string reason;  // why values cannot be compared, or the worst element
};

// |found - expected| <= absolute + relative * |expected| for each element; NaN equals NaN, an infinity only itself.
Difference compare_values(ValueView found, ValueView expected, std::optional<double> absolute,
                          std::optional<double> relative);

}  // namespace pteron::cli
