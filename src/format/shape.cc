#include "format/shape.h"

#include "base/checked.h"
#include "base/error.h"
#include "pteron/c/tensor.h"

namespace pteron::format {
namespace {

// Types that files may name although no tensor of Pteron can hold them: quantized and packed ones.
bool is_known_without_size(int8_t type) {
  switch (type) {
    case 12:
    case 13:
    case 14:
    case 16:
    case 17:
    case 22:
      return true;
    default:
      return false;
  }
}

Status check_dtype(int8_t type) {
  if (type >= 0 && pteron_dtype_size(type) != 0) return {};
  if (is_known_without_size(type)) {
    return error(PTERON_UNSUPPORTED, "element type %d (a quantized or packed type) has no plain elements", type);
  }
  return error(PTERON_INVALID_FILE, "element type %d is unknown", type);
}

template <typename T>
std::string list_text(const T& items) {
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(static_cast<int64_t>(items[static_cast<uint32_t>(i)]));
  }
  return text + "]";
}

Status check_dim_order(const flatbuffers::Vector<uint8_t>& dim_order, uint32_t rank) {
  if (dim_order.size() != rank) {
    return error(PTERON_INVALID_FILE, "the dim order has %u entries, expected as many as there are sizes, %u",
                 dim_order.size(), rank);
  }
  uint32_t seen = 0;
  for (const uint8_t dim : dim_order) {
    if (dim >= rank || (seen & (1u << dim)) != 0) {
      return error(PTERON_INVALID_FILE, "the dim order %s is not a permutation of 0..%u", list_text(dim_order).c_str(),
                   rank - 1);
    }
    seen |= 1u << dim;
  }
  return {};
}

}  // namespace

Result<Shape> read_shape(int8_t scalar_type, const flatbuffers::Vector<int32_t>* sizes,
                         const flatbuffers::Vector<uint8_t>* dim_order) {
  if (sizes == nullptr) return error(PTERON_INVALID_FILE, "the sizes are absent");
  if (dim_order == nullptr) return error(PTERON_INVALID_FILE, "the dim order is absent");
  if (sizes->size() > PTERON_MAX_RANK) {
    return error(PTERON_INVALID_FILE, "the rank is %u, expected at most %d", sizes->size(), int{PTERON_MAX_RANK});
  }
  PTERON_TRY(check_dtype(scalar_type));
  PTERON_TRY(check_dim_order(*dim_order, sizes->size()));

  Shape shape;
  shape.dtype = static_cast<uint8_t>(scalar_type);
  shape.sizes.assign(sizes->begin(), sizes->end());
  shape.dim_order.assign(dim_order->begin(), dim_order->end());
  int64_t nonzero_bytes = static_cast<int64_t>(pteron_dtype_size(shape.dtype));
  bool empty = false;
  for (const int64_t size : shape.sizes) {
    if (size < 0) {
      return error(PTERON_INVALID_FILE, "the sizes %s hold a negative one", sizes_text(shape.sizes).c_str());
    }
    if (size == 0) {
      empty = true;
    } else if (!checked_multiply(nonzero_bytes, size, &nonzero_bytes)) {
      return error(PTERON_INVALID_FILE, "the byte count of %s overflows", shape_text(shape.dtype, shape.sizes).c_str());
    }
  }
  shape.bytes = empty ? 0 : static_cast<uint64_t>(nonzero_bytes);
  return shape;
}

std::string sizes_text(const std::vector<int64_t>& sizes) {
  return list_text(sizes);
}

std::string shape_text(uint8_t dtype, const std::vector<int64_t>& sizes) {
  return std::string(pteron_dtype_name(dtype)) + " " + sizes_text(sizes);
}

}  // namespace pteron::format
