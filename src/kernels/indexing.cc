#include "kernels/indexing.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/block.h"
#include "kernels/dense.h"
#include "kernels/shape.h"

namespace pteron::kernels {
namespace {

int64_t element_bytes(const Tensor& tensor) {
  return static_cast<int64_t>(tensor.element_size());
}

int require_same_dtype(KernelContext& context, const Tensor& tensor, const char* name, const Tensor& self) {
  PTERON_REQUIRE(context, tensor.dtype() == self.dtype(), "%s is of dtype %s, but self of %s", name,
                 pteron_dtype_name(tensor.dtype()), pteron_dtype_name(self.dtype()));
  return PTERON_OK;
}

const int64_t* dense_index(KernelContext& context, const Tensor& index) {
  return static_cast<const int64_t*>(dense_input(context, index, PTERON_INT64));
}

// Offsets in bytes of `count` numbered rows, each of which must be in [0, limit).
int fill_row_table(KernelContext& context, const int64_t* index, int64_t count, int64_t limit, int64_t step,
                   const char* name, int64_t* table) {
  for (int64_t i = 0; i < count; ++i) {
    PTERON_REQUIRE(context, index[i] >= 0 && index[i] < limit, "%s %lld is out of range, expected 0 to %lld", name,
                   number(index[i]), number(limit - 1));
    table[i] = index[i] * step;
  }
  return PTERON_OK;
}

// Offsets in bytes of all positions of a shape, in logical order.
void fill_offsets(const int64_t* sizes, const int64_t* strides, int rank, int64_t bytes, int64_t* table) {
  Block shape;
  int64_t count = 1;
  for (int dim = 0; dim < rank; ++dim) {
    shape.append(sizes[dim], strides[dim] * bytes, 0);
    count *= sizes[dim];
  }
  if (shape.rank <= 1) {
    for (int64_t i = 0; i < count; ++i) table[i] = shape.rank == 0 ? 0 : i * shape.from[0];
    return;
  }
  int64_t unused = 0;
  for (int64_t i = 0; i < count; ++i) shape.locate(i, &table[i], &unused);
}

}  // namespace

int embedding_out(KernelContext& context, const Tensor& weight, const Tensor& indices, int64_t, bool, bool,
                  Tensor& out) {
  PTERON_REQUIRE(context, weight.rank() == 2, "weight has %d dimensions, expected 2", weight.rank());
  PTERON_REQUIRE(context, indices.rank() < kMaxRank, "indices has %d dimensions, at most %d are possible",
                 indices.rank(), kMaxRank - 1);
  PTERON_PASS(require_same_dtype(context, out, "out", weight));
  int64_t sizes[kMaxRank];
  for (int dim = 0; dim < indices.rank(); ++dim) sizes[dim] = indices.size(dim);
  sizes[indices.rank()] = weight.size(1);
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(indices.rank() + 1))));

  const int64_t bytes = element_bytes(weight);
  BlockJob job;
  job.count = indices.numel();
  const int64_t* index = dense_index(context, indices);
  auto* from = static_cast<int64_t*>(scratch_array(context, job.count, sizeof(int64_t)));
  auto* to = static_cast<int64_t*>(scratch_array(context, job.count, sizeof(int64_t)));
  if (index == nullptr || from == nullptr || to == nullptr) return PTERON_OUT_OF_MEMORY;
  PTERON_PASS(fill_row_table(context, index, job.count, weight.size(0), weight.stride(0) * bytes, "index", from));
  fill_offsets(out.sizes().data(), out.strides().data(), indices.rank(), bytes, to);
  job.from = weight.data<char>();
  job.to = out.data<char>();
  job.from_table = from;
  job.to_table = to;
  job.after.append(weight.size(1), weight.stride(1) * bytes, out.stride(indices.rank()) * bytes);
  run_blocks(job, moving(bytes));
  return PTERON_OK;
}

int index_select_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  PTERON_REQUIRE(context, index.rank() <= 1, "index has %d dimensions, expected at most 1", index.rank());
  PTERON_PASS(require_same_dtype(context, out, "out", self));
  int64_t sizes[kMaxRank];
  for (int d = 0; d < self.rank(); ++d) sizes[d] = d == axis ? index.numel() : self.size(d);
  PTERON_REQUIRE(context, self.rank() > 0 || index.numel() == 1,
                 "self has no dimensions, so index must have 1 element, not %lld", number(index.numel()));
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(self.rank()))));

  const int64_t bytes = element_bytes(self);
  const int64_t limit = self.rank() == 0 ? 1 : self.size(axis);
  const int64_t from_step = self.rank() == 0 ? 0 : self.stride(axis) * bytes;
  const int64_t to_step = self.rank() == 0 ? 0 : out.stride(axis) * bytes;
  BlockJob job;
  job.count = index.numel();
  const int64_t* places = dense_index(context, index);
  auto* from = static_cast<int64_t*>(scratch_array(context, job.count, sizeof(int64_t)));
  auto* to = static_cast<int64_t*>(scratch_array(context, job.count, sizeof(int64_t)));
  if (places == nullptr || from == nullptr || to == nullptr) return PTERON_OUT_OF_MEMORY;
  PTERON_PASS(fill_row_table(context, places, job.count, limit, from_step, "index", from));
  for (int64_t i = 0; i < job.count; ++i) to[i] = i * to_step;
  job.from = self.data<char>();
  job.to = out.data<char>();
  job.from_table = from;
  job.to_table = to;
  for (int d = 0; d < self.rank(); ++d) {
    if (d == axis) continue;
    (d < axis ? job.before : job.after).append(self.size(d), self.stride(d) * bytes, out.stride(d) * bytes);
  }
  run_blocks(job, moving(bytes));
  return PTERON_OK;
}

namespace {

// ---- Indexing by several tensors -----------------------------------------------------------------------------------

// What a list of index tensors selects of a tensor, with masks turned into positions.
struct Selection {
  int indexed = 0;             // how many dimensions have an index
  int dims[kMaxRank];          // which
  View positions[kMaxRank];    // int32 or int64
  int rank = 0;                // of the broadcast index
  int64_t sizes[kMaxRank];     // of the broadcast index
  int64_t count = 1;           // positions in it
  int before = 0;              // dimensions of the result in front of the index
  int whole = 0;               // dimensions without an index
  int whole_dims[kMaxRank];    // which
  int64_t* offsets = nullptr;  // in self, in elements, one for each position
};

int64_t count_true(const uint8_t* mask, int64_t size) {
  int64_t count = 0;
  for (int64_t i = 0; i < size; ++i) count += mask[i];
  return count;
}

View vector_view(int64_t* data, int64_t size) {
  View view;
  view.data = reinterpret_cast<char*>(data);
  view.dtype = PTERON_INT64;
  view.rank = 1;
  view.sizes[0] = size;
  view.strides[0] = 1;
  return view;
}

// Writes the coordinates of the true elements of a dense mask: coordinate d of number i to columns[d][i * step].
void write_coordinates(const uint8_t* mask, const Tensor& shape, int64_t* const* columns, int64_t step) {
  int64_t place[kMaxRank] = {};
  const int64_t size = shape.numel();
  int64_t found = 0;
  for (int64_t i = 0; i < size; ++i) {
    if (mask[i] != 0) {
      for (int d = 0; d < shape.rank(); ++d) columns[d][found * step] = place[d];
      ++found;
    }
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (++place[d] < shape.size(d)) break;
      place[d] = 0;
    }
  }
}

int add_mask(KernelContext& context, const Tensor& self, const Tensor& mask, int dim, Selection* selection) {
  for (int d = 0; d < mask.rank(); ++d) {
    PTERON_REQUIRE(context, mask.size(d) == self.size(dim + d),
                   "the mask has the size %lld for dimension %d of self, which is of size %lld", number(mask.size(d)),
                   dim + d, number(self.size(dim + d)));
  }
  const auto* bytes = static_cast<const uint8_t*>(dense_input(context, mask, PTERON_BOOL));
  // A bool tensor's own memory may hold other bytes than 0 and 1.
  auto* clean = static_cast<uint8_t*>(scratch_array(context, mask.numel(), 1));
  if (bytes == nullptr || clean == nullptr) return PTERON_OUT_OF_MEMORY;
  for (int64_t i = 0; i < mask.numel(); ++i) clean[i] = bytes[i] != 0;
  const int64_t count = count_true(clean, mask.numel());
  int64_t* columns[kMaxRank];
  for (int d = 0; d < mask.rank(); ++d) {
    columns[d] = static_cast<int64_t*>(scratch_array(context, count, sizeof(int64_t)));
    if (columns[d] == nullptr) return PTERON_OUT_OF_MEMORY;
    selection->dims[selection->indexed] = dim + d;
    selection->positions[selection->indexed++] = vector_view(columns[d], count);
  }
  write_coordinates(clean, mask, columns, 1);
  return PTERON_OK;
}

int read_indices(KernelContext& context, const Tensor& self, OptionalTensorList indices, Selection* selection) {
  int dim = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::optional<Tensor> index = indices[i];
    const bool is_mask = index.has_value() && is_in(index->dtype(), kBool | kByte);
    const int taken = is_mask ? index->rank() : 1;
    PTERON_REQUIRE(context, taken <= self.rank() - dim, "there are more indices than the %d dimensions of self",
                   self.rank());
    PTERON_REQUIRE(context, !is_mask || taken > 0, "index %zu is a mask without dimensions, which is not supported", i);
    if (!index.has_value()) {
      ++dim;
      continue;
    }
    if (is_mask) {
      PTERON_PASS(add_mask(context, self, *index, dim, selection));
    } else {
      PTERON_REQUIRE(context, is_in(index->dtype(), kIndex), "index %zu is of dtype %s, expected int32, int64 or bool",
                     i, pteron_dtype_name(index->dtype()));
      selection->dims[selection->indexed] = dim;
      selection->positions[selection->indexed++] = view_of(*index);
    }
    dim += taken;
  }
  return PTERON_OK;
}

int broadcast_indices(KernelContext& context, Selection* selection) {
  for (int i = 0; i < selection->indexed; ++i)
    selection->rank = std::max(selection->rank, selection->positions[i].rank);
  std::fill(selection->sizes, selection->sizes + selection->rank, 1);
  for (int i = 0; i < selection->indexed; ++i) {
    const View& view = selection->positions[i];
    for (int d = 0; d < view.rank; ++d) {
      int64_t& size = selection->sizes[d + selection->rank - view.rank];
      PTERON_REQUIRE(context, view.sizes[d] == size || view.sizes[d] == 1 || size == 1,
                     "index tensors do not broadcast: sizes %lld and %lld meet", number(size), number(view.sizes[d]));
      if (size == 1) size = view.sizes[d];
    }
  }
  PTERON_REQUIRE(context, checked_numel(selection->sizes, static_cast<size_t>(selection->rank), &selection->count),
                 "the broadcast index is too large");
  return PTERON_OK;
}

int compute_offsets(KernelContext& context, const Tensor& self, Selection* selection) {
  selection->offsets = static_cast<int64_t*>(scratch_array(context, selection->count, sizeof(int64_t)));
  auto* places = static_cast<int64_t*>(scratch_array(context, selection->count, sizeof(int64_t)));
  if (selection->offsets == nullptr || places == nullptr) return PTERON_OUT_OF_MEMORY;
  std::fill(selection->offsets, selection->offsets + selection->count, 0);
  View target;
  target.data = reinterpret_cast<char*>(places);
  target.dtype = PTERON_INT64;
  target.rank = selection->rank;
  std::copy(selection->sizes, selection->sizes + selection->rank, target.sizes);
  set_contiguous_strides(target);
  for (int i = 0; i < selection->indexed; ++i) {
    View source = selection->positions[i];
    expand_view(source, target.sizes, target.rank);
    copy_view(target, source);
    const int dim = selection->dims[i];
    const int64_t size = self.size(dim), stride = self.stride(dim);
    for (int64_t p = 0; p < selection->count; ++p) {
      PTERON_REQUIRE(context, places[p] >= -size && places[p] < size,
                     "index %lld is out of range for dimension %d of size %lld", number(places[p]), dim, number(size));
      selection->offsets[p] += (places[p] < 0 ? places[p] + size : places[p]) * stride;
    }
  }
  return PTERON_OK;
}

int select(KernelContext& context, const Tensor& self, OptionalTensorList indices, Selection* selection) {
  PTERON_PASS(read_indices(context, self, indices, selection));
  PTERON_PASS(broadcast_indices(context, selection));
  const int first = selection->indexed > 0 ? selection->dims[0] : 0;
  const int last = selection->indexed > 0 ? selection->dims[selection->indexed - 1] : 0;
  const bool adjacent = selection->indexed > 0 && last - first + 1 == selection->indexed;
  selection->before = adjacent ? first : 0;
  int next = 0;
  for (int dim = 0; dim < self.rank(); ++dim) {
    if (next < selection->indexed && selection->dims[next] == dim) {
      ++next;
    } else {
      selection->whole_dims[selection->whole++] = dim;
    }
  }
  PTERON_REQUIRE(context, selection->rank + selection->whole <= kMaxRank,
                 "the result would have %d dimensions, at most %d are possible", selection->rank + selection->whole,
                 kMaxRank);
  return compute_offsets(context, self, selection);
}

// The sizes of self[indices...]; returns their number.
int result_sizes(const Tensor& self, const Selection& selection, int64_t* sizes) {
  int rank = 0;
  for (int i = 0; i < selection.before; ++i) sizes[rank++] = self.size(selection.whole_dims[i]);
  for (int i = 0; i < selection.rank; ++i) sizes[rank++] = selection.sizes[i];
  for (int i = selection.before; i < selection.whole; ++i) sizes[rank++] = self.size(selection.whole_dims[i]);
  return rank;
}

// The job that moves between self (strides of `self`) and the result (strides of `result`, which has its sizes).
// `reads` self, or writes it.
int make_job(KernelContext& context, const Selection& selection, const View& self, const View& result, int64_t bytes,
             bool reads, BlockJob* job) {
  auto* in_self = static_cast<int64_t*>(scratch_array(context, selection.count, sizeof(int64_t)));
  auto* in_result = static_cast<int64_t*>(scratch_array(context, selection.count, sizeof(int64_t)));
  if (in_self == nullptr || in_result == nullptr) return PTERON_OUT_OF_MEMORY;
  for (int64_t i = 0; i < selection.count; ++i) in_self[i] = selection.offsets[i] * bytes;
  fill_offsets(selection.sizes, result.strides + selection.before, selection.rank, bytes, in_result);
  job->count = selection.count;
  job->from = reads ? self.data : result.data;
  job->to = reads ? result.data : self.data;
  job->from_table = reads ? in_self : in_result;
  job->to_table = reads ? in_result : in_self;
  job->ordered = !reads;
  for (int i = 0; i < selection.whole; ++i) {
    const int dim = selection.whole_dims[i];
    const int place = i < selection.before ? i : i + selection.rank;
    const int64_t self_step = self.strides[dim] * bytes, result_step = result.strides[place] * bytes;
    Block& block = i < selection.before ? job->before : job->after;
    block.append(self.sizes[dim], reads ? self_step : result_step, reads ? result_step : self_step);
  }
  return PTERON_OK;
}

// `values` on the sizes of self[indices...].
int expand_values(KernelContext& context, const Tensor& self, const Selection& selection, const Tensor& values,
                  View* view) {
  int64_t sizes[kMaxRank];
  const int rank = result_sizes(self, selection, sizes);
  *view = view_of(values);
  // Leading dimensions of size 1 do not count.
  while (view->rank > rank && view->sizes[0] == 1) {
    std::copy(view->sizes + 1, view->sizes + view->rank, view->sizes);
    std::copy(view->strides + 1, view->strides + view->rank, view->strides);
    --view->rank;
  }
  PTERON_REQUIRE(context, expand_view(*view, sizes, rank),
                 "values, of %lld elements in %d dimensions, does not broadcast to the %d dimensions that are indexed",
                 number(values.numel()), values.rank(), rank);
  return PTERON_OK;
}

// Puts `values` into `target`, whose strides the selection was made for.
int put(KernelContext& context, const Tensor& self, OptionalTensorList indices, const Tensor& values, bool accumulate,
        Tensor& target) {
  PTERON_PASS(require_same_dtype(context, values, "values", self));
  Selection selection;
  PTERON_PASS(select(context, target, indices, &selection));
  View source;
  PTERON_PASS(expand_values(context, self, selection, values, &source));
  BlockJob job;
  if (!accumulate) {
    PTERON_PASS(make_job(context, selection, view_of(target), source, element_bytes(self), false, &job));
    run_blocks(job, moving(element_bytes(self)));
    return PTERON_OK;
  }
  // Sums are kept in the computing type: converted there and back unless it is the tensor's own.
  const int dtype = computing_dtype(self.dtype());
  const int64_t bytes = static_cast<int64_t>(pteron_dtype_size(dtype));
  View sums = view_of(target);
  const bool in_place = self.dtype() == dtype;
  if (!in_place) {
    // With the strides of the target, so that the selection's offsets hold.
    int64_t reach = 1;
    for (int dim = 0; dim < sums.rank; ++dim) reach += (sums.sizes[dim] - 1) * sums.strides[dim];
    sums.data = static_cast<char*>(scratch_array(context, target.numel() == 0 ? 0 : reach, static_cast<size_t>(bytes)));
    sums.dtype = dtype;
    if (sums.data == nullptr) return PTERON_OUT_OF_MEMORY;
    copy_view(sums, view_of(target));
  }
  if (values.dtype() != dtype) {
    const void* dense = dense_input(context, values, dtype);
    if (dense == nullptr) return PTERON_OUT_OF_MEMORY;
    View packed = view_of(values);
    packed.data = static_cast<char*>(const_cast<void*>(dense));
    packed.dtype = dtype;
    set_contiguous_strides(packed);
    int64_t sizes[kMaxRank];
    const int rank = result_sizes(self, selection, sizes);
    while (packed.rank > rank) {
      std::copy(packed.sizes + 1, packed.sizes + packed.rank, packed.sizes);
      std::copy(packed.strides + 1, packed.strides + packed.rank, packed.strides);
      --packed.rank;
    }
    expand_view(packed, sizes, rank);
    source = packed;
  }
  PTERON_PASS(make_job(context, selection, sums, source, bytes, false, &job));
  run_blocks(job, adding(compute_for(dtype)));
  if (!in_place) copy_view(view_of(target), sums);
  return PTERON_OK;
}

}  // namespace

int index_tensor_out(KernelContext& context, const Tensor& self, OptionalTensorList indices, Tensor& out) {
  PTERON_PASS(require_same_dtype(context, out, "out", self));
  Selection selection;
  PTERON_PASS(select(context, self, indices, &selection));
  int64_t sizes[kMaxRank];
  const int rank = result_sizes(self, selection, sizes);
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(rank))));
  BlockJob job;
  PTERON_PASS(make_job(context, selection, view_of(self), view_of(out), element_bytes(self), true, &job));
  run_blocks(job, moving(element_bytes(self)));
  return PTERON_OK;
}

int index_put_out(KernelContext& context, const Tensor& self, OptionalTensorList indices, const Tensor& values,
                  bool accumulate, Tensor& out) {
  PTERON_PASS(require_same_dtype(context, out, "out", self));
  PTERON_PASS(context.resize(out, self.sizes()));
  copy_view(view_of(out), view_of(self));
  return put(context, self, indices, values, accumulate, out);
}

int index_put_(KernelContext& context, Tensor& self, OptionalTensorList indices, const Tensor& values,
               bool accumulate) {
  return put(context, self, indices, values, accumulate, self);
}

namespace {

// ---- Along one dimension -------------------------------------------------------------------------------------------

// A tensor without dimensions counts as one of size 1.
struct Shape {
  int rank = 1;
  int64_t sizes[kMaxRank] = {1};
  int64_t strides[kMaxRank] = {1};
};

Shape shape_of(const Tensor& tensor) {
  Shape shape;
  if (tensor.rank() == 0) return shape;
  shape.rank = tensor.rank();
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), shape.sizes);
  std::copy(tensor.strides().begin(), tensor.strides().end(), shape.strides);
  return shape;
}

// Checks that `index` does not reach beyond `limit`, named `name`, except along the dimension.
int check_index(KernelContext& context, const Shape& index, const Shape& limit, const char* name, int except) {
  PTERON_REQUIRE(context, index.rank == limit.rank, "index has %d dimensions, but %s has %d", index.rank, name,
                 limit.rank);
  for (int dim = 0; dim < index.rank; ++dim) {
    PTERON_REQUIRE(context, dim == except || index.sizes[dim] <= limit.sizes[dim],
                   "index has the size %lld in dimension %d, but %s only %lld", number(index.sizes[dim]), dim, name,
                   number(limit.sizes[dim]));
  }
  return PTERON_OK;
}

// The job for an index of sizes `index` along `axis`, with the strides (in elements) of both sides.
LineJob line_job(const Shape& index, int axis, const int64_t* from_strides, const int64_t* to_strides, int64_t bytes) {
  LineJob job;
  for (int dim = 0; dim < index.rank; ++dim) {
    if (dim != axis) job.lines.append(index.sizes[dim], from_strides[dim] * bytes, to_strides[dim] * bytes);
  }
  job.count = index.sizes[axis];
  job.from_step = from_strides[axis] * bytes;
  job.to_step = to_strides[axis] * bytes;
  return job;
}

// The index with the dimension innermost: line after line.
const int64_t* index_lines(KernelContext& context, const Tensor& index, int axis) {
  DimOrder order = row_major(index.rank());
  if (index.rank() > 0) {
    std::copy(order.dims + axis + 1, order.dims + order.rank, order.dims + axis);
    order.dims[order.rank - 1] = axis;
  }
  return static_cast<const int64_t*>(dense_input(context, index, PTERON_INT64, order));
}

int run_checked(KernelContext& context, const LineJob& job, const ElementAction& action) {
  int64_t outside = 0;
  PTERON_REQUIRE(context, run_lines(job, action, &outside), "index %lld is out of range, expected 0 to %lld",
                 number(outside), number(job.limit - 1));
  return PTERON_OK;
}

// What both scatters and scatter_add check; gives `out` its sizes.
int begin_scatter(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, Tensor& out,
                  int* axis) {
  PTERON_PASS(normalize_dim(context, dim, self.rank(), axis));
  PTERON_PASS(require_same_dtype(context, out, "out", self));
  PTERON_PASS(context.resize(out, self.sizes()));
  return index.numel() == 0 ? PTERON_OK : check_index(context, shape_of(index), shape_of(self), "self", *axis);
}

int scatter_from(KernelContext& context, const Tensor& index, int axis, const char* from, const int64_t* from_strides,
                 Tensor& out) {
  const Shape target = shape_of(out);
  LineJob job = line_job(shape_of(index), axis, from_strides, target.strides, element_bytes(out));
  job.from = from;
  job.to = out.data<char>();
  job.index = index_lines(context, index, axis);
  job.limit = target.sizes[axis];
  job.scatters = true;
  if (job.index == nullptr) return PTERON_OUT_OF_MEMORY;
  return run_checked(context, job, moving(element_bytes(out)));
}

}  // namespace

int gather_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, bool, Tensor& out) {
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  PTERON_PASS(require_same_dtype(context, out, "out", self));
  PTERON_PASS(context.resize(out, index.sizes()));
  if (index.numel() == 0) return PTERON_OK;
  const Shape source = shape_of(self), places = shape_of(index), target = shape_of(out);
  PTERON_PASS(check_index(context, places, source, "self", axis));
  LineJob job = line_job(places, axis, source.strides, target.strides, element_bytes(self));
  job.from = self.data<char>();
  job.to = out.data<char>();
  job.index = index_lines(context, index, axis);
  job.limit = source.sizes[axis];
  if (job.index == nullptr) return PTERON_OUT_OF_MEMORY;
  return run_checked(context, job, moving(element_bytes(self)));
}

int scatter_src_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    Tensor& out) {
  int axis = 0;
  PTERON_PASS(begin_scatter(context, self, dim, index, out, &axis));
  PTERON_PASS(require_same_dtype(context, src, "src", self));
  copy_view(view_of(out), view_of(self));
  if (index.numel() == 0) return PTERON_OK;
  PTERON_PASS(check_index(context, shape_of(index), shape_of(src), "src", -1));
  return scatter_from(context, index, axis, src.data<char>(), shape_of(src).strides, out);
}

int scatter_value_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, Scalar value,
                      Tensor& out) {
  int axis = 0;
  PTERON_PASS(begin_scatter(context, self, dim, index, out, &axis));
  copy_view(view_of(out), view_of(self));
  if (index.numel() == 0) return PTERON_OK;
  alignas(8) char converted[8] = {};
  View single;
  single.data = converted;
  single.dtype = self.dtype();
  fill_view(single, value);
  constexpr int64_t kSamePlace[kMaxRank] = {};
  return scatter_from(context, index, axis, converted, kSamePlace, out);
}

int scatter_add_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    Tensor& out) {
  int axis = 0;
  PTERON_PASS(begin_scatter(context, self, dim, index, out, &axis));
  PTERON_PASS(require_same_dtype(context, src, "src", self));
  if (index.numel() == 0) {
    copy_view(view_of(out), view_of(self));
    return PTERON_OK;
  }
  PTERON_PASS(check_index(context, shape_of(index), shape_of(src), "src", -1));
  const int dtype = computing_dtype(self.dtype());
  const auto* from = static_cast<const char*>(dense_input(context, src, dtype));
  const DenseOutput sums(context, out, dtype);
  const int64_t* lines = index_lines(context, index, axis);
  if (from == nullptr || sums.data() == nullptr || lines == nullptr) return PTERON_OUT_OF_MEMORY;
  copy_to_dense(self, dtype, row_major(self.rank()), sums.data());

  const auto row_major_strides = [](Shape shape) {
    int64_t stride = 1;
    for (int d = shape.rank - 1; d >= 0; --d) {
      shape.strides[d] = stride;
      stride *= shape.sizes[d];
    }
    return shape;
  };
  const Shape source = row_major_strides(shape_of(src)), target = row_major_strides(shape_of(out));
  const int64_t bytes = static_cast<int64_t>(pteron_dtype_size(dtype));
  LineJob job = line_job(shape_of(index), axis, source.strides, target.strides, bytes);
  job.from = from;
  job.to = sums.as<char>();
  job.index = lines;
  job.limit = target.sizes[axis];
  job.scatters = true;
  PTERON_PASS(run_checked(context, job, adding(compute_for(dtype))));
  sums.finish();
  return PTERON_OK;
}

int nonzero_out(KernelContext& context, const Tensor& self, Tensor& out) {
  auto* mask = static_cast<uint8_t*>(scratch_array(context, self.numel(), 1));
  if (mask == nullptr) return PTERON_OUT_OF_MEMORY;
  copy_to_dense(self, PTERON_BOOL, row_major(self.rank()), mask);
  for (int64_t i = 0; i < self.numel(); ++i) mask[i] = mask[i] != 0;
  const int64_t sizes[] = {count_true(mask, self.numel()), self.rank()};
  PTERON_PASS(context.resize(out, IntList(sizes, 2)));
  const DenseOutput places(context, out, PTERON_INT64);
  if (places.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  int64_t* columns[kMaxRank];
  for (int d = 0; d < self.rank(); ++d) columns[d] = places.as<int64_t>() + d;
  write_coordinates(mask, self, columns, self.rank());
  places.finish();
  return PTERON_OK;
}

}  // namespace pteron::kernels
