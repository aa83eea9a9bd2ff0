#include "base/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace pteron {
namespace {

constexpr const char* kName = "PTERON_ENVIRONMENT_TEST";

class Environment : public testing::Test {
 protected:
  void TearDown() override { unsetenv(kName); }
};

TEST_F(Environment, EmptyIsUnset) {
  EXPECT_EQ(environment(kName), nullptr);
  setenv(kName, "", 1);
  EXPECT_EQ(environment(kName), nullptr);
  EXPECT_EQ(trusted_environment(kName), nullptr);
  setenv(kName, "x", 1);
  EXPECT_STREQ(environment(kName), "x");
  EXPECT_STREQ(trusted_environment(kName), "x");
}

TEST_F(Environment, NumbersOutsideTheRangeAreIgnored) {
  EXPECT_EQ(environment_number(kName, 1, 8, 5), 5);
  for (const char* text : {"0", "9", "3x", "x", "-1", "99999999999999999999"}) {
    setenv(kName, text, 1);
    EXPECT_EQ(environment_number(kName, 1, 8, 5), 5) << text;
  }
  setenv(kName, "3", 1);
  EXPECT_EQ(environment_number(kName, 1, 8, 5), 3);
}

TEST_F(Environment, PathListsLoseEmptyParts) {
  EXPECT_EQ(split_path_list("/a::/b:"), std::vector<std::string>({"/a", "/b"}));
  EXPECT_TRUE(split_path_list("").empty());
}

}  // namespace
}  // namespace pteron
