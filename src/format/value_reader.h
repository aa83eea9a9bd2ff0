// The values of a method.
#pragma once

#include "format/method_context.h"
#include "format/program_file.h"

namespace pteron::format {

// Reads `plan.values` into method->values and method->tensors. Needs method->inputs, buffer_bytes and buffer_devices.
Status read_values(const pte::ExecutionPlan& plan, MethodContext& context, Method* method);

}  // namespace pteron::format
