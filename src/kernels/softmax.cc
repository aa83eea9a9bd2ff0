#include "kernels/softmax.h"

#include <cmath>

#include "engine/softmax.h"
#include "kernels/dense.h"
#include "kernels/parallel.h"
#include "kernels/shape.h"

namespace pteron::kernels {
namespace {

// A dense array seen as [outer, size, inner].
struct Slices {
  int64_t outer = 1, size = 1, inner = 1;
};

using FloatSoftmax = void (*)(const float*, float*, int64_t, int64_t, int64_t, const engine::Parallel&);

void softmax_slice(const double* in, double* out, int64_t size, int64_t step, bool logarithm) {
  double highest = in[0];
  for (int64_t i = 1; i < size; ++i) {
    const double value = in[i * step];
    if (value > highest || std::isnan(value)) highest = value;
  }
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double shifted = in[i * step] - highest;
    const double power = std::exp(shifted);
    out[i * step] = logarithm ? shifted : power;
    sum += power;
  }
  const double log_sum = std::log(sum);
  for (int64_t i = 0; i < size; ++i) out[i * step] = logarithm ? out[i * step] - log_sum : out[i * step] / sum;
}

void softmax_doubles(const double* in, double* out, const Slices& slices, bool logarithm) {
  const int64_t grain = 1 + 512 / slices.size;
  parallel_for(slices.outer * slices.inner, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = i / slices.inner * slices.size * slices.inner + i % slices.inner;
      softmax_slice(in + start, out + start, slices.size, slices.inner, logarithm);
    }
  });
}

// The dimensions as they lie in the tensor's memory, when they lie without gaps; row-major otherwise.
DimOrder memory_order(const Tensor& tensor) {
  DimOrder order = row_major(tensor.rank());
  for (int i = 1; i < order.rank; ++i) {
    const int dim = order.dims[i];
    int place = i;
    for (; place > 0 && tensor.stride(order.dims[place - 1]) < tensor.stride(dim); --place) {
      order.dims[place] = order.dims[place - 1];
    }
    order.dims[place] = dim;
  }
  return is_dense(tensor, order) ? order : row_major(tensor.rank());
}

int run(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out, bool logarithm) {
  int axis = 0;
  PTERON_PASS(normalize_dim(context, dim, self.rank(), &axis));
  PTERON_PASS(context.resize(out, self.sizes()));
  if (out.numel() == 0) return PTERON_OK;

  const DimOrder order = memory_order(out);
  Slices slices;
  bool passed = false;
  for (int i = 0; i < order.rank; ++i) {
    const int64_t size = self.size(order.dims[i]);
    if (order.dims[i] == axis) {
      slices.size = size;
      passed = true;
    } else {
      (passed ? slices.inner : slices.outer) *= size;
    }
  }
  const int dtype = computing_dtype(self.dtype());
  const void* x = dense_input(context, self, dtype, order);
  const DenseOutput y(context, out, dtype, order);
  if (x == nullptr || y.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  if (dtype == PTERON_FLOAT64) {
    softmax_doubles(static_cast<const double*>(x), y.as<double>(), slices, logarithm);
  } else {
    const FloatSoftmax fn = logarithm ? &engine::log_softmax : &engine::softmax;
    fn(static_cast<const float*>(x), y.as<float>(), slices.outer, slices.size, slices.inner, runtime_pool());
  }
  y.finish();
  return PTERON_OK;
}

}  // namespace

int softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool, Tensor& out) {
  return run(context, self, dim, out, false);
}

int log_softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool, Tensor& out) {
  return run(context, self, dim, out, true);
}

}  // namespace pteron::kernels
