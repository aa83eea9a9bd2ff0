#include "kernels/matmul.h"

#include <cstring>

#include "engine/gemm.h"
#include "kernels/dense.h"
#include "kernels/dtypes.h"
#include "kernels/parallel.h"

namespace pteron::kernels {
namespace {

using engine::Accumulator;
using engine::BFloat16;
using engine::Gemm;
using engine::GemmBatch;
using engine::Half;
using engine::MatrixView;

// A matrix of an unnamed element type; strides in elements.
struct Matrix {
  const void* data = nullptr;
  int64_t row_stride = 0;
  int64_t col_stride = 0;

  Matrix transposed() const { return {data, col_stride, row_stride}; }
  template <class T>
  MatrixView<T> as() const {
    return {static_cast<const T*>(data), row_stride, col_stride};
  }
};

// What is computed: c = alpha * a @ b + beta * c0, `batches` times.
struct Product {
  int dtype = 0;
  int64_t m = 0, n = 0, k = 0;
  Matrix a, b, c0;
  const void* packed_b = nullptr;
  void* c = nullptr;
  int64_t c_row_stride = 0;
  Scalar alpha = Scalar(1);
  Scalar beta = Scalar(0);
  int64_t batches = 1;
  int64_t a_batch_stride = 0, b_batch_stride = 0, c_batch_stride = 0;
};

template <class T>
Accumulator<T> scalar_as(const Scalar& value) {
  if constexpr (std::is_integral_v<Accumulator<T>>) return static_cast<T>(value.to_int());
  return static_cast<Accumulator<T>>(value.to_double());
}

template <class T>
int multiply(KernelContext& context, const Product& product) {
  Gemm<T> gemm;
  gemm.m = product.m;
  gemm.n = product.n;
  gemm.k = product.k;
  gemm.a = product.a.as<T>();
  gemm.b = product.b.as<T>();
  gemm.packed_b = static_cast<const Accumulator<T>*>(product.packed_b);
  gemm.c = static_cast<T*>(product.c);
  gemm.c_row_stride = product.c_row_stride;
  gemm.alpha = scalar_as<T>(product.alpha);
  gemm.beta = scalar_as<T>(product.beta);
  if (gemm.beta != 0) gemm.c0 = product.c0.as<T>();
  // One value for each column or row is added on the way out, without another pass over the result.
  if constexpr (std::is_same_v<T, Accumulator<T>>) {
    if (gemm.beta == 1 && gemm.c0.row_stride == 0 && gemm.c0.col_stride == 1) {
      gemm.col_bias = gemm.c0.data;
      gemm.beta = 0;
    } else if (gemm.beta == 1 && gemm.c0.col_stride == 0 && gemm.c0.row_stride == 1) {
      gemm.row_bias = gemm.c0.data;
      gemm.beta = 0;
    }
  }
  const engine::Parallel pool = runtime_pool();
  if (product.batches == 1) {
    void* scratch = scratch_array(context, static_cast<int64_t>(engine::gemm_scratch_bytes(gemm)), 1);
    if (scratch == nullptr) return PTERON_OUT_OF_MEMORY;
    engine::gemm(gemm, scratch, pool);
    return PTERON_OK;
  }
  GemmBatch batch;
  batch.count = product.batches;
  batch.a_stride = product.a_batch_stride;
  batch.b_stride = product.b_batch_stride;
  batch.c_stride = product.c_batch_stride;
  void* scratch =
      scratch_array(context, static_cast<int64_t>(engine::gemm_batched_scratch_bytes(gemm, batch, pool)), 1);
  if (scratch == nullptr) return PTERON_OUT_OF_MEMORY;
  engine::gemm_batched(gemm, batch, scratch, pool);
  return PTERON_OK;
}

int run_product(KernelContext& context, const Product& product) {
  switch (product.dtype) {
    case PTERON_FLOAT32:
      return multiply<float>(context, product);
    case PTERON_FLOAT64:
      return multiply<double>(context, product);
    case PTERON_FLOAT16:
      return multiply<Half>(context, product);
    case PTERON_BFLOAT16:
      return multiply<BFloat16>(context, product);
    case PTERON_UINT8:
      return multiply<uint8_t>(context, product);
    case PTERON_INT8:
      return multiply<int8_t>(context, product);
    case PTERON_INT16:
      return multiply<int16_t>(context, product);
    case PTERON_INT32:
      return multiply<int32_t>(context, product);
    case PTERON_INT64:
      return multiply<int64_t>(context, product);
    default:
      PTERON_REQUIRE(context, false, "matrices of %s cannot be multiplied", pteron_dtype_name(product.dtype));
  }
}

// Whether steps along `dim` are of one element, or never taken.
bool has_unit_stride(const Tensor& tensor, int dim) {
  return tensor.size(dim) <= 1 || tensor.stride(dim) == 1;
}

// Runs a product of one batch into a matrix of any layout.
int run_into(KernelContext& context, Product product, Tensor& out) {
  if (out.numel() == 0) return PTERON_OK;
  if (has_unit_stride(out, 1)) {
    product.c = out.data();
    product.c_row_stride = out.stride(0);
    return run_product(context, product);
  }
  if (has_unit_stride(out, 0) && product.packed_b == nullptr) {
    // The transposed product has its columns where they are.
    std::swap(product.m, product.n);
    const Matrix a = product.a;
    product.a = product.b.transposed();
    product.b = a.transposed();
    product.c0 = product.c0.transposed();
    product.c = out.data();
    product.c_row_stride = out.stride(1);
    return run_product(context, product);
  }
  const DenseOutput dense(context, out, out.dtype());
  if (dense.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  product.c = dense.data();
  product.c_row_stride = product.n;
  PTERON_PASS(run_product(context, product));
  dense.finish();
  return PTERON_OK;
}

Matrix matrix_of(const Tensor& tensor) {
  return {tensor.data(), tensor.stride(0), tensor.stride(1)};
}

// The constant matrix b [k, n] of a product, packed; *state stays null when there is nothing to pack.
template <class T>
int pack_as(PackedMatrix** state, KernelContext& context, const Matrix& b, int64_t k, int64_t n) {
  const size_t bytes = engine::packed_b_bytes<T>(k, n);
  if (bytes == 0) return PTERON_OK;
  void* memory = context.allocate(bytes);
  PackedMatrix* packed = context.make<PackedMatrix>();
  if (memory == nullptr || packed == nullptr) return PTERON_OUT_OF_MEMORY;
  engine::pack_b(b.as<T>(), k, n, static_cast<Accumulator<T>*>(memory), runtime_pool());
  *packed = {memory, k, n};
  *state = packed;
  return PTERON_OK;
}

int pack(PackedMatrix** state, KernelContext& context, int dtype, const Matrix& b, int64_t k, int64_t n) {
  if (b.data == nullptr || k == 0 || n == 0) return PTERON_OK;
  switch (dtype) {
    case PTERON_FLOAT32:
      return pack_as<float>(state, context, b, k, n);
    case PTERON_FLOAT64:
      return pack_as<double>(state, context, b, k, n);
    case PTERON_FLOAT16:
      return pack_as<Half>(state, context, b, k, n);
    case PTERON_BFLOAT16:
      return pack_as<BFloat16>(state, context, b, k, n);
    default:
      return PTERON_OK;
  }
}

const void* packed_for(const KernelContext& context, int64_t k, int64_t n) {
  const PackedMatrix* packed = context.state<PackedMatrix>();
  return packed != nullptr && packed->k == k && packed->n == n ? packed->values : nullptr;
}

int require_same_dtype(KernelContext& context, const Tensor& tensor, const char* name, const Tensor& other,
                       const char* other_name) {
  PTERON_REQUIRE(context, tensor.dtype() == other.dtype(), "%s is of dtype %s, but %s of %s", name,
                 pteron_dtype_name(tensor.dtype()), other_name, pteron_dtype_name(other.dtype()));
  return PTERON_OK;
}

// Checks a @ b and describes it; `out` gets its sizes.
int describe(KernelContext& context, const Tensor& a, const char* a_name, const Tensor& b, Tensor& out,
             Product* product) {
  PTERON_REQUIRE(context, a.rank() == 2, "%s has %d dimensions, expected 2", a_name, a.rank());
  PTERON_REQUIRE(context, b.rank() == 2, "mat2 has %d dimensions, expected 2", b.rank());
  PTERON_REQUIRE(context, a.size(1) == b.size(0), "%s has %lld columns, but mat2 has %lld rows", a_name,
                 number(a.size(1)), number(b.size(0)));
  PTERON_PASS(require_same_dtype(context, b, "mat2", a, a_name));
  PTERON_PASS(require_same_dtype(context, out, "out", a, a_name));
  const int64_t sizes[] = {a.size(0), b.size(1)};
  PTERON_PASS(context.resize(out, IntList(sizes, 2)));
  product->dtype = a.dtype();
  product->m = a.size(0);
  product->n = b.size(1);
  product->k = a.size(1);
  product->a = matrix_of(a);
  product->b = matrix_of(b);
  product->packed_b = packed_for(context, product->k, product->n);
  return PTERON_OK;
}

int require_integral(KernelContext& context, int dtype, const Scalar& value, const char* name) {
  PTERON_REQUIRE(context, is_floating(dtype) || !value.is_double(),
                 "%s is a float, expected an integer for matrices of %s", name, pteron_dtype_name(dtype));
  return PTERON_OK;
}

// `self` as the matrix [rows, cols] it broadcasts to.
int broadcast_matrix(KernelContext& context, const Tensor& self, int64_t rows, int64_t cols, Matrix* matrix) {
  View view = view_of(self);
  const int64_t sizes[] = {rows, cols};
  PTERON_REQUIRE(context, expand_view(view, sizes, 2), "self does not broadcast to the result's sizes [%lld, %lld]",
                 number(rows), number(cols));
  *matrix = {view.data, view.strides[0], view.strides[1]};
  return PTERON_OK;
}

}  // namespace

int mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  Product product;
  PTERON_PASS(describe(context, self, "self", mat2, out, &product));
  return run_into(context, product, out);
}

int mm_prepare(PackedMatrix** state, KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor&) {
  if (self.rank() != 2 || mat2.rank() != 2) return PTERON_OK;
  return pack(state, context, mat2.dtype(), matrix_of(mat2), mat2.size(0), mat2.size(1));
}

int addmm_out(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
              Scalar alpha, Tensor& out) {
  Product product;
  PTERON_PASS(describe(context, mat1, "mat1", mat2, out, &product));
  PTERON_PASS(require_same_dtype(context, self, "self", mat1, "mat1"));
  PTERON_PASS(require_integral(context, mat1.dtype(), beta, "beta"));
  PTERON_PASS(require_integral(context, mat1.dtype(), alpha, "alpha"));
  PTERON_PASS(broadcast_matrix(context, self, product.m, product.n, &product.c0));
  product.alpha = alpha;
  product.beta = beta;
  return run_into(context, product, out);
}

int addmm_prepare(PackedMatrix** state, KernelContext& context, const Tensor&, const Tensor& mat1, const Tensor& mat2,
                  Scalar, Scalar, Tensor& out) {
  return mm_prepare(state, context, mat1, mat2, out);
}

int bmm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  PTERON_REQUIRE(context, self.rank() == 3, "self has %d dimensions, expected 3", self.rank());
  PTERON_REQUIRE(context, mat2.rank() == 3, "mat2 has %d dimensions, expected 3", mat2.rank());
  PTERON_REQUIRE(context, self.size(0) == mat2.size(0), "self has %lld matrices, but mat2 has %lld",
                 number(self.size(0)), number(mat2.size(0)));
  PTERON_REQUIRE(context, self.size(2) == mat2.size(1),
                 "the matrices of self have %lld columns, but those of mat2 have %lld rows", number(self.size(2)),
                 number(mat2.size(1)));
  PTERON_PASS(require_same_dtype(context, mat2, "mat2", self, "self"));
  PTERON_PASS(require_same_dtype(context, out, "out", self, "self"));
  const int64_t sizes[] = {self.size(0), self.size(1), mat2.size(2)};
  PTERON_PASS(context.resize(out, IntList(sizes, 3)));
  if (out.numel() == 0) return PTERON_OK;

  Product product;
  product.dtype = self.dtype();
  product.batches = self.size(0);
  product.m = self.size(1);
  product.n = mat2.size(2);
  product.k = self.size(2);
  product.a = {self.data(), self.stride(1), self.stride(2)};
  product.b = {mat2.data(), mat2.stride(1), mat2.stride(2)};
  product.a_batch_stride = self.stride(0);
  product.b_batch_stride = mat2.stride(0);
  if (has_unit_stride(out, 2)) {
    product.c = out.data();
    product.c_row_stride = out.stride(1);
    product.c_batch_stride = out.stride(0);
    return run_product(context, product);
  }
  const DenseOutput dense(context, out, out.dtype());
  if (dense.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  product.c = dense.data();
  product.c_row_stride = product.n;
  product.c_batch_stride = product.m * product.n;
  PTERON_PASS(run_product(context, product));
  dense.finish();
  return PTERON_OK;
}

int linear_out(KernelContext& context, const Tensor& input, const Tensor& weight, std::optional<Tensor> bias,
               Tensor& out) {
  PTERON_REQUIRE(context, input.rank() >= 1, "input has no dimensions, expected at least 1");
  PTERON_REQUIRE(context, weight.rank() == 1 || weight.rank() == 2, "weight has %d dimensions, expected 1 or 2",
                 weight.rank());
  const int last = input.rank() - 1;
  const bool is_vector = weight.rank() == 1;
  const int64_t features = input.size(last);
  const int64_t units = is_vector ? 1 : weight.size(0);
  PTERON_REQUIRE(context, weight.size(weight.rank() - 1) == features,
                 "weight is for %lld features, but the last dimension of input has %lld",
                 number(weight.size(weight.rank() - 1)), number(features));
  PTERON_PASS(require_same_dtype(context, weight, "weight", input, "input"));
  PTERON_PASS(require_same_dtype(context, out, "out", input, "input"));

  int64_t sizes[kMaxRank];
  std::memcpy(sizes, input.sizes().data(), sizeof(int64_t) * static_cast<size_t>(last));
  sizes[last] = units;
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(is_vector ? last : last + 1))));

  Product product;
  product.dtype = input.dtype();
  product.n = units;
  product.k = features;
  if (bias.has_value()) {
    PTERON_PASS(require_same_dtype(context, *bias, "bias", input, "input"));
    PTERON_PASS(broadcast_matrix(context, *bias, 1, units, &product.c0));
    product.c0.row_stride = 0;
    product.beta = Scalar(1);
  }
  if (out.numel() == 0) return PTERON_OK;
  product.m = out.numel() / units;
  const void* rows = dense_input(context, input, input.dtype());
  const DenseOutput dense(context, out, out.dtype());
  if (rows == nullptr || dense.data() == nullptr) return PTERON_OUT_OF_MEMORY;
  product.a = {rows, features, 1};
  product.b = is_vector ? Matrix{weight.data(), weight.stride(0), 0} : matrix_of(weight).transposed();
  product.packed_b = packed_for(context, features, units);
  product.c = dense.data();
  product.c_row_stride = units;
  PTERON_PASS(run_product(context, product));
  dense.finish();
  return PTERON_OK;
}

int linear_prepare(PackedMatrix** state, KernelContext& context, const Tensor&, const Tensor& weight,
                   std::optional<Tensor>, Tensor&) {
  if (weight.rank() != 2) return PTERON_OK;
  return pack(state, context, weight.dtype(), matrix_of(weight).transposed(), weight.size(1), weight.size(0));
}

}  // namespace pteron::kernels
