#include "runtime/tensor.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/error.h"

size_t pteron_dtype_size(int32_t dtype) {
  switch (dtype) {
    case PTERON_UINT8:
    case PTERON_INT8:
    case PTERON_BOOL:
    case PTERON_FLOAT8_E5M2:
    case PTERON_FLOAT8_E4M3FN:
    case PTERON_FLOAT8_E5M2FNUZ:
    case PTERON_FLOAT8_E4M3FNUZ:
      return 1;
    case PTERON_INT16:
    case PTERON_UINT16:
    case PTERON_FLOAT16:
    case PTERON_BFLOAT16:
      return 2;
    case PTERON_INT32:
    case PTERON_UINT32:
    case PTERON_FLOAT32:
      return 4;
    case PTERON_INT64:
    case PTERON_UINT64:
    case PTERON_FLOAT64:
      return 8;
    default:
      return 0;
  }
}

const char* pteron_dtype_name(int32_t dtype) {
  switch (dtype) {
    case PTERON_UINT8:
      return "uint8";
    case PTERON_INT8:
      return "int8";
    case PTERON_INT16:
      return "int16";
    case PTERON_INT32:
      return "int32";
    case PTERON_INT64:
      return "int64";
    case PTERON_FLOAT16:
      return "float16";
    case PTERON_FLOAT32:
      return "float32";
    case PTERON_FLOAT64:
      return "float64";
    case PTERON_BOOL:
      return "bool";
    case PTERON_BFLOAT16:
      return "bfloat16";
    case PTERON_FLOAT8_E5M2:
      return "float8_e5m2";
    case PTERON_FLOAT8_E4M3FN:
      return "float8_e4m3fn";
    case PTERON_FLOAT8_E5M2FNUZ:
      return "float8_e5m2fnuz";
    case PTERON_FLOAT8_E4M3FNUZ:
      return "float8_e4m3fnuz";
    case PTERON_UINT16:
      return "uint16";
    case PTERON_UINT32:
      return "uint32";
    case PTERON_UINT64:
      return "uint64";
    default:
      return "unknown";
  }
}

const char* pteron_kind_name(int32_t kind) {
  switch (kind) {
    case PTERON_KIND_NONE:
      return "none";
    case PTERON_KIND_INT:
      return "int";
    case PTERON_KIND_BOOL:
      return "bool";
    case PTERON_KIND_DOUBLE:
      return "double";
    case PTERON_KIND_TENSOR:
      return "tensor";
    case PTERON_KIND_STRING:
      return "string";
    case PTERON_KIND_INT_LIST:
      return "int list";
    case PTERON_KIND_DOUBLE_LIST:
      return "double list";
    case PTERON_KIND_BOOL_LIST:
      return "bool list";
    case PTERON_KIND_TENSOR_LIST:
      return "tensor list";
    case PTERON_KIND_OPTIONAL_TENSOR_LIST:
      return "optional tensor list";
    default:
      return "unknown";
  }
}

int64_t pteron_tensor_numel(const pteron_tensor* tensor) {
  int64_t numel = 1;
  for (int32_t i = 0; i < tensor->rank; ++i) numel *= tensor->sizes[i];
  return numel;
}

pteron_status* pteron_tensor_resize(pteron_tensor* tensor, const int64_t* sizes, int32_t rank) {
  using namespace pteron;
  using namespace pteron::runtime;
  if (rank == tensor->rank && std::equal(sizes, sizes + rank, tensor->sizes)) return nullptr;
  // The messages below are only built once the resize is known to fail: this runs for every dynamic output.
  const auto refuse = [&](const char* why) {
    const std::string wanted = rank >= 0 ? shape_text(sizes, rank) : "a negative rank";
    return error(PTERON_INVALID_INPUT, "a tensor %s cannot become %s: %s", describe(*tensor).c_str(), wanted.c_str(),
                 why)
        .release();
  };
  if (rank != tensor->rank) return refuse("its rank is fixed");
  if ((tensor->flags & PTERON_TENSOR_RESIZABLE) == 0) return refuse("its shape is fixed");
  uint64_t bytes = 0;
  if (!checked_tensor_bytes(tensor->dtype, sizes, rank, &bytes)) {
    return refuse("a size is negative, or the number of elements does not fit 64 bits");
  }
  if (bytes > tensor->capacity) {
    return refuse(format_text("that takes %llu bytes and it has room for %zu", static_cast<unsigned long long>(bytes),
                              tensor->capacity)
                      .c_str());
  }
  // The dim order stays: taken from the tensor when it says, otherwise from its strides before they change.
  uint8_t order[PTERON_MAX_RANK];
  if (tensor->dim_order != nullptr) {
    std::copy_n(tensor->dim_order, rank, order);
  } else if (!derive_dim_order(*tensor, order)) {
    return refuse("its strides are those of a view with gaps");
  }
  std::copy_n(sizes, rank, tensor->sizes);
  strides_from_dim_order(sizes, order, rank, tensor->strides);
  return nullptr;
}

namespace pteron::runtime {
namespace {

// Strides of equal size-1 dims are whatever their maker wrote; nothing reads through them.
bool stride_counts(int64_t size) {
  return size != 1;
}

bool is_empty(const pteron_tensor& tensor) {
  for (int32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.sizes[i] == 0) return true;
  }
  return false;
}

template <typename T>
void copy_strided(const T* from, const int64_t* from_strides, T* to, const int64_t* to_strides, const int64_t* sizes,
                  int32_t rank) {
  if (rank == 0) {
    *to = *from;
    return;
  }
  const int64_t count = sizes[0];
  if (rank == 1) {
    for (int64_t i = 0; i < count; ++i) to[i * to_strides[0]] = from[i * from_strides[0]];
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    copy_strided(from + i * from_strides[0], from_strides + 1, to + i * to_strides[0], to_strides + 1, sizes + 1,
                 rank - 1);
  }
}

}  // namespace

TensorStorage& TensorStorage::operator=(const TensorStorage& other) {
  if (this == &other) return *this;
  tensor = other.tensor;
  std::copy_n(other.sizes, PTERON_MAX_RANK, sizes);
  std::copy_n(other.strides, PTERON_MAX_RANK, strides);
  std::copy_n(other.dim_order, PTERON_MAX_RANK, dim_order);
  bind();
  return *this;
}

void TensorStorage::bind() {
  tensor.sizes = sizes;
  tensor.strides = strides;
  tensor.dim_order = dim_order;
}

void TensorStorage::set_shape(int32_t dtype, int32_t rank, const int64_t* new_sizes, const uint8_t* new_dim_order) {
  tensor.dtype = static_cast<uint8_t>(dtype);
  tensor.rank = rank;
  for (int32_t i = 0; i < rank; ++i) {
    sizes[i] = new_sizes[i];
    dim_order[i] = new_dim_order != nullptr ? new_dim_order[i] : static_cast<uint8_t>(i);
  }
  strides_from_dim_order(sizes, dim_order, rank, strides);
}

void strides_from_dim_order(const int64_t* sizes, const uint8_t* dim_order, int32_t rank, int64_t* strides) {
  int64_t stride = 1;
  for (int32_t i = rank - 1; i >= 0; --i) {
    const int32_t dim = dim_order != nullptr ? dim_order[i] : i;
    strides[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
}

bool derive_dim_order(const pteron_tensor& tensor, uint8_t* dim_order) {
  const int32_t rank = tensor.rank;
  for (int32_t i = 0; i < rank; ++i) dim_order[i] = static_cast<uint8_t>(i);
  if (is_empty(tensor)) return true;
  // Dims that count, outermost first; insertion sort keeps equal strides in their order.
  uint8_t counting[PTERON_MAX_RANK];
  int32_t count = 0;
  for (int32_t dim = 0; dim < rank; ++dim) {
    if (!stride_counts(tensor.sizes[dim])) continue;
    int32_t at = count++;
    for (; at > 0 && tensor.strides[counting[at - 1]] < tensor.strides[dim]; --at) counting[at] = counting[at - 1];
    counting[at] = static_cast<uint8_t>(dim);
  }
  int64_t expected = 1;
  for (int32_t i = count - 1; i >= 0; --i) {
    if (tensor.strides[counting[i]] != expected) return false;
    expected *= tensor.sizes[counting[i]];
  }
  // A dim of size 1 goes behind the dim before it, so that an ordinary layout keeps its ordinary name.
  int32_t out = 0;
  int32_t leading = 0;
  for (; leading < rank && !stride_counts(tensor.sizes[leading]); ++leading) {
    dim_order[out++] = static_cast<uint8_t>(leading);
  }
  for (int32_t i = 0; i < count; ++i) {
    int32_t dim = counting[i];
    dim_order[out++] = static_cast<uint8_t>(dim);
    for (++dim; dim < rank && !stride_counts(tensor.sizes[dim]); ++dim) dim_order[out++] = static_cast<uint8_t>(dim);
  }
  return true;
}

bool has_layout(const pteron_tensor& tensor, const uint8_t* dim_order) {
  if (is_empty(tensor)) return true;
  int64_t expected = 1;
  for (int32_t i = tensor.rank - 1; i >= 0; --i) {
    const int32_t dim = dim_order != nullptr ? dim_order[i] : i;
    if (stride_counts(tensor.sizes[dim]) && tensor.strides[dim] != expected) return false;
    expected *= tensor.sizes[dim];
  }
  return true;
}

bool same_sizes(const pteron_tensor& a, const pteron_tensor& b) {
  return a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes);
}

bool same_layout(const pteron_tensor& a, const pteron_tensor& b) {
  if (!same_sizes(a, b)) return false;
  if (is_empty(a)) return true;
  for (int32_t i = 0; i < a.rank; ++i) {
    if (stride_counts(a.sizes[i]) && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

bool is_dense(const pteron_tensor& tensor) {
  uint8_t order[PTERON_MAX_RANK];
  return derive_dim_order(tensor, order);
}

bool checked_tensor_bytes(int32_t dtype, const int64_t* sizes, int32_t rank, uint64_t* bytes) {
  const size_t element = pteron_dtype_size(dtype);
  int64_t numel = 0;
  if (element == 0 || rank < 0 || !checked_numel(sizes, static_cast<size_t>(rank), &numel)) return false;
  return checked_multiply(static_cast<uint64_t>(numel), element, bytes);
}

uint64_t tensor_bytes(const pteron_tensor& tensor) {
  return static_cast<uint64_t>(pteron_tensor_numel(&tensor)) * pteron_dtype_size(tensor.dtype);
}

std::string shape_text(const int64_t* sizes, int32_t rank) {
  // Ranks are small, but this also prints what was refused for its rank.
  constexpr int32_t kMostDims = 2 * PTERON_MAX_RANK;
  std::string text = "[";
  for (int32_t i = 0; i < rank && i < kMostDims; ++i) {
    text += format_text("%s%lld", i == 0 ? "" : ", ", static_cast<long long>(sizes[i]));
  }
  return text + (rank > kMostDims ? ", ...]" : "]");
}

std::string describe(const pteron_tensor& tensor) {
  return std::string(pteron_dtype_name(tensor.dtype)) + " " + shape_text(tensor.sizes, tensor.rank);
}

Status copy_tensor(const pteron_tensor& from, const pteron_tensor& to) {
  if (from.dtype != to.dtype || !same_sizes(from, to)) {
    return error(PTERON_INVALID_INPUT, "cannot copy a tensor %s to one of %s", describe(from).c_str(),
                 describe(to).c_str());
  }
  if (from.data == to.data && same_layout(from, to)) return {};
  const uint64_t bytes = tensor_bytes(from);
  if (bytes == 0) return {};
  if (same_layout(from, to) && is_dense(from)) {
    std::memcpy(to.data, from.data, bytes);
    return {};
  }
  // Walk the target in the order of its memory, so that writes are sequential whatever the source is.
  int64_t sizes[PTERON_MAX_RANK];
  int64_t from_strides[PTERON_MAX_RANK];
  int64_t to_strides[PTERON_MAX_RANK];
  int32_t rank = 0;
  for (int32_t dim = 0; dim < from.rank; ++dim) {
    if (!stride_counts(from.sizes[dim])) continue;
    int32_t at = rank++;
    for (; at > 0 && to_strides[at - 1] < to.strides[dim]; --at) {
      sizes[at] = sizes[at - 1];
      from_strides[at] = from_strides[at - 1];
      to_strides[at] = to_strides[at - 1];
    }
    sizes[at] = from.sizes[dim];
    from_strides[at] = from.strides[dim];
    to_strides[at] = to.strides[dim];
  }
  const auto copy_as = [&]<typename T>(T) {
    copy_strided(static_cast<const T*>(from.data), from_strides, static_cast<T*>(to.data), to_strides, sizes, rank);
  };
  switch (pteron_dtype_size(from.dtype)) {
    case 1:
      copy_as(uint8_t{});
      break;
    case 2:
      copy_as(uint16_t{});
      break;
    case 4:
      copy_as(uint32_t{});
      break;
    default:
      copy_as(uint64_t{});
  }
  return {};
}

}  // namespace pteron::runtime
