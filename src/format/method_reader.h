// One method of a program.
#pragma once

#include "format/method_context.h"
#include "format/program_file.h"

namespace pteron::format {

// `index` names the method in messages until its own name is known.
Result<Method> read_method(const pte::ExecutionPlan& plan, size_t index, MethodContext& context);

}  // namespace pteron::format
