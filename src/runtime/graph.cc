#include "runtime/graph.h"

#include <cstring>

#include "base/error.h"

namespace pteron::runtime {

std::vector<TensorAccess> Graph::tensor_accesses(const Step& step) const {
  std::vector<TensorAccess> accesses;
  auto add = [&](int32_t value_index, Access access) {
    const format::Value& value = values[static_cast<size_t>(value_index)];
    if (value.kind == PTERON_KIND_TENSOR) accesses.push_back({value.tensor, access});
    if (value.kind != PTERON_KIND_TENSOR_LIST && value.kind != PTERON_KIND_OPTIONAL_TENSOR_LIST) return;
    for (const int32_t item : value.items) {
      if (item >= 0) accesses.push_back({values[static_cast<size_t>(item)].tensor, access});
    }
  };
  switch (step.opcode) {
    case format::Opcode::kKernel:
    case format::Opcode::kDelegate:
      for (size_t i = 0; i < step.args.size(); ++i) add(step.args[i], step.access[i]);
      break;
    case format::Opcode::kMove:
      add(step.target, Access::kRead);
      add(step.operand, Access::kWrite);
      break;
    case format::Opcode::kJumpFalse:
      add(step.target, Access::kRead);
      break;
    case format::Opcode::kFree:
      break;
  }
  return accesses;
}

bool Graph::is_view(const Step& step) const {
  return step.kernel != nullptr && std::strcmp(step.kernel->name, "executorch_prim::et_view.default") == 0;
}

std::string Graph::step_name(const Step& step) const {
  switch (step.opcode) {
    case format::Opcode::kKernel:
      return step.kernel != nullptr ? step.kernel->name : "kernel";
    case format::Opcode::kDelegate:
      return "delegate:" + std::string(delegates[static_cast<size_t>(step.target)].id);
    case format::Opcode::kMove:
      return "move";
    case format::Opcode::kJumpFalse:
      return "jump_if_false";
    case format::Opcode::kFree:
      return "free";
  }
  return "instruction";
}

std::string Graph::place(const Step& step) const {
  return format_text("method '%s', instruction %d:%d (%s)", name.c_str(), step.chain, step.instruction,
                     step_name(step).c_str());
}

}  // namespace pteron::runtime
