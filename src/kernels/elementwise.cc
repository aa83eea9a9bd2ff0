#include "kernels/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "engine/copy.h"
#include "engine/scalar_types.h"
#include "kernels/parallel.h"
#include "kernels/stream.h"

namespace pteron::kernels {
namespace {

using engine::BFloat16;
using engine::Half;

// Below this many additions a second thread costs more than it brings.
constexpr int64_t kGrain = 32768;

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// ---- Conversion of one value ----

// A float to an integer as x86 does it: truncated, wrapped to the target's width; what does not fit 64 bits becomes
// the smallest int64. Defined for every input.
template <class To, class From>
To float_to_integer(From value) {
  constexpr From kLimit = static_cast<From>(9223372036854775808.0);
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (value >= kLimit && value < 2 * kLimit) return static_cast<uint64_t>(value);
  }
  const int64_t wide = value >= -kLimit && value < kLimit ? static_cast<int64_t>(value) : INT64_MIN;
  return static_cast<To>(wide);
}

template <class To, class From>
To convert_value(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kIsHalf<From>) {
    return convert_value<To>(engine::to_float(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    return engine::to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return engine::to_bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return float_to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// In memory a bool is a byte; any byte but 0 is true.
template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<bool> {
  using type = uint8_t;
};

template <class T>
T read_value(const char* from) {
  typename Stored<T>::type value;
  std::memcpy(&value, from, sizeof(value));
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  return static_cast<T>(value);
}
template <>
Half read_value<Half>(const char* from) {
  Half value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
template <>
BFloat16 read_value<BFloat16>(const char* from) {
  BFloat16 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class T>
void write_value(char* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

// The computing type for kBool is a byte that is 0 or 1.
template <class C>
using Computing = std::conditional_t<std::is_same_v<C, bool>, uint8_t, C>;

template <class T, class C>
void load_chunk(const char* from, int64_t stride, int64_t count, void* to) {
  auto* values = static_cast<Computing<C>*>(to);
  if (stride == static_cast<int64_t>(sizeof(T))) {
    if constexpr (std::is_same_v<T, C> && !std::is_same_v<T, bool>) {
      std::memcpy(values, from, static_cast<size_t>(count) * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      values[i] = static_cast<Computing<C>>(convert_value<C>(read_value<T>(from + i * int64_t{sizeof(T)})));
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<Computing<C>>(convert_value<C>(read_value<T>(from + i * stride)));
  }
}

template <class T, class C>
void store_chunk(const void* from, char* to, int64_t stride, int64_t count) {
  const auto* values = static_cast<const Computing<C>*>(from);
  if (stride == static_cast<int64_t>(sizeof(T))) {
    if constexpr (std::is_same_v<T, C>) {
      std::memcpy(to, values, static_cast<size_t>(count) * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      write_value<T>(to + i * int64_t{sizeof(T)}, convert_value<T>(static_cast<C>(values[i])));
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) write_value<T>(to + i * stride, convert_value<T>(static_cast<C>(values[i])));
}

// The engine converts whole runs of 16-bit floats with the CPU's own instructions.
template <class T>
void load_half(const char* from, int64_t stride, int64_t count, void* to) {
  constexpr engine::Type kType = std::is_same_v<T, Half> ? engine::Type::kF16 : engine::Type::kBF16;
  if (stride == static_cast<int64_t>(sizeof(T))) {
    engine::convert(from, kType, to, engine::Type::kF32, count, engine::Parallel());
  } else {
    load_chunk<T, float>(from, stride, count, to);
  }
}

template <class T>
void store_half(const void* from, char* to, int64_t stride, int64_t count) {
  constexpr engine::Type kType = std::is_same_v<T, Half> ? engine::Type::kF16 : engine::Type::kBF16;
  if (stride == static_cast<int64_t>(sizeof(T))) {
    engine::convert(from, engine::Type::kF32, to, kType, count, engine::Parallel());
  } else {
    store_chunk<T, float>(from, to, stride, count);
  }
}

template <class C>
LoadFn load_function(int dtype) {
  switch (dtype) {
    case PTERON_UINT8:
      return &load_chunk<uint8_t, C>;
    case PTERON_INT8:
      return &load_chunk<int8_t, C>;
    case PTERON_INT16:
      return &load_chunk<int16_t, C>;
    case PTERON_INT32:
      return &load_chunk<int32_t, C>;
    case PTERON_INT64:
      return &load_chunk<int64_t, C>;
    case PTERON_FLOAT16:
      return std::is_same_v<C, float> ? &load_half<Half> : &load_chunk<Half, C>;
    case PTERON_BFLOAT16:
      return std::is_same_v<C, float> ? &load_half<BFloat16> : &load_chunk<BFloat16, C>;
    case PTERON_FLOAT32:
      return &load_chunk<float, C>;
    case PTERON_FLOAT64:
      return &load_chunk<double, C>;
    case PTERON_BOOL:
      return &load_chunk<bool, C>;
    case PTERON_UINT16:
      return &load_chunk<uint16_t, C>;
    case PTERON_UINT32:
      return &load_chunk<uint32_t, C>;
    case PTERON_UINT64:
      return &load_chunk<uint64_t, C>;
    default:
      return nullptr;
  }
}

template <class C>
StoreFn store_function(int dtype) {
  switch (dtype) {
    case PTERON_UINT8:
      return &store_chunk<uint8_t, C>;
    case PTERON_INT8:
      return &store_chunk<int8_t, C>;
    case PTERON_INT16:
      return &store_chunk<int16_t, C>;
    case PTERON_INT32:
      return &store_chunk<int32_t, C>;
    case PTERON_INT64:
      return &store_chunk<int64_t, C>;
    case PTERON_FLOAT16:
      return std::is_same_v<C, float> ? &store_half<Half> : &store_chunk<Half, C>;
    case PTERON_BFLOAT16:
      return std::is_same_v<C, float> ? &store_half<BFloat16> : &store_chunk<BFloat16, C>;
    case PTERON_FLOAT32:
      return &store_chunk<float, C>;
    case PTERON_FLOAT64:
      return &store_chunk<double, C>;
    case PTERON_BOOL:
      return &store_chunk<bool, C>;
    case PTERON_UINT16:
      return &store_chunk<uint16_t, C>;
    case PTERON_UINT32:
      return &store_chunk<uint32_t, C>;
    case PTERON_UINT64:
      return &store_chunk<uint64_t, C>;
    default:
      return nullptr;
  }
}

template <class T>
void wrap_integers(int64_t* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<int64_t>(static_cast<T>(values[i]));
}

}  // namespace

LoadFn find_load(int dtype, Compute compute) {
  switch (compute) {
    case Compute::kInt:
      return load_function<int64_t>(dtype);
    case Compute::kFloat:
      return load_function<float>(dtype);
    case Compute::kDouble:
      return load_function<double>(dtype);
    case Compute::kBool:
      return load_function<bool>(dtype);
  }
  return nullptr;
}

StoreFn find_store(int dtype, Compute compute) {
  switch (compute) {
    case Compute::kInt:
      return store_function<int64_t>(dtype);
    case Compute::kFloat:
      return store_function<float>(dtype);
    case Compute::kDouble:
      return store_function<double>(dtype);
    case Compute::kBool:
      return store_function<bool>(dtype);
  }
  return nullptr;
}

void narrow(int dtype, Compute compute, void* values, int64_t count) {
  if (compute == Compute::kFloat) {
    auto* floats = static_cast<float*>(values);
    if (dtype == PTERON_FLOAT16) {
      for (int64_t i = 0; i < count; ++i) floats[i] = engine::to_float(engine::to_half(floats[i]));
    } else if (dtype == PTERON_BFLOAT16) {
      for (int64_t i = 0; i < count; ++i) floats[i] = engine::to_float(engine::to_bfloat16(floats[i]));
    }
    return;
  }
  if (compute != Compute::kInt) return;
  auto* integers = static_cast<int64_t*>(values);
  switch (dtype) {
    case PTERON_BOOL:
      for (int64_t i = 0; i < count; ++i) integers[i] = integers[i] != 0;
      break;
    case PTERON_UINT8:
      wrap_integers<uint8_t>(integers, count);
      break;
    case PTERON_INT8:
      wrap_integers<int8_t>(integers, count);
      break;
    case PTERON_INT16:
      wrap_integers<int16_t>(integers, count);
      break;
    case PTERON_UINT16:
      wrap_integers<uint16_t>(integers, count);
      break;
    case PTERON_INT32:
      wrap_integers<int32_t>(integers, count);
      break;
    case PTERON_UINT32:
      wrap_integers<uint32_t>(integers, count);
      break;
    default:
      break;
  }
}

View view_of(const Tensor& tensor) {
  View view;
  view.data = static_cast<char*>(tensor.raw()->data);
  view.dtype = tensor.dtype();
  view.rank = tensor.rank();
  view.unrounded = tensor.rank() == 0;
  for (int dim = 0; dim < view.rank; ++dim) {
    view.sizes[dim] = tensor.size(dim);
    view.strides[dim] = tensor.stride(dim);
  }
  return view;
}

void set_contiguous_strides(View& view) {
  int64_t stride = 1;
  for (int dim = view.rank - 1; dim >= 0; --dim) {
    view.strides[dim] = stride;
    stride *= view.sizes[dim];
  }
}

bool expand_view(View& view, const int64_t* sizes, int rank) {
  if (view.rank > rank) return false;
  const int missing = rank - view.rank;
  for (int dim = rank - 1; dim >= 0; --dim) {
    const int own = dim - missing;
    if (own < 0 || (view.sizes[own] == 1 && sizes[dim] != 1)) {
      view.strides[dim] = 0;
    } else if (view.sizes[own] == sizes[dim]) {
      view.strides[dim] = view.strides[own];
    } else {
      return false;
    }
    view.sizes[dim] = sizes[dim];
  }
  view.rank = rank;
  return true;
}

namespace {

void run_range(const Operation& operation, Reader* readers, Writer& writer, int count, int64_t begin, int64_t end,
               int64_t chunk, const Params& params) {
  alignas(64) char buffers[kMaxInputs + 1][kChunk * 8];
  for (int64_t position = begin; position < end;) {
    const int64_t take = std::min(chunk, end - position);
    const void* in[kMaxInputs];
    for (int i = 0; i < count; ++i) in[i] = readers[i].next(buffers[i], take);
    void* result = writer.next(buffers[kMaxInputs], take);
    operation.fn(in, result, take, params);
    writer.commit(result, take);
    position += take;
  }
}

bool is_run(const Reader& reader) {
  return reader.direct && reader.stream.rank == 1;
}

// A contiguous operand with one that repeats: a number, a row or a column, in each of a few outer pieces. False when
// the operands are of another kind.
bool run_broadcast(engine::Binary op, Reader& a, Reader& b, const Writer& writer, int64_t total, const Params& params) {
  if (writer.stream.rank != 1 || is_run(a) == is_run(b)) return false;
  const bool swapped = !is_run(a);
  Reader& repeated = swapped ? a : b;
  if (repeated.compute != Compute::kFloat) return false;
  const auto* whole = reinterpret_cast<const float*>((swapped ? b : a).stream.base);
  auto* out = reinterpret_cast<float*>(writer.stream.base);
  const float alpha = params.floats[0];
  const engine::Parallel pool = runtime_pool();
  const Stream& stream = repeated.stream;
  if (stream.is_constant()) {
    alignas(64) float value[kChunk];
    repeated.most = 1;
    repeated.next(reinterpret_cast<char*>(value), 1);
    engine::binary(op, whole, value, out, 1, total, engine::Spread::kScalar, alpha, swapped, pool);
    return true;
  }
  if (repeated.narrowed >= 0 || stream.element != 4 || repeated.load != find_load(PTERON_FLOAT32, Compute::kFloat)) {
    return false;
  }
  if (stream.rank != 2 && stream.rank != 3) return false;
  const int row_dim = stream.rank - 2, col_dim = stream.rank - 1;
  const int64_t rows = stream.sizes[row_dim], cols = stream.sizes[col_dim];
  engine::Spread spread;
  if (stream.steps[row_dim] == 0 && stream.steps[col_dim] == 4) {
    spread = engine::Spread::kCol;
  } else if (stream.steps[row_dim] == 4 && stream.steps[col_dim] == 0) {
    spread = engine::Spread::kRow;
  } else {
    return false;
  }
  const int64_t pieces = stream.rank == 3 ? stream.sizes[0] : 1;
  if (pieces > 1 && rows * cols < 64) return false;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const auto* values = reinterpret_cast<const float*>(stream.base + (stream.rank == 3 ? piece * stream.steps[0] : 0));
    engine::binary(op, whole + piece * rows * cols, values, out + piece * rows * cols, rows, cols, spread, alpha,
                   swapped, pool);
  }
  return true;
}

}  // namespace

void elementwise_views(const Operation& operation, const View& out, const View* inputs, int count,
                       const Params& params) {
  const int64_t total = out.numel();
  if (total == 0) return;
  int order[kMaxRank];
  const int rank = iteration_order(out, order);

  Writer writer;
  writer.stream = make_stream(out, order, rank);
  writer.compute = operation.out;
  writer.store = find_store(out.dtype, operation.out);
  writer.direct = out.dtype == native_dtype(operation.out) &&
                  (rank == 0 || writer.stream.steps[writer.stream.rank - 1] == writer.stream.element);
  if (operation.common >= 0 && operation.out != Compute::kBool &&
      narrowing_matters(native_dtype(operation.out), operation.common) && out.dtype != operation.common) {
    writer.narrowed = operation.common;
  }

  Reader readers[kMaxInputs];
  for (int i = 0; i < count; ++i) {
    Reader& reader = readers[i];
    reader.stream = make_stream(inputs[i], order, rank);
    reader.compute = operation.in[i];
    reader.most = std::min(kChunk, total);
    reader.load = find_load(inputs[i].dtype, operation.in[i]);
    const bool rounds = narrowing_matters(inputs[i].dtype, operation.common) && operation.in[i] != Compute::kBool;
    if (rounds && !(inputs[i].unrounded && is_half(operation.common))) reader.narrowed = operation.common;
    reader.direct = reader.narrowed < 0 && inputs[i].dtype == native_dtype(operation.in[i]) &&
                    inputs[i].dtype != PTERON_BOOL && !reader.stream.is_constant() &&
                    reader.stream.steps[reader.stream.rank - 1] == reader.stream.element;
  }

  if (operation.engine_binary.has_value() && count == 2 && writer.direct && writer.narrowed < 0 &&
      run_broadcast(*operation.engine_binary, readers[0], readers[1], writer, total, params)) {
    return;
  }
  // Without copies there is no reason to go by chunks.
  bool all_direct = writer.direct && writer.stream.rank == 1;
  for (int i = 0; i < count; ++i) all_direct = all_direct && readers[i].direct && readers[i].stream.rank == 1;
  const int64_t chunk = all_direct ? total : kChunk;

  const int64_t grain = std::max<int64_t>(kChunk, kGrain / operation.cost);
  if (total <= grain) {
    run_range(operation, readers, writer, count, 0, total, chunk, params);
    return;
  }
  parallel_for(total, grain, [&](int64_t begin, int64_t end) {
    Reader own[kMaxInputs];
    for (int i = 0; i < count; ++i) own[i] = readers[i];
    Writer target = writer;
    if (begin != 0) {
      for (int i = 0; i < count; ++i) own[i].stream.seek(begin);
      target.stream.seek(begin);
    }
    run_range(operation, own, target, count, begin, end, chunk, params);
  });
}

int broadcast_sizes(KernelContext& context, std::initializer_list<Operand> inputs, int64_t* sizes, int* out_rank) {
  int rank = 0;
  for (const Operand& input : inputs) {
    if (input.is_tensor()) rank = std::max(rank, input.tensor().rank());
  }
  for (int dim = 0; dim < rank; ++dim) sizes[dim] = 1;
  for (const Operand& input : inputs) {
    if (!input.is_tensor()) continue;
    const Tensor tensor = input.tensor();
    const int missing = rank - tensor.rank();
    for (int dim = 0; dim < tensor.rank(); ++dim) {
      int64_t& size = sizes[dim + missing];
      if (size == 1) {
        size = tensor.size(dim);
      } else {
        PTERON_REQUIRE(context, tensor.size(dim) == 1 || tensor.size(dim) == size,
                       "inputs do not broadcast: sizes %lld and %lld meet in dimension %d of the result",
                       static_cast<long long>(size), static_cast<long long>(tensor.size(dim)), dim + missing);
      }
    }
  }
  *out_rank = rank;
  return PTERON_OK;
}

int resize_to_broadcast(KernelContext& context, Tensor& out, std::initializer_list<Operand> inputs) {
  int64_t sizes[kMaxRank];
  int rank = 0;
  PTERON_PASS(broadcast_sizes(context, inputs, sizes, &rank));
  return context.resize(out, IntList(sizes, static_cast<size_t>(rank)));
}

namespace {

// A number as an operand: a view of one value of the computing type.
View number_view(const Scalar& scalar, const Operation& operation, Compute compute, char* storage) {
  View view;
  view.data = storage;
  view.dtype = native_dtype(compute);
  view.unrounded = true;
  switch (compute) {
    case Compute::kInt: {
      int64_t value = scalar.to_int();
      if (operation.common >= 0) narrow(operation.common, compute, &value, 1);
      write_value(storage, value);
      break;
    }
    case Compute::kFloat:
      write_value(storage, static_cast<float>(scalar.to_double()));
      break;
    case Compute::kDouble:
      write_value(storage, scalar.to_double());
      break;
    case Compute::kBool:
      write_value(storage, static_cast<uint8_t>(scalar.to_bool()));
      break;
  }
  return view;
}

}  // namespace

int elementwise(KernelContext& context, const Operation& operation, Tensor& out, std::initializer_list<Operand> inputs,
                const Params& params) {
  PTERON_PASS(resize_to_broadcast(context, out, inputs));
  const View target = view_of(out);
  View views[kMaxInputs];
  alignas(8) char numbers[kMaxInputs][8];
  int count = 0;
  for (const Operand& input : inputs) {
    views[count] = input.is_tensor() ? view_of(input.tensor())
                                     : number_view(input.scalar(), operation, operation.in[count], numbers[count]);
    expand_view(views[count], target.sizes, target.rank);
    ++count;
  }
  elementwise_views(operation, target, views, count, params);
  return PTERON_OK;
}

namespace {

struct Same {
  template <class T>
  static T apply(T value, const Params&) {
    return value;
  }
};

// The computing type that carries every value of `from` to `to`.
Compute carrier(int from) {
  if (from == PTERON_UINT64) return Compute::kInt;
  if (from == PTERON_BOOL) return Compute::kBool;
  return compute_for(from);
}

// Whether a copy would write each element onto itself.
bool is_same_memory(const View& dst, const View& src) {
  if (dst.data != src.data || dst.dtype != src.dtype) return false;
  for (int dim = 0; dim < dst.rank; ++dim) {
    if (dst.sizes[dim] != 1 && dst.strides[dim] != src.strides[dim]) return false;
  }
  return true;
}

void copy_converting(const View& dst, const View& src) {
  Operation operation;
  Compute compute = carrier(src.dtype);
  if (src.dtype == PTERON_UINT64 && is_floating(dst.dtype)) compute = Compute::kDouble;
  operation.set_compute(compute);
  switch (compute) {
    case Compute::kInt:
      operation.fn = &chunk1<Same, int64_t, int64_t>;
      break;
    case Compute::kFloat:
      operation.fn = &chunk1<Same, float, float>;
      break;
    case Compute::kDouble:
      operation.fn = &chunk1<Same, double, double>;
      break;
    case Compute::kBool:
      operation.fn = &chunk1<Same, uint8_t, uint8_t>;
      break;
  }
  elementwise_views(operation, dst, &src, 1, Params());
}

// Elements of one dtype: they are moved, not looked at.
void move_elements(const View& dst, const View& src) {
  int order[kMaxRank];
  const int rank = iteration_order(dst, order);
  const int64_t bytes = static_cast<int64_t>(pteron_dtype_size(dst.dtype));
  int64_t sizes[kMaxRank], from[kMaxRank], to[kMaxRank];
  int merged = 0;
  for (int i = 0; i < rank; ++i) {
    const int dim = order[i];
    const int64_t size = dst.sizes[dim], from_stride = src.strides[dim], to_stride = dst.strides[dim];
    if (merged > 0 && from[merged - 1] == from_stride * size && to[merged - 1] == to_stride * size) {
      sizes[merged - 1] *= size;
      from[merged - 1] = from_stride;
      to[merged - 1] = to_stride;
    } else {
      sizes[merged] = size;
      from[merged] = from_stride;
      to[merged] = to_stride;
      ++merged;
    }
  }
  if (merged == 0) {
    std::memmove(dst.data, src.data, static_cast<size_t>(bytes));
    return;
  }
  if (merged == 1 && from[0] == 1 && to[0] == 1 && sizes[0] * bytes < (int64_t{1} << 20)) {
    std::memmove(dst.data, src.data, static_cast<size_t>(sizes[0] * bytes));
    return;
  }
  engine::strided_copy(src.data, from, dst.data, to, sizes, merged, static_cast<size_t>(bytes), runtime_pool());
}

}  // namespace

void copy_view(const View& dst, const View& src) {
  if (dst.numel() == 0 || is_same_memory(dst, src)) return;
  if (dst.dtype == src.dtype) {
    move_elements(dst, src);
  } else {
    copy_converting(dst, src);
  }
}

void fill_view(const View& dst, const Scalar& value) {
  if (dst.numel() == 0) return;
  Operation operation;
  const Compute compute = dst.dtype == PTERON_BOOL ? Compute::kBool : compute_for(dst.dtype);
  operation.set_compute(compute);
  operation.fn = compute == Compute::kInt      ? &chunk1<Same, int64_t, int64_t>
                 : compute == Compute::kFloat  ? &chunk1<Same, float, float>
                 : compute == Compute::kDouble ? &chunk1<Same, double, double>
                                               : &chunk1<Same, uint8_t, uint8_t>;
  alignas(8) char storage[8];
  View source = number_view(value, operation, compute, storage);
  expand_view(source, dst.sizes, dst.rank);
  elementwise_views(operation, dst, &source, 1, Params());
}

}  // namespace pteron::kernels
