#include "format/value_reader.h"

#include <cinttypes>
#include <limits>

#include "base/error.h"
#include "format/name.h"
#include "format/tensor_reader.h"
#include "format/vector_items.h"

namespace pteron::format {
namespace {

class ValueReader {
 public:
  ValueReader(MethodContext& context, Method* method) : context_(context), method_(method) {}

  Result<Value> read(const pte::EValue& from) {
    Value value;
    const auto kind = static_cast<int>(from.val_type());
    if (kind < PTERON_KIND_NONE || kind > PTERON_KIND_OPTIONAL_TENSOR_LIST) {
      return error(PTERON_INVALID_FILE, "its kind is %d, expected 1 to %d", kind, PTERON_KIND_OPTIONAL_TENSOR_LIST);
    }
    value.kind = static_cast<pteron_kind>(kind);
    if (value.kind == PTERON_KIND_NONE) return value;
    if (from.val() == nullptr) {
      return error(PTERON_INVALID_FILE, "it is said to be of kind %s but has no content", pteron_kind_name(kind));
    }
    PTERON_TRY(fill(from, &value));
    return value;
  }

 private:
  Status fill(const pte::EValue& from, Value* to) {
    switch (to->kind) {
      case PTERON_KIND_NONE:
        return {};
      case PTERON_KIND_INT:
        to->as_int = from.val_as_Int()->value();
        return {};
      case PTERON_KIND_BOOL:
        to->as_bool = from.val_as_Bool()->value();
        return {};
      case PTERON_KIND_DOUBLE:
        to->as_double = from.val_as_Double()->value();
        return {};
      case PTERON_KIND_TENSOR:
        return read_tensor_value(*from.val_as_Tensor(), to);
      case PTERON_KIND_STRING:
        return read_string(*from.val_as_String(), to);
      case PTERON_KIND_INT_LIST:
        return read_int_list(*from.val_as_IntList(), to);
      case PTERON_KIND_DOUBLE_LIST:
        return read_numbers(from.val_as_DoubleList()->items(), &to->doubles);
      case PTERON_KIND_BOOL_LIST:
        return read_bools(*from.val_as_BoolList(), to);
      case PTERON_KIND_TENSOR_LIST:
        return read_numbers(from.val_as_TensorList()->items(), &to->items);
      case PTERON_KIND_OPTIONAL_TENSOR_LIST:
        return read_numbers(from.val_as_OptionalTensorList()->items(), &to->items);
    }
    return error(PTERON_INTERNAL, "unhandled kind");
  }

  Status read_tensor_value(const pte::Tensor& from, Value* to) {
    PTERON_ASSIGN(Tensor tensor, read_tensor(from, method_->buffer_bytes, method_->buffer_devices, context_));
    to->tensor = static_cast<int32_t>(method_->tensors.size());
    method_->tensors.push_back(std::move(tensor));
    return {};
  }

  Status read_string(const pte::String& from, Value* to) {
    if (from.value() == nullptr) return error(PTERON_INVALID_FILE, "the text of the string is absent");
    PTERON_ASSIGN(to->string, read_text(from.value(), "the string"));
    return {};
  }

  Status read_int_list(const pte::IntList& from, Value* to) {
    std::vector<int64_t> items;
    PTERON_TRY(read_numbers(from.items(), &items));
    to->items.reserve(items.size());
    for (const int64_t item : items) {
      if (item < 0 || item > std::numeric_limits<int32_t>::max()) {
        return error(PTERON_INVALID_FILE, "item %zu of the list is value index %" PRId64 ", expected 0 or more",
                     to->items.size(), item);
      }
      to->items.push_back(static_cast<int32_t>(item));
    }
    return {};
  }

  Status read_bools(const pte::BoolList& from, Value* to) {
    PTERON_TRY(read_numbers(from.items(), &to->bools));
    for (size_t i = 0; i < to->bools.size(); ++i) {
      if (to->bools[i] > 1) {
        return error(PTERON_INVALID_FILE, "item %zu of the bool list is the byte %d, expected 0 or 1", i, to->bools[i]);
      }
    }
    return {};
  }

  template <typename T>
  Status read_numbers(const flatbuffers::Vector<T>* from, std::vector<T>* to) {
    if (from == nullptr) return error(PTERON_INVALID_FILE, "the items of the list are absent");
    PTERON_TRY(context_.budget.take(uint64_t{from->size()} * sizeof(T)));
    *to = items_of(*from);
    return {};
  }

  MethodContext& context_;
  Method* method_;
};

// Checks items of lists, once all values are known.
class ItemChecker {
 public:
  explicit ItemChecker(Method* method) : values_(method->values), is_input_(method->values.size()) {
    for (const int32_t input : method->inputs) is_input_[static_cast<size_t>(input)] = true;
  }

  Status check(Value* list) const {
    for (size_t i = 0; i < list->items.size(); ++i) {
      int32_t& item = list->items[i];
      const bool optional = list->kind == PTERON_KIND_OPTIONAL_TENSOR_LIST;
      if (item == -1 && optional) continue;
      if (item < 0 || static_cast<size_t>(item) >= values_.size()) {
        return error(PTERON_INVALID_FILE, "item %zu of the %s is value index %d, expected 0 to %zu%s", i,
                     pteron_kind_name(list->kind), item, values_.size() - 1, optional ? " or -1 for none" : "");
      }
      const pteron_kind kind = values_[static_cast<size_t>(item)].kind;
      if (optional && kind == PTERON_KIND_NONE && !is_input_[static_cast<size_t>(item)]) {
        item = -1;
        continue;
      }
      if (!fits(list->kind, item)) {
        return error(PTERON_INVALID_FILE, "item %zu of the %s is value %d of kind %s, expected kind %s", i,
                     pteron_kind_name(list->kind), item, pteron_kind_name(kind),
                     pteron_kind_name(list->kind == PTERON_KIND_INT_LIST ? PTERON_KIND_INT : PTERON_KIND_TENSOR));
      }
    }
    return {};
  }

 private:
  bool fits(pteron_kind list, int32_t item) const {
    const pteron_kind kind = values_[static_cast<size_t>(item)].kind;
    if (list != PTERON_KIND_INT_LIST) return kind == PTERON_KIND_TENSOR;
    // An integer argument that varies from call to call is a null in the file until the caller sets it.
    return kind == PTERON_KIND_INT || (kind == PTERON_KIND_NONE && is_input_[static_cast<size_t>(item)]);
  }

  const std::vector<Value>& values_;
  std::vector<bool> is_input_;
};

}  // namespace

Status read_values(const pte::ExecutionPlan& plan, MethodContext& context, Method* method) {
  const uint32_t count = plan.values()->size();
  PTERON_TRY(context.budget.take(uint64_t{count} * 4));
  method->values.reserve(count);
  ValueReader reader(context, method);
  for (uint32_t i = 0; i < count; ++i) {
    Result<Value> value = reader.read(*plan.values()->Get(i));
    if (!value) return with_place(std::move(value).status(), "value %u", i);
    method->values.push_back(*std::move(value));
  }
  const ItemChecker checker(method);
  for (uint32_t i = 0; i < count; ++i) {
    PTERON_TRY(with_place(checker.check(&method->values[i]), "value %u", i));
  }
  return {};
}

}  // namespace pteron::format
