#include "runtime/method_info.h"

#include "runtime/input_names.h"

namespace pteron::runtime {
namespace {

void set_tensor(const format::Tensor& tensor, pteron_value_info* info) {
  info->dtype = tensor.dtype;
  info->rank = static_cast<int32_t>(tensor.sizes.size());
  info->dynamism = tensor.bounded ? PTERON_SHAPE_BOUNDED : PTERON_SHAPE_STATIC;
  info->sizes = tensor.sizes.data();
  info->dim_order = tensor.dim_order.data();
  info->bytes = tensor.bytes;
  info->planned = tensor.memory_id != 0 ? 1 : 0;
}

pteron_value scalar_of(const format::Value& value) {
  pteron_value scalar{};
  scalar.kind = value.kind;
  switch (value.kind) {
    case PTERON_KIND_INT:
      scalar.as.as_int = value.as_int;
      break;
    case PTERON_KIND_BOOL:
      scalar.as.as_bool = value.as_bool ? 1 : 0;
      break;
    case PTERON_KIND_DOUBLE:
      scalar.as.as_double = value.as_double;
      break;
    case PTERON_KIND_STRING:
      scalar.as.string.data = value.string.data();
      scalar.as.string.size = value.string.size();
      break;
    default:
      scalar.kind = PTERON_KIND_NONE;
      break;
  }
  return scalar;
}

pteron_value_info value_info(const format::Method& method, int32_t index, const char* name) {
  const format::Value& value = method.values[static_cast<size_t>(index)];
  pteron_value_info info{};
  info.struct_size = sizeof(info);
  info.name = name;
  info.kind = value.kind;
  info.scalar = scalar_of(value);
  if (value.kind == PTERON_KIND_TENSOR) {
    const format::Tensor& tensor = method.tensors[static_cast<size_t>(value.tensor)];
    set_tensor(tensor, &info);
    if (name[0] == '\0' && !tensor.name.empty()) info.name = tensor.name.data();
  }
  return info;
}

}  // namespace

MethodInfo::MethodInfo(const format::Method& method) {
  add_signature(method);
  add_operators(method);
  add_delegates(method);
  info_.struct_size = sizeof(info_);
  info_.name = method.name.data();
  info_.inputs = inputs_.pointers.data();
  info_.input_count = inputs_.pointers.size();
  info_.outputs = outputs_.pointers.data();
  info_.output_count = outputs_.pointers.size();
  info_.operators = operators_.pointers.data();
  info_.operator_count = operators_.pointers.size();
  info_.delegates = delegates_.pointers.data();
  info_.delegate_count = delegates_.pointers.size();
  info_.buffer_bytes = method.buffer_bytes.data();
  info_.buffer_count = method.buffer_bytes.size();
  info_.value_count = method.values.size();
  for (const format::Chain& chain : method.chains) info_.instruction_count += chain.instructions.size();
  info_.input_spec = method.input_spec.empty() ? "" : method.input_spec.data();
  info_.output_spec = method.output_spec.empty() ? "" : method.output_spec.data();
}

void MethodInfo::add_signature(const format::Method& method) {
  input_names_ = input_names(method.input_spec, method.inputs.size());
  for (size_t i = 0; i < method.inputs.size(); ++i) {
    inputs_.items.push_back(value_info(method, method.inputs[i], input_names_[i].c_str()));
  }
  for (const int32_t output : method.outputs) outputs_.items.push_back(value_info(method, output, ""));
  inputs_.point();
  outputs_.point();
}

void MethodInfo::add_operators(const format::Method& method) {
  for (const std::string& name : method.operators) {
    operators_.items.push_back({sizeof(pteron_operator_info), name.c_str(), 0});
  }
  for (const format::Chain& chain : method.chains) {
    for (const format::Instruction& instruction : chain.instructions) {
      if (instruction.opcode != format::Opcode::kKernel) continue;
      ++operators_.items[static_cast<size_t>(instruction.target)].calls;
    }
  }
  operators_.point();
}

void MethodInfo::add_delegates(const format::Method& method) {
  specs_.reserve(method.delegates.size());
  for (const format::Delegate& delegate : method.delegates) {
    Specs& specs = specs_.emplace_back();
    for (const format::CompileSpec& spec : delegate.specs) {
      specs.keys.push_back(spec.key.data());
      specs.values.push_back(spec.value.data);
      specs.sizes.push_back(static_cast<size_t>(spec.value.size));
    }
    pteron_delegate_info info{};
    info.struct_size = sizeof(info);
    info.id = delegate.id.data();
    info.payload_bytes = delegate.payload.size;
    info.spec_keys = specs.keys.data();
    info.spec_values = specs.values.data();
    info.spec_sizes = specs.sizes.data();
    info.spec_count = specs.keys.size();
    delegates_.items.push_back(info);
  }
  delegates_.point();
}

}  // namespace pteron::runtime
