#include "kernels/shape.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"

namespace pteron::kernels {
namespace {

long long number(int64_t value) {
  return static_cast<long long>(value);
}

int64_t element_bytes(const View& view) {
  return static_cast<int64_t>(pteron_dtype_size(view.dtype));
}

// Moves the start of a view by `index` steps along a dimension.
void advance(View& view, int dim, int64_t index) {
  view.data += index * view.strides[dim] * element_bytes(view);
}

void remove_dim(View& view, int dim) {
  for (int i = dim; i + 1 < view.rank; ++i) {
    view.sizes[i] = view.sizes[i + 1];
    view.strides[i] = view.strides[i + 1];
  }
  --view.rank;
}

void insert_dim(View& view, int dim, int64_t size, int64_t stride) {
  for (int i = view.rank; i > dim; --i) {
    view.sizes[i] = view.sizes[i - 1];
    view.strides[i] = view.strides[i - 1];
  }
  view.sizes[dim] = size;
  view.strides[dim] = stride;
  ++view.rank;
}

void swap_dims(View& view, int a, int b) {
  std::swap(view.sizes[a], view.sizes[b]);
  std::swap(view.strides[a], view.strides[b]);
}

IntList sizes_of(const View& view) {
  return IntList(view.sizes, static_cast<size_t>(view.rank));
}

// What start, end and step select of a dimension, as Python slices do: from the end when negative, then clamped.
int slice_view(KernelContext& context, View& view, int dim, std::optional<int64_t> start, std::optional<int64_t> end,
               int64_t step) {
  PTERON_REQUIRE(context, step > 0, "the step of a slice is %lld, expected a positive one", number(step));
  const int64_t size = view.sizes[dim];
  const auto place = [size](int64_t index) {
    if (index < 0) index += size;  // cannot overflow: one is negative, the other is not
    return std::clamp<int64_t>(index, 0, size);
  };
  const int64_t first = place(start.value_or(0));
  const int64_t last = std::max(first, place(end.value_or(size)));
  view.sizes[dim] = (last - first) / step + ((last - first) % step != 0 ? 1 : 0);
  advance(view, dim, first);
  // A stride that is used at most once may be anything; the product could overflow.
  view.strides[dim] = view.sizes[dim] > 1 ? view.strides[dim] * step : 1;
  return PTERON_OK;
}

int normalize_index(KernelContext& context, int64_t index, int64_t size, int64_t* place) {
  *place = index < 0 ? index + size : index;
  PTERON_REQUIRE(context, *place >= 0 && *place < size, "index %lld is out of range for a dimension of size %lld",
                 number(index), number(size));
  return PTERON_OK;
}

int select_view(KernelContext& context, View& view, int64_t dim, int64_t index) {
  PTERON_REQUIRE(context, view.rank > 0, "cannot select from a tensor without dimensions");
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, view.rank, &axis));
  int64_t place = 0;
  PTERON_PASS(normalize_index(context, index, view.sizes[axis], &place));
  advance(view, axis, place);
  remove_dim(view, axis);
  return PTERON_OK;
}

bool view_is_contiguous(const View& view) {
  int64_t expected = 1;
  for (int dim = view.rank - 1; dim >= 0; --dim) {
    if (view.sizes[dim] == 0) return true;
    if (view.sizes[dim] == 1) continue;
    if (view.strides[dim] != expected) return false;
    expected *= view.sizes[dim];
  }
  return true;
}

// The sizes asked for, with at most one -1 worked out from the number of elements.
int resolve_sizes(KernelContext& context, IntList size, int64_t numel, int64_t* sizes) {
  PTERON_REQUIRE(context, size.size() <= kMaxRank, "%zu sizes are given, at most %d are possible", size.size(),
                 kMaxRank);
  int64_t known = 1;
  int open = -1;
  for (size_t i = 0; i < size.size(); ++i) {
    sizes[i] = size[i];
    if (size[i] == -1 && open < 0) {
      open = static_cast<int>(i);
      continue;
    }
    PTERON_REQUIRE(context, size[i] >= 0 && checked_multiply(known, size[i], &known), "size %lld is not possible",
                   number(size[i]));
  }
  if (open >= 0) {
    PTERON_REQUIRE(context, known != 0 && numel % known == 0,
                   "a size of -1 cannot be worked out: %lld elements do not divide into %lld", number(numel),
                   number(known));
    sizes[open] = numel / known;
    known = numel;
  }
  PTERON_REQUIRE(context, known == numel, "a tensor of %lld elements cannot be seen as one of %lld", number(numel),
                 number(known));
  return PTERON_OK;
}

// Copies in logical order between views of equal numbers of elements but other sizes.
int copy_reshaped(KernelContext& context, View dst, View src) {
  const auto adopt = [](View& view, const View& shape) {
    view.rank = shape.rank;
    std::copy(shape.sizes, shape.sizes + shape.rank, view.sizes);
    set_contiguous_strides(view);
  };
  if (view_is_contiguous(src)) {
    adopt(src, dst);
  } else if (view_is_contiguous(dst)) {
    adopt(dst, src);
  } else {
    View packed = src;
    set_contiguous_strides(packed);
    packed.data = static_cast<char*>(context.scratch(static_cast<size_t>(src.numel()) * pteron_dtype_size(src.dtype)));
    if (packed.data == nullptr) return PTERON_OUT_OF_MEMORY;
    copy_view(packed, src);
    adopt(packed, dst);
    src = packed;
  }
  copy_view(dst, src);
  return PTERON_OK;
}

}  // namespace

int normalize_dim(KernelContext& context, int64_t dim, int rank, int* axis) {
  const int span = std::max(rank, 1);
  PTERON_REQUIRE(context, dim >= -span && dim < span, "dimension %lld is out of range for a tensor of rank %d",
                 number(dim), rank);
  *axis = static_cast<int>(dim < 0 ? dim + span : dim);
  return PTERON_OK;
}

int require_copyable(KernelContext& context, int from, int to) {
  PTERON_REQUIRE(context, from == to || (is_in(from, kStored) && is_in(to, kStored)),
                 "elements of dtype %s cannot be converted to %s", pteron_dtype_name(from), pteron_dtype_name(to));
  return PTERON_OK;
}

int copy_to_out(KernelContext& context, const View& source, Tensor& out) {
  PTERON_PASS(require_copyable(context, source.dtype, out.dtype()));
  PTERON_PASS(context.resize(out, sizes_of(source)));
  copy_view(view_of(out), source);
  return PTERON_OK;
}

int view_copy_out(KernelContext& context, const Tensor& self, IntList size, Tensor& out) {
  PTERON_PASS(require_copyable(context, self.dtype(), out.dtype()));
  int64_t sizes[kMaxRank];
  PTERON_PASS(resolve_sizes(context, size, self.numel(), sizes));
  PTERON_PASS(context.resize(out, IntList(sizes, size.size())));
  return copy_reshaped(context, view_of(out), view_of(self));
}

int permute_copy_out(KernelContext& context, const Tensor& self, IntList dims, Tensor& out) {
  PTERON_REQUIRE(context, dims.size() == static_cast<size_t>(self.rank()),
                 "%zu dimensions are given for a tensor of rank %d", dims.size(), self.rank());
  View source = view_of(self);
  uint32_t seen = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    int axis = 0;
    PTERON_PASS(normalize_dim(context, dims[i], self.rank(), &axis));
    PTERON_REQUIRE(context, (seen & (1u << axis)) == 0, "dimension %d occurs twice in the permutation", axis);
    seen |= 1u << axis;
    source.sizes[i] = self.size(axis);
    source.strides[i] = self.stride(axis);
  }
  return copy_to_out(context, source, out);
}

int transpose_copy_out(KernelContext& context, const Tensor& self, int64_t dim0, int64_t dim1, Tensor& out) {
  int first = 0, second = 0;
  PTERON_PASS(normalize_dim(context, dim0, self.rank(), &first));
  PTERON_PASS(normalize_dim(context, dim1, self.rank(), &second));
  View source = view_of(self);
  if (source.rank > 0) swap_dims(source, first, second);
  return copy_to_out(context, source, out);
}

int t_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  PTERON_REQUIRE(context, self.rank() <= 2, "expected a tensor of rank 2 at most, found rank %d", self.rank());
  View source = view_of(self);
  if (source.rank == 2) swap_dims(source, 0, 1);
  return copy_to_out(context, source, out);
}

int expand_copy_out(KernelContext& context, const Tensor& self, IntList size, bool, Tensor& out) {
  PTERON_REQUIRE(context, size.size() <= kMaxRank && size.size() >= static_cast<size_t>(self.rank()),
                 "%zu sizes are given for a tensor of rank %d", size.size(), self.rank());
  const size_t added = size.size() - static_cast<size_t>(self.rank());
  int64_t sizes[kMaxRank];
  for (size_t i = 0; i < size.size(); ++i) {
    PTERON_REQUIRE(context, size[i] >= 0 || (size[i] == -1 && i >= added), "size %lld of dimension %zu is not possible",
                   number(size[i]), i);
    sizes[i] = size[i] == -1 ? self.size(static_cast<int>(i - added)) : size[i];
  }
  View source = view_of(self);
  PTERON_REQUIRE(context, expand_view(source, sizes, static_cast<int>(size.size())),
                 "a dimension other than 1 cannot be expanded");
  return copy_to_out(context, source, out);
}

int squeeze_copy_dim_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  return squeeze_copy_dims_out(context, self, IntList(&dim, 1), out);
}

int squeeze_copy_dims_out(KernelContext& context, const Tensor& self, IntList dims, Tensor& out) {
  bool dropped[kMaxRank] = {};
  for (int64_t dim : dims) {
    int axis = 0;
    PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
    dropped[axis] = self.rank() > 0 && self.size(axis) == 1;
  }
  View source = view_of(self);
  for (int dim = self.rank() - 1; dim >= 0; --dim) {
    if (dropped[dim]) remove_dim(source, dim);
  }
  return copy_to_out(context, source, out);
}

int unsqueeze_copy_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  PTERON_REQUIRE(context, self.rank() < kMaxRank, "the result would have more than %d dimensions", kMaxRank);
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank() + 1, &axis));
  View source = view_of(self);
  insert_dim(source, axis, 1, 1);
  return copy_to_out(context, source, out);
}

int slice_copy_out(KernelContext& context, const Tensor& self, int64_t dim, std::optional<int64_t> start,
                   std::optional<int64_t> end, int64_t step, Tensor& out) {
  PTERON_REQUIRE(context, self.rank() > 0, "cannot slice a tensor without dimensions");
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  View source = view_of(self);
  PTERON_PASS(slice_view(context, source, axis, start, end, step));
  return copy_to_out(context, source, out);
}

int narrow_copy_out(KernelContext& context, const Tensor& self, int64_t dim, int64_t start, int64_t length,
                    Tensor& out) {
  PTERON_REQUIRE(context, self.rank() > 0, "cannot narrow a tensor without dimensions");
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  const int64_t size = self.size(axis);
  PTERON_REQUIRE(context, start >= -size && start <= size, "start %lld is out of range for a dimension of size %lld",
                 number(start), number(size));
  const int64_t first = start < 0 ? start + size : start;
  PTERON_REQUIRE(context, length >= 0 && length <= size - first,
                 "start %lld and length %lld exceed a dimension of size %lld", number(start), number(length),
                 number(size));
  View source = view_of(self);
  advance(source, axis, first);
  source.sizes[axis] = length;
  return copy_to_out(context, source, out);
}

int select_copy_out(KernelContext& context, const Tensor& self, int64_t dim, int64_t index, Tensor& out) {
  View source = view_of(self);
  PTERON_PASS(select_view(context, source, dim, index));
  return copy_to_out(context, source, out);
}

int slice_scatter_out(KernelContext& context, const Tensor& self, const Tensor& src, int64_t dim,
                      std::optional<int64_t> start, std::optional<int64_t> end, int64_t step, Tensor& out) {
  PTERON_REQUIRE(context, self.rank() > 0, "cannot slice a tensor without dimensions");
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  PTERON_PASS(copy_to_out(context, view_of(self), out));
  View target = view_of(out);
  PTERON_PASS(slice_view(context, target, axis, start, end, step));
  View source = view_of(src);
  PTERON_REQUIRE(context, expand_view(source, target.sizes, target.rank),
                 "the source does not have the sizes of the slice (dimension %d selects %lld)", axis,
                 number(target.sizes[axis]));
  copy_view(target, source);
  return PTERON_OK;
}

int select_scatter_out(KernelContext& context, const Tensor& self, const Tensor& src, int64_t dim, int64_t index,
                       Tensor& out) {
  PTERON_PASS(copy_to_out(context, view_of(self), out));
  View target = view_of(out);
  PTERON_PASS(select_view(context, target, dim, index));
  View source = view_of(src);
  PTERON_REQUIRE(context, expand_view(source, target.sizes, target.rank),
                 "the source does not have the sizes of what is selected");
  copy_view(target, source);
  return PTERON_OK;
}

namespace {

// Copies `length` elements from `start` on along `axis` to an out tensor.
int copy_part(KernelContext& context, const Tensor& self, int axis, int64_t start, int64_t length, Tensor out) {
  View source = view_of(self);
  advance(source, axis, start);
  source.sizes[axis] = length;
  return copy_to_out(context, source, out);
}

}  // namespace

int split_copy_out(KernelContext& context, const Tensor& self, int64_t split_size, int64_t dim, TensorList out) {
  PTERON_REQUIRE(context, self.rank() > 0, "cannot split a tensor without dimensions");
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  const int64_t size = self.size(axis);
  PTERON_REQUIRE(context, split_size > 0 || (split_size == 0 && size == 0),
                 "the size of the parts is %lld, expected a positive one", number(split_size));
  const int64_t parts = split_size == 0 ? 1 : std::max<int64_t>(1, size / split_size + (size % split_size != 0));
  PTERON_REQUIRE(context, static_cast<uint64_t>(parts) == out.size(), "the tensor splits into %lld parts, found %zu",
                 number(parts), out.size());
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t start = part * split_size;
    PTERON_PASS(
        copy_part(context, self, axis, start, std::min(split_size, size - start), out[static_cast<size_t>(part)]));
  }
  return PTERON_OK;
}

int split_with_sizes_copy_out(KernelContext& context, const Tensor& self, IntList split_sizes, int64_t dim,
                              TensorList out) {
  PTERON_REQUIRE(context, self.rank() > 0, "cannot split a tensor without dimensions");
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  PTERON_REQUIRE(context, split_sizes.size() == out.size(), "%zu sizes are given for %zu outputs", split_sizes.size(),
                 out.size());
  int64_t start = 0;
  for (size_t part = 0; part < out.size(); ++part) {
    PTERON_REQUIRE(context, split_sizes[part] >= 0 && split_sizes[part] <= self.size(axis) - start,
                   "the sizes of the parts do not add up to %lld", number(self.size(axis)));
    PTERON_PASS(copy_part(context, self, axis, start, split_sizes[part], out[part]));
    start += split_sizes[part];
  }
  PTERON_REQUIRE(context, start == self.size(axis), "the sizes of the parts add up to %lld, expected %lld",
                 number(start), number(self.size(axis)));
  return PTERON_OK;
}

int unbind_copy_out(KernelContext& context, const Tensor& self, int64_t dim, TensorList out) {
  PTERON_REQUIRE(context, self.rank() > 0, "cannot unbind a tensor without dimensions");
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  PTERON_REQUIRE(context, static_cast<uint64_t>(self.size(axis)) == out.size(),
                 "the tensor unbinds into %lld parts, found %zu", number(self.size(axis)), out.size());
  for (size_t part = 0; part < out.size(); ++part) {
    View source = view_of(self);
    PTERON_PASS(select_view(context, source, axis, static_cast<int64_t>(part)));
    Tensor target = out[part];
    PTERON_PASS(copy_to_out(context, source, target));
  }
  return PTERON_OK;
}

int as_strided_copy_out(KernelContext& context, const Tensor& self, IntList size, IntList stride,
                        std::optional<int64_t> storage_offset, Tensor& out) {
  PTERON_REQUIRE(context, size.size() == stride.size() && size.size() <= kMaxRank,
                 "%zu sizes and %zu strides are given", size.size(), stride.size());
  View source;
  source.data = view_of(self).data;
  source.dtype = self.dtype();
  source.rank = static_cast<int>(size.size());
  const int64_t offset = storage_offset.value_or(0);
  int64_t last = offset, numel = 1;
  bool sound = offset >= 0;
  for (size_t i = 0; i < size.size(); ++i) {
    sound = sound && size[i] >= 0 && stride[i] >= 0 && checked_multiply(numel, size[i], &numel);
    int64_t reach = 0;
    sound = sound &&
            (size[i] == 0 || (checked_multiply(size[i] - 1, stride[i], &reach) && checked_add(last, reach, &last)));
    source.sizes[i] = size[i];
    source.strides[i] = stride[i];
  }
  PTERON_REQUIRE(context, sound, "sizes, strides and offset must be positive and small enough");
  PTERON_REQUIRE(context, numel == 0 || last < self.numel(),
                 "sizes, strides and offset reach element %lld of a tensor of %lld", number(last),
                 number(self.numel()));
  if (numel != 0) source.data += offset * element_bytes(source);
  return copy_to_out(context, source, out);
}

int diagonal_copy_out(KernelContext& context, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2,
                      Tensor& out) {
  int first = 0, second = 0;
  PTERON_PASS(normalize_dim(context, dim1, self.rank(), &first));
  PTERON_PASS(normalize_dim(context, dim2, self.rank(), &second));
  PTERON_REQUIRE(context, first != second && self.rank() >= 2, "a diagonal needs two dimensions, found %d twice",
                 first);
  View source = view_of(self);
  const int64_t rows = source.sizes[first], columns = source.sizes[second];
  int64_t length = 0;
  if (offset >= 0 && offset < columns) {
    length = std::min(rows, columns - offset);
    advance(source, second, offset);
  } else if (offset < 0 && offset > -rows) {
    length = std::min(rows + offset, columns);
    advance(source, first, -offset);
  }
  const int64_t stride = source.strides[first] + source.strides[second];
  remove_dim(source, std::max(first, second));
  remove_dim(source, std::min(first, second));
  insert_dim(source, source.rank, length, stride);
  return copy_to_out(context, source, out);
}

int unfold_copy_out(KernelContext& context, const Tensor& self, int64_t dimension, int64_t size, int64_t step,
                    Tensor& out) {
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dimension, self.rank(), &axis));
  View source = view_of(self);
  if (source.rank == 0) {
    insert_dim(source, 0, 1, 1);
  }
  PTERON_REQUIRE(context, source.rank < kMaxRank, "the result would have more than %d dimensions", kMaxRank);
  PTERON_REQUIRE(context, size >= 0 && size <= source.sizes[axis] && step > 0,
                 "windows of size %lld with step %lld do not fit a dimension of size %lld", number(size), number(step),
                 number(source.sizes[axis]));
  insert_dim(source, source.rank, size, source.strides[axis]);
  source.sizes[axis] = (source.sizes[axis] - size) / step + 1;
  source.strides[axis] = source.sizes[axis] > 1 ? source.strides[axis] * step : 1;
  if (self.rank() == 0) remove_dim(source, 0);
  return copy_to_out(context, source, out);
}

int flip_out(KernelContext& context, const Tensor& self, IntList dims, Tensor& out) {
  View source = view_of(self);
  uint32_t seen = 0;
  for (int64_t dim : dims) {
    int axis = 0;
    PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
    PTERON_REQUIRE(context, (seen & (1u << axis)) == 0, "dimension %d occurs twice", axis);
    seen |= 1u << axis;
    if (self.rank() == 0 || source.sizes[axis] == 0) continue;
    advance(source, axis, source.sizes[axis] - 1);
    source.strides[axis] = -source.strides[axis];
  }
  return copy_to_out(context, source, out);
}

namespace {

// Copies source to target with dimension `axis` and those after it in the list rotated: a rotation is two pieces.
void copy_rolled(View target, View source, const int* axes, const int64_t* shifts, int count) {
  if (count == 0) {
    copy_view(target, source);
    return;
  }
  const int axis = axes[0];
  const int64_t size = source.sizes[axis], shift = shifts[0];
  View low_target = target, low_source = source;
  low_target.sizes[axis] = low_source.sizes[axis] = size - shift;
  advance(low_target, axis, shift);
  copy_rolled(low_target, low_source, axes + 1, shifts + 1, count - 1);
  if (shift == 0) return;
  View high_target = target, high_source = source;
  high_target.sizes[axis] = high_source.sizes[axis] = shift;
  advance(high_source, axis, size - shift);
  copy_rolled(high_target, high_source, axes + 1, shifts + 1, count - 1);
}

}  // namespace

int roll_out(KernelContext& context, const Tensor& self, IntList shifts, IntList dims, Tensor& out) {
  PTERON_PASS(require_copyable(context, self.dtype(), out.dtype()));
  PTERON_PASS(context.resize(out, self.sizes()));
  View source = view_of(self), target = view_of(out);
  if (dims.empty()) {  // rolls the elements in their logical order
    PTERON_REQUIRE(context, shifts.size() == 1, "without dimensions exactly one shift is needed, found %zu",
                   shifts.size());
    const int64_t numel = self.numel();
    if (numel == 0) return PTERON_OK;
    View flat;
    flat.dtype = self.dtype();
    flat.rank = 1;
    flat.sizes[0] = numel;
    flat.strides[0] = 1;
    const size_t bytes = static_cast<size_t>(numel) * self.element_size();
    View from = flat, to = flat;
    from.data = static_cast<char*>(context.scratch(2 * bytes));
    if (from.data == nullptr) return PTERON_OUT_OF_MEMORY;
    to.data = from.data + bytes;
    PTERON_PASS(copy_reshaped(context, from, source));
    const int axis = 0;
    const int64_t shift = ((shifts[0] % numel) + numel) % numel;
    copy_rolled(to, from, &axis, &shift, 1);
    return copy_reshaped(context, target, to);
  }
  PTERON_REQUIRE(context, shifts.size() == dims.size() && dims.size() <= kMaxRank,
                 "%zu shifts are given for %zu dimensions", shifts.size(), dims.size());
  int64_t total[kMaxRank] = {};
  for (size_t i = 0; i < dims.size(); ++i) {
    PTERON_REQUIRE(context, self.rank() > 0, "cannot roll a dimension of a tensor without dimensions");
    int axis = 0;
    PTERON_PASS(normalize_dim(context, dims[i], self.rank(), &axis));
    const int64_t size = self.size(axis);
    if (size > 0) total[axis] = (((total[axis] + shifts[i] % size) % size) + size) % size;
  }
  int axes[kMaxRank];
  int64_t amounts[kMaxRank];
  int count = 0;
  for (int dim = 0; dim < self.rank(); ++dim) {
    if (total[dim] == 0) continue;
    axes[count] = dim;
    amounts[count++] = total[dim];
  }
  copy_rolled(target, source, axes, amounts, count);
  return PTERON_OK;
}

int repeat_out(KernelContext& context, const Tensor& self, IntList repeats, Tensor& out) {
  PTERON_PASS(require_copyable(context, self.dtype(), out.dtype()));
  PTERON_REQUIRE(context, repeats.size() >= static_cast<size_t>(self.rank()) && repeats.size() <= kMaxRank,
                 "%zu repeats are given for a tensor of rank %d", repeats.size(), self.rank());
  const int rank = static_cast<int>(repeats.size());
  const int added = rank - self.rank();
  int64_t sizes[kMaxRank];
  for (int dim = 0; dim < rank; ++dim) {
    const int64_t own = dim < added ? 1 : self.size(dim - added);
    PTERON_REQUIRE(
        context,
        repeats[static_cast<size_t>(dim)] >= 0 && checked_multiply(own, repeats[static_cast<size_t>(dim)], &sizes[dim]),
        "repeat %lld of dimension %d is not possible", number(repeats[static_cast<size_t>(dim)]), dim);
  }
  PTERON_PASS(context.resize(out, IntList(sizes, repeats.size())));
  // The first tile is copied from the input; then each dimension is filled from what is there already.
  View target = view_of(out), source = view_of(self);
  for (int dim = 0; dim < added; ++dim) insert_dim(source, dim, 1, 0);
  if (target.numel() == 0) return PTERON_OK;
  View tile = target;
  for (int dim = 0; dim < rank; ++dim) tile.sizes[dim] = source.sizes[dim];
  copy_view(tile, source);
  for (int dim = rank - 1; dim >= 0; --dim) {
    for (int64_t filled = tile.sizes[dim]; filled < target.sizes[dim];) {
      const int64_t take = std::min(filled, target.sizes[dim] - filled);
      View from = tile, to = tile;
      from.sizes[dim] = to.sizes[dim] = take;
      advance(to, dim, filled);
      copy_view(to, from);
      filled += take;
    }
    tile.sizes[dim] = target.sizes[dim];
  }
  return PTERON_OK;
}

int tril_out(KernelContext& context, const Tensor& self, int64_t diagonal, Tensor& out) {
  PTERON_REQUIRE(context, self.rank() >= 2, "expected a matrix or a batch of them, found rank %d", self.rank());
  PTERON_PASS(context.resize(out, self.sizes()));
  View source = view_of(self), target = view_of(out);
  const int row_dim = source.rank - 2, column_dim = source.rank - 1;
  const int64_t rows = source.sizes[row_dim], columns = source.sizes[column_dim];
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t bound = diagonal > columns ? columns : diagonal < -rows ? -rows : diagonal;
    const int64_t kept = std::clamp<int64_t>(row + bound + 1, 0, columns);
    View from = source, to = target;
    advance(from, row_dim, row);
    advance(to, row_dim, row);
    from.sizes[row_dim] = to.sizes[row_dim] = 1;
    from.sizes[column_dim] = to.sizes[column_dim] = kept;
    copy_view(to, from);
    advance(to, column_dim, kept);
    to.sizes[column_dim] = columns - kept;
    fill_view(to, Scalar(0));
  }
  return PTERON_OK;
}

namespace {

// Replaces dimension `dim` of size a * b by two of sizes a and b.
void split_dim(View& view, int dim, int64_t inner) {
  const int64_t outer = view.sizes[dim] / inner;
  const int64_t stride = view.strides[dim];
  view.sizes[dim] = outer;
  view.strides[dim] = stride * inner;
  insert_dim(view, dim + 1, inner, stride);
}

}  // namespace

int pixel_shuffle_out(KernelContext& context, const Tensor& self, int64_t upscale_factor, Tensor& out) {
  PTERON_PASS(require_copyable(context, self.dtype(), out.dtype()));
  const int rank = self.rank();
  PTERON_REQUIRE(context, rank >= 3 && rank + 3 <= kMaxRank, "expected channels, height and width, found rank %d",
                 rank);
  int64_t square = 0, height = 0, width = 0;
  PTERON_REQUIRE(context,
                 upscale_factor > 0 && checked_multiply(upscale_factor, upscale_factor, &square) &&
                     self.size(rank - 3) % square == 0,
                 "%lld channels do not divide by the square of the factor %lld", number(self.size(rank - 3)),
                 number(upscale_factor));
  PTERON_REQUIRE(context,
                 checked_multiply(self.size(rank - 2), upscale_factor, &height) &&
                     checked_multiply(self.size(rank - 1), upscale_factor, &width),
                 "the factor %lld is too large", number(upscale_factor));
  View source = view_of(self);
  const int channel = rank - 3;
  split_dim(source, channel, square);              // [C, r*r, H, W]
  split_dim(source, channel + 1, upscale_factor);  // [C, r, r, H, W]
  View shaped = source;
  const int from[] = {0, 3, 1, 4, 2};  // [C, H, r, W, r]
  for (int i = 0; i < 5; ++i) {
    shaped.sizes[channel + i] = source.sizes[channel + from[i]];
    shaped.strides[channel + i] = source.strides[channel + from[i]];
  }
  int64_t sizes[kMaxRank];
  for (int dim = 0; dim < channel; ++dim) sizes[dim] = self.size(dim);
  sizes[channel] = self.size(channel) / square;
  sizes[channel + 1] = height;
  sizes[channel + 2] = width;
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(rank))));
  View target = view_of(out);
  split_dim(target, channel + 2, upscale_factor);
  split_dim(target, channel + 1, upscale_factor);
  copy_view(target, shaped);
  return PTERON_OK;
}

int pixel_unshuffle_out(KernelContext& context, const Tensor& self, int64_t downscale_factor, Tensor& out) {
  PTERON_PASS(require_copyable(context, self.dtype(), out.dtype()));
  const int rank = self.rank();
  PTERON_REQUIRE(context, rank >= 3 && rank + 3 <= kMaxRank, "expected channels, height and width, found rank %d",
                 rank);
  const int channel = rank - 3;
  PTERON_REQUIRE(context,
                 downscale_factor > 0 && self.size(rank - 2) % downscale_factor == 0 &&
                     self.size(rank - 1) % downscale_factor == 0,
                 "height %lld and width %lld do not divide by the factor %lld", number(self.size(rank - 2)),
                 number(self.size(rank - 1)), number(downscale_factor));
  int64_t square = 0, channels = 0;
  PTERON_REQUIRE(context,
                 checked_multiply(downscale_factor, downscale_factor, &square) &&
                     checked_multiply(self.size(channel), square, &channels),
                 "the factor %lld is too large", number(downscale_factor));
  View source = view_of(self);
  split_dim(source, channel + 2, downscale_factor);
  split_dim(source, channel + 1, downscale_factor);  // [C, H, r, W, r]
  View shaped = source;
  const int from[] = {0, 2, 4, 1, 3};  // [C, r, r, H, W]
  for (int i = 0; i < 5; ++i) {
    shaped.sizes[channel + i] = source.sizes[channel + from[i]];
    shaped.strides[channel + i] = source.strides[channel + from[i]];
  }
  int64_t sizes[kMaxRank];
  for (int dim = 0; dim < channel; ++dim) sizes[dim] = self.size(dim);
  sizes[channel] = channels;
  sizes[channel + 1] = self.size(rank - 2) / downscale_factor;
  sizes[channel + 2] = self.size(rank - 1) / downscale_factor;
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(rank))));
  View target = view_of(out);
  split_dim(target, channel, square);
  split_dim(target, channel + 1, downscale_factor);
  copy_view(target, shaped);
  return PTERON_OK;
}

}  // namespace pteron::kernels
