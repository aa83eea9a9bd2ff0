#include "format/method_reader.h"

#include <cinttypes>
#include <string>

#include "base/checked.h"
#include "base/error.h"
#include "format/chain_reader.h"
#include "format/delegate_reader.h"
#include "format/name.h"
#include "format/tensor_reader.h"
#include "format/value_reader.h"
#include "format/vector_items.h"

namespace pteron::format {
namespace {

Status check_present(const pte::ExecutionPlan& plan) {
  const struct {
    const void* part;
    const char* name;
  } parts[] = {
      {plan.values(), "values"},
      {plan.inputs(), "inputs"},
      {plan.outputs(), "outputs"},
      {plan.chains(), "chains"},
      {plan.operators(), "operators"},
      {plan.delegates(), "delegates"},
      {plan.non_const_buffer_sizes(), "non_const_buffer_sizes"},
  };
  for (const auto& part : parts) {
    if (part.part == nullptr) return error(PTERON_INVALID_FILE, "the list '%s' is absent", part.name);
  }
  return {};
}

Status read_specs(const pte::ExecutionPlan& plan, Method* method) {
  const pte::ContainerMetadata* specs = plan.container_meta_type();
  if (specs == nullptr) return {};
  PTERON_ASSIGN(method->input_spec, read_text(specs->encoded_inp_str(), "the description of the inputs"));
  PTERON_ASSIGN(method->output_spec, read_text(specs->encoded_out_str(), "the description of the outputs"));
  return {};
}

// Entry 0 of the list is reserved; memory id k uses entry k.
Status read_buffers(const pte::ExecutionPlan& plan, MethodContext& context, Method* method) {
  const flatbuffers::Vector<int64_t>& sizes = *plan.non_const_buffer_sizes();
  PTERON_TRY(context.budget.take(uint64_t{sizes.size()} * sizeof(int64_t)));
  uint64_t sum = 0;
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    const int64_t size = item_of(sizes, i);
    if (size < 0) return error(PTERON_INVALID_FILE, "planned buffer %u has %" PRId64 " bytes", i, size);
    if (i == 0) continue;
    if (!checked_add(sum, static_cast<uint64_t>(size), &sum) || sum > context.limits.max_planned_bytes) {
      return error(PTERON_INVALID_FILE,
                   "planned buffers 1 to %u ask for more than %" PRIu64
                   " bytes; a larger limit can be set when the program is loaded (max_memory)",
                   i, context.limits.max_planned_bytes);
    }
    method->buffer_bytes.push_back(static_cast<uint64_t>(size));
  }
  method->buffer_devices.resize(method->buffer_bytes.size());
  return {};
}

Status read_buffer_devices(const pte::ExecutionPlan& plan, Method* method) {
  if (plan.non_const_buffer_device() == nullptr) return {};
  for (const pte::NonConstBufferDevice* entry : *plan.non_const_buffer_device()) {
    const int32_t buffer = entry->buffer_idx();
    if (buffer < 0 || static_cast<size_t>(buffer) > method->buffer_devices.size()) {
      return error(PTERON_INVALID_FILE, "a device is given for planned buffer %d, the method has %zu", buffer,
                   method->buffer_devices.size());
    }
    PTERON_TRY(with_place(check_device(entry->device_type()), "planned buffer %d", buffer));
    if (buffer == 0) continue;
    method->buffer_devices[static_cast<size_t>(buffer) - 1] = {static_cast<uint8_t>(entry->device_type()),
                                                               entry->device_index()};
  }
  return {};
}

Status read_signature(const flatbuffers::Vector<int32_t>& from, uint32_t value_count, const char* what,
                      DecodeBudget& budget, std::vector<int32_t>* to) {
  PTERON_TRY(budget.take(uint64_t{from.size()} * sizeof(int32_t)));
  for (uint32_t i = 0; i < from.size(); ++i) {
    const int32_t index = from.Get(i);
    if (index < 0 || static_cast<uint32_t>(index) >= value_count) {
      return error(PTERON_INVALID_FILE, "%s %u is value %d, the method has %u", what, i, index, value_count);
    }
    to->push_back(index);
  }
  return {};
}

bool is_list(pteron_kind kind) {
  return kind >= PTERON_KIND_INT_LIST && kind <= PTERON_KIND_OPTIONAL_TENSOR_LIST;
}

// Lists of the original call are flattened by the exporter, so that a signature holds single values only.
Status check_kinds(const std::vector<int32_t>& signature, const Method& method, const char* what) {
  for (size_t i = 0; i < signature.size(); ++i) {
    const pteron_kind kind = method.values[static_cast<size_t>(signature[i])].kind;
    if (is_list(kind)) {
      return error(PTERON_INVALID_FILE, "%s %zu is value %d of kind %s, expected a tensor, a scalar, a string or none",
                   what, i, signature[i], pteron_kind_name(kind));
    }
  }
  return {};
}

// A caller's data goes into input tensors: they must not be constants, and each must be one input only.
Status check_input_tensors(const Method& method) {
  std::vector<int32_t> input_of(method.values.size(), -1);
  for (size_t i = 0; i < method.inputs.size(); ++i) {
    const int32_t index = method.inputs[i];
    const Value& value = method.values[static_cast<size_t>(index)];
    if (value.kind != PTERON_KIND_TENSOR) continue;
    const Storage storage = method.tensors[static_cast<size_t>(value.tensor)].storage;
    if (storage != Storage::kPlanned && storage != Storage::kUnplanned) {
      return error(PTERON_INVALID_FILE, "input %zu is value %d, which is a constant or has an initial state", i, index);
    }
    int32_t& first = input_of[static_cast<size_t>(index)];
    if (first >= 0) {
      return error(PTERON_INVALID_FILE, "inputs %d and %zu are the same value %d", first, i, index);
    }
    first = static_cast<int32_t>(i);
  }
  return {};
}

Status read_operators(const pte::ExecutionPlan& plan, MethodContext& context, Method* method) {
  for (const pte::Operator* from : *plan.operators()) {
    const size_t index = method->operators.size();
    Result<std::string_view> name = read_name(from->name(), "its name");
    if (!name) return with_place(std::move(name).status(), "operator %zu", index);
    Result<std::string_view> overload = read_optional_name(from->overload(), "its overload");
    if (!overload) return with_place(std::move(overload).status(), "operator %zu", index);
    std::string full(*name);
    if (!overload->empty()) full.append(".").append(*overload);
    if (full.size() > kLongestName) {
      return error(PTERON_INVALID_FILE, "operator %zu: name and overload have %zu characters, expected at most %zu",
                   index, full.size(), kLongestName);
    }
    PTERON_TRY(context.budget.take(full.size()));
    method->operators.push_back(std::move(full));
  }
  return {};
}

Status read_parts(const pte::ExecutionPlan& plan, MethodContext& context, Method* method) {
  PTERON_TRY(check_present(plan));
  const uint32_t value_count = plan.values()->size();
  PTERON_TRY(read_specs(plan, method));
  PTERON_TRY(read_buffers(plan, context, method));
  PTERON_TRY(read_buffer_devices(plan, method));
  PTERON_TRY(read_signature(*plan.inputs(), value_count, "input", context.budget, &method->inputs));
  PTERON_TRY(read_signature(*plan.outputs(), value_count, "output", context.budget, &method->outputs));
  PTERON_TRY(read_values(plan, context, method));
  PTERON_TRY(check_kinds(method->inputs, *method, "input"));
  PTERON_TRY(check_kinds(method->outputs, *method, "output"));
  PTERON_TRY(check_input_tensors(*method));
  PTERON_TRY(read_operators(plan, context, method));
  PTERON_TRY(read_delegates(plan, context, method));
  return read_chains(plan, context, method);
}

}  // namespace

Result<Method> read_method(const pte::ExecutionPlan& plan, size_t index, MethodContext& context) {
  Method method;
  Result<std::string_view> name = read_name(plan.name(), "its name");
  if (!name) return with_place(std::move(name).status(), "method %zu", index);
  method.name = *name;
  Status status = read_parts(plan, context, &method);
  if (!status.ok()) {
    return with_place(std::move(status), "method '%s'", printable(name->data(), name->size()).c_str());
  }
  return method;
}

}  // namespace pteron::format
