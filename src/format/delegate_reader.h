// The delegated parts of a method.
#pragma once

#include "format/method_context.h"
#include "format/program_file.h"

namespace pteron::format {

// Reads `plan.delegates` into method->delegates. Payloads stay where they are in the file.
Status read_delegates(const pte::ExecutionPlan& plan, MethodContext& context, Method* method);

}  // namespace pteron::format
