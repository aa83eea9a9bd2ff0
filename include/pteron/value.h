// Values: what goes into a method and comes out of it.
//
//   pteron::Value number(int64_t{3});
//   pteron::Value list(std::vector<int64_t>{1, 2});
//   pteron::Value text("greedy");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pteron/tensor.h"

namespace pteron {
inline namespace v1_0 {

enum class Kind : int32_t {
  kNone = PTERON_KIND_NONE,
  kInt = PTERON_KIND_INT,
  kBool = PTERON_KIND_BOOL,
  kDouble = PTERON_KIND_DOUBLE,
  kTensor = PTERON_KIND_TENSOR,
  kString = PTERON_KIND_STRING,
  kIntList = PTERON_KIND_INT_LIST,
  kDoubleList = PTERON_KIND_DOUBLE_LIST,
  kBoolList = PTERON_KIND_BOOL_LIST,
  kTensorList = PTERON_KIND_TENSOR_LIST,
  kOptionalTensorList = PTERON_KIND_OPTIONAL_TENSOR_LIST
};

// "int", "tensor", "optional tensor list", ...: static text.
inline const char* kind_name(Kind kind) {
  return pteron_kind_name(static_cast<int32_t>(kind));
}

class Value;

// A value that somebody else owns: an output of a method, an argument in a trace.
//
//   pteron::ValueView output = (*outputs)[0];
//   if (output.is_tensor()) use(*output.tensor());
//   else use(*output.as_int());
//
// Ownership: none; see whoever hands it out for how long it lives. Copying copies the reference. Each accessor fails
// with PTERON_INVALID_ARGUMENT, naming both kinds, when the value is of another kind.
class ValueView {
 public:
  explicit ValueView(const pteron_value* raw) : raw_(raw) {}

  Kind kind() const { return raw_ == nullptr ? Kind::kNone : static_cast<Kind>(raw_->kind); }
  bool is_none() const { return kind() == Kind::kNone; }
  bool is_tensor() const { return kind() == Kind::kTensor; }

  Result<int64_t> as_int() const {
    PTERON_TRY(expect(Kind::kInt));
    return static_cast<int64_t>(raw_->as.as_int);
  }
  Result<double> as_double() const {
    PTERON_TRY(expect(Kind::kDouble));
    return static_cast<double>(raw_->as.as_double);
  }
  Result<bool> as_bool() const {
    PTERON_TRY(expect(Kind::kBool));
    return raw_->as.as_bool != 0;
  }
  Result<std::string_view> as_string() const {
    PTERON_TRY(expect(Kind::kString));
    return std::string_view(raw_->as.string.data, raw_->as.string.size);
  }
  // Elements are not copied.
  Result<TensorView> tensor() const {
    PTERON_TRY(expect(Kind::kTensor));
    return TensorView::from_raw(*raw_->as.tensor);
  }
  Result<Span<const int64_t>> int_list() const {
    PTERON_TRY(expect(Kind::kIntList));
    return Span<const int64_t>(raw_->as.int_list.items, raw_->as.int_list.count);
  }
  Result<Span<const double>> double_list() const {
    PTERON_TRY(expect(Kind::kDoubleList));
    return Span<const double>(raw_->as.double_list.items, raw_->as.double_list.count);
  }
  // 0 or 1 each.
  Result<Span<const uint8_t>> bool_list() const {
    PTERON_TRY(expect(Kind::kBoolList));
    return Span<const uint8_t>(raw_->as.bool_list.items, raw_->as.bool_list.count);
  }
  // Of tensor lists and optional tensor lists; "none" in the latter is an empty optional.
  Result<std::vector<std::optional<TensorView>>> tensor_list() const {
    if (kind() != Kind::kOptionalTensorList) PTERON_TRY(expect(Kind::kTensorList));
    std::vector<std::optional<TensorView>> tensors(raw_->as.tensor_list.count);
    for (size_t i = 0; i < tensors.size(); ++i) {
      const pteron_tensor* tensor = raw_->as.tensor_list.items[i];
      if (tensor != nullptr) tensors[i] = TensorView::from_raw(*tensor);
    }
    return tensors;
  }

  // A copy that owns everything, tensors' elements included. Fails with PTERON_OUT_OF_MEMORY.
  Result<Value> clone() const;

  const pteron_value* raw() const { return raw_; }

 private:
  Status expect(Kind wanted) const {
    if (kind() == wanted) return Status();
    const std::string message =
        std::string("asked for a value of kind ") + kind_name(wanted) + ", this one is " + kind_name(kind());
    return Status(PTERON_INVALID_ARGUMENT, message.c_str());
  }

  const pteron_value* raw_;
};

// A value to give to a method.
//
//   method->set_input(0, pteron::Value(image));              // a view: no copy, the elements must live on
//   method->set_input(1, pteron::Value(std::move(tensor)));  // an owning tensor: the value keeps it
//   method->set_input(2, pteron::Value(3));
//
// Ownership: owns scalars, strings, lists and tensors that were moved in; tensor views stay views. Move-only; clone()
// of its view() copies. Threads: as a plain struct.
class Value {
 public:
  Value() = default;  // none

  // Any integer type. A uint64_t above the range of int64_t wraps.
  template <typename T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  Value(T value) : content_(static_cast<int64_t>(value)) {}
  // bool and nothing that converts to it, such as a pointer.
  template <typename T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0, typename = void>
  Value(T value) : content_(value) {}
  Value(double value) : content_(value) {}
  Value(std::string value) : content_(std::move(value)) {}
  Value(const char* value) : content_(std::string(value)) {}
  Value(std::vector<int64_t> values) : content_(std::move(values)) {}
  Value(std::vector<double> values) : content_(std::move(values)) {}
  Value(const std::vector<bool>& values) : content_(Bools{std::vector<uint8_t>(values.begin(), values.end())}) {}
  Value(const TensorView& tensor) : content_(tensor) {}
  Value(Tensor&& tensor) : content_(std::move(tensor)) {}
  Value(const Tensor& tensor) : content_(static_cast<const TensorView&>(tensor)) {}
  Value(const std::vector<TensorView>& tensors) : content_(Tensors{{}, {tensors.begin(), tensors.end()}, {}, false}) {}
  Value(std::vector<Tensor>&& tensors) : content_(Tensors{}) {
    auto& list = std::get<Tensors>(content_);
    list.owned = std::move(tensors);
    for (const Tensor& tensor : list.owned) list.views.emplace_back(static_cast<const TensorView&>(tensor));
  }
  Value(std::vector<std::optional<TensorView>> tensors) : content_(Tensors{{}, std::move(tensors), {}, true}) {}

  Value(Value&&) = default;
  Value& operator=(Value&&) = default;
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;

  // For the C interface: the struct points into this value and is valid until it changes, moves or dies.
  pteron_value raw() {
    pteron_value out{};
    out.kind = PTERON_KIND_NONE;
    std::visit([&out](auto& content) { fill(content, &out); }, content_);
    return out;
  }

 private:
  friend class ValueView;

  struct Bools {
    std::vector<uint8_t> items;
  };
  struct Tensors {
    std::vector<Tensor> owned;
    std::vector<std::optional<TensorView>> views;
    std::vector<pteron_tensor*> pointers;
    bool optional = false;
  };

  static void fill(std::monostate&, pteron_value*) {}
  static void fill(int64_t& value, pteron_value* out) {
    out->kind = PTERON_KIND_INT;
    out->as.as_int = value;
  }
  static void fill(bool& value, pteron_value* out) {
    out->kind = PTERON_KIND_BOOL;
    out->as.as_bool = value ? 1 : 0;
  }
  static void fill(double& value, pteron_value* out) {
    out->kind = PTERON_KIND_DOUBLE;
    out->as.as_double = value;
  }
  static void fill(std::string& value, pteron_value* out) {
    out->kind = PTERON_KIND_STRING;
    out->as.string = {value.c_str(), value.size()};
  }
  static void fill(std::vector<int64_t>& values, pteron_value* out) {
    out->kind = PTERON_KIND_INT_LIST;
    out->as.int_list = {values.data(), values.size()};
  }
  static void fill(std::vector<double>& values, pteron_value* out) {
    out->kind = PTERON_KIND_DOUBLE_LIST;
    out->as.double_list = {values.data(), values.size()};
  }
  static void fill(Bools& values, pteron_value* out) {
    out->kind = PTERON_KIND_BOOL_LIST;
    out->as.bool_list = {values.items.data(), values.items.size()};
  }
  // A Tensor is a TensorView, too.
  static void fill(TensorView& tensor, pteron_value* out) {
    out->kind = PTERON_KIND_TENSOR;
    out->as.tensor = tensor.raw();
  }
  static void fill(Tensors& tensors, pteron_value* out) {
    tensors.pointers.clear();
    for (auto& view : tensors.views) tensors.pointers.push_back(view.has_value() ? view->raw() : nullptr);
    out->kind = tensors.optional ? PTERON_KIND_OPTIONAL_TENSOR_LIST : PTERON_KIND_TENSOR_LIST;
    out->as.tensor_list = {tensors.pointers.data(), tensors.pointers.size()};
  }

  std::variant<std::monostate, int64_t, bool, double, std::string, std::vector<int64_t>, std::vector<double>, Bools,
               TensorView, Tensor, Tensors>
      content_;
};

inline Result<Value> ValueView::clone() const {
  switch (kind()) {
    case Kind::kNone:
      break;
    case Kind::kInt:
      return Value(raw_->as.as_int);
    case Kind::kBool:
      return Value(raw_->as.as_bool != 0);
    case Kind::kDouble:
      return Value(raw_->as.as_double);
    case Kind::kString:
      return Value(std::string(raw_->as.string.data, raw_->as.string.size));
    case Kind::kTensor: {
      PTERON_ASSIGN(Tensor tensor, TensorView::from_raw(*raw_->as.tensor).clone());
      return Value(std::move(tensor));
    }
    case Kind::kIntList:
      return Value(std::vector<int64_t>(raw_->as.int_list.items, raw_->as.int_list.items + raw_->as.int_list.count));
    case Kind::kDoubleList:
      return Value(
          std::vector<double>(raw_->as.double_list.items, raw_->as.double_list.items + raw_->as.double_list.count));
    case Kind::kBoolList:
      return Value(std::vector<bool>(raw_->as.bool_list.items, raw_->as.bool_list.items + raw_->as.bool_list.count));
    case Kind::kTensorList:
    case Kind::kOptionalTensorList: {
      PTERON_ASSIGN(const auto views, tensor_list());
      Value::Tensors copies;
      copies.optional = kind() == Kind::kOptionalTensorList;
      for (const auto& view : views) {
        if (!view.has_value()) {
          copies.views.emplace_back();
          continue;
        }
        PTERON_ASSIGN(Tensor copy, view->clone());
        copies.views.emplace_back(static_cast<const TensorView&>(copy));
        copies.owned.push_back(std::move(copy));
      }
      Value value;
      value.content_ = std::move(copies);
      return value;
    }
  }
  return Value();
}

}  // namespace v1_0
}  // namespace pteron
