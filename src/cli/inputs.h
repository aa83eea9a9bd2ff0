// A method's inputs, from the command line, files and bundles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/image.h"
#include "pteron/bundle.h"
#include "pteron/program.h"
#include "pteron/value.h"

namespace pteron::cli {

struct InputOptions {
  std::vector<std::string> values;  // --input [NAME|INDEX=]VALUE
  std::string file;                 // --inputs FILE
  ImageOptions image;
};

// One Value per input of `method`. Inputs that were given nowhere: a scalar takes the value the program was exported
// with; anything else is a Failure kInputRefused that names all of them. Other failures: kInputRefused, kInputOutput,
// kUsage for an input that does not exist or is given twice.
std::vector<Value> make_inputs(const MethodInfo& method, const InputOptions& options);

// Random floats (seed: the input's index), zeros for other dtypes, exported values for scalars; `*note` says so.
std::vector<Value> made_up_inputs(const MethodInfo& method, std::string* note);

// "input 0 'x' of method 'forward'"
std::string input_place(const MethodInfo& method, size_t index);

}  // namespace pteron::cli
