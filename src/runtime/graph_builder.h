// From a decoded method of a file to the runtime's own graph: chains laid end to end, operators resolved, every call
// checked against its operator's schema.
#pragma once

#include <string>
#include <vector>

#include "format/program_file.h"
#include "pteron/result.h"
#include "runtime/graph.h"

namespace pteron::runtime {

class Program;

// An operator of the method that has no usable kernel, with the dtypes of its first call.
struct MissingOperator {
  std::string name;
  std::string dtypes;  // "float32, int64", or "" for a call without tensors
};

// Operators without a kernel; loads libpteron_kernels.so for them unless `auto_load` is false.
std::vector<MissingOperator> find_missing_operators(const format::Method& method, bool auto_load);

// Builds the graph; every operator must have a kernel. Errors: PTERON_INVALID_FILE for a call that does not fit its
// schema, writes a constant, or uses a value after it was freed; PTERON_MISSING_OPERATOR for a dtype that the kernel
// does not take; PTERON_UNSUPPORTED for tensors on a device that this build does not serve; PTERON_NOT_FOUND for an
// external key without data.
Result<Graph> build_graph(const Program& program, const format::Method& method);

// Which values steps write (kernels' written arguments, destinations of moves), and which they read.
struct ValueUses {
  std::vector<bool> written;
  std::vector<bool> read;
};
ValueUses value_uses(const Graph& graph);

}  // namespace pteron::runtime
