#include "runtime/graph_builder.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "runtime/component_loader.h"
#include "runtime/program.h"
#include "runtime/tensor.h"

namespace pteron::runtime {
namespace {

using format::Opcode;
using format::Storage;

bool is_scalar_kind(int32_t kind) {
  return kind == PTERON_KIND_NONE || kind == PTERON_KIND_INT || kind == PTERON_KIND_BOOL ||
         kind == PTERON_KIND_DOUBLE || kind == PTERON_KIND_STRING;
}

// The dtypes of the tensors of one call, in order, without repetition.
std::string dtypes_of_call(const format::Method& method, const format::Instruction& call) {
  std::vector<uint8_t> dtypes;
  auto add = [&](const format::Value& value) {
    if (value.kind != PTERON_KIND_TENSOR) return;
    const uint8_t dtype = method.tensors[static_cast<size_t>(value.tensor)].dtype;
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) dtypes.push_back(dtype);
  };
  for (const int32_t arg : call.args) {
    const format::Value& value = method.values[static_cast<size_t>(arg)];
    add(value);
    if (value.kind != PTERON_KIND_TENSOR_LIST && value.kind != PTERON_KIND_OPTIONAL_TENSOR_LIST) continue;
    for (const int32_t item : value.items) {
      if (item >= 0) add(method.values[static_cast<size_t>(item)]);
    }
  }
  std::string text;
  for (const uint8_t dtype : dtypes) text += (text.empty() ? "" : ", ") + std::string(pteron_dtype_name(dtype));
  return text;
}

// Turns a file's method into a graph, step by step.
class Builder {
 public:
  Builder(const Program& program, const format::Method& method) : program_(program), method_(method) {
    graph_.name = std::string(method.name);
    graph_.values = method.values;
    graph_.tensors = method.tensors;
    graph_.inputs = method.inputs;
    graph_.outputs = method.outputs;
    graph_.delegates = method.delegates;
    graph_.buffer_bytes = method.buffer_bytes;
  }

  Result<Graph> build() {
    PTERON_TRY(resolve_tensors());
    for (size_t c = 0; c < method_.chains.size(); ++c) PTERON_TRY(add_chain(c));
    find_computed_values();
    count_mentions();
    for (Step& step : graph_.steps) {
      if (step.opcode == Opcode::kKernel) PTERON_TRY(check_kernel_call(step));
      if (step.opcode == Opcode::kMove) PTERON_TRY(check_move(step));
      PTERON_TRY(check_writes(step));
      find_computed_lists(step);
    }
    PTERON_TRY(check_frees());
    return std::move(graph_);
  }

 private:
  Status resolve_tensors() {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      format::Tensor& tensor = graph_.tensors[i];
      if (tensor.device_type != PTERON_DEVICE_CPU) {
        return error(PTERON_UNSUPPORTED,
                     "method '%s': tensor %zu lives on device type %d, index %d; this runtime serves memory of the CPU "
                     "only",
                     graph_.name.c_str(), i, tensor.device_type, tensor.device_index);
      }
      if (tensor.storage != Storage::kExternalConstant && tensor.storage != Storage::kPlannedExternalInit) continue;
      PTERON_ASSIGN(const format::ByteView data, program_.external_data(tensor));
      tensor.data = data.data;
    }
    return Status();
  }

  Status add_chain(size_t chain_index) {
    const format::Chain& chain = method_.chains[chain_index];
    const auto base = static_cast<int32_t>(graph_.steps.size());
    for (size_t i = 0; i < chain.instructions.size(); ++i) {
      const format::Instruction& instruction = chain.instructions[i];
      Step step;
      step.opcode = instruction.opcode;
      step.chain = static_cast<int32_t>(chain_index);
      step.instruction = static_cast<int32_t>(i);
      step.target = instruction.target;
      step.operand = instruction.opcode == Opcode::kJumpFalse ? base + instruction.operand : instruction.operand;
      step.args = instruction.args;
      if (step.opcode == Opcode::kKernel) PTERON_TRY(resolve_kernel(step));
      if (step.opcode == Opcode::kDelegate) step.access.assign(step.args.size(), Access::kReadWrite);
      graph_.sources.push_back(i < chain.sources.size() ? chain.sources[i] : std::string());
      graph_.steps.push_back(std::move(step));
    }
    return Status();
  }

  Status resolve_kernel(Step& step) {
    const std::string& name = method_.operators[static_cast<size_t>(step.target)];
    const KernelEntry* entry = find_or_load_kernel(name, false);
    if (entry == nullptr || !entry->error.empty()) {
      return error(PTERON_MISSING_OPERATOR, "operator %s of method '%s' has no usable kernel%s%s", name.c_str(),
                   graph_.name.c_str(), entry == nullptr ? "" : ": ", entry == nullptr ? "" : entry->error.c_str());
    }
    step.kernel = entry->kernel;
    step.schema = &entry->schema;
    return Status();
  }

  // Values whose content is only known while running: what steps write, and inputs.
  void find_computed_values() {
    computed_.assign(graph_.values.size(), false);
    for (const int32_t input : graph_.inputs) computed_[static_cast<size_t>(input)] = true;
    for (const Step& step : graph_.steps) {
      if (step.opcode == Opcode::kMove) computed_[static_cast<size_t>(step.operand)] = true;
      if (step.opcode != Opcode::kKernel) continue;
      const size_t count = std::min(step.args.size(), step.schema->arguments.size());
      for (size_t i = 0; i < count; ++i) {
        if (step.schema->arguments[i].written) computed_[static_cast<size_t>(step.args[i])] = true;
      }
    }
  }

  // How often each value stands in a call, a move, a list or among the inputs and outputs.
  void count_mentions() {
    mentions_.assign(graph_.values.size(), 0);
    auto count = [&](const std::vector<int32_t>& values) {
      for (const int32_t value : values) {
        if (value >= 0) ++mentions_[static_cast<size_t>(value)];
      }
    };
    count(graph_.inputs);
    count(graph_.outputs);
    for (const format::Value& value : graph_.values) count(value.items);
    for (const Step& step : graph_.steps) {
      count(step.args);
      if (step.opcode == Opcode::kMove) count({step.operand});
    }
  }

  bool is_computed_scalar(int32_t value) const {
    return computed_[static_cast<size_t>(value)] && is_scalar_kind(graph_.values[static_cast<size_t>(value)].kind);
  }

  Status check_kernel_call(Step& step) {
    std::vector<CallArgument> call;
    for (const int32_t arg : step.args) {
      const int32_t kind = graph_.values[static_cast<size_t>(arg)].kind;
      const bool appended = call.size() >= step.schema->arguments.size();
      call.push_back({is_computed_scalar(arg) ? kKindComputed : kind, appended ? written_by(step, arg) : arg});
    }
    Status fits = check_call(*step.schema, call);
    if (!fits.ok()) return with_place(std::move(fits), "%s", graph_.place(step).c_str());
    step.args.resize(step.schema->arguments.size());
    for (const Argument& argument : step.schema->arguments) step.access.push_back(access_of(*step.kernel, argument));
    return check_dtypes(step);
  }

  // What an in-place operator returns is the argument it writes. Older exporters (1.0 and before) made it a value of
  // its own, whose memory nobody fills; that is the same as long as nobody reads it.
  int32_t written_by(const Step& step, int32_t returned) const {
    if (mentions_[static_cast<size_t>(returned)] > 1) return returned;
    for (size_t i = 0; i < step.schema->arguments.size(); ++i) {
      const Argument& argument = step.schema->arguments[i];
      if (argument.written && !argument.output) return step.args[i];
    }
    return returned;
  }

  // Both overwrite what they write, whatever it held: all of it (copy_), or slot after slot (et_copy_index).
  static Access access_of(const pteron_kernel& kernel, const Argument& argument) {
    if (!argument.written) return Access::kRead;
    const bool overwrites = std::strcmp(kernel.name, "aten::copy_") == 0 ||
                            std::strcmp(kernel.name, "executorch_prim::et_copy_index.tensor") == 0;
    return argument.output || overwrites ? Access::kWrite : Access::kReadWrite;
  }

  Status check_dtypes(const Step& step) {
    const uint32_t* masks = step.kernel->dtypes;
    if (masks == nullptr || masks[0] == 0) return Status();
    size_t mask = 0;
    for (size_t i = 0; i < step.args.size(); ++i) {
      const ArgumentType type = step.schema->arguments[i].type;
      if (type != ArgumentType::kTensor && type != ArgumentType::kTensorList &&
          type != ArgumentType::kOptionalTensorList) {
        continue;
      }
      PTERON_TRY(check_dtype(step, i, step.args[i], masks[mask]));
      for (const int32_t item : items_of(step.args[i])) PTERON_TRY(check_dtype(step, i, item, masks[mask]));
      ++mask;
    }
    return Status();
  }

  std::vector<int32_t> items_of(int32_t value) const {
    const format::Value& list = graph_.values[static_cast<size_t>(value)];
    std::vector<int32_t> items;
    if (list.kind != PTERON_KIND_TENSOR_LIST && list.kind != PTERON_KIND_OPTIONAL_TENSOR_LIST) return items;
    std::copy_if(list.items.begin(), list.items.end(), std::back_inserter(items),
                 [](int32_t item) { return item >= 0; });
    return items;
  }

  Status check_dtype(const Step& step, size_t argument, int32_t value, uint32_t mask) const {
    const format::Value& given = graph_.values[static_cast<size_t>(value)];
    if (given.kind != PTERON_KIND_TENSOR) return Status();
    const uint8_t dtype = graph_.tensors[static_cast<size_t>(given.tensor)].dtype;
    if ((mask & PTERON_DTYPE_BIT(dtype)) != 0) return Status();
    std::string allowed;
    for (uint32_t bit = 0; bit < 32; ++bit) {
      if ((mask & PTERON_DTYPE_BIT(bit)) != 0) {
        allowed += (allowed.empty() ? "" : ", ") + std::string(pteron_dtype_name(static_cast<int32_t>(bit)));
      }
    }
    return error(PTERON_MISSING_OPERATOR, "%s: argument '%s' (value %d) is %s; the kernel takes %s",
                 graph_.place(step).c_str(), step.schema->arguments[argument].name.c_str(), value,
                 pteron_dtype_name(dtype), allowed.c_str());
  }

  Status check_move(const Step& step) const {
    const format::Value& from = graph_.values[static_cast<size_t>(step.target)];
    const format::Value& to = graph_.values[static_cast<size_t>(step.operand)];
    const bool scalars = is_scalar_kind(from.kind) && is_scalar_kind(to.kind);
    if (!scalars && (from.kind != PTERON_KIND_TENSOR || to.kind != PTERON_KIND_TENSOR)) {
      return error(PTERON_INVALID_FILE, "%s: value %d, a %s, cannot move to value %d, a %s", graph_.place(step).c_str(),
                   step.target, pteron_kind_name(from.kind), step.operand, pteron_kind_name(to.kind));
    }
    if (scalars) return Status();
    const format::Tensor& source = graph_.tensors[static_cast<size_t>(from.tensor)];
    const format::Tensor& target = graph_.tensors[static_cast<size_t>(to.tensor)];
    if (source.dtype != target.dtype || source.sizes.size() != target.sizes.size()) {
      return error(PTERON_INVALID_FILE, "%s: value %d is %s of rank %zu and cannot move to value %d, %s of rank %zu",
                   graph_.place(step).c_str(), step.target, pteron_dtype_name(source.dtype), source.sizes.size(),
                   step.operand, pteron_dtype_name(target.dtype), target.sizes.size());
    }
    return Status();
  }

  Status check_writes(const Step& step) const {
    if (step.opcode == Opcode::kDelegate) return Status();  // which arguments it writes is the backend's knowledge
    for (const TensorAccess& access : graph_.tensor_accesses(step)) {
      if (access.access == Access::kRead) continue;
      if (!is_constant(graph_.tensors[static_cast<size_t>(access.tensor)])) continue;
      return error(PTERON_INVALID_FILE, "%s writes to tensor %d, which is a constant of the program",
                   graph_.place(step).c_str(), access.tensor);
    }
    return Status();
  }

  void find_computed_lists(Step& step) const {
    for (const int32_t arg : step.args) {
      const format::Value& value = graph_.values[static_cast<size_t>(arg)];
      if (value.kind != PTERON_KIND_INT_LIST) continue;
      const bool computed = std::any_of(value.items.begin(), value.items.end(),
                                        [&](int32_t item) { return computed_[static_cast<size_t>(item)]; });
      if (computed) step.computed_lists.push_back(arg);
    }
  }

  // With jumps a free may be skipped, so only straight code is judged.
  Status check_frees() const {
    const bool jumps = std::any_of(graph_.steps.begin(), graph_.steps.end(),
                                   [](const Step& step) { return step.opcode == Opcode::kJumpFalse; });
    if (jumps) return Status();
    std::vector<bool> freed(graph_.tensors.size());
    for (const Step& step : graph_.steps) {
      if (step.opcode == Opcode::kFree) {
        const format::Value& value = graph_.values[static_cast<size_t>(step.target)];
        if (value.kind == PTERON_KIND_TENSOR) freed[static_cast<size_t>(value.tensor)] = true;
        continue;
      }
      for (const TensorAccess& access : graph_.tensor_accesses(step)) {
        const auto tensor = static_cast<size_t>(access.tensor);
        if (access.access == Access::kWrite) freed[tensor] = false;
        if (freed[tensor] && access.access == Access::kRead) {
          return error(PTERON_INVALID_FILE, "%s reads tensor %zu after an earlier instruction freed it",
                       graph_.place(step).c_str(), tensor);
        }
      }
    }
    return Status();
  }

  const Program& program_;
  const format::Method& method_;
  Graph graph_;
  std::vector<bool> computed_;
  std::vector<uint32_t> mentions_;
};

}  // namespace

std::vector<MissingOperator> find_missing_operators(const format::Method& method, bool auto_load) {
  std::vector<MissingOperator> missing;
  for (size_t i = 0; i < method.operators.size(); ++i) {
    std::string dtypes;
    bool called = false;
    for (const format::Chain& chain : method.chains) {
      for (const format::Instruction& instruction : chain.instructions) {
        if (called || instruction.opcode != Opcode::kKernel || instruction.target != static_cast<int32_t>(i)) continue;
        called = true;
        dtypes = dtypes_of_call(method, instruction);
      }
    }
    if (!called) continue;
    const KernelEntry* entry = find_or_load_kernel(method.operators[i], auto_load);
    if (entry == nullptr || !entry->error.empty()) missing.push_back({method.operators[i], dtypes});
  }
  return missing;
}

Result<Graph> build_graph(const Program& program, const format::Method& method) {
  return Builder(program, method).build();
}

ValueUses value_uses(const Graph& graph) {
  ValueUses uses;
  uses.written.assign(graph.values.size(), false);
  uses.read.assign(graph.values.size(), false);
  auto read = [&](int32_t value) {
    uses.read[static_cast<size_t>(value)] = true;
    for (const int32_t item : graph.values[static_cast<size_t>(value)].items) {
      if (item >= 0) uses.read[static_cast<size_t>(item)] = true;
    }
  };
  for (const Step& step : graph.steps) {
    for (size_t i = 0; i < step.args.size(); ++i) {
      if (step.access[i] != Access::kRead) uses.written[static_cast<size_t>(step.args[i])] = true;
      if (step.access[i] != Access::kWrite) read(step.args[i]);
    }
    if (step.opcode == Opcode::kMove) {
      read(step.target);
      uses.written[static_cast<size_t>(step.operand)] = true;
    }
    if (step.opcode == Opcode::kJumpFalse) read(step.target);
  }
  return uses;
}

}  // namespace pteron::runtime
