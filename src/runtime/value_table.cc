#include "runtime/value_table.h"

#include "base/error.h"

namespace pteron::runtime {

ValueTable::ValueTable(const Graph& graph)
    : graph_(graph), values_(graph.values.size()), tensors_(graph.tensors.size()) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const format::Tensor& source = graph.tensors[i];
    const bool constant = is_constant(source);
    TensorStorage& storage = tensors_[i];
    storage.set_shape(source.dtype, static_cast<int32_t>(source.sizes.size()), source.sizes.data(),
                      source.dim_order.data());
    storage.tensor.capacity = source.bytes;
    storage.tensor.device_type = source.device_type;
    storage.tensor.device_index = source.device_index;
    // Constants are never written: the flag says so and load refuses a program that tries.
    storage.tensor.data = constant ? const_cast<uint8_t*>(source.data) : nullptr;
    storage.tensor.flags = constant         ? uint32_t{PTERON_TENSOR_READ_ONLY}
                           : source.bounded ? uint32_t{PTERON_TENSOR_RESIZABLE}
                                            : 0;
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    values_[i].kind = graph.values[i].kind;
    if (values_[i].kind == PTERON_KIND_TENSOR) values_[i].as.tensor = &tensor(graph.values[i].tensor);
    set_scalar(static_cast<int32_t>(i));
  }
  // Lists last: their items name values that must be there.
  for (size_t i = 0; i < values_.size(); ++i) set_list(static_cast<int32_t>(i));
}

void ValueTable::set_scalar(int32_t index) {
  const format::Value& source = graph_.values[static_cast<size_t>(index)];
  pteron_value& target = value(index);
  switch (source.kind) {
    case PTERON_KIND_INT:
      target.as.as_int = source.as_int;
      break;
    case PTERON_KIND_BOOL:
      target.as.as_bool = source.as_bool ? 1 : 0;
      break;
    case PTERON_KIND_DOUBLE:
      target.as.as_double = source.as_double;
      break;
    case PTERON_KIND_STRING:
      target.as.string.data = source.string.data();
      target.as.string.size = source.string.size();
      break;
    default:
      break;
  }
}

void ValueTable::set_list(int32_t index) {
  const format::Value& source = graph_.values[static_cast<size_t>(index)];
  pteron_value& target = value(index);
  switch (source.kind) {
    case PTERON_KIND_INT_LIST: {
      std::vector<int64_t>& items = int_lists_.emplace_back();
      for (const int32_t item : source.items) items.push_back(graph_.values[static_cast<size_t>(item)].as_int);
      target.as.int_list.items = items.data();
      target.as.int_list.count = items.size();
      break;
    }
    case PTERON_KIND_DOUBLE_LIST:
      target.as.double_list.items = source.doubles.data();
      target.as.double_list.count = source.doubles.size();
      break;
    case PTERON_KIND_BOOL_LIST:
      target.as.bool_list.items = source.bools.data();
      target.as.bool_list.count = source.bools.size();
      break;
    case PTERON_KIND_TENSOR_LIST:
    case PTERON_KIND_OPTIONAL_TENSOR_LIST: {
      std::vector<pteron_tensor*>& items = tensor_lists_.emplace_back();
      for (const int32_t item : source.items) {
        items.push_back(item < 0 ? nullptr : &tensor(graph_.values[static_cast<size_t>(item)].tensor));
      }
      target.as.tensor_list.items = items.data();
      target.as.tensor_list.count = items.size();
      break;
    }
    default:
      break;
  }
}

Status ValueTable::refresh_list(int32_t index) {
  const std::vector<int32_t>& sources = graph_.values[static_cast<size_t>(index)].items;
  auto* items = const_cast<int64_t*>(value(index).as.int_list.items);  // ours: made by set_list
  for (size_t i = 0; i < sources.size(); ++i) {
    const pteron_value& source = value(sources[i]);
    if (source.kind != PTERON_KIND_INT) {
      return error(PTERON_INVALID_FILE, "item %zu of the int list in value %d is value %d, which holds a %s", i, index,
                   sources[i], pteron_kind_name(source.kind));
    }
    items[i] = source.as.as_int;
  }
  return Status();
}

void ValueTable::reset_scalar(int32_t index) {
  value(index).kind = graph_.values[static_cast<size_t>(index)].kind;
  set_scalar(index);
}

}  // namespace pteron::runtime
