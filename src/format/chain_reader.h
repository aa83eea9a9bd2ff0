// The instructions of a method.
#pragma once

#include "format/method_context.h"
#include "format/program_file.h"

namespace pteron::format {

// Reads `plan.chains` into method->chains. Needs everything else of the method.
Status read_chains(const pte::ExecutionPlan& plan, MethodContext& context, Method* method);

}  // namespace pteron::format
