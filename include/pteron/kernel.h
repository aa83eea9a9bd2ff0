// Writing operators in C++: a typed function becomes a record that the registry takes.
//
//   using namespace pteron::kernel;
//   int scale(KernelContext& context, const Tensor& self, double factor, Tensor& out) {
//     if (int code = context.resize(out, self.sizes())) return code;
//     for (int64_t i = 0; i < self.numel(); ++i) out.data<float>()[i] = self.data<float>()[i] * float(factor);
//     return PTERON_OK;
//   }
//   constexpr pteron_kernel kScale =
//       PTERON_KERNEL("my::scale.out", "(Tensor self, float factor, *, Tensor(a!) out) -> Tensor(a!)",
//                     (pteron::kernel::Dtypes<PTERON_DTYPE_BIT(PTERON_FLOAT32), PTERON_DTYPE_BIT(PTERON_FLOAT32)>),
//                     scale);
//
// Parameters and their kinds in a schema:
//   const Tensor&            Tensor                    Scalar            Scalar (int, float or bool)
//   Tensor&                  Tensor(a!), written       int64_t           int, SymInt, ScalarType, MemoryFormat
//   std::optional<Tensor>    Tensor?                   double            float
//   TensorList               Tensor[], Tensor(a!)[]    bool              bool
//   OptionalTensorList       Tensor?[]                 std::string_view  str
//   IntList                  int[], SymInt[]           DoubleList        float[]
//   BoolList                 bool[]                    std::optional<X>  X? for every X but the two tensor lists
// A signature that does not fit its schema does not compile.
//
// The function returns PTERON_OK or what context.fail() returned; it may also return nothing and throw: bad_alloc
// becomes PTERON_OUT_OF_MEMORY, every other exception PTERON_KERNEL_FAILED with its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "pteron/c/component.h"
#include "pteron/c/kernel.h"

namespace pteron {
inline namespace v1_0 {
namespace kernel {  // what kernel authors see; the owning pteron::Tensor of applications is another class

// A read-only list that belongs to the caller.
template <typename T>
class List {
 public:
  constexpr List() = default;
  constexpr List(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](size_t index) const { return data_[index]; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};
using IntList = List<int64_t>;
using DoubleList = List<double>;
using BoolList = List<uint8_t>;  // 0 or 1 each

// A tensor argument: a pointer to the caller's pteron_tensor.
class Tensor {
 public:
  explicit Tensor(pteron_tensor* raw) : raw_(raw) {}

  pteron_tensor* raw() const { return raw_; }
  int dtype() const { return raw_->dtype; }
  int rank() const { return raw_->rank; }
  int64_t size(int dim) const { return raw_->sizes[dim]; }
  int64_t stride(int dim) const { return raw_->strides[dim]; }  // in elements
  IntList sizes() const { return IntList(raw_->sizes, static_cast<size_t>(raw_->rank)); }
  IntList strides() const { return IntList(raw_->strides, static_cast<size_t>(raw_->rank)); }
  int64_t numel() const {
    int64_t count = 1;
    for (int dim = 0; dim < raw_->rank; ++dim) count *= raw_->sizes[dim];
    return count;
  }
  size_t element_size() const { return pteron_dtype_size(raw_->dtype); }
  // Whether elements lie in row-major order without gaps; strides of dimensions of size 1 do not matter.
  bool is_contiguous() const {
    int64_t expected = 1;
    for (int dim = raw_->rank - 1; dim >= 0; --dim) {
      if (raw_->sizes[dim] == 1) continue;
      if (raw_->sizes[dim] == 0) return true;
      if (raw_->strides[dim] != expected) return false;
      expected *= raw_->sizes[dim];
    }
    return true;
  }
  template <typename T = void>
  const T* data() const {
    return static_cast<const T*>(raw_->data);
  }
  template <typename T = void>
  T* data() {
    return static_cast<T*>(raw_->data);
  }

 private:
  pteron_tensor* raw_;
};

class TensorList {
 public:
  TensorList(pteron_tensor* const* items, size_t size) : items_(items), size_(size) {}
  size_t size() const { return size_; }
  Tensor operator[](size_t index) const { return Tensor(items_[index]); }

 private:
  pteron_tensor* const* items_;
  size_t size_;
};

class OptionalTensorList {
 public:
  OptionalTensorList(pteron_tensor* const* items, size_t size) : items_(items), size_(size) {}
  size_t size() const { return size_; }
  std::optional<Tensor> operator[](size_t index) const {
    return items_[index] == nullptr ? std::nullopt : std::optional<Tensor>(Tensor(items_[index]));
  }

 private:
  pteron_tensor* const* items_;
  size_t size_;
};

// A number of any kind, as PyTorch's Scalar.
class Scalar {
 public:
  constexpr Scalar(int64_t value) : kind_(PTERON_KIND_INT), int_(value), double_(static_cast<double>(value)) {}
  constexpr Scalar(int value) : Scalar(static_cast<int64_t>(value)) {}
  constexpr Scalar(double value) : kind_(PTERON_KIND_DOUBLE), double_(value) {}
  constexpr Scalar(bool value) : kind_(PTERON_KIND_BOOL), int_(value ? 1 : 0), double_(value ? 1 : 0) {}

  constexpr int kind() const { return kind_; }  // PTERON_KIND_INT, PTERON_KIND_DOUBLE or PTERON_KIND_BOOL
  constexpr bool is_double() const { return kind_ == PTERON_KIND_DOUBLE; }
  constexpr bool is_bool() const { return kind_ == PTERON_KIND_BOOL; }
  constexpr double to_double() const { return double_; }
  // A double is truncated; NaN and what does not fit int64 become the smallest int64.
  constexpr int64_t to_int() const {
    if (kind_ != PTERON_KIND_DOUBLE) return int_;
    return double_ >= -9223372036854775808.0 && double_ < 9223372036854775808.0 ? static_cast<int64_t>(double_)
                                                                                : INT64_MIN;
  }
  constexpr bool to_bool() const { return kind_ == PTERON_KIND_DOUBLE ? double_ != 0 : int_ != 0; }

 private:
  int kind_;
  int64_t int_ = 0;
  double double_ = 0;
};

// What a kernel may ask for during one call.
class KernelContext {
 public:
  KernelContext(pteron_kernel_context* raw, pteron_value* const* args) : raw_(raw), args_(args) {}

  pteron_kernel_context* raw() const { return raw_; }
  // Records why the call fails; returns `code`, for the kernel to return. PTERON_REQUIRE formats numbers.
  int fail(int code, const char* message) const { return pteron_kernel_fail(raw_, code, "%s", message); }
  // Gives an output its sizes; see pteron_kernel_resize().
  int resize(Tensor& tensor, IntList sizes) const {
    const pteron_tensor* raw = tensor.raw();
    bool same = static_cast<size_t>(raw->rank) == sizes.size();
    for (size_t dim = 0; same && dim < sizes.size(); ++dim) same = raw->sizes[dim] == sizes[dim];
    if (same) return PTERON_OK;
    return pteron_kernel_resize(raw_, tensor.raw(), sizes.data(), static_cast<int32_t>(sizes.size()));
  }
  // Memory for this call, aligned to 64 bytes; null when there is none, and the failure is recorded: return
  // PTERON_OUT_OF_MEMORY then.
  void* scratch(size_t bytes) const { return pteron_kernel_scratch(raw_, bytes); }
  // In `prepare`: memory that lives as long as the plan, aligned to 64 bytes; null when there is none.
  void* allocate(size_t bytes) const { return pteron_kernel_allocate(raw_, bytes); }
  // In `prepare`: an object that lives as long as the plan; null when there is no memory.
  template <typename State>
  State* make() const {
    void* memory = allocate(sizeof(State));
    return memory == nullptr ? nullptr : new (memory) State();
  }
  // What the record's `prepare` made, or null.
  template <typename State>
  const State* state() const {
    return static_cast<const State*>(pteron_kernel_state(raw_));
  }
  uint64_t random() const { return pteron_kernel_random(raw_); }
  // In `prepare`: whether argument number `index` is known only while running.
  bool computed(size_t index) const { return (args_[index]->flags & PTERON_VALUE_COMPUTED) != 0; }

 private:
  pteron_kernel_context* raw_;
  pteron_value* const* args_;
};

// Dtype masks of a record, one for each tensor, optional tensor and tensor list of its schema; none: any dtype.
template <uint32_t... masks>
struct Dtypes {
  static constexpr uint32_t values[sizeof...(masks) + 1] = {masks..., 0};
  static constexpr size_t count = sizeof...(masks);
};

namespace detail {

// One letter for each kind of parameter; capitals are optional ones.
template <typename T>
struct Argument;  // a parameter type that no schema has ends here

inline bool is_number(const pteron_value& value) {
  return value.kind == PTERON_KIND_INT || value.kind == PTERON_KIND_DOUBLE || value.kind == PTERON_KIND_BOOL;
}

template <>
struct Argument<Tensor> {
  static constexpr char letter = 't';
  static constexpr int kind = PTERON_KIND_TENSOR;
  static bool fits(const pteron_value& value) { return value.kind == PTERON_KIND_TENSOR; }
  static Tensor get(const pteron_value& value) { return Tensor(value.as.tensor); }
};
template <>
struct Argument<TensorList> {
  static constexpr char letter = 'l';
  static constexpr int kind = PTERON_KIND_TENSOR_LIST;
  static bool fits(const pteron_value& value) { return value.kind == PTERON_KIND_TENSOR_LIST; }
  static TensorList get(const pteron_value& value) {
    return TensorList(value.as.tensor_list.items, value.as.tensor_list.count);
  }
};
template <>
struct Argument<OptionalTensorList> {
  static constexpr char letter = 'o';
  static constexpr int kind = PTERON_KIND_OPTIONAL_TENSOR_LIST;
  static bool fits(const pteron_value& value) {
    return value.kind == PTERON_KIND_OPTIONAL_TENSOR_LIST || value.kind == PTERON_KIND_TENSOR_LIST;
  }
  static OptionalTensorList get(const pteron_value& value) {
    return OptionalTensorList(value.as.tensor_list.items, value.as.tensor_list.count);
  }
};
template <>
struct Argument<Scalar> {
  static constexpr char letter = 's';
  static constexpr int kind = PTERON_KIND_DOUBLE;
  static bool fits(const pteron_value& value) { return is_number(value); }
  static Scalar get(const pteron_value& value) {
    if (value.kind == PTERON_KIND_INT) return Scalar(value.as.as_int);
    if (value.kind == PTERON_KIND_BOOL) return Scalar(value.as.as_bool != 0);
    return Scalar(value.as.as_double);
  }
};
template <>
struct Argument<int64_t> {
  static constexpr char letter = 'i';
  static constexpr int kind = PTERON_KIND_INT;
  static bool fits(const pteron_value& value) {
    return value.kind == PTERON_KIND_INT || value.kind == PTERON_KIND_BOOL;
  }
  static int64_t get(const pteron_value& value) {
    return value.kind == PTERON_KIND_BOOL ? int64_t{value.as.as_bool != 0} : value.as.as_int;
  }
};
template <>
struct Argument<double> {
  static constexpr char letter = 'f';
  static constexpr int kind = PTERON_KIND_DOUBLE;
  static bool fits(const pteron_value& value) { return is_number(value); }
  static double get(const pteron_value& value) { return Argument<Scalar>::get(value).to_double(); }
};
template <>
struct Argument<bool> {
  static constexpr char letter = 'b';
  static constexpr int kind = PTERON_KIND_BOOL;
  static bool fits(const pteron_value& value) {
    return value.kind == PTERON_KIND_BOOL || value.kind == PTERON_KIND_INT;
  }
  static bool get(const pteron_value& value) { return Argument<int64_t>::get(value) != 0; }
};
template <>
struct Argument<std::string_view> {
  static constexpr char letter = 'c';
  static constexpr int kind = PTERON_KIND_STRING;
  static bool fits(const pteron_value& value) { return value.kind == PTERON_KIND_STRING; }
  static std::string_view get(const pteron_value& value) {
    return std::string_view(value.as.string.data, value.as.string.size);
  }
};
template <>
struct Argument<IntList> {
  static constexpr char letter = 'n';
  static constexpr int kind = PTERON_KIND_INT_LIST;
  static bool fits(const pteron_value& value) { return value.kind == PTERON_KIND_INT_LIST; }
  static IntList get(const pteron_value& value) { return IntList(value.as.int_list.items, value.as.int_list.count); }
};
template <>
struct Argument<DoubleList> {
  static constexpr char letter = 'd';
  static constexpr int kind = PTERON_KIND_DOUBLE_LIST;
  static bool fits(const pteron_value& value) { return value.kind == PTERON_KIND_DOUBLE_LIST; }
  static DoubleList get(const pteron_value& value) {
    return DoubleList(value.as.double_list.items, value.as.double_list.count);
  }
};
template <>
struct Argument<BoolList> {
  static constexpr char letter = 'm';
  static constexpr int kind = PTERON_KIND_BOOL_LIST;
  static bool fits(const pteron_value& value) { return value.kind == PTERON_KIND_BOOL_LIST; }
  static BoolList get(const pteron_value& value) {
    return BoolList(value.as.bool_list.items, value.as.bool_list.count);
  }
};
template <typename T>
struct Argument<std::optional<T>> {
  static constexpr char letter = static_cast<char>(Argument<T>::letter - 'a' + 'A');
  static constexpr int kind = Argument<T>::kind;
  static bool fits(const pteron_value& value) { return value.kind == PTERON_KIND_NONE || Argument<T>::fits(value); }
  static std::optional<T> get(const pteron_value& value) {
    if (value.kind == PTERON_KIND_NONE) return std::nullopt;
    return Argument<T>::get(value);
  }
};

template <typename T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

// 'w' for a tensor that is written.
template <typename T>
inline constexpr char kLetter = std::is_same_v<T, Tensor&> ? 'w' : Argument<Plain<T>>::letter;

template <typename... Types>
struct ParameterList {
  static constexpr size_t count = sizeof...(Types);
  static constexpr char letters[sizeof...(Types) + 1] = {kLetter<Types>..., 0};
};

// The next parameter of a schema as a letter; 0 at the closing parenthesis, '?' when it cannot be read.
// `*position` moves behind the parameter.
constexpr char next_parameter(std::string_view schema, size_t* position) {
  size_t i = *position;
  while (i < schema.size() && (schema[i] == ' ' || schema[i] == ',' || schema[i] == '*' || schema[i] == '(')) ++i;
  if (i >= schema.size()) return '?';
  if (schema[i] == ')') return 0;
  size_t start = i;
  while (i < schema.size() && ((schema[i] >= 'a' && schema[i] <= 'z') || (schema[i] >= 'A' && schema[i] <= 'Z'))) ++i;
  const std::string_view name = schema.substr(start, i - start);
  bool written = false;
  if (i < schema.size() && schema[i] == '(') {  // an alias annotation: (a!), (a)
    while (i < schema.size() && schema[i] != ')') written = schema[i++] == '!' || written;
    ++i;
  }
  bool optional_item = false;
  if (i < schema.size() && schema[i] == '?') {
    optional_item = true;
    ++i;
  }
  bool list = false;
  if (i < schema.size() && schema[i] == '[') {
    list = true;
    while (i < schema.size() && schema[i] != ']') ++i;
    ++i;
  }
  bool optional_list = false;
  if (list && i < schema.size() && schema[i] == '?') {
    optional_list = true;
    ++i;
  }
  // The rest is the name and a default, which may hold brackets and commas.
  int depth = 0;
  while (i < schema.size() && !(depth == 0 && (schema[i] == ',' || schema[i] == ')'))) {
    if (schema[i] == '[' || schema[i] == '(') ++depth;
    if (schema[i] == ']' || schema[i] == ')') --depth;
    ++i;
  }
  *position = i;
  char letter = '?';
  if (name == "Tensor") letter = list ? (optional_item ? 'o' : 'l') : written ? 'w' : 't';
  if (name == "Scalar") letter = 's';
  if (name == "int" || name == "SymInt" || name == "ScalarType" || name == "MemoryFormat") letter = list ? 'n' : 'i';
  if (name == "float") letter = list ? 'd' : 'f';
  if (name == "bool") letter = list ? 'm' : 'b';
  if (name == "str") letter = 'c';
  const bool optional = list ? optional_list : optional_item;
  if (optional && letter != '?' && letter != 'w') letter = static_cast<char>(letter - 'a' + 'A');
  return letter;
}

constexpr bool schema_fits(std::string_view schema, const char* letters) {
  size_t position = 0;
  for (; *letters != 0; ++letters) {
    if (next_parameter(schema, &position) != *letters) return false;
  }
  return next_parameter(schema, &position) == 0;
}

constexpr size_t count_tensors(const char* letters) {
  size_t count = 0;
  for (; *letters != 0; ++letters) {
    const char letter = *letters;
    count += (letter == 't' || letter == 'w' || letter == 'T' || letter == 'l' || letter == 'o') ? 1 : 0;
  }
  return count;
}

template <typename Function>
struct Signature;
template <typename Return, typename... Parameters>
struct Signature<Return (*)(KernelContext&, Parameters...)> {
  using Types = ParameterList<Parameters...>;
  using Values = std::tuple<Plain<Parameters>...>;

  // The index of the first argument of a wrong kind, or the number of parameters.
  template <size_t... indices>
  static size_t first_misfit(pteron_value* const* args, std::index_sequence<indices...>) {
    size_t misfit = sizeof...(Parameters);
    static_cast<void>(((Argument<Plain<Parameters>>::fits(*args[indices]) || (misfit = indices, false)) && ...));
    return misfit;
  }
  template <size_t... indices>
  static Values unpack(pteron_value* const* args, std::index_sequence<indices...>) {
    return Values(Argument<Plain<Parameters>>::get(*args[indices])...);
  }
  static constexpr int kinds[sizeof...(Parameters) + 1] = {Argument<Plain<Parameters>>::kind..., 0};
};

inline int misfit_failure(pteron_kernel_context* context, pteron_value* const* args, size_t index, int expected) {
  return pteron_kernel_fail(context, PTERON_KERNEL_FAILED, "argument %zu is of kind %s, expected %s", index,
                            pteron_kind_name(args[index]->kind), pteron_kind_name(expected));
}

// Runs `body` and turns exceptions into failures.
template <typename Body>
int guarded(pteron_kernel_context* context, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return pteron_kernel_fail(context, PTERON_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return pteron_kernel_fail(context, PTERON_KERNEL_FAILED, "%s", error.what());
  } catch (...) {
    return pteron_kernel_fail(context, PTERON_KERNEL_FAILED, "an unknown exception was thrown");
  }
}

// Checks the arguments against the signature and calls use(values...).
template <typename Function, typename Use>
int call_with(pteron_kernel_context* context, pteron_value* const* args, size_t count, Use&& use) noexcept {
  using Described = Signature<Function>;
  constexpr size_t arity = Described::Types::count;
  constexpr auto indices = std::make_index_sequence<arity>();
  if (count < arity) {
    return pteron_kernel_fail(context, PTERON_KERNEL_FAILED, "got %zu arguments, expected %zu", count, arity);
  }
  const size_t misfit = Described::first_misfit(args, indices);
  if (misfit != arity) return misfit_failure(context, args, misfit, Described::kinds[misfit]);
  return guarded(context, [&]() {
    typename Described::Values values = Described::unpack(args, indices);
    return std::apply(use, values);
  });
}

// One copy for all functions of a signature.
template <typename Function>
int run_function(Function function, pteron_kernel_context* raw, pteron_value* const* args, size_t count) noexcept {
  return call_with<Function>(raw, args, count, [&](auto&... values) -> int {
    KernelContext context(raw, args);
    if constexpr (std::is_void_v<decltype(function(context, values...))>) {
      function(context, values...);
      return PTERON_OK;
    } else {
      return function(context, values...);
    }
  });
}

template <auto function>
int run(pteron_kernel_context* raw, pteron_value* const* args, size_t count) noexcept {
  return run_function(function, raw, args, count);
}

// The state that a preparing function makes: the target of its last parameter, State** .
template <typename Function>
struct StateOf;
template <typename State, typename... Parameters>
struct StateOf<int (*)(State**, KernelContext&, Parameters...)> {
  using type = State;
};

template <auto function, auto prepare_function>
int prepare(pteron_kernel_context* raw, pteron_value* const* args, size_t count, void** state) noexcept {
  using State = typename StateOf<decltype(prepare_function)>::type;
  return call_with<decltype(function)>(raw, args, count, [&](auto&... values) -> int {
    KernelContext context(raw, args);
    State* made = nullptr;
    const int code = prepare_function(&made, context, values...);
    *state = made;
    return code;
  });
}

template <auto prepare_function>
void destroy(void* state) noexcept {
  using State = typename StateOf<decltype(prepare_function)>::type;
  if (state != nullptr) static_cast<State*>(state)->~State();
}

template <auto function, typename Masks>
constexpr pteron_kernel make_kernel(const char* name, const char* schema) {
  static_assert(Masks::count == 0 || Masks::count == count_tensors(Signature<decltype(function)>::Types::letters),
                "one dtype mask for each tensor argument");
  return pteron_kernel{sizeof(pteron_kernel), name,    schema, Masks::values, PTERON_DEVICE_CPU, 0,
                       &run<function>,        nullptr, nullptr};
}

template <auto function, auto prepare_function, typename Masks>
constexpr pteron_kernel make_prepared_kernel(const char* name, const char* schema) {
  pteron_kernel kernel = make_kernel<function, Masks>(name, schema);
  kernel.prepare = &prepare<function, prepare_function>;
  using State = typename StateOf<decltype(prepare_function)>::type;
  if constexpr (!std::is_trivially_destructible_v<State>) kernel.destroy = &destroy<prepare_function>;
  return kernel;
}

template <typename T>
struct Unparenthesized;
template <typename T>
struct Unparenthesized<void(T)> {
  using type = T;
};

}  // namespace detail

}  // namespace kernel
}  // namespace v1_0
}  // namespace pteron

// A pteron_kernel for `function`: name "namespace::operator.overload", schema from its parenthesis on, masks as a
// parenthesised (pteron::kernel::Dtypes<...>). A constant expression.
#define PTERON_KERNEL(name, schema, masks, function)                                                                   \
  ([] {                                                                                                                \
    static_assert(::pteron::kernel::detail::schema_fits(                                                               \
                      schema, ::pteron::kernel::detail::Signature<decltype(&function)>::Types::letters),               \
                  "the function's parameters do not fit the schema of " name);                                         \
    return ::pteron::kernel::detail::make_kernel<&function,                                                            \
                                                 ::pteron::kernel::detail::Unparenthesized<void masks>::type>(name,    \
                                                                                                              schema); \
  }())

// The same with `prepare_function`: int(State**, KernelContext&, the parameters of `function`). It runs once when a
// plan is made and may set the state to what context.make<State>() gives; `function` finds it in
// context.state<State>(). Further memory comes from context.allocate().
#define PTERON_PREPARED_KERNEL(name, schema, masks, function, prepare_function)                                   \
  ([] {                                                                                                           \
    static_assert(::pteron::kernel::detail::schema_fits(                                                          \
                      schema, ::pteron::kernel::detail::Signature<decltype(&function)>::Types::letters),          \
                  "the function's parameters do not fit the schema of " name);                                    \
    return ::pteron::kernel::detail::make_prepared_kernel<                                                        \
        &function, &prepare_function, ::pteron::kernel::detail::Unparenthesized<void masks>::type>(name, schema); \
  }())

// Returns a failure from a kernel unless `condition` holds: what was expected and found, printf-style.
#define PTERON_REQUIRE(context, condition, ...)                                                      \
  do {                                                                                               \
    if (!(condition)) return pteron_kernel_fail((context).raw(), PTERON_KERNEL_FAILED, __VA_ARGS__); \
  } while (false)

// Returns from a kernel when `expression`, a code, is not PTERON_OK.
#define PTERON_PASS(expression)                                     \
  do {                                                              \
    if (const int pteron_code_ = (expression)) return pteron_code_; \
  } while (false)
