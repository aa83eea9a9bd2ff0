#include "kernels/distance.h"

#include <algorithm>
#include <cmath>

#include "kernels/block.h"
#include "kernels/dense.h"
#include "kernels/parallel.h"

namespace pteron::kernels {
namespace {

template <class T>
T distance(const T* a, const T* b, int64_t size, double p) {
  double sum = 0;
  if (p == 0) {
    for (int64_t i = 0; i < size; ++i) sum += a[i] == b[i] ? 0 : 1;
    return static_cast<T>(sum);
  }
  if (p == 1) {
    for (int64_t i = 0; i < size; ++i) sum += std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    return static_cast<T>(sum);
  }
  if (p == 2) {
    for (int64_t i = 0; i < size; ++i) {
      const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
      sum += difference * difference;
    }
    return static_cast<T>(std::sqrt(sum));
  }
  if (std::isinf(p)) {
    for (int64_t i = 0; i < size; ++i) {
      const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
      if (difference > sum || std::isnan(difference)) sum = difference;
    }
    return static_cast<T>(sum);
  }
  for (int64_t i = 0; i < size; ++i) {
    sum += std::pow(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])), p);
  }
  return static_cast<T>(std::pow(sum, 1 / p));
}

int check(KernelContext& context, const Tensor& self, double p, const Tensor& out) {
  PTERON_REQUIRE(context, p >= 0, "p is %g, expected 0 or more", p);
  PTERON_REQUIRE(context, out.dtype() == self.dtype(), "out is of dtype %s, but the vectors of %s",
                 pteron_dtype_name(out.dtype()), pteron_dtype_name(self.dtype()));
  return PTERON_OK;
}

struct Vectors {
  int64_t batches = 1, rows = 0, columns = 0, size = 0;
  const int64_t* row_starts = nullptr;     // one for each batch, in elements
  const int64_t* column_starts = nullptr;  // one for each batch, in elements
};

template <class T>
int all_distances(KernelContext& context, const Vectors& vectors, const Tensor& x1, const Tensor& x2, double p,
                  Tensor& out) {
  constexpr int kDtype = sizeof(T) == 8 ? PTERON_FLOAT64 : PTERON_FLOAT32;
  const auto* a = static_cast<const T*>(dense_input(context, x1, kDtype));
  const auto* b = static_cast<const T*>(dense_input(context, x2, kDtype));
  const DenseOutput y(context, out, kDtype);
  if (a == nullptr || b == nullptr || y.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  const int64_t work = vectors.columns * (vectors.size + 1);
  parallel_for(vectors.batches * vectors.rows, 1 + 4096 / work, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t batch = row / vectors.rows;
      const T* from = a + vectors.row_starts[batch] + row % vectors.rows * vectors.size;
      const T* to = b + vectors.column_starts[batch];
      T* result = y.as<T>() + row * vectors.columns;
      for (int64_t i = 0; i < vectors.columns; ++i) {
        result[i] = distance(from, to + i * vectors.size, vectors.size, p);
      }
    }
  });
  y.finish();
  return PTERON_OK;
}

template <class T>
int pair_distances(KernelContext& context, const Tensor& self, double p, Tensor& out) {
  constexpr int kDtype = sizeof(T) == 8 ? PTERON_FLOAT64 : PTERON_FLOAT32;
  const auto* x = static_cast<const T*>(dense_input(context, self, kDtype));
  const DenseOutput y(context, out, kDtype);
  if (x == nullptr || y.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  const int64_t count = self.size(0), size = self.size(1);
  parallel_for(count, 1 + 4096 / (count * (size + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* result = y.as<T>() + i * (2 * count - i - 1) / 2;
      for (int64_t j = i + 1; j < count; ++j) result[j - i - 1] = distance(x + i * size, x + j * size, size, p);
    }
  });
  y.finish();
  return PTERON_OK;
}

}  // namespace

int cdist_forward_out(KernelContext& context, const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t>,
                      Tensor& out) {
  PTERON_REQUIRE(context, x1.rank() >= 2 && x2.rank() >= 2, "x1 has %d dimensions and x2 %d, expected at least 2",
                 x1.rank(), x2.rank());
  const int64_t size = x1.size(x1.rank() - 1);
  PTERON_REQUIRE(context, x2.size(x2.rank() - 1) == size, "the vectors of x1 have %lld elements, those of x2 %lld",
                 number(size), number(x2.size(x2.rank() - 1)));
  PTERON_REQUIRE(context, x1.dtype() == x2.dtype(), "x1 is of dtype %s, but x2 of %s", pteron_dtype_name(x1.dtype()),
                 pteron_dtype_name(x2.dtype()));
  PTERON_PASS(check(context, x1, p, out));

  // The batches of both, as they lie in dense arrays, on their common sizes.
  const int rank = std::max(x1.rank(), x2.rank());
  int64_t sizes[kMaxRank];
  View batches[2];
  for (int i = 0; i < 2; ++i) {
    const Tensor& tensor = i == 0 ? x1 : x2;
    batches[i] = view_of(tensor);
    set_contiguous_strides(batches[i]);
    batches[i].rank = tensor.rank() - 2;
  }
  for (int dim = 0; dim < rank - 2; ++dim) {
    const int own1 = dim - (rank - x1.rank()), own2 = dim - (rank - x2.rank());
    const int64_t size1 = own1 < 0 ? 1 : x1.size(own1), size2 = own2 < 0 ? 1 : x2.size(own2);
    sizes[dim] = size1 == 1 ? size2 : size1;
  }
  Vectors vectors;
  for (View& view : batches) {
    PTERON_REQUIRE(context, expand_view(view, sizes, rank - 2), "the leading dimensions of x1 and x2 do not broadcast");
  }
  vectors.rows = sizes[rank - 2] = x1.size(x1.rank() - 2);
  vectors.columns = sizes[rank - 1] = x2.size(x2.rank() - 2);
  vectors.size = size;
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(rank))));
  if (out.numel() == 0) return PTERON_OK;

  Block starts;
  for (int dim = 0; dim < rank - 2; ++dim) {
    starts.append(sizes[dim], batches[0].strides[dim], batches[1].strides[dim]);
    vectors.batches *= sizes[dim];
  }
  auto* row_starts = static_cast<int64_t*>(scratch_array(context, vectors.batches, sizeof(int64_t)));
  auto* column_starts = static_cast<int64_t*>(scratch_array(context, vectors.batches, sizeof(int64_t)));
  if (row_starts == nullptr || column_starts == nullptr) return PTERON_OUT_OF_MEMORY;
  for (int64_t i = 0; i < vectors.batches; ++i) starts.locate(i, &row_starts[i], &column_starts[i]);
  vectors.row_starts = row_starts;
  vectors.column_starts = column_starts;
  if (x1.dtype() == PTERON_FLOAT64) return all_distances<double>(context, vectors, x1, x2, p, out);
  return all_distances<float>(context, vectors, x1, x2, p, out);
}

int pdist_forward_out(KernelContext& context, const Tensor& self, double p, Tensor& out) {
  PTERON_REQUIRE(context, self.rank() == 2, "self has %d dimensions, expected 2", self.rank());
  PTERON_PASS(check(context, self, p, out));
  const int64_t count = self.size(0);
  PTERON_REQUIRE(context, count <= int64_t{1} << 31, "%lld vectors have too many pairs", number(count));
  const int64_t sizes[] = {count * std::max<int64_t>(count - 1, 0) / 2};
  PTERON_PASS(context.resize(out, IntList(sizes, 1)));
  if (out.numel() == 0) return PTERON_OK;
  if (self.dtype() == PTERON_FLOAT64) return pair_distances<double>(context, self, p, out);
  return pair_distances<float>(context, self, p, out);
}

}  // namespace pteron::kernels
