#include "kernels/sort.h"

#include <algorithm>

#include "kernels/dense.h"
#include "kernels/parallel.h"
#include "kernels/shape.h"

namespace pteron::kernels {
namespace {

template <class T>
bool is_greater(T a, T b) {
  return a > b || (a != a && b == b);
}

template <class T>
void select_line(const T* line, int64_t size, int64_t k, bool largest, T* values, int64_t* indices, int64_t* order) {
  const auto comes_first = [line, largest](int64_t a, int64_t b) {
    if (largest ? is_greater(line[a], line[b]) : is_greater(line[b], line[a])) return true;
    if (largest ? is_greater(line[b], line[a]) : is_greater(line[a], line[b])) return false;
    return a < b;
  };
  for (int64_t i = 0; i < size; ++i) order[i] = i;
  if (k < size) std::nth_element(order, order + k, order + size, comes_first);
  std::sort(order, order + k, comes_first);
  for (int64_t i = 0; i < k; ++i) {
    values[i] = line[order[i]];
    indices[i] = order[i];
  }
}

// The dimension innermost, the others as they are.
DimOrder innermost(int rank, int axis) {
  DimOrder order = row_major(rank);
  if (rank > 0) {
    std::copy(order.dims + axis + 1, order.dims + rank, order.dims + axis);
    order.dims[rank - 1] = axis;
  }
  return order;
}

template <class T>
int select_lines(KernelContext& context, const Tensor& self, const DimOrder& order, int64_t size, int64_t k,
                 bool largest, Tensor& values, Tensor& indices) {
  const int dtype = computing_dtype(self.dtype());
  const int64_t lines = self.numel() / size;
  const auto* from = static_cast<const T*>(dense_input(context, self, dtype, order));
  const DenseOutput best(context, values, dtype, order), places(context, indices, PTERON_INT64, order);
  auto* positions = static_cast<int64_t*>(scratch_array(context, self.numel(), sizeof(int64_t)));
  if (from == nullptr || best.data() == nullptr || places.data() == nullptr || positions == nullptr) {
    return PTERON_OUT_OF_MEMORY;
  }
  parallel_for(lines, 1 + 2048 / size, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      select_line(from + line * size, size, k, largest, best.as<T>() + line * k, places.as<int64_t>() + line * k,
                  positions + line * size);
    }
  });
  best.finish();
  places.finish();
  return PTERON_OK;
}

}  // namespace

int topk_values(KernelContext& context, const Tensor& self, int64_t k, int64_t dim, bool largest, bool, Tensor& values,
                Tensor& indices) {
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  const int64_t size = self.rank() == 0 ? 1 : self.size(axis);
  PTERON_REQUIRE(context, k >= 0 && k <= size, "k is %lld, expected 0 to %lld, the size of dimension %d", number(k),
                 number(size), axis);
  PTERON_REQUIRE(context, values.dtype() == self.dtype(), "values is of dtype %s, but self of %s",
                 pteron_dtype_name(values.dtype()), pteron_dtype_name(self.dtype()));
  int64_t sizes[kMaxRank];
  for (int d = 0; d < self.rank(); ++d) sizes[d] = d == axis ? k : self.size(d);
  const IntList result(sizes, static_cast<size_t>(self.rank()));
  PTERON_PASS(context.resize(values, result));
  PTERON_PASS(context.resize(indices, result));
  if (self.numel() == 0 || k == 0) return PTERON_OK;
  const DimOrder order = innermost(self.rank(), axis);
  switch (computing_dtype(self.dtype())) {
    case PTERON_FLOAT32:
      return select_lines<float>(context, self, order, size, k, largest, values, indices);
    case PTERON_FLOAT64:
      return select_lines<double>(context, self, order, size, k, largest, values, indices);
    default:
      return select_lines<int64_t>(context, self, order, size, k, largest, values, indices);
  }
}

}  // namespace pteron::kernels
