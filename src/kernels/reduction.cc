#include "kernels/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/reduce.h"
#include "kernels/parallel.h"
#include "kernels/shape.h"
#include "kernels/stream.h"

namespace pteron::kernels {
namespace {

// Which dimensions are reduced, and the sizes that remain.
struct Reduction {
  bool reduced[kMaxRank] = {};
  int rank = 0;
  int64_t count = 1;  // elements of one slice
  int64_t sizes[kMaxRank];
  int remaining = 0;
};

int describe(KernelContext& context, const Tensor& self, IntList dims, bool all, bool keepdim, Reduction* reduction) {
  reduction->rank = self.rank();
  for (int dim = 0; dim < self.rank(); ++dim) reduction->reduced[dim] = all;
  uint32_t seen = 0;
  for (int64_t dim : dims) {
    int axis = 0;
    PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
    PTERON_REQUIRE(context, (seen & (1u << axis)) == 0, "dimension %d occurs twice in the list", axis);
    seen |= 1u << axis;
    reduction->reduced[axis] = true;
  }
  for (int dim = 0; dim < self.rank(); ++dim) {
    if (reduction->reduced[dim]) reduction->count *= self.size(dim);
    if (!reduction->reduced[dim] || keepdim) {
      reduction->sizes[reduction->remaining++] = reduction->reduced[dim] ? 1 : self.size(dim);
    }
  }
  return PTERON_OK;
}

IntList sizes_of(const Reduction& reduction) {
  return IntList(reduction.sizes, static_cast<size_t>(reduction.remaining));
}

// The view of an out tensor with the reduced dimensions put back, as size 1.
View with_reduced_dims(const Tensor& out, const Reduction& reduction) {
  View view = view_of(out);
  if (view.rank == reduction.rank) return view;
  View full = view;
  full.rank = reduction.rank;
  for (int dim = 0, own = 0; dim < reduction.rank; ++dim) {
    full.sizes[dim] = reduction.reduced[dim] ? 1 : view.sizes[own];
    full.strides[dim] = reduction.reduced[dim] ? 0 : view.strides[own];
    if (!reduction.reduced[dim]) ++own;
  }
  return full;
}

// A dense input whose reduced dimensions lie together in memory, and an output that keeps the order of the others: the
// engine's [outer, size, inner].
struct Matrix {
  int64_t outer = 1, size = 1, inner = 1;
};

bool as_matrix(const Tensor& self, const Tensor& out, const Reduction& reduction, Matrix* matrix) {
  const View in = view_of(self);
  const View target = with_reduced_dims(out, reduction);
  if (in.numel() == 0) return false;
  int order[kMaxRank];
  const int rank = iteration_order(in, order);
  int64_t in_stride = 1, out_stride = 1;
  bool before_reduced = true, after_reduced = false;  // seen from the innermost dimension
  for (int i = rank - 1; i >= 0; --i) {
    const int dim = order[i];
    if (in.strides[dim] != in_stride) return false;
    in_stride *= in.sizes[dim];
    if (reduction.reduced[dim]) {
      if (after_reduced) return false;
      before_reduced = false;
      matrix->size *= in.sizes[dim];
      continue;
    }
    if (target.strides[dim] != out_stride) return false;
    out_stride *= in.sizes[dim];
    after_reduced = !before_reduced;
    (before_reduced ? matrix->inner : matrix->outer) *= in.sizes[dim];
  }
  return true;
}

// Reduces float32 with the engine where the layout allows.
bool reduce_with_engine(engine::Reduce op, const Tensor& self, const Reduction& reduction, Tensor& out) {
  Matrix matrix;
  if (self.dtype() != PTERON_FLOAT32 || out.dtype() != PTERON_FLOAT32 || !as_matrix(self, out, reduction, &matrix)) {
    return false;
  }
  engine::reduce(op, self.data<float>(), out.data<float>(), matrix.outer, matrix.size, matrix.inner, runtime_pool());
  return true;
}

// Below this many elements a second thread costs more than it brings.
constexpr int64_t kGrain = 32768;
constexpr int64_t kBlock = 128;  // results gathered before they are written

// For every result: reads its slice as chunks of type C and writes what `reduce(reader, count, result)` gives to the
// out tensors, each by its own computing type. `common`: the dtype that elements are converted to first.
template <class C, class First, class Second, class Reduce>
void reduce_slices(const Tensor& self, const Reduction& reduction, int common, Tensor& out, Tensor* second_out,
                   Reduce&& reduce) {
  const View target = with_reduced_dims(out, reduction);
  const int64_t results = target.numel();
  if (results == 0) return;
  int order[kMaxRank];
  const int rank = iteration_order(target, order);
  View kept = view_of(self), slice = kept;
  for (int dim = 0; dim < reduction.rank; ++dim) {
    (reduction.reduced[dim] ? kept : slice).sizes[dim] = 1;
  }
  int slice_order[kMaxRank];
  int slice_rank = 0;
  for (int dim = 0; dim < reduction.rank; ++dim) {
    if (slice.sizes[dim] != 1) slice_order[slice_rank++] = dim;
  }

  Reader reader;
  reader.compute = compute_of<C>();
  reader.most = std::clamp<int64_t>(reduction.count, 1, kChunk);
  reader.load = find_load(self.dtype(), reader.compute);
  reader.stream = make_stream(slice, slice_order, slice_rank);
  if (narrowing_matters(self.dtype(), common) && reader.compute != Compute::kBool) reader.narrowed = common;
  reader.direct = reader.narrowed < 0 && self.dtype() == native_dtype(reader.compute) &&
                  reader.compute != Compute::kBool && !reader.stream.is_constant() &&
                  reader.stream.steps[reader.stream.rank - 1] == reader.stream.element;
  const Stream starts = make_stream(kept, order, rank);

  Writer writers[2];
  const int writer_count = second_out == nullptr ? 1 : 2;
  for (int i = 0; i < writer_count; ++i) {
    const View view = i == 0 ? target : with_reduced_dims(*second_out, reduction);
    writers[i].compute = i == 0 ? compute_of<First>() : compute_of<Second>();
    writers[i].stream = make_stream(view, order, rank);
    writers[i].store = find_store(view.dtype, writers[i].compute);
  }

  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, reduction.count));
  parallel_for(results, grain, [&](int64_t begin, int64_t end) {
    Reader own = reader;
    Stream start = starts;
    Writer to[2] = {writers[0], writers[1]};
    if (begin != 0) {
      start.seek(begin);
      for (int i = 0; i < writer_count; ++i) to[i].stream.seek(begin);
    }
    First first[kBlock];
    Second second[kBlock];
    for (int64_t done = begin; done < end;) {
      const int64_t take = std::min(kBlock, end - done);
      for (int64_t i = 0; i < take; ++i) {
        own.stream.base = start.at;
        own.stream.rewind();
        own.filled = false;
        reduce(own, reduction.count, &first[i], &second[i]);
        if (!start.is_constant()) start.advance(1);
      }
      to[0].commit(first, take);
      if (writer_count == 2) to[1].commit(second, take);
      done += take;
    }
  });
}

// Calls use(values, count) for the chunks of a slice.
template <class C, class Use>
void each_chunk(Reader& reader, int64_t count, Use&& use) {
  using Value = std::conditional_t<std::is_same_v<C, bool>, uint8_t, C>;
  alignas(64) Value buffer[kChunk];
  while (count > 0) {
    const int64_t take = std::min(kChunk, count);
    use(static_cast<const Value*>(reader.next(reinterpret_cast<char*>(buffer), take)), take);
    count -= take;
  }
}

// ---- Sums ----

template <class C>
using SumOf = std::conditional_t<std::is_same_v<C, int64_t>, uint64_t, double>;

// Eight lanes: the compiler makes vectors of them, and the order is the same everywhere.
template <class C>
SumOf<C> chunk_sum(const C* values, int64_t count) {
  using Lane = std::conditional_t<std::is_same_v<C, int64_t>, uint64_t, C>;
  constexpr int kLanes = 8;
  Lane lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<Lane>(values[i + lane]);
  }
  SumOf<C> sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) sum += static_cast<SumOf<C>>(lanes[lane]);
  for (; i < count; ++i) sum += static_cast<SumOf<C>>(values[i]);
  return sum;
}

template <class C>
SumOf<C> slice_sum(Reader& reader, int64_t count) {
  SumOf<C> sum = 0;
  each_chunk<C>(reader, count, [&](const C* values, int64_t n) { sum += chunk_sum<C>(values, n); });
  return sum;
}

// The result in the type that is stored: integers as int64.
template <class C>
using ResultOf = std::conditional_t<std::is_same_v<C, int64_t>, int64_t, double>;

template <class C>
void run_sum(const Tensor& self, const Reduction& reduction, int common, Tensor& out) {
  reduce_slices<C, ResultOf<C>, uint8_t>(self, reduction, common, out, nullptr,
                                         [](Reader& reader, int64_t count, ResultOf<C>* result, uint8_t*) {
                                           *result = static_cast<ResultOf<C>>(slice_sum<C>(reader, count));
                                         });
}

template <class C>
void run_mean(const Tensor& self, const Reduction& reduction, int common, Tensor& out) {
  reduce_slices<C, double, uint8_t>(self, reduction, common, out, nullptr,
                                    [](Reader& reader, int64_t count, double* result, uint8_t*) {
                                      *result = slice_sum<C>(reader, count) / static_cast<double>(count);
                                    });
}

template <class C>
void run_product(const Tensor& self, const Reduction& reduction, int common, Tensor& out) {
  reduce_slices<C, ResultOf<C>, uint8_t>(self, reduction, common, out, nullptr,
                                         [](Reader& reader, int64_t count, ResultOf<C>* result, uint8_t*) {
                                           SumOf<C> product = 1;
                                           each_chunk<C>(reader, count, [&](const C* values, int64_t n) {
                                             for (int64_t i = 0; i < n; ++i) {
                                               product *= static_cast<SumOf<C>>(values[i]);
                                             }
                                           });
                                           *result = static_cast<ResultOf<C>>(product);
                                         });
}

// The dtype elements have while they are summed: the one asked for, else the out tensor's.
int sum_dtype(const std::optional<int64_t>& dtype, const Tensor& out) {
  return dtype.has_value() ? static_cast<int>(*dtype) : out.dtype();
}

int require_sum_dtype(KernelContext& context, int dtype) {
  PTERON_REQUIRE(context, is_in(dtype, kStored), "cannot compute in dtype number %d", dtype);
  return PTERON_OK;
}

int reduce_sum(KernelContext& context, const Tensor& self, const Reduction& reduction, int common, Tensor& out) {
  PTERON_PASS(require_sum_dtype(context, common));
  PTERON_PASS(require_castable(context, common, out.dtype()));
  PTERON_PASS(context.resize(out, sizes_of(reduction)));
  switch (compute_for(common)) {
    case Compute::kInt:
      run_sum<int64_t>(self, reduction, common, out);
      break;
    case Compute::kDouble:
      run_sum<double>(self, reduction, common, out);
      break;
    default:
      if (!is_half(common) && reduce_with_engine(engine::Reduce::kSum, self, reduction, out)) break;
      run_sum<float>(self, reduction, common, out);
      break;
  }
  return PTERON_OK;
}

int reduce_product(KernelContext& context, const Tensor& self, const Reduction& reduction, int common, Tensor& out) {
  PTERON_PASS(require_sum_dtype(context, common));
  PTERON_PASS(require_castable(context, common, out.dtype()));
  PTERON_PASS(context.resize(out, sizes_of(reduction)));
  switch (compute_for(common)) {
    case Compute::kInt:
      run_product<int64_t>(self, reduction, common, out);
      break;
    case Compute::kDouble:
      run_product<double>(self, reduction, common, out);
      break;
    default:
      run_product<float>(self, reduction, common, out);
      break;
  }
  return PTERON_OK;
}

int reduce_mean(KernelContext& context, const Tensor& self, const Reduction& reduction, int common, Tensor& out) {
  PTERON_REQUIRE(context, is_floating(common), "a mean needs a floating dtype, found %s", pteron_dtype_name(common));
  PTERON_PASS(require_castable(context, common, out.dtype()));
  PTERON_PASS(context.resize(out, sizes_of(reduction)));
  if (compute_for(common) == Compute::kDouble) {
    run_mean<double>(self, reduction, common, out);
  } else if (is_half(common) || !reduce_with_engine(engine::Reduce::kMean, self, reduction, out)) {
    run_mean<float>(self, reduction, common, out);
  }
  return PTERON_OK;
}

// ---- Extremes ----

template <class C>
bool is_nan(C value) {
  return value != value;
}

// Whether `value` takes the place of the best so far: NaN beats everything but an earlier NaN.
template <bool largest, class C>
bool beats(C value, C best) {
  if constexpr (!std::is_same_v<C, int64_t>) {
    if (is_nan(best)) return false;
    if (is_nan(value)) return true;
  }
  return largest ? value > best : value < best;
}

template <bool largest, class C>
void slice_extreme(Reader& reader, int64_t count, C* best, int64_t* where) {
  int64_t position = 0;
  each_chunk<C>(reader, count, [&](const C* values, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if ((position == 0 && i == 0) || beats<largest, C>(values[i], *best)) {
        *best = values[i];
        *where = position + i;
      }
    }
    position += n;
  });
}

// Values, indices or both; a null out is not wanted.
template <bool largest, class C>
void run_extreme(const Tensor& self, const Reduction& reduction, Tensor* values, Tensor* indices) {
  if (values != nullptr) {
    reduce_slices<C, C, int64_t>(self, reduction, -1, *values, indices,
                                 [](Reader& reader, int64_t count, C* best, int64_t* where) {
                                   slice_extreme<largest, C>(reader, count, best, where);
                                 });
    return;
  }
  reduce_slices<C, int64_t, uint8_t>(self, reduction, -1, *indices, nullptr,
                                     [](Reader& reader, int64_t count, int64_t* where, uint8_t*) {
                                       C best{};
                                       slice_extreme<largest, C>(reader, count, &best, where);
                                     });
}

template <bool largest>
int reduce_extreme(KernelContext& context, const Tensor& self, const Reduction& reduction, Tensor* values,
                   Tensor* indices) {
  if (values != nullptr) PTERON_PASS(context.resize(*values, sizes_of(reduction)));
  if (indices != nullptr) PTERON_PASS(context.resize(*indices, sizes_of(reduction)));
  const int64_t results = (values != nullptr ? values : indices)->numel();
  PTERON_REQUIRE(context, reduction.count > 0 || results == 0, "the largest or smallest of no elements is not defined");
  if (values != nullptr) PTERON_PASS(require_castable(context, self.dtype(), values->dtype()));
  if (values != nullptr && indices == nullptr &&
      reduce_with_engine(largest ? engine::Reduce::kMax : engine::Reduce::kMin, self, reduction, *values)) {
    return PTERON_OK;
  }
  Matrix matrix;
  if (values == nullptr && self.dtype() == PTERON_FLOAT32 && indices->dtype() == PTERON_INT64 && reduction.count > 0 &&
      as_matrix(self, *indices, reduction, &matrix) && self.is_contiguous()) {
    const auto arg = largest ? &engine::arg_max : &engine::arg_min;
    arg(self.data<float>(), indices->data<int64_t>(), matrix.outer, matrix.size, matrix.inner, runtime_pool());
    return PTERON_OK;
  }
  switch (compute_for(self.dtype())) {
    case Compute::kInt:
      run_extreme<largest, int64_t>(self, reduction, values, indices);
      break;
    case Compute::kDouble:
      run_extreme<largest, double>(self, reduction, values, indices);
      break;
    default:
      run_extreme<largest, float>(self, reduction, values, indices);
      break;
  }
  return PTERON_OK;
}

template <bool largest>
int extreme_of_dims(KernelContext& context, const Tensor& self, IntList dims, bool keepdim, Tensor& out) {
  Reduction reduction;
  PTERON_PASS(describe(context, self, dims, dims.empty(), keepdim, &reduction));
  return reduce_extreme<largest>(context, self, reduction, &out, nullptr);
}

template <bool largest>
int extreme_and_place(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                      Tensor& indices) {
  Reduction reduction;
  PTERON_PASS(describe(context, self, IntList(&dim, 1), false, keepdim, &reduction));
  return reduce_extreme<largest>(context, self, reduction, &values, &indices);
}

template <bool largest>
int place_of_extreme(KernelContext& context, const Tensor& self, const std::optional<int64_t>& dim, bool keepdim,
                     Tensor& out) {
  Reduction reduction;
  const int64_t axis = dim.value_or(0);
  PTERON_PASS(describe(context, self, IntList(&axis, dim.has_value() ? 1 : 0), !dim.has_value(), keepdim, &reduction));
  return reduce_extreme<largest>(context, self, reduction, nullptr, &out);
}

// ---- any ----

int reduce_any(KernelContext& context, const Tensor& self, IntList dims, bool all, bool keepdim, Tensor& out) {
  Reduction reduction;
  PTERON_PASS(describe(context, self, dims, all, keepdim, &reduction));
  PTERON_PASS(context.resize(out, sizes_of(reduction)));
  reduce_slices<bool, uint8_t, uint8_t>(self, reduction, -1, out, nullptr,
                                        [](Reader& reader, int64_t count, uint8_t* result, uint8_t*) {
                                          uint8_t found = 0;
                                          each_chunk<bool>(reader, count, [&](const uint8_t* values, int64_t n) {
                                            for (int64_t i = 0; i < n; ++i) found |= values[i];
                                          });
                                          *result = found;
                                        });
  return PTERON_OK;
}

// ---- Variance ----

template <class C>
void run_variance(const Tensor& self, const Reduction& reduction, double correction, Tensor& variance, Tensor* mean) {
  reduce_slices<C, double, double>(self, reduction, -1, variance, mean,
                                   [correction](Reader& reader, int64_t count, double* result, double* average) {
                                     Reader again = reader;
                                     const double middle = slice_sum<C>(reader, count) / static_cast<double>(count);
                                     double squares = 0;
                                     each_chunk<C>(again, count, [&](const C* values, int64_t n) {
                                       double sum = 0;
                                       for (int64_t i = 0; i < n; ++i) {
                                         const double distance = static_cast<double>(values[i]) - middle;
                                         sum += distance * distance;
                                       }
                                       squares += sum;
                                     });
                                     *result = squares / std::max(0.0, static_cast<double>(count) - correction);
                                     *average = middle;
                                   });
}

int reduce_variance(KernelContext& context, const Tensor& self, const std::optional<IntList>& dim, double correction,
                    bool keepdim, Tensor& variance, Tensor* mean) {
  PTERON_REQUIRE(context, is_floating(self.dtype()), "a variance needs a floating dtype, found %s",
                 pteron_dtype_name(self.dtype()));
  const IntList dims = dim.value_or(IntList());
  Reduction reduction;
  PTERON_PASS(describe(context, self, dims, dims.empty(), keepdim, &reduction));
  PTERON_PASS(context.resize(variance, sizes_of(reduction)));
  if (mean != nullptr) PTERON_PASS(context.resize(*mean, sizes_of(reduction)));
  if (self.dtype() == PTERON_FLOAT64) {
    run_variance<double>(self, reduction, correction, variance, mean);
  } else {
    run_variance<float>(self, reduction, correction, variance, mean);
  }
  return PTERON_OK;
}

double correction_of(const std::optional<Scalar>& correction) {
  return correction.has_value() ? correction->to_double() : 1.0;
}

}  // namespace

int sum_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim, bool keepdim,
            std::optional<int64_t> dtype, Tensor& out) {
  const IntList dims = dim.value_or(IntList());
  Reduction reduction;
  PTERON_PASS(describe(context, self, dims, dims.empty(), keepdim, &reduction));
  return reduce_sum(context, self, reduction, sum_dtype(dtype, out), out);
}

int mean_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim, bool keepdim,
             std::optional<int64_t> dtype, Tensor& out) {
  const IntList dims = dim.value_or(IntList());
  Reduction reduction;
  PTERON_PASS(describe(context, self, dims, dims.empty(), keepdim, &reduction));
  return reduce_mean(context, self, reduction, sum_dtype(dtype, out), out);
}

int mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out) {
  return mean_out(context, self, std::nullopt, false, dtype, out);
}

int prod_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out) {
  Reduction reduction;
  PTERON_PASS(describe(context, self, IntList(), true, false, &reduction));
  return reduce_product(context, self, reduction, sum_dtype(dtype, out), out);
}

int prod_int_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, std::optional<int64_t> dtype,
                 Tensor& out) {
  Reduction reduction;
  PTERON_PASS(describe(context, self, IntList(&dim, 1), false, keepdim, &reduction));
  return reduce_product(context, self, reduction, sum_dtype(dtype, out), out);
}

int amax_out(KernelContext& context, const Tensor& self, IntList dim, bool keepdim, Tensor& out) {
  return extreme_of_dims<true>(context, self, dim, keepdim, out);
}

int amin_out(KernelContext& context, const Tensor& self, IntList dim, bool keepdim, Tensor& out) {
  return extreme_of_dims<false>(context, self, dim, keepdim, out);
}

int max_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return extreme_of_dims<true>(context, self, IntList(), false, out);
}

int min_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return extreme_of_dims<false>(context, self, IntList(), false, out);
}

int max_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                Tensor& indices) {
  return extreme_and_place<true>(context, self, dim, keepdim, values, indices);
}

int min_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                Tensor& indices) {
  return extreme_and_place<false>(context, self, dim, keepdim, values, indices);
}

int argmax_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  return place_of_extreme<true>(context, self, dim, keepdim, out);
}

int argmin_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  return place_of_extreme<false>(context, self, dim, keepdim, out);
}

int any_all_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return reduce_any(context, self, IntList(), true, false, out);
}

int any_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  return reduce_any(context, self, IntList(&dim, 1), false, keepdim, out);
}

int any_dims_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim, bool keepdim, Tensor& out) {
  return reduce_any(context, self, dim.value_or(IntList()), !dim.has_value(), keepdim, out);
}

int var_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim, bool unbiased, bool keepdim,
            Tensor& out) {
  return reduce_variance(context, self, dim, unbiased ? 1 : 0, keepdim, out, nullptr);
}

int var_correction_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim,
                       std::optional<Scalar> correction, bool keepdim, Tensor& out) {
  return reduce_variance(context, self, dim, correction_of(correction), keepdim, out, nullptr);
}

int var_mean_correction_out(KernelContext& context, const Tensor& self, std::optional<IntList> dim,
                            std::optional<Scalar> correction, bool keepdim, Tensor& variance, Tensor& mean) {
  return reduce_variance(context, self, dim, correction_of(correction), keepdim, variance, &mean);
}

namespace {

template <class C>
void run_cumsum(const View& source, const View& target, int axis, int common) {
  View starts = target, origins = source;
  starts.sizes[axis] = origins.sizes[axis] = 1;
  int order[kMaxRank];
  const int rank = iteration_order(starts, order);
  const Stream from = make_stream(origins, order, rank), to = make_stream(starts, order, rank);
  const LoadFn load = find_load(source.dtype, compute_of<C>());
  const Compute sum_compute = compute_of<ResultOf<C>>();
  const StoreFn store = find_store(target.dtype, sum_compute);
  const int64_t from_step = source.strides[axis] * from.element, to_step = target.strides[axis] * to.element;
  const int64_t length = source.sizes[axis];
  const bool narrowed = narrowing_matters(source.dtype, common);
  parallel_for(starts.numel(), std::max<int64_t>(1, kGrain / length), [&](int64_t begin, int64_t end) {
    Stream in = from, out = to;
    if (begin != 0) {
      in.seek(begin);
      out.seek(begin);
    }
    C values[kChunk];
    ResultOf<C> sums[kChunk];
    for (int64_t slice = begin; slice < end; ++slice) {
      SumOf<C> sum = 0;
      for (int64_t done = 0; done < length; done += kChunk) {
        const int64_t take = std::min(kChunk, length - done);
        load(in.at + done * from_step, from_step, take, values);
        if (narrowed) narrow(common, compute_of<C>(), values, take);
        for (int64_t i = 0; i < take; ++i) {
          sum += static_cast<SumOf<C>>(values[i]);
          sums[i] = static_cast<ResultOf<C>>(sum);
        }
        store(sums, out.at + done * to_step, to_step, take);
      }
      if (!in.is_constant()) in.advance(1);
      if (!out.is_constant()) out.advance(1);
    }
  });
}

}  // namespace

int cumsum_out(KernelContext& context, const Tensor& self, int64_t dim, std::optional<int64_t> dtype, Tensor& out) {
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  const int common = sum_dtype(dtype, out);
  PTERON_PASS(require_sum_dtype(context, common));
  PTERON_PASS(require_castable(context, common, out.dtype()));
  PTERON_PASS(context.resize(out, self.sizes()));
  View source = view_of(self), target = view_of(out);
  if (source.rank == 0) {
    source.rank = target.rank = 1;
    source.sizes[0] = target.sizes[0] = 1;
    source.strides[0] = target.strides[0] = 1;
  }
  if (source.numel() == 0) return PTERON_OK;
  switch (compute_for(common)) {
    case Compute::kInt:
      run_cumsum<int64_t>(source, target, axis, common);
      break;
    case Compute::kDouble:
      run_cumsum<double>(source, target, axis, common);
      break;
    default:
      run_cumsum<float>(source, target, axis, common);
      break;
  }
  return PTERON_OK;
}

}  // namespace pteron::kernels
