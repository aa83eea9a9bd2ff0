#include "kernels/cat.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/shape.h"

namespace pteron::kernels {
namespace {

long long number(int64_t value) {
  return static_cast<long long>(value);
}

void advance(View& view, int dim, int64_t index) {
  view.data += index * view.strides[dim] * static_cast<int64_t>(pteron_dtype_size(view.dtype));
}

// The part [start, start + length) of a dimension.
View part(View view, int dim, int64_t start, int64_t length) {
  if (length > 0 && view.data != nullptr) advance(view, dim, start);
  view.sizes[dim] = length;
  return view;
}

bool is_left_out(const Tensor& tensor) {
  return tensor.rank() == 1 && tensor.size(0) == 0;
}

// The common dtype of the list must be storable in `out`.
int require_dtypes(KernelContext& context, TensorList tensors, const Tensor& out) {
  Promotion promotion;
  for (size_t i = 0; i < tensors.size(); ++i) promotion.add(tensors[i]);
  return require_castable(context, promotion.result(), out.dtype());
}

}  // namespace

int cat_out(KernelContext& context, TensorList tensors, int64_t dim, Tensor& out) {
  PTERON_REQUIRE(context, tensors.size() > 0, "there is no tensor to join");
  PTERON_PASS(require_dtypes(context, tensors, out));
  size_t model = 0;
  while (model + 1 < tensors.size() && is_left_out(tensors[model])) ++model;
  const Tensor first = tensors[model];
  PTERON_REQUIRE(context, first.rank() > 0, "tensors without dimensions cannot be joined");
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, first.rank(), &axis));
  int64_t sizes[kMaxRank];
  std::copy(first.sizes().begin(), first.sizes().end(), sizes);
  sizes[axis] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor tensor = tensors[i];
    if (is_left_out(tensor)) continue;
    PTERON_REQUIRE(context, tensor.rank() == first.rank(), "tensor %zu has rank %d, tensor %zu has rank %d", i,
                   tensor.rank(), model, first.rank());
    for (int d = 0; d < first.rank(); ++d) {
      PTERON_REQUIRE(context, d == axis || tensor.size(d) == sizes[d],
                     "tensor %zu has size %lld in dimension %d, tensor %zu has %lld", i, number(tensor.size(d)), d,
                     model, number(sizes[d]));
    }
    PTERON_REQUIRE(context, checked_add(sizes[axis], tensor.size(axis), &sizes[axis]), "the result is too large");
  }
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(first.rank()))));
  const View target = view_of(out);
  int64_t start = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_left_out(tensors[i])) continue;
    const View source = view_of(tensors[i]);
    copy_view(part(target, axis, start, source.sizes[axis]), source);
    start += source.sizes[axis];
  }
  return PTERON_OK;
}

int stack_out(KernelContext& context, TensorList tensors, int64_t dim, Tensor& out) {
  PTERON_REQUIRE(context, tensors.size() > 0, "there is no tensor to stack");
  PTERON_PASS(require_dtypes(context, tensors, out));
  const Tensor first = tensors[0];
  PTERON_REQUIRE(context, first.rank() < kMaxRank, "the result would have more than %d dimensions", kMaxRank);
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, first.rank() + 1, &axis));
  int64_t sizes[kMaxRank];
  for (int d = 0, own = 0; d <= first.rank(); ++d) {
    sizes[d] = d == axis ? static_cast<int64_t>(tensors.size()) : first.size(own++);
  }
  for (size_t i = 1; i < tensors.size(); ++i) {
    const Tensor tensor = tensors[i];
    bool same = tensor.rank() == first.rank();
    for (int d = 0; same && d < first.rank(); ++d) same = tensor.size(d) == first.size(d);
    PTERON_REQUIRE(context, same, "tensor %zu does not have the sizes of tensor 0", i);
  }
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(first.rank() + 1))));
  const View target = view_of(out);
  for (size_t i = 0; i < tensors.size(); ++i) {
    View source = view_of(tensors[i]);
    for (int d = source.rank; d > axis; --d) {
      source.sizes[d] = source.sizes[d - 1];
      source.strides[d] = source.strides[d - 1];
    }
    source.sizes[axis] = 1;
    source.strides[axis] = 1;
    ++source.rank;
    copy_view(part(target, axis, static_cast<int64_t>(i), 1), source);
  }
  return PTERON_OK;
}

namespace {

struct Padding {
  int64_t before[kMaxRank] = {};
  int64_t after[kMaxRank] = {};
};

// Reads the pairs, resizes `out`.
int prepare_padding(KernelContext& context, const Tensor& self, IntList pad, Padding* padding, Tensor& out) {
  PTERON_REQUIRE(context, pad.size() % 2 == 0 && pad.size() / 2 <= static_cast<size_t>(self.rank()),
                 "%zu amounts of padding are given for a tensor of rank %d", pad.size(), self.rank());
  int64_t sizes[kMaxRank];
  for (int dim = 0; dim < self.rank(); ++dim) {
    const size_t pair = static_cast<size_t>(self.rank() - 1 - dim);
    if (2 * pair < pad.size()) {
      padding->before[dim] = pad[2 * pair];
      padding->after[dim] = pad[2 * pair + 1];
    }
    int64_t& size = sizes[dim];
    PTERON_REQUIRE(context,
                   checked_add(self.size(dim), padding->before[dim], &size) &&
                       checked_add(size, padding->after[dim], &size) && size >= 0,
                   "padding %lld and %lld makes a negative size of dimension %d, which has %lld",
                   number(padding->before[dim]), number(padding->after[dim]), dim, number(self.size(dim)));
  }
  return context.resize(out, IntList(sizes, static_cast<size_t>(self.rank())));
}

}  // namespace

int constant_pad_nd_out(KernelContext& context, const Tensor& self, IntList pad, Scalar value, Tensor& out) {
  Padding padding;
  PTERON_PASS(prepare_padding(context, self, pad, &padding, out));
  PTERON_REQUIRE(context, scalar_fits(value, out.dtype()), "the number %g does not fit dtype %s", value.to_double(),
                 pteron_dtype_name(out.dtype()));
  View target = view_of(out), source = view_of(self);
  for (int dim = 0; dim < self.rank(); ++dim) {
    const int64_t size = target.sizes[dim];
    const int64_t low = std::clamp<int64_t>(padding.before[dim], 0, size);
    const int64_t high = std::clamp<int64_t>(padding.after[dim], 0, size - low);
    if (low > 0) fill_view(part(target, dim, 0, low), value);
    if (high > 0) fill_view(part(target, dim, size - high, high), value);
    target = part(target, dim, low, size - low - high);
    source = part(source, dim, std::max<int64_t>(0, -padding.before[dim]), target.sizes[dim]);
  }
  copy_view(target, source);
  return PTERON_OK;
}

namespace {

enum class Border { kReflect, kReplicate };

// Fills `target` from dimension `dim` on. Each dimension falls into three pieces, each a view of the source: the border
// before, read backwards or with a step of 0, the inside, and the border after.
void copy_padded(const View& target, const View& source, const Padding& padding, Border border, int dim) {
  if (dim == target.rank) {
    copy_view(target, source);
    return;
  }
  const int64_t size = target.sizes[dim], own = source.sizes[dim], before = padding.before[dim];
  const int64_t low = std::clamp<int64_t>(before, 0, size);
  const int64_t inside_end = std::clamp<int64_t>(before + own, low, size);
  if (low > 0) {
    View piece = source;
    advance(piece, dim, border == Border::kReflect ? before : 0);
    piece.strides[dim] = border == Border::kReflect ? -source.strides[dim] : 0;
    piece.sizes[dim] = low;
    copy_padded(part(target, dim, 0, low), piece, padding, border, dim + 1);
  }
  if (inside_end > low) {
    copy_padded(part(target, dim, low, inside_end - low), part(source, dim, low - before, inside_end - low), padding,
                border, dim + 1);
  }
  if (size > inside_end) {
    View piece = source;
    // Output i beyond the inside reads input 2 (own - 1) - (i - before).
    advance(piece, dim, border == Border::kReflect ? 2 * (own - 1) - (inside_end - before) : own - 1);
    piece.strides[dim] = border == Border::kReflect ? -source.strides[dim] : 0;
    piece.sizes[dim] = size - inside_end;
    copy_padded(part(target, dim, inside_end, size - inside_end), piece, padding, border, dim + 1);
  }
}

int pad_out(KernelContext& context, const Tensor& self, IntList pad, Border border, int dims, Tensor& out) {
  PTERON_REQUIRE(context, pad.size() == static_cast<size_t>(2 * dims), "expected %d amounts of padding, found %zu",
                 2 * dims, pad.size());
  PTERON_REQUIRE(context, self.rank() == dims + 1 || self.rank() == dims + 2,
                 "expected a tensor of rank %d or %d, found rank %d", dims + 1, dims + 2, self.rank());
  PTERON_PASS(require_copyable(context, self.dtype(), out.dtype()));
  Padding padding;
  PTERON_PASS(prepare_padding(context, self, pad, &padding, out));
  for (int dim = self.rank() - dims; dim < self.rank(); ++dim) {
    const int64_t size = self.size(dim);
    const int64_t most = border == Border::kReflect ? size - 1 : INT64_MAX / 4;
    PTERON_REQUIRE(context, size > 0 && padding.before[dim] <= most && padding.after[dim] <= most,
                   "padding %lld and %lld is too large for dimension %d, which has %lld", number(padding.before[dim]),
                   number(padding.after[dim]), dim, number(size));
    PTERON_REQUIRE(context, padding.before[dim] > -size && padding.after[dim] > -size && out.size(dim) > 0,
                   "padding %lld and %lld leaves nothing of dimension %d, which has %lld", number(padding.before[dim]),
                   number(padding.after[dim]), dim, number(size));
  }
  copy_padded(view_of(out), view_of(self), padding, border, 0);
  return PTERON_OK;
}

}  // namespace

int reflection_pad1d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out) {
  return pad_out(context, self, padding, Border::kReflect, 1, out);
}

int reflection_pad2d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out) {
  return pad_out(context, self, padding, Border::kReflect, 2, out);
}

int reflection_pad3d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out) {
  return pad_out(context, self, padding, Border::kReflect, 3, out);
}

int replication_pad1d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out) {
  return pad_out(context, self, padding, Border::kReplicate, 1, out);
}

int replication_pad2d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out) {
  return pad_out(context, self, padding, Border::kReplicate, 2, out);
}

int replication_pad3d_out(KernelContext& context, const Tensor& self, IntList padding, Tensor& out) {
  return pad_out(context, self, padding, Border::kReplicate, 3, out);
}

}  // namespace pteron::kernels
