#include "cli/outputs.h"

#include <utility>
#include <vector>

#include "cli/failure.h"
#include "cli/files.h"
#include "cli/npz.h"
#include "cli/safetensors.h"
#include "cli/tensors.h"

namespace pteron::cli {
namespace {

template <typename T>
Tensor scalar(T value) {
  return take(Tensor::copy_of(std::vector<T>{value}, Shape{}), Stage::kOther);
}

Tensor bools(const std::vector<uint8_t>& bytes, const Shape& shape) {
  return take(take(TensorView::of_bytes(static_cast<const void*>(bytes.data()), bytes.size(), DType::kBool, shape),
                   Stage::kOther)
                  .clone(),
              Stage::kOther);
}

template <typename T>
Tensor list(Span<const T> items) {
  return take(take(TensorView::of(items.data(), Shape{static_cast<int64_t>(items.size())}), Stage::kOther).clone(),
              Stage::kOther);
}

Tensor to_tensor(ValueView value, size_t index) {
  switch (value.kind()) {
    case Kind::kTensor:
      return take(value.tensor()->clone(), Stage::kOther);
    case Kind::kInt:
      return scalar(*value.as_int());
    case Kind::kDouble:
      return scalar(*value.as_double());
    case Kind::kBool:
      return bools({static_cast<uint8_t>(*value.as_bool() ? 1 : 0)}, Shape{});
    case Kind::kIntList:
      return list(*value.int_list());
    case Kind::kDoubleList:
      return list(*value.double_list());
    case Kind::kBoolList: {
      const Span<const uint8_t> items = *value.bool_list();
      return bools({items.begin(), items.end()}, Shape{static_cast<int64_t>(items.size())});
    }
    default:
      fail(kUsage, "output %zu is of kind %s, which --output cannot write; run without it to see the value", index,
           kind_name(value.kind()));
  }
}

}  // namespace

void require_output_name(const std::string& path) {
  if (!ends_with(path, ".npz") && !ends_with(path, ".safetensors")) {
    fail(kUsage, "--output takes a name that ends in .npz or .safetensors, not '%s'", printable_text(path).c_str());
  }
}

void write_outputs(const Outputs& outputs, const std::string& path) {
  require_output_name(path);
  NamedTensors tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].is_none()) tensors.emplace_back(std::to_string(i), to_tensor(outputs[i], i));
  }
  write_file(path, ends_with(path, ".npz") ? write_npz(tensors) : write_safetensors(tensors));
}

}  // namespace pteron::cli
