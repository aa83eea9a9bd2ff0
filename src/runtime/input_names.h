// Names of a method's inputs, as far as a file has them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pteron::runtime {

// `spec` is the exporter's description of the call's arguments: PyTorch's pytree in JSON. Arguments that were passed by
// keyword have names there, and so have entries of dictionaries; a nested one is written "batch.mask". Everything else,
// and everything when the description is not understood or does not have `count` leaves, gives "".
std::vector<std::string> input_names(std::string_view spec, size_t count);

}  // namespace pteron::runtime
