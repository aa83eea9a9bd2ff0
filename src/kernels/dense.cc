#include "kernels/dense.h"

#include "base/checked.h"

namespace pteron::kernels {
namespace {

// What stands for the memory of an empty array.
alignas(64) char nothing[64];

View dense_view(const Tensor& tensor, int dtype, const DimOrder& order, void* data) {
  View view;
  view.data = static_cast<char*>(data);
  view.dtype = dtype;
  view.rank = tensor.rank();
  int64_t stride = 1;
  for (int i = order.rank - 1; i >= 0; --i) {
    const int dim = order.dims[i];
    view.sizes[dim] = tensor.size(dim);
    view.strides[dim] = stride;
    stride *= tensor.size(dim);
  }
  return view;
}

}  // namespace

DimOrder row_major(int rank) {
  DimOrder order;
  order.rank = rank;
  for (int i = 0; i < rank; ++i) order.dims[i] = i;
  return order;
}

DimOrder channels_last(int rank) {
  DimOrder order = row_major(rank);
  for (int i = 1; i + 1 < rank; ++i) order.dims[i] = i + 1;
  if (rank > 1) order.dims[rank - 1] = 1;
  return order;
}

bool is_dense(const Tensor& tensor, const DimOrder& order) {
  int64_t expected = 1;
  for (int i = order.rank - 1; i >= 0; --i) {
    const int64_t size = tensor.size(order.dims[i]);
    if (size == 1) continue;
    if (size == 0) return true;
    if (tensor.stride(order.dims[i]) != expected) return false;
    expected *= size;
  }
  return true;
}

void* scratch_array(KernelContext& context, int64_t count, size_t element_bytes) {
  if (count <= 0) return nothing;
  uint64_t bytes = 0;
  if (!checked_multiply(static_cast<uint64_t>(count), element_bytes, &bytes)) {
    pteron_kernel_fail(context.raw(), PTERON_OUT_OF_MEMORY, "out of memory: %lld elements of scratch were asked for",
                       number(count));
    return nullptr;
  }
  return context.scratch(bytes);
}

void copy_to_dense(const Tensor& tensor, int dtype, const DimOrder& order, void* to) {
  copy_view(dense_view(tensor, dtype, order, to), view_of(tensor));
}

const void* dense_input(KernelContext& context, const Tensor& tensor, int dtype, const DimOrder& order) {
  if (tensor.numel() == 0) return nothing;
  if (tensor.dtype() == dtype && is_dense(tensor, order)) return tensor.data();
  void* copy = scratch_array(context, tensor.numel(), pteron_dtype_size(dtype));
  if (copy != nullptr) copy_to_dense(tensor, dtype, order, copy);
  return copy;
}

const void* dense_input(KernelContext& context, const Tensor& tensor, int dtype) {
  return dense_input(context, tensor, dtype, row_major(tensor.rank()));
}

DenseOutput::DenseOutput(KernelContext& context, const Tensor& out, int dtype, const DimOrder& order)
    : out_(out), dtype_(dtype), order_(order) {
  if (out.numel() == 0) {
    data_ = nothing;
  } else if (out.dtype() == dtype && is_dense(out, order)) {
    data_ = out_.data();
  } else {
    data_ = scratch_array(context, out.numel(), pteron_dtype_size(dtype));
  }
}

DenseOutput::DenseOutput(KernelContext& context, const Tensor& out, int dtype)
    : DenseOutput(context, out, dtype, row_major(out.rank())) {}

void DenseOutput::finish() const {
  if (out_.numel() == 0 || data_ == static_cast<const Tensor&>(out_).data()) return;
  copy_view(view_of(out_), dense_view(out_, dtype_, order_, data_));
}

ImageLayout image_layout(engine::ConvLayout layout, int rank) {
  return {layout, layout == engine::ConvLayout::kNhwc ? channels_last(rank) : row_major(rank)};
}

ImageLayout image_layout(const Tensor& out, const Tensor& in) {
  const ImageLayout rows = image_layout(engine::ConvLayout::kNchw, out.rank());
  const ImageLayout last = image_layout(engine::ConvLayout::kNhwc, out.rank());
  const bool both_last = is_dense(out, last.order) && is_dense(in, last.order);
  const bool both_rows = is_dense(out, rows.order) && is_dense(in, rows.order);
  if (both_rows) return rows;
  if (both_last) return last;
  return is_dense(out, rows.order) ? rows : is_dense(out, last.order) ? last : rows;
}

}  // namespace pteron::kernels
