// Calls operators through their rows of the table, as the runtime does, with arguments a test owns.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/copy.h"
#include "kernels/dtypes.h"
#include "kernels/table.h"
#include "runtime/kernel_context.h"

namespace pteron::kernels::testing {

// A tensor with memory of its own. The strides may leave gaps; untouched guard bytes lie around the elements.
class TensorBox {
 public:
  TensorBox(int dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides)
      : sizes_(std::move(sizes)), strides_(std::move(strides)) {
    int64_t last = 0;
    bool empty = false;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      empty = empty || sizes_[i] == 0;
      last += (sizes_[i] - 1) * strides_[i];
    }
    bytes_ = empty ? 0 : static_cast<size_t>(last + 1) * pteron_dtype_size(dtype);
    memory_.assign(bytes_ + 2 * kGuard, kFill);
    raw_.data = memory_.data() + kGuard;
    raw_.capacity = bytes_;
    raw_.sizes = sizes_.data();
    raw_.strides = strides_.data();
    raw_.rank = static_cast<int32_t>(sizes_.size());
    raw_.dtype = static_cast<uint8_t>(dtype);
    raw_.flags = PTERON_TENSOR_RESIZABLE;
  }
  TensorBox(const TensorBox&) = delete;
  TensorBox& operator=(const TensorBox&) = delete;

  pteron_tensor* raw() { return &raw_; }
  int64_t numel() const {
    int64_t count = 1;
    for (int64_t size : sizes_) count *= size;
    return count;
  }
  const std::vector<int64_t>& sizes() const { return sizes_; }

  // The element at a place in logical order.
  char* element(int64_t place) {
    int64_t offset = 0;
    for (size_t dim = sizes_.size(); dim-- > 0;) {
      offset += place % sizes_[dim] * strides_[dim];
      place /= sizes_[dim];
    }
    return static_cast<char*>(raw_.data) + offset * static_cast<int64_t>(pteron_dtype_size(raw_.dtype));
  }

  bool guards_are_intact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (memory_[i] != kFill || memory_[memory_.size() - 1 - i] != kFill) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kFill = 0xA5;

  std::vector<int64_t> sizes_, strides_;
  size_t bytes_ = 0;
  std::vector<uint8_t> memory_;
  pteron_tensor raw_{};
};

inline std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= sizes[dim] == 0 ? 1 : sizes[dim];
  }
  return strides;
}

template <class T>
void write_as(char* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}
template <class T>
T read_as(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Elements as numbers: integers through int64 or uint64, floats through double.
inline void write_element(int dtype, char* to, double real, int64_t integer) {
  switch (dtype) {
    case PTERON_FLOAT64:
      return write_as(to, real);
    case PTERON_FLOAT32:
      return write_as(to, static_cast<float>(real));
    case PTERON_FLOAT16:
      return write_as(to, engine::to_half(static_cast<float>(real)));
    case PTERON_BFLOAT16:
      return write_as(to, engine::to_bfloat16(static_cast<float>(real)));
    default:
      std::memcpy(to, &integer, pteron_dtype_size(dtype));  // little-endian
  }
}

inline double read_real(int dtype, const char* from) {
  switch (dtype) {
    case PTERON_FLOAT64:
      return read_as<double>(from);
    case PTERON_FLOAT32:
      return static_cast<double>(read_as<float>(from));
    case PTERON_FLOAT16:
      return static_cast<double>(engine::to_float(read_as<engine::Half>(from)));
    default:
      return static_cast<double>(engine::to_float(read_as<engine::BFloat16>(from)));
  }
}

inline int64_t read_integer(int dtype, const char* from) {
  switch (dtype) {
    case PTERON_UINT8:
    case PTERON_BOOL:
      return read_as<uint8_t>(from);
    case PTERON_INT8:
      return read_as<int8_t>(from);
    case PTERON_INT16:
      return read_as<int16_t>(from);
    case PTERON_UINT16:
      return read_as<uint16_t>(from);
    case PTERON_INT32:
      return read_as<int32_t>(from);
    case PTERON_UINT32:
      return read_as<uint32_t>(from);
    default:
      return read_as<int64_t>(from);
  }
}

// The arguments of one call, in order.
class Arguments {
 public:
  void tensor(TensorBox& box) { add(PTERON_KIND_TENSOR).as.tensor = box.raw(); }
  void integer(int64_t value) { add(PTERON_KIND_INT).as.as_int = value; }
  void real(double value) { add(PTERON_KIND_DOUBLE).as.as_double = value; }
  void boolean(bool value) { add(PTERON_KIND_BOOL).as.as_bool = value ? 1 : 0; }
  void none() { add(PTERON_KIND_NONE); }
  void string(std::string value) {
    strings_.push_back(std::make_unique<std::string>(std::move(value)));
    auto& as = add(PTERON_KIND_STRING).as;
    as.string.data = strings_.back()->c_str();
    as.string.size = strings_.back()->size();
  }
  void integers(std::vector<int64_t> items) {
    integers_.push_back(std::make_unique<std::vector<int64_t>>(std::move(items)));
    auto& as = add(PTERON_KIND_INT_LIST).as;
    as.int_list.items = integers_.back()->data();
    as.int_list.count = integers_.back()->size();
  }
  void reals(std::vector<double> items) {
    reals_.push_back(std::make_unique<std::vector<double>>(std::move(items)));
    auto& as = add(PTERON_KIND_DOUBLE_LIST).as;
    as.double_list.items = reals_.back()->data();
    as.double_list.count = reals_.back()->size();
  }
  void booleans(std::vector<uint8_t> items) {
    booleans_.push_back(std::make_unique<std::vector<uint8_t>>(std::move(items)));
    auto& as = add(PTERON_KIND_BOOL_LIST).as;
    as.bool_list.items = booleans_.back()->data();
    as.bool_list.count = booleans_.back()->size();
  }
  void tensors(std::vector<pteron_tensor*> items, bool optional) {
    tensors_.push_back(std::make_unique<std::vector<pteron_tensor*>>(std::move(items)));
    auto& as = add(optional ? PTERON_KIND_OPTIONAL_TENSOR_LIST : PTERON_KIND_TENSOR_LIST).as;
    as.tensor_list.items = tensors_.back()->data();
    as.tensor_list.count = tensors_.back()->size();
  }

  std::vector<pteron_value*> pointers() const {
    std::vector<pteron_value*> result;
    for (const auto& value : values_) result.push_back(value.get());
    return result;
  }

 private:
  pteron_value& add(int kind) {
    values_.push_back(std::make_unique<pteron_value>());
    values_.back()->kind = kind;
    values_.back()->flags = 0;
    return *values_.back();
  }

  std::vector<std::unique_ptr<pteron_value>> values_;
  std::vector<std::unique_ptr<std::string>> strings_;
  std::vector<std::unique_ptr<std::vector<int64_t>>> integers_;
  std::vector<std::unique_ptr<std::vector<double>>> reals_;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> booleans_;
  std::vector<std::unique_ptr<std::vector<pteron_tensor*>>> tensors_;
};

struct Outcome {
  int code = 0;
  std::string failure;
};

// Prepares and runs the operator. Preparing sees tensors without data, as if nothing were constant, unless `constants`
// lists arguments that are.
inline Outcome call(const pteron_kernel& kernel, const Arguments& arguments,
                    const std::vector<size_t>& constants = {}) {
  pteron_kernel_context context(1);
  std::vector<pteron_value*> args = arguments.pointers();
  runtime::PreparedMemory prepared;
  if (kernel.prepare != nullptr) {
    std::vector<std::pair<pteron_tensor*, void*>> hidden;
    for (size_t i = 0; i < args.size(); ++i) {
      bool constant = false;
      for (size_t index : constants) constant = constant || index == i;
      if (constant || args[i]->kind != PTERON_KIND_TENSOR) continue;
      hidden.emplace_back(args[i]->as.tensor, args[i]->as.tensor->data);
      args[i]->as.tensor->data = nullptr;
    }
    context.prepared = &prepared;
    void* state = nullptr;
    const int code = kernel.prepare(&context, args.data(), args.size(), &state);
    context.prepared = nullptr;
    context.state = state;
    for (size_t i = hidden.size(); i-- > 0;) hidden[i].first->data = hidden[i].second;
    if (code != PTERON_OK) return {code, context.failure};
  }
  const int code = kernel.fn(&context, args.data(), args.size());
  Outcome outcome{code, context.failure};
  if (kernel.destroy != nullptr && context.state != nullptr) kernel.destroy(context.state);
  return outcome;
}

}  // namespace pteron::kernels::testing
