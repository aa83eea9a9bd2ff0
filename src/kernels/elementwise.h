// Element by element: one loop for all operators, dtypes, layouts and broadcasts.
//
// Operands are read as streams of at most kChunk elements, converted to the type the operator computes in; the
// operator is a plain function on such chunks; its result is converted and written. Where an operand is already of the
// computing type and contiguous there is no copy. The iteration follows the out tensor's memory order, whatever its dim
// order; broadcasting is a stride of 0.
//
//   struct Multiply { template <class T> static T apply(T a, T b, const Params&) { return a * b; } };
//   return elementwise(context, arithmetic<Multiply>(common), out, {self, other});
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include "engine/elementwise.h"
#include "kernels/dtypes.h"
#include "kernels/kernel_types.h"

namespace pteron::kernels {

inline constexpr int kMaxRank = PTERON_MAX_RANK;
inline constexpr int64_t kChunk = 512;

// What operators compute in: int64 (wraps around, narrowed at the end, so exact for all integers), float (16-bit
// floats too), double, and bytes that are 0 or 1.
enum class Compute : uint8_t { kInt, kFloat, kDouble, kBool };

template <class T>
constexpr Compute compute_of() {
  if constexpr (std::is_same_v<T, float>) return Compute::kFloat;
  if constexpr (std::is_same_v<T, double>) return Compute::kDouble;
  if constexpr (std::is_same_v<T, int64_t>) return Compute::kInt;
  return Compute::kBool;
}
constexpr Compute compute_for(int dtype) {
  if (dtype == PTERON_FLOAT64) return Compute::kDouble;
  return is_floating(dtype) ? Compute::kFloat : Compute::kInt;
}

// ---- Views -------------------------------------------------------------------------------------------------------

// A strided piece of memory. Strides in elements, of any sign.
struct View {
  char* data = nullptr;
  int dtype = 0;
  int rank = 0;
  // Not converted to the common dtype before computing: a number or a tensor without dimensions, whose full precision
  // PyTorch keeps next to a 16-bit tensor.
  bool unrounded = false;
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxRank];

  int64_t numel() const {
    int64_t count = 1;
    for (int dim = 0; dim < rank; ++dim) count *= sizes[dim];
    return count;
  }
};

View view_of(const Tensor& tensor);

// Row-major strides for `sizes`.
void set_contiguous_strides(View& view);

// Reads `view` as if it had `sizes`: missing leading dimensions and those of size 1 repeat. False when it does not fit.
bool expand_view(View& view, const int64_t* sizes, int rank);

// dst[...] = src[...], converted as by PyTorch's copy_; the sizes are equal. No overlap.
void copy_view(const View& dst, const View& src);

// Sets every element of `dst` to a value, converted.
void fill_view(const View& dst, const Scalar& value);

// ---- Conversion of chunks ----------------------------------------------------------------------------------------

// Reads `count` elements, `stride` bytes apart, into a packed array of the computing type.
using LoadFn = void (*)(const char* from, int64_t stride, int64_t count, void* to);
// The way back: wraps integers, rounds to 16-bit floats, != 0 for bool.
using StoreFn = void (*)(const void* from, char* to, int64_t stride, int64_t count);
LoadFn find_load(int dtype, Compute compute);
StoreFn find_store(int dtype, Compute compute);

// Rounds computing-type values to what `dtype` can hold, in place.
void narrow(int dtype, Compute compute, void* values, int64_t count);

constexpr int64_t compute_size(Compute compute) {
  return compute == Compute::kBool ? 1 : compute == Compute::kFloat ? 4 : 8;
}

// ---- The loop ----------------------------------------------------------------------------------------------------

// What an operator gets besides its operands: up to three numbers in each computing type.
struct Params {
  double doubles[3] = {0, 0, 0};
  float floats[3] = {0, 0, 0};
  int64_t integers[3] = {0, 0, 0};
  std::atomic<bool>* failed = nullptr;  // set for a division by zero and the like

  void set(int index, const Scalar& value) {
    doubles[index] = value.to_double();
    floats[index] = static_cast<float>(doubles[index]);
    integers[index] = value.to_int();
  }
  template <class T>
  T get(int index) const {
    if constexpr (std::is_same_v<T, float>) return floats[index];
    if constexpr (std::is_same_v<T, double>) return doubles[index];
    if constexpr (std::is_same_v<T, int64_t>) return integers[index];
  }
  void fail() const { failed->store(true, std::memory_order_relaxed); }
};

// out[i] = f(in[0][i], in[1][i], ...) for `count` packed elements. `out` may be one of the inputs.
using ChunkFn = void (*)(const void* const* in, void* out, int64_t count, const Params& params);

inline constexpr int kMaxInputs = 3;

struct Operation {
  ChunkFn fn = nullptr;
  Compute in[kMaxInputs] = {Compute::kFloat, Compute::kFloat, Compute::kFloat};
  Compute out = Compute::kFloat;
  // The dtype that operands are converted to before computing, as PyTorch converts to the common dtype: 16-bit floats
  // round, narrower integers wrap. Negative: nothing but the computing type.
  int common = -1;
  int64_t cost = 1;  // of one element, in additions: decides when threads are worth it
  // Set when `fn` is the engine's function on floats: then broadcast operands need no copies either.
  std::optional<engine::Binary> engine_binary;

  void set_compute(Compute compute) { in[0] = in[1] = in[2] = out = compute; }
};

// An input: a tensor, or a number that is the same everywhere.
class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(tensor.raw()) {}
  Operand(const Scalar& scalar) : scalar_(scalar) {}
  bool is_tensor() const { return tensor_ != nullptr; }
  Tensor tensor() const { return Tensor(tensor_); }
  const Scalar& scalar() const { return scalar_; }

 private:
  pteron_tensor* tensor_ = nullptr;
  Scalar scalar_ = Scalar(0);
};

// The sizes that the tensors broadcast to. Fails when they do not.
int broadcast_sizes(KernelContext& context, std::initializer_list<Operand> inputs, int64_t* sizes, int* rank);

// Gives `out` the broadcast sizes of the tensors. Fails when they do not broadcast.
int resize_to_broadcast(KernelContext& context, Tensor& out, std::initializer_list<Operand> inputs);

// Resizes `out` and runs the operation over it.
int elementwise(KernelContext& context, const Operation& operation, Tensor& out, std::initializer_list<Operand> inputs,
                const Params& params = Params());

// The same without resizing, on views whose inputs have been expanded to the sizes of `out`.
void elementwise_views(const Operation& operation, const View& out, const View* inputs, int count,
                       const Params& params);

// ---- Making operations from functors -----------------------------------------------------------------------------

template <class F, class In, class Out>
void chunk1(const void* const* in, void* out, int64_t count, const Params& params) {
  const In* a = static_cast<const In*>(in[0]);
  Out* result = static_cast<Out*>(out);
  for (int64_t i = 0; i < count; ++i) result[i] = F::apply(a[i], params);
}

template <class F, class In, class Out>
void chunk2(const void* const* in, void* out, int64_t count, const Params& params) {
  const In* a = static_cast<const In*>(in[0]);
  const In* b = static_cast<const In*>(in[1]);
  Out* result = static_cast<Out*>(out);
  for (int64_t i = 0; i < count; ++i) result[i] = F::apply(a[i], b[i], params);
}

template <class F, class In, class Out>
void chunk3(const void* const* in, void* out, int64_t count, const Params& params) {
  const In* a = static_cast<const In*>(in[0]);
  const In* b = static_cast<const In*>(in[1]);
  const In* c = static_cast<const In*>(in[2]);
  Out* result = static_cast<Out*>(out);
  for (int64_t i = 0; i < count; ++i) result[i] = F::apply(a[i], b[i], c[i], params);
}

template <int arity, class F, class In, class Out>
constexpr ChunkFn chunk_function() {
  if constexpr (arity == 1) return &chunk1<F, In, Out>;
  if constexpr (arity == 2) return &chunk2<F, In, Out>;
  if constexpr (arity == 3) return &chunk3<F, In, Out>;
}

// The engine's vector code as chunk functions; parameters are the floats of Params.
template <engine::Unary op>
void engine_chunk1(const void* const* in, void* out, int64_t count, const Params& params) {
  const engine::UnaryParams values{params.floats[0], params.floats[1], params.floats[2]};
  engine::unary(op, static_cast<const float*>(in[0]), static_cast<float*>(out), count, values, engine::Parallel());
}

// floats[0] is alpha.
template <engine::Binary op>
void engine_chunk2(const void* const* in, void* out, int64_t count, const Params& params) {
  engine::binary(op, static_cast<const float*>(in[0]), static_cast<const float*>(in[1]), static_cast<float*>(out), 1,
                 count, engine::Spread::kFull, params.floats[0], false, engine::Parallel());
}

// Puts the engine's function in the place of the functor's when the operation computes in float.
template <engine::Unary op>
Operation with_engine(Operation operation) {
  if (operation.in[0] == Compute::kFloat) operation.fn = &engine_chunk1<op>;
  return operation;
}
template <engine::Binary op>
Operation with_engine(Operation operation) {
  if (operation.in[0] == Compute::kFloat) {
    operation.fn = &engine_chunk2<op>;
    operation.engine_binary = op;
  }
  return operation;
}

// An operator whose result is of the computing type, for any dtype.
template <class F, int arity>
Operation arithmetic(int common) {
  Operation operation;
  operation.common = common;
  operation.set_compute(compute_for(common));
  operation.fn = operation.in[0] == Compute::kInt     ? chunk_function<arity, F, int64_t, int64_t>()
                 : operation.in[0] == Compute::kFloat ? chunk_function<arity, F, float, float>()
                                                      : chunk_function<arity, F, double, double>();
  return operation;
}

// The same for floating dtypes only.
template <class F, int arity>
Operation floating(int common) {
  Operation operation;
  operation.common = common;
  operation.set_compute(common == PTERON_FLOAT64 ? Compute::kDouble : Compute::kFloat);
  operation.fn = operation.in[0] == Compute::kFloat ? chunk_function<arity, F, float, float>()
                                                    : chunk_function<arity, F, double, double>();
  return operation;
}

// For integers and bool only.
template <class F, int arity>
Operation integral(int common) {
  Operation operation;
  operation.common = common;
  operation.set_compute(Compute::kInt);
  operation.fn = chunk_function<arity, F, int64_t, int64_t>();
  return operation;
}

// An operator whose result is true or false.
template <class F, int arity>
Operation predicate(int common) {
  Operation operation;
  operation.common = common;
  operation.set_compute(compute_for(common));
  operation.out = Compute::kBool;
  operation.fn = operation.in[0] == Compute::kInt     ? chunk_function<arity, F, int64_t, uint8_t>()
                 : operation.in[0] == Compute::kFloat ? chunk_function<arity, F, float, uint8_t>()
                                                      : chunk_function<arity, F, double, uint8_t>();
  return operation;
}

}  // namespace pteron::kernels
