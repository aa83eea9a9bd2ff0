// Values shown to a person or a script.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/tensors.h"
#include "pteron/value.h"

namespace pteron::cli {

struct SummaryOptions {
  std::vector<std::string> labels;  // of the classes, one a line of --labels
  size_t top = 0;                   // how many of the largest elements to name; 0: none
};

// The lines of a text file, without trailing blanks. Failure kInputOutput.
std::vector<std::string> read_labels(const std::string& path);

// Kind, shape, dtype, first values, smallest, largest and mean, the largest elements with their labels: for a tensor
// whose elements all lie in its last dimension, and, when there are labels, has as many.
nlohmann::ordered_json describe_value(ValueView value, const SummaryOptions& options);

// The same as lines of text; `title` begins the first.
std::string summary_text(const std::string& title, ValueView value, const SummaryOptions& options);

// "float32 [1, 3, 8, 8]"
std::string tensor_text(DType dtype, const Shape& shape);

}  // namespace pteron::cli
