// pteron/kernel.h: typed functions as records.

#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/test_call.h"

namespace pteron::kernels::testing {
namespace {

// What the functions below were called with.
struct Seen {
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::string text;
  size_t integers = 0, reals = 0, booleans = 0, tensors = 0, optional_tensors = 0;
  bool has_optional = false, has_missing = false;
  double scalar = 0;
} seen;

int every_kind(KernelContext&, const Tensor& self, std::optional<Tensor> present, std::optional<Tensor> missing,
               Scalar scalar, int64_t integer, double real, bool boolean, std::string_view text, IntList integers,
               DoubleList reals, BoolList booleans, TensorList tensors, OptionalTensorList optional_tensors,
               std::optional<int64_t> no_integer, Tensor& out) {
  seen = {integer,
          real,
          boolean,
          std::string(text),
          integers.size(),
          reals.size(),
          booleans.size(),
          tensors.size(),
          optional_tensors.size(),
          present.has_value(),
          !missing.has_value() && !no_integer.has_value() && !optional_tensors[1].has_value(),
          scalar.to_double()};
  out.data<float>()[0] = self.data<float>()[0];
  return PTERON_OK;
}

constexpr pteron_kernel kEveryKind = PTERON_KERNEL(
    "test::every_kind.out",
    "(Tensor self, Tensor? a, Tensor? b, Scalar c, int d, float e, bool f, str g, int[] h, float[] i, bool[3] j, "
    "Tensor[] k, Tensor?[] l, int? m, *, Tensor(a!) out) -> Tensor(a!)",
    (Dtypes<>), every_kind);

TEST(Record, PassesEveryKindOfArgument) {
  TensorBox in(PTERON_FLOAT32, {1}, {1}), out(PTERON_FLOAT32, {1}, {1});
  write_element(PTERON_FLOAT32, in.element(0), 7, 7);
  Arguments arguments;
  arguments.tensor(in);
  arguments.tensor(in);
  arguments.none();
  arguments.boolean(true);
  arguments.integer(-3);
  arguments.real(0.5);
  arguments.boolean(true);
  arguments.string("sum");
  arguments.integers({1, 2});
  arguments.reals({1, 2, 3});
  arguments.booleans({1});
  arguments.tensors({in.raw()}, false);
  arguments.tensors({in.raw(), nullptr}, true);
  arguments.none();
  arguments.tensor(out);
  const Outcome outcome = call(kEveryKind, arguments);
  ASSERT_EQ(outcome.code, PTERON_OK) << outcome.failure;
  EXPECT_EQ(seen.integer, -3);
  EXPECT_EQ(seen.real, 0.5);
  EXPECT_TRUE(seen.boolean);
  EXPECT_EQ(seen.text, "sum");
  EXPECT_EQ(seen.integers, 2u);
  EXPECT_EQ(seen.reals, 3u);
  EXPECT_EQ(seen.booleans, 1u);
  EXPECT_EQ(seen.tensors, 1u);
  EXPECT_EQ(seen.optional_tensors, 2u);
  EXPECT_TRUE(seen.has_optional);
  EXPECT_TRUE(seen.has_missing);
  EXPECT_EQ(seen.scalar, 1);
  EXPECT_EQ(read_real(PTERON_FLOAT32, out.element(0)), 7);
}

int one_integer(KernelContext&, int64_t, Tensor&) {
  return PTERON_OK;
}
constexpr pteron_kernel kOneInteger =
    PTERON_KERNEL("test::one_integer.out", "(int a, *, Tensor(a!) out) -> Tensor(a!)", (Dtypes<>), one_integer);

TEST(Record, NamesTheArgumentOfAWrongKind) {
  TensorBox out(PTERON_FLOAT32, {1}, {1});
  Arguments arguments;
  arguments.string("3");
  arguments.tensor(out);
  const Outcome outcome = call(kOneInteger, arguments);
  EXPECT_EQ(outcome.code, PTERON_KERNEL_FAILED);
  EXPECT_NE(outcome.failure.find("argument 0 is of kind string, expected int"), std::string::npos) << outcome.failure;
}

TEST(Record, CountsTheArguments) {
  Arguments arguments;
  arguments.integer(3);
  const Outcome outcome = call(kOneInteger, arguments);
  EXPECT_EQ(outcome.code, PTERON_KERNEL_FAILED);
  EXPECT_NE(outcome.failure.find("got 1 arguments, expected 2"), std::string::npos) << outcome.failure;
}

void throwing(KernelContext&, int64_t what, Tensor&) {
  if (what == 0) throw std::bad_alloc();
  if (what == 1) throw std::runtime_error("the sensor is off");
  if (what == 2) throw 5;
}
constexpr pteron_kernel kThrowing =
    PTERON_KERNEL("test::throwing.out", "(int a, *, Tensor(a!) out) -> Tensor(a!)", (Dtypes<>), throwing);

Outcome call_throwing(int64_t what) {
  TensorBox out(PTERON_FLOAT32, {1}, {1});
  Arguments arguments;
  arguments.integer(what);
  arguments.tensor(out);
  return call(kThrowing, arguments);
}

TEST(Record, ReportsShortMemoryAsSuch) {
  EXPECT_EQ(call_throwing(0).code, PTERON_OUT_OF_MEMORY);
}

TEST(Record, KeepsTheTextOfAnException) {
  const Outcome outcome = call_throwing(1);
  EXPECT_EQ(outcome.code, PTERON_KERNEL_FAILED);
  EXPECT_EQ(outcome.failure, "the sensor is off");
}

TEST(Record, CatchesWhateverIsThrown) {
  EXPECT_EQ(call_throwing(2).code, PTERON_KERNEL_FAILED);
}

TEST(Record, TakesAFunctionWithoutAResultForSuccess) {
  EXPECT_EQ(call_throwing(3).code, PTERON_OK);
}

struct Counted {
  ~Counted() { ++destroyed; }
  int64_t value = 0;
  static int destroyed;
};
int Counted::destroyed = 0;

int use_state(KernelContext& context, int64_t, Tensor& out) {
  out.data<float>()[0] = static_cast<float>(context.state<Counted>()->value);
  return PTERON_OK;
}
int make_state(Counted** state, KernelContext& context, int64_t a, Tensor&) {
  *state = context.make<Counted>();
  if (*state == nullptr) return PTERON_OUT_OF_MEMORY;
  (*state)->value = 2 * a;
  return PTERON_OK;
}
constexpr pteron_kernel kWithState = PTERON_PREPARED_KERNEL(
    "test::with_state.out", "(int a, *, Tensor(a!) out) -> Tensor(a!)", (Dtypes<>), use_state, make_state);

TEST(Record, HandsWhatWasPreparedToTheKernelAndDestroysIt) {
  TensorBox out(PTERON_FLOAT32, {1}, {1});
  Arguments arguments;
  arguments.integer(21);
  arguments.tensor(out);
  Counted::destroyed = 0;
  ASSERT_EQ(call(kWithState, arguments).code, PTERON_OK);
  EXPECT_EQ(read_real(PTERON_FLOAT32, out.element(0)), 42);
  EXPECT_EQ(Counted::destroyed, 1);
}

// A signature that does not fit its schema does not compile; this is the test that the macro makes.
using ::pteron::kernel::detail::schema_fits;
static_assert(schema_fits("(Tensor self, int[2] size=[1, 2], *, Tensor(a!) out) -> Tensor(a!)", "tnw"));
static_assert(schema_fits("(SymInt[]? a, float? b=None, str c=\"none\", bool[3] d, Tensor(a!)[] out) -> ()", "NFcml"));
static_assert(!schema_fits("(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "tt"));
static_assert(!schema_fits("(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "t"));
static_assert(!schema_fits("(Tensor self) -> Tensor", "tw"));
static_assert(!schema_fits("(Tensor? self) -> Tensor", "t"));
static_assert(!schema_fits("(Storage self) -> Tensor", "t"));

}  // namespace
}  // namespace pteron::kernels::testing
