#include "runtime/primitives.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/kernel_context.h"
#include "runtime/registry.h"
#include "runtime/tensor.h"

namespace pteron::runtime {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

pteron_value value(int64_t number) {
  pteron_value out{};
  out.kind = PTERON_KIND_INT;
  out.as.as_int = number;
  return out;
}
pteron_value value(int number) {
  return value(int64_t{number});
}
pteron_value value(double number) {
  pteron_value out{};
  out.kind = PTERON_KIND_DOUBLE;
  out.as.as_double = number;
  return out;
}
pteron_value value(bool flag) {
  pteron_value out{};
  out.kind = PTERON_KIND_BOOL;
  out.as.as_bool = flag ? 1 : 0;
  return out;
}
pteron_value value(const TensorStorage& storage) {
  pteron_value out{};
  out.kind = PTERON_KIND_TENSOR;
  out.as.tensor = const_cast<pteron_tensor*>(&storage.tensor);
  return out;
}
pteron_value value(const std::vector<int64_t>& list) {
  pteron_value out{};
  out.kind = PTERON_KIND_INT_LIST;
  out.as.int_list = {list.data(), list.size()};
  return out;
}

// Runs a primitive on a call's values; the last one is its result.
Status run(const std::string& name, std::vector<pteron_value>* values) {
  const KernelEntry* entry = find_kernel(name);
  if (entry == nullptr) return Status(PTERON_MISSING_OPERATOR, name.c_str());
  std::vector<pteron_value*> args;
  for (pteron_value& one : *values) args.push_back(&one);
  pteron_kernel_context context(0);
  const int code = entry->kernel->fn(&context, args.data(), args.size());
  return code == PTERON_OK ? Status() : Status(static_cast<pteron_code>(code), context.failure.c_str());
}

// The result of a primitive on scalars, as text with its kind: "int 3", "double 1.5", "bool 1", or "error: ...".
template <typename... Operands>
std::string result(const std::string& name, Operands... operands) {
  std::vector<pteron_value> values = {value(operands)..., value(0)};
  const Status status = run(name, &values);
  if (!status.ok()) return std::string("error: ") + status.message();
  const pteron_value& out = values.back();
  char text[64];
  if (out.kind == PTERON_KIND_DOUBLE) {
    std::snprintf(text, sizeof text, "double %.17g", out.as.as_double);
  } else if (out.kind == PTERON_KIND_INT) {
    std::snprintf(text, sizeof text, "int %lld", static_cast<long long>(out.as.as_int));
  } else {
    std::snprintf(text, sizeof text, "%s %d", pteron_kind_name(out.kind), out.as.as_bool);
  }
  return text;
}

template <typename... Operands>
std::string prim(const std::string& name, Operands... operands) {
  return result("executorch_prim::" + name, operands...);
}

TEST(Primitives, AreRegisteredFromTheStart) {
  const KernelEntry* entry = find_kernel("executorch_prim::add.Scalar");
  ASSERT_NE(entry, nullptr);
  EXPECT_STREQ(entry->component->name, "primitives");
  EXPECT_EQ(entry->schema.arguments.size(), 3u);
}

TEST(Primitives, EverySchemaParses) {
  for (size_t i = 0; i < primitives_component.kernel_count; ++i) {
    const KernelEntry* entry = find_kernel(primitives_component.kernels[i]->name);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->error, "") << entry->kernel->name;
  }
}

TEST(Primitives, ArithmeticPromotesAsPython) {
  EXPECT_EQ(prim("add.Scalar", 2, 3), "int 5");
  EXPECT_EQ(prim("add.Scalar", 2, 0.5), "double 2.5");
  EXPECT_EQ(prim("add.Scalar", true, true), "int 2");
  EXPECT_EQ(prim("sub.Scalar", 2, 3), "int -1");
  EXPECT_EQ(prim("mul.Scalar", 1.5, 2), "double 3");
  EXPECT_EQ(prim("mul.Scalar", true, 2.5), "double 2.5");
}

TEST(Primitives, IntOverflowIsAnError) {
  EXPECT_EQ(prim("add.Scalar", INT64_MAX, int64_t{1}),
            "error: the sum of 9223372036854775807 and 1 does not fit 64 bits");
  EXPECT_EQ(prim("sub.Scalar", INT64_MIN, int64_t{1}),
            "error: the difference of -9223372036854775808 and 1 does not fit 64 bits");
  EXPECT_EQ(prim("mul.Scalar", INT64_MAX, int64_t{2}),
            "error: the product of 9223372036854775807 and 2 does not fit 64 bits");
  EXPECT_EQ(prim("floordiv.Scalar", INT64_MIN, int64_t{-1}),
            "error: the quotient of -9223372036854775808 and -1 does not fit 64 bits");
  EXPECT_EQ(prim("neg.Scalar", INT64_MIN), "error: the difference of 0 and -9223372036854775808 does not fit 64 bits");
}

TEST(Primitives, DivisionByZeroIsAnError) {
  for (const char* name : {"floordiv.Scalar", "floordiv.int", "mod.Scalar", "mod.int", "truediv.Scalar"}) {
    EXPECT_EQ(prim(name, 7, 0), "error: division of 7 by zero") << name;
    EXPECT_EQ(prim(name, 7, 0.0), "error: division of 7 by zero") << name;
    EXPECT_EQ(prim(name, 0.5, false), "error: division of 0.5 by zero") << name;
  }
}

TEST(Primitives, FloorDivisionRoundsDown) {
  EXPECT_EQ(prim("floordiv.Scalar", 7, 2), "int 3");
  EXPECT_EQ(prim("floordiv.Scalar", -7, 2), "int -4");
  EXPECT_EQ(prim("floordiv.int", 7, -2), "int -4");
  EXPECT_EQ(prim("floordiv.int", -7, -2), "int 3");
  EXPECT_EQ(prim("floordiv.int", -8, 2), "int -4");
  EXPECT_EQ(prim("floordiv.Scalar", -7.5, 2), "double -4");
  EXPECT_EQ(prim("floordiv.Scalar", 1.0, 0.1), "double 9");  // 0.1 is a little more than a tenth
  EXPECT_EQ(prim("floordiv.Scalar", -5.0, kInf), "double -1");
  EXPECT_EQ(prim("floordiv.Scalar", -0.0, 3.0), "double -0");
}

TEST(Primitives, RemainderHasTheSignOfTheDivisor) {
  EXPECT_EQ(prim("mod.Scalar", -7, 3), "int 2");
  EXPECT_EQ(prim("mod.int", 7, -3), "int -2");
  EXPECT_EQ(prim("mod.int", -7, -3), "int -1");
  EXPECT_EQ(prim("mod.int", 6, -3), "int 0");
  EXPECT_EQ(prim("mod.int", INT64_MIN, int64_t{-1}), "int 0");
  EXPECT_EQ(prim("mod.Scalar", 5.5, -2.0), "double -0.5");
  EXPECT_EQ(prim("mod.Scalar", -5.0, kInf), "double inf");
  EXPECT_EQ(prim("mod.Scalar", 4.0, -2.0), "double -0");
}

TEST(Primitives, TrueDivisionGivesADouble) {
  EXPECT_EQ(prim("truediv.Scalar", 7, 2), "double 3.5");
  EXPECT_EQ(prim("truediv.Scalar", 6, 3), "double 2");
}

TEST(Primitives, NegationKeepsTheKind) {
  EXPECT_EQ(prim("neg.Scalar", 3), "int -3");
  EXPECT_EQ(prim("neg.Scalar", 0.0), "double -0");
  EXPECT_EQ(prim("neg.Scalar", true), "int -1");
}

TEST(Primitives, ComparisonsGiveABool) {
  EXPECT_EQ(prim("eq.Scalar", 2, 2), "bool 1");
  EXPECT_EQ(prim("eq.Scalar", 1, true), "bool 1");
  EXPECT_EQ(prim("lt.Scalar", 2, 3), "bool 1");
  EXPECT_EQ(prim("le.Scalar", 3, 3), "bool 1");
  EXPECT_EQ(prim("gt.Scalar", 3, 3), "bool 0");
  EXPECT_EQ(prim("ge.Scalar", 2.5, 3), "bool 0");
}

TEST(Primitives, IntsAndDoublesAreComparedByValue) {
  // 2^53 + 1 rounds to 2^53 as a double.
  EXPECT_EQ(prim("eq.Scalar", int64_t{9007199254740993}, 9007199254740992.0), "bool 0");
  EXPECT_EQ(prim("gt.Scalar", int64_t{9007199254740993}, 9007199254740992.0), "bool 1");
  EXPECT_EQ(prim("lt.Scalar", 9007199254740992.0, int64_t{9007199254740993}), "bool 1");
  EXPECT_EQ(prim("lt.Scalar", INT64_MAX, 9223372036854775808.0), "bool 1");
  EXPECT_EQ(prim("ge.Scalar", INT64_MIN, -kInf), "bool 1");
  EXPECT_EQ(prim("lt.Scalar", -2, -1.5), "bool 1");
}

TEST(Primitives, NanComparesAsFalse) {
  for (const char* name : {"eq.Scalar", "lt.Scalar", "le.Scalar", "gt.Scalar", "ge.Scalar"}) {
    EXPECT_EQ(prim(name, kNan, 1), "bool 0") << name;
    EXPECT_EQ(prim(name, kNan, kNan), "bool 0") << name;
  }
}

TEST(Primitives, MaximumAndMinimumPromote) {
  EXPECT_EQ(prim("sym_max.Scalar", 2, 3), "int 3");
  EXPECT_EQ(prim("sym_max.Scalar", 3, 2.5), "double 3");
  EXPECT_EQ(prim("sym_min.Scalar", 3, 2), "int 2");
  EXPECT_EQ(prim("sym_min.Scalar", 1, kNan), "double 1");
}

TEST(Primitives, LogicalNotIsTrueForZero) {
  EXPECT_EQ(prim("sym_not.Scalar", false), "bool 1");
  EXPECT_EQ(prim("sym_not.Scalar", 0.5), "bool 0");
  EXPECT_EQ(prim("sym_not.Scalar", 0), "bool 1");
}

TEST(Primitives, SelectionKeepsTheKindOfWhatItTakes) {
  EXPECT_EQ(prim("sym_ite.Scalar", true, 1, 2.5), "int 1");
  EXPECT_EQ(prim("sym_ite.Scalar", false, 1, 2.5), "double 2.5");
  EXPECT_EQ(prim("sym_ite.Scalar", 1, false, 3), "bool 0");
}

TEST(Primitives, ConversionsToInt) {
  EXPECT_EQ(prim("sym_int.Scalar", -2.9), "int -2");
  EXPECT_EQ(prim("trunc.Scalar", 2.9), "int 2");
  EXPECT_EQ(prim("ceil.Scalar", 2.1), "int 3");
  EXPECT_EQ(prim("ceil.Scalar", -2.9), "int -2");
  EXPECT_EQ(prim("round.Scalar", 2.5), "int 2");
  EXPECT_EQ(prim("round.Scalar", 3.5), "int 4");
  EXPECT_EQ(prim("round.Scalar", -2.5), "int -2");
  EXPECT_EQ(prim("round.Scalar", 0.49999999999999994), "int 0");
  EXPECT_EQ(prim("round.Scalar", 7), "int 7");
  EXPECT_EQ(prim("sym_float.Scalar", 3), "double 3");
}

TEST(Primitives, DoublesThatAreNoIntAreErrors) {
  for (const char* name : {"sym_int.Scalar", "trunc.Scalar", "ceil.Scalar", "round.Scalar"}) {
    EXPECT_EQ(prim(name, kNan), "error: nan is no int of 64 bits") << name;
    EXPECT_EQ(prim(name, kInf), "error: inf is no int of 64 bits") << name;
    EXPECT_EQ(prim(name, 9223372036854775808.0), "error: 9.2233720368547758e+18 is no int of 64 bits") << name;
    EXPECT_EQ(prim(name, -9223372036854775808.0), "int -9223372036854775808") << name;
  }
}

TEST(Primitives, OtherKindsAreErrors) {
  EXPECT_EQ(prim("add.Scalar", 1, std::vector<int64_t>{1}),
            "error: argument 1 is int list, expected an int, double or bool");
}

TEST(Primitives, WrongNumbersOfArgumentsAreErrors) {
  EXPECT_EQ(prim("add.Scalar"), "error: called with 1 arguments, expected 3");
  EXPECT_EQ(prim("neg.Scalar", 1, 2, 3), "error: called with 4 arguments, expected 2");
}

TEST(Primitives, TheResultMayBeAnOperand) {
  std::vector<pteron_value> values = {value(4), value(1), value(0)};
  std::vector<pteron_value*> args = {&values[0], &values[1], &values[0]};
  pteron_kernel_context context(0);
  ASSERT_EQ(find_kernel("executorch_prim::sub.Scalar")->kernel->fn(&context, args.data(), 3), PTERON_OK);
  EXPECT_EQ(values[0].as.as_int, 3);
}

// ---- Tensors

// A tensor with memory for `capacity` elements, holding 0, 1, 2, ...
struct Floats {
  Floats(std::vector<int64_t> sizes, size_t capacity) : memory(capacity) {
    for (size_t i = 0; i < capacity; ++i) memory[i] = static_cast<float>(i);
    storage.set_shape(PTERON_FLOAT32, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr);
    storage.tensor.data = memory.data();
    storage.tensor.capacity = capacity * sizeof(float);
    storage.tensor.flags = PTERON_TENSOR_RESIZABLE;
  }
  std::vector<int64_t> sizes() const {
    return std::vector<int64_t>(storage.sizes, storage.sizes + storage.tensor.rank);
  }
  std::vector<float> memory;
  TensorStorage storage;
};

TEST(Primitives, SizesOfTensors) {
  const Floats tensor({2, 3}, 6);
  EXPECT_EQ(result("aten::sym_size.int", tensor.storage, 1), "int 3");
  EXPECT_EQ(result("aten::sym_size.int", tensor.storage, -2), "int 2");
  EXPECT_EQ(result("aten::sym_size.int", tensor.storage, 2),
            "error: dimension 2 of a tensor float32 [2, 3], expected an int in [-2, 2)");
  EXPECT_EQ(result("aten::sym_size.int", tensor.storage, INT64_MIN),
            "error: dimension -9223372036854775808 of a tensor float32 [2, 3], expected an int in [-2, 2)");
  EXPECT_EQ(result("aten::sym_numel", tensor.storage), "int 6");
}

template <typename T>
std::string only(int32_t dtype, T element) {
  TensorStorage storage;
  storage.set_shape(dtype, 0, nullptr, nullptr);
  storage.tensor.data = &element;
  return result("aten::_local_scalar_dense", storage);
}

TEST(Primitives, TheOnlyElementInEveryDtype) {
  EXPECT_EQ(only(PTERON_BOOL, uint8_t{1}), "bool 1");
  EXPECT_EQ(only(PTERON_UINT8, uint8_t{200}), "int 200");
  EXPECT_EQ(only(PTERON_INT8, int8_t{-3}), "int -3");
  EXPECT_EQ(only(PTERON_INT16, int16_t{-300}), "int -300");
  EXPECT_EQ(only(PTERON_UINT16, uint16_t{65535}), "int 65535");
  EXPECT_EQ(only(PTERON_INT32, int32_t{-70000}), "int -70000");
  EXPECT_EQ(only(PTERON_UINT32, uint32_t{4294967295u}), "int 4294967295");
  EXPECT_EQ(only(PTERON_INT64, INT64_MIN), "int -9223372036854775808");
  EXPECT_EQ(only(PTERON_FLOAT32, 0.25f), "double 0.25");
  EXPECT_EQ(only(PTERON_FLOAT64, -1.5), "double -1.5");
  EXPECT_EQ(only(PTERON_FLOAT16, uint16_t{0xc500}), "double -5");
  EXPECT_EQ(only(PTERON_FLOAT16, uint16_t{0x0001}), "double 5.9604644775390625e-08");
  EXPECT_EQ(only(PTERON_FLOAT16, uint16_t{0x7c00}), "double inf");
  EXPECT_EQ(only(PTERON_BFLOAT16, uint16_t{0x4049}), "double 3.140625");
}

TEST(Primitives, ElementsThatAreNoScalarAreErrors) {
  EXPECT_EQ(only(PTERON_UINT64, uint64_t{1} << 63), "error: 9223372036854775808 is no int of 64 bits");
  EXPECT_EQ(only(PTERON_FLOAT8_E5M2, uint8_t{0}), "error: an element of dtype float8_e5m2 cannot become a scalar");
  EXPECT_EQ(result("aten::_local_scalar_dense", Floats({2}, 2).storage),
            "error: a tensor float32 [2] has no single element");
  EXPECT_EQ(result("aten::_local_scalar_dense", Floats({0}, 0).storage),
            "error: a tensor float32 [0] has no single element");
}

// ---- Slots

Status copy_index(const Floats& to, const Floats& from, int64_t index) {
  std::vector<pteron_value> values = {value(to.storage), value(from.storage), value(index)};
  return run("executorch_prim::et_copy_index.tensor", &values);
}

TEST(CopyIndex, SlotsGrowFromTheFirst) {
  Floats to({3, 2}, 6);
  Floats from({2}, 2);
  for (int64_t index = 0; index < 3; ++index) {
    from.memory = {static_cast<float>(10 * index), static_cast<float>(10 * index + 1)};
    from.storage.tensor.data = from.memory.data();
    ASSERT_TRUE(copy_index(to, from, index).ok());
    EXPECT_EQ(to.sizes(), std::vector<int64_t>({index + 1, 2}));
  }
  EXPECT_EQ(to.memory, std::vector<float>({0, 1, 10, 11, 20, 21}));
}

TEST(CopyIndex, SmallerIndicesKeepTheSlotsBehind) {
  const Floats to({3, 2}, 6);
  ASSERT_TRUE(copy_index(to, Floats({2}, 2), 1).ok());
  EXPECT_EQ(to.sizes(), std::vector<int64_t>({3, 2}));
  EXPECT_EQ(to.memory, std::vector<float>({0, 1, 0, 1, 4, 5}));
}

TEST(CopyIndex, FixedShapesAreFilledInPlace) {
  Floats to({3, 2}, 6);
  to.storage.tensor.flags = 0;
  ASSERT_TRUE(copy_index(to, Floats({2}, 2), 2).ok());
  EXPECT_EQ(to.memory, std::vector<float>({0, 1, 2, 3, 0, 1}));
  EXPECT_FALSE(copy_index(to, Floats({2}, 2), 3).ok());
}

TEST(CopyIndex, RefusesASlotBeyondTheRoom) {
  const Floats to({1, 2}, 2);
  const Status status = copy_index(to, Floats({2}, 2), 3);
  EXPECT_STREQ(status.message(),
               "a tensor float32 [1, 2] cannot become [4, 2]: that takes 32 bytes and it has room for 8");
  EXPECT_EQ(to.memory, std::vector<float>({0, 1}));
  EXPECT_EQ(to.sizes(), std::vector<int64_t>({1, 2}));
}

TEST(CopyIndex, RefusesNegativeAndHugeIndices) {
  const Floats to({2, 2}, 4);
  EXPECT_FALSE(copy_index(to, Floats({2}, 2), -1).ok());
  EXPECT_FALSE(copy_index(to, Floats({2}, 2), INT64_MAX).ok());
  EXPECT_FALSE(copy_index(to, Floats({2}, 2), INT64_MAX - 1).ok());
  EXPECT_EQ(to.memory, std::vector<float>({0, 1, 2, 3}));
}

TEST(CopyIndex, RefusesOtherShapesEvenAtTheFirstSlot) {
  const Floats to({2, 3}, 6);
  EXPECT_STREQ(copy_index(to, Floats({2}, 2), 0).message(),
               "a tensor float32 [2] is no slot of a tensor float32 [2, 3]");
  EXPECT_FALSE(copy_index(to, Floats({1, 3}, 3), 0).ok());
  EXPECT_FALSE(copy_index(to, Floats({}, 1), 0).ok());
}

TEST(CopyIndex, RefusesAnotherDtype) {
  const Floats to({2, 3}, 6);
  Floats from({3}, 3);
  from.storage.tensor.dtype = PTERON_INT32;
  EXPECT_FALSE(copy_index(to, from, 0).ok());
}

TEST(CopyIndex, RefusesALayoutWhoseSlotsWouldMove) {
  Floats to({2, 2}, 4);
  const int64_t sizes[] = {2, 2};
  const uint8_t order[] = {1, 0};
  to.storage.set_shape(PTERON_FLOAT32, 2, sizes, order);
  EXPECT_FALSE(copy_index(to, Floats({2}, 2), 0).ok());
}

TEST(CopyIndex, SlotsOfNothing) {
  const Floats to({2, 0}, 0);
  EXPECT_TRUE(copy_index(to, Floats({0}, 0), 1).ok());
}

// ---- Views

Status view(const Floats& self, const std::vector<int64_t>& size, const Floats& out) {
  std::vector<pteron_value> values = {value(self.storage), value(size), value(out.storage)};
  return run("executorch_prim::et_view.default", &values);
}

TEST(View, SharesTheMemory) {
  const Floats self({2, 6}, 12);
  const Floats out({1, 1, 1}, 0);
  ASSERT_TRUE(view(self, {2, 3, 2}, out).ok());
  EXPECT_EQ(out.storage.tensor.data, self.storage.tensor.data);
  EXPECT_EQ(out.sizes(), std::vector<int64_t>({2, 3, 2}));
  EXPECT_EQ(out.storage.strides[0], 6);
}

TEST(View, WorksOutOneOpenSize) {
  const Floats out({1, 1}, 0);
  ASSERT_TRUE(view(Floats({2, 6}, 12), {4, -1}, out).ok());
  EXPECT_EQ(out.sizes(), std::vector<int64_t>({4, 3}));
}

TEST(View, RefusesSizesThatDoNotFit) {
  const Floats self({2, 6}, 12);
  const Floats out({1, 1}, 0);
  EXPECT_STREQ(view(self, {5, 2}, out).message(),
               "a tensor float32 [2, 6] cannot be viewed as [5, 2] in a tensor float32 [1, 1]");
  EXPECT_FALSE(view(self, {-1, -1}, out).ok());
  EXPECT_FALSE(view(self, {-2, -6}, out).ok());
  EXPECT_FALSE(view(self, {5, -1}, out).ok());
  EXPECT_FALSE(view(self, {12}, out).ok());
  EXPECT_FALSE(view(self, {INT64_MAX, INT64_MAX}, out).ok());
  EXPECT_FALSE(view(self, std::vector<int64_t>(40, 1), out).ok());
  EXPECT_EQ(out.sizes(), std::vector<int64_t>({1, 1}));
}

TEST(View, EmptyTensorsHaveNoOpenSize) {
  const Floats self({0, 4}, 0);
  const Floats out({1, 1}, 0);
  EXPECT_FALSE(view(self, {0, -1}, out).ok());
  EXPECT_TRUE(view(self, {2, 0}, out).ok());
}

TEST(View, RefusesAnotherDtype) {
  Floats self({4}, 4);
  self.storage.tensor.dtype = PTERON_INT32;
  EXPECT_FALSE(view(self, {4}, Floats({1}, 0)).ok());
}

TEST(View, RefusesALayoutThatWouldReorder) {
  Floats self({2, 3}, 6);
  const int64_t sizes[] = {2, 3};
  const uint8_t order[] = {1, 0};
  self.storage.set_shape(PTERON_FLOAT32, 2, sizes, order);
  EXPECT_FALSE(view(self, {6}, Floats({1}, 0)).ok());
}

TEST(View, KeepsConstantsReadOnly) {
  Floats self({4}, 4);
  self.storage.tensor.flags = PTERON_TENSOR_READ_ONLY;
  const Floats out({1, 1}, 0);
  ASSERT_TRUE(view(self, {2, 2}, out).ok());
  EXPECT_NE(out.storage.tensor.flags & PTERON_TENSOR_READ_ONLY, 0u);
  ASSERT_TRUE(view(Floats({4}, 4), {2, 2}, out).ok());
  EXPECT_EQ(out.storage.tensor.flags & PTERON_TENSOR_READ_ONLY, 0u);
}

TEST(View, CanGrowAgainAfterASmallerRun) {
  const Floats out({1}, 0);
  ASSERT_TRUE(view(Floats({2}, 2), {2}, out).ok());
  EXPECT_TRUE(view(Floats({8}, 8), {8}, out).ok());
}

}  // namespace
}  // namespace pteron::runtime
