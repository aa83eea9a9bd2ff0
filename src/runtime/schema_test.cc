#include "runtime/schema.h"

#include <gtest/gtest.h>

namespace pteron::runtime {
namespace {

Schema parsed(const char* text) {
  Result<Schema> schema = parse_schema(text);
  EXPECT_TRUE(schema.ok()) << schema.status().message();
  return schema ? std::move(*schema) : Schema();
}

// The arguments as text: "self:tensor out:tensor!".
std::string summary(const Schema& schema) {
  std::string text;
  for (const Argument& argument : schema.arguments) {
    text += (text.empty() ? "" : " | ") + argument.name + ":" + describe(argument) + (argument.written ? "!" : "");
  }
  return text;
}

TEST(Schema, ReadsTypes) {
  EXPECT_EQ(summary(parsed("(Tensor self, Scalar alpha, int n, SymInt m, float eps, bool flag, str mode, ScalarType t, "
                           "MemoryFormat f, Layout l, Device d) -> Tensor")),
            "self:tensor | alpha:int, double or bool | n:int | m:int | eps:double | flag:bool | mode:string | t:int | "
            "f:int | l:int | d:int");
}

TEST(Schema, ReadsLists) {
  EXPECT_EQ(summary(parsed("(int[] a, SymInt[2] b, float[] c, bool[3] d, Tensor[] e, Tensor?[] f) -> ()")),
            "a:int list | b:int list | c:double list | d:bool list | e:tensor list | f:optional tensor list");
}

TEST(Schema, ReadsOptionals) {
  EXPECT_EQ(summary(parsed("(Tensor? a, int? b, SymInt[]? c, int[1]? d, float? e, str? f, float[]? g) -> ()")),
            "a:optional tensor | b:optional int | c:optional int list | d:optional int list | e:optional double | "
            "f:optional string | g:optional double list");
}

TEST(Schema, ReadsDefaults) {
  EXPECT_EQ(summary(parsed("(int[2] stride=[], int[2] padding=[0, 1], str mode=\"a, b)\", float p=2., int n=-1, "
                           "ScalarType? dtype=None, bool b=False, *, Tensor(a!) out) -> Tensor(a!)")),
            "stride:int list | padding:int list | mode:string | p:double | n:int | dtype:optional int | b:bool | "
            "out:tensor!");
}

TEST(Schema, ReadsWhatIsWritten) {
  const Schema schema = parsed("(Tensor(a!) self, Tensor src, *, Tensor(b!)[] out) -> (Tensor(a!), Tensor(b!) values)");
  EXPECT_EQ(summary(schema), "self:tensor! | src:tensor | out:tensor list!");
  EXPECT_EQ(schema.returns, 2u);
  EXPECT_FALSE(schema.arguments[0].output);
  EXPECT_TRUE(schema.arguments[2].output);
}

TEST(Schema, SkipsTheNameBeforeTheParenthesis) {
  EXPECT_EQ(summary(parsed("aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")),
            "self:tensor | out:tensor!");
}

TEST(Schema, ReadsNoArguments) {
  EXPECT_TRUE(parsed("() -> Tensor").arguments.empty());
}

TEST(Schema, RefusesWhatIsNoSchema) {
  for (const char* text :
       {"", "Tensor self", "(Tensor self", "(Tensor self)", "(Tensor) -> Tensor", "(Thing self) -> Tensor",
        "(Tensor self,) -> Tensor", "(Tensor self Tensor other) -> Tensor", "(Tensor(a! self) -> Tensor",
        "(Tensor[ self) -> Tensor", "(int?[] a) -> Tensor", "(Scalar[] a) -> Tensor", "(int a=) -> Tensor",
        "(Tensor self) -> ", "(Tensor self) -> (Tensor", "(Tensor self) -> Tensor rest, more"}) {
    EXPECT_EQ(parse_schema(text).status().code(), PTERON_INVALID_ARGUMENT) << text;
  }
}

TEST(Schema, RefusalsSayWhere) {
  EXPECT_STREQ(parse_schema("(Tensor self, Thing x) -> Tensor").status().message(),
               "operator schema \"(Tensor self, Thing x) -> Tensor\": expected a type at character 20");
}

// ---- Calls

std::vector<CallArgument> call(std::initializer_list<CallArgument> arguments) {
  return arguments;
}

constexpr const char* kAdd = "(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
const CallArgument kTensor0 = {PTERON_KIND_TENSOR, 0};
const CallArgument kTensor1 = {PTERON_KIND_TENSOR, 1};
const CallArgument kInt2 = {PTERON_KIND_INT, 2};
const CallArgument kTensor3 = {PTERON_KIND_TENSOR, 3};

TEST(Call, AcceptsTheReturnedValueBehindTheArguments) {
  const Schema schema = parsed(kAdd);
  EXPECT_TRUE(check_call(schema, call({kTensor0, kTensor1, kInt2, kTensor3})).ok());
  EXPECT_TRUE(check_call(schema, call({kTensor0, kTensor1, kInt2, kTensor3, kTensor3})).ok());
}

TEST(Call, RefusesAnotherReturnedValue) {
  const Status status = check_call(parsed(kAdd), call({kTensor0, kTensor1, kInt2, kTensor3, kTensor1}));
  EXPECT_EQ(status.code(), PTERON_INVALID_FILE);
  EXPECT_STREQ(status.message(), "returned value 0 is value 1, expected value 3, which is the argument 'out'");
}

TEST(Call, AcceptsAListOfSeveralReturnedValues) {
  const Schema schema = parsed("(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))");
  const CallArgument list = {PTERON_KIND_TENSOR_LIST, 9};
  EXPECT_TRUE(check_call(schema, call({kTensor0, kTensor1, kTensor3, list})).ok());
  EXPECT_TRUE(check_call(schema, call({kTensor0, kTensor1, kTensor3, kTensor1, kTensor3})).ok());
  EXPECT_FALSE(check_call(schema, call({kTensor0, kTensor1, kTensor3, kTensor1})).ok());
}

TEST(Call, AcceptsTheListBehindAFilledList) {
  const CallArgument list = {PTERON_KIND_TENSOR_LIST, 9};
  EXPECT_TRUE(
      check_call(parsed("(Tensor self, int dim=0, *, Tensor(a!)[] out) -> ()"), call({kTensor0, kInt2, list, list}))
          .ok());
}

TEST(Call, RefusesTooFewAndTooManyArguments) {
  const Schema schema = parsed(kAdd);
  EXPECT_STREQ(check_call(schema, call({kTensor0})).message(),
               "the call has 1 arguments, expected 4 and the returned values");
  EXPECT_FALSE(check_call(schema, call({kTensor0, kTensor1, kInt2, kTensor3, kTensor3, kTensor3})).ok());
}

TEST(Call, RefusesAnotherKind) {
  EXPECT_STREQ(check_call(parsed(kAdd), call({kTensor0, kInt2, kInt2, kTensor3})).message(),
               "argument 1 'other' is int, expected tensor");
}

TEST(Call, NoneFitsOptionalArgumentsOnly) {
  const Schema schema = parsed("(Tensor? weight, Tensor self) -> Tensor");
  const CallArgument none = {PTERON_KIND_NONE, 5};
  EXPECT_TRUE(check_call(schema, call({none, kTensor0})).ok());
  EXPECT_FALSE(check_call(schema, call({kTensor0, none})).ok());
}

TEST(Call, NumbersConvertAsInPython) {
  const Schema schema = parsed("(int i, float f, bool b, Scalar s) -> ()");
  const Argument& integer = schema.arguments[0];
  const Argument& real = schema.arguments[1];
  const Argument& scalar = schema.arguments[3];
  EXPECT_TRUE(accepts(integer, PTERON_KIND_BOOL));
  EXPECT_FALSE(accepts(integer, PTERON_KIND_DOUBLE));
  EXPECT_TRUE(accepts(real, PTERON_KIND_INT));
  EXPECT_FALSE(accepts(schema.arguments[2], PTERON_KIND_DOUBLE));
  EXPECT_TRUE(accepts(scalar, PTERON_KIND_DOUBLE));
  EXPECT_FALSE(accepts(scalar, PTERON_KIND_STRING));
}

TEST(Call, ComputedScalarsFitScalarsOnly) {
  const Schema schema = parsed("(int i, Tensor t, int[] list) -> ()");
  EXPECT_TRUE(accepts(schema.arguments[0], kKindComputed));
  EXPECT_FALSE(accepts(schema.arguments[1], kKindComputed));
  EXPECT_FALSE(accepts(schema.arguments[2], kKindComputed));
}

TEST(Call, WrittenScalarsMayHoldAnyPlaceholder) {
  const Schema schema = parsed("(Scalar a, *, bool(a!) out) -> bool(a!)");
  EXPECT_TRUE(check_call(schema, call({kInt2, {PTERON_KIND_INT, 4}})).ok());
  EXPECT_TRUE(check_call(schema, call({kInt2, {PTERON_KIND_NONE, 4}})).ok());
  EXPECT_FALSE(check_call(schema, call({kInt2, kTensor0})).ok());
}

}  // namespace
}  // namespace pteron::runtime
