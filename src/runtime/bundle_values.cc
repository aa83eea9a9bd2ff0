#include "runtime/bundle_values.h"

#include <utility>

namespace pteron::runtime {

BundleValues::BundleValues(format::BundleFile file) : file_(std::move(file)) {
  for (const format::BundleSuite& suite : file_.suites) {
    std::vector<Case>& cases = cases_[suite.method];
    for (const format::BundleCase& one : suite.cases) cases.push_back({convert(one.inputs), convert(one.expected)});
  }
}

const std::vector<BundleValues::Case>* BundleValues::cases(std::string_view method) const {
  const auto found = cases_.find(method);
  return found == cases_.end() ? nullptr : &found->second;
}

std::vector<const pteron_value*> BundleValues::convert(const std::vector<format::BundleValue>& from) {
  std::vector<const pteron_value*> result;
  for (const format::BundleValue& value : from) {
    pteron_value& out = values_.emplace_back();
    out.kind = value.kind;
    switch (value.kind) {
      case PTERON_KIND_INT:
        out.as.as_int = value.as_int;
        break;
      case PTERON_KIND_BOOL:
        out.as.as_bool = value.as_bool ? 1 : 0;
        break;
      case PTERON_KIND_DOUBLE:
        out.as.as_double = value.as_double;
        break;
      default: {
        TensorStorage& storage = tensors_.emplace_back();
        storage.set_shape(value.shape.dtype, static_cast<int32_t>(value.shape.sizes.size()), value.shape.sizes.data(),
                          value.shape.dim_order.data());
        // Callers get const values; the flag tells whoever casts that the bytes may lie in a read-only mapping.
        storage.tensor.data = const_cast<uint8_t*>(value.data);
        storage.tensor.capacity = static_cast<size_t>(value.shape.bytes);
        storage.tensor.flags = PTERON_TENSOR_READ_ONLY;
        out.as.tensor = &storage.tensor;
      }
    }
    result.push_back(&out);
  }
  return result;
}

}  // namespace pteron::runtime
