#include "kernels/table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/test_call.h"
#include "runtime/schema.h"

namespace pteron::kernels {
namespace {

TEST(Table, NamesAreUnique) {
  std::set<std::string> names;
  for (size_t i = 0; i < kRowCount; ++i) EXPECT_TRUE(names.insert(kRows[i]->name).second) << kRows[i]->name;
}

TEST(Table, EverySchemaParsesAsTheRuntimeReadsIt) {
  for (size_t i = 0; i < kRowCount; ++i) {
    const auto schema = runtime::parse_schema(kRows[i]->schema);
    ASSERT_TRUE(schema.ok()) << kRows[i]->name << ": " << schema.status().message();
  }
}

TEST(Table, EveryTensorArgumentHasADtypeMask) {
  for (size_t i = 0; i < kRowCount; ++i) {
    const auto schema = runtime::parse_schema(kRows[i]->schema);
    ASSERT_TRUE(schema.ok());
    if (kRows[i]->dtypes == nullptr || kRows[i]->dtypes[0] == 0) continue;
    size_t tensors = 0;
    for (const auto& argument : schema->arguments) {
      tensors += argument.type == runtime::ArgumentType::kTensor ||
                 argument.type == runtime::ArgumentType::kTensorList ||
                 argument.type == runtime::ArgumentType::kOptionalTensorList;
    }
    for (size_t mask = 0; mask < tensors; ++mask) EXPECT_NE(kRows[i]->dtypes[mask], 0u) << kRows[i]->name;
    EXPECT_EQ(kRows[i]->dtypes[tensors], 0u) << kRows[i]->name;
  }
}

TEST(Table, EveryOperatorRefusesMissingArguments) {
  for (size_t i = 0; i < kRowCount; ++i) {
    const testing::Outcome outcome = testing::call(*kRows[i], testing::Arguments());
    EXPECT_EQ(outcome.code, PTERON_KERNEL_FAILED) << kRows[i]->name;
    EXPECT_NE(outcome.failure.find("got 0 arguments"), std::string::npos) << kRows[i]->name;
  }
}

TEST(Table, EveryOperatorRefusesArgumentsOfAnotherKind) {
  for (size_t i = 0; i < kRowCount; ++i) {
    const auto schema = runtime::parse_schema(kRows[i]->schema);
    ASSERT_TRUE(schema.ok());
    testing::Arguments arguments;  // strings everywhere: no operator takes only those
    for (size_t k = 0; k < schema->arguments.size(); ++k) arguments.string("x");
    EXPECT_EQ(testing::call(*kRows[i], arguments).code, PTERON_KERNEL_FAILED) << kRows[i]->name;
  }
}

}  // namespace
}  // namespace pteron::kernels
