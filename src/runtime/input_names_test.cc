#include "runtime/input_names.h"

#include <gtest/gtest.h>

namespace pteron::runtime {
namespace {

using Names = std::vector<std::string>;

constexpr char kLeaf[] = R"({"type": null, "context": null, "children_spec": []})";

std::string call(const std::string& args, const std::string& keys, const std::string& values) {
  return R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [)"
         R"({"type": "builtins.tuple", "context": "null", "children_spec": [)" +
         args + R"(]}, {"type": "builtins.dict", "context": ")" + keys + R"(", "children_spec": [)" + values + "]}]}]";
}

TEST(InputNames, PositionalArgumentsHaveNone) {
  EXPECT_EQ(input_names(call(std::string(kLeaf) + ", " + kLeaf, "[]", ""), 2), Names({"", ""}));
}

TEST(InputNames, KeywordArgumentsHaveTheirs) {
  EXPECT_EQ(input_names(call(kLeaf, R"([\"scale\", \"bias\"])", std::string(kLeaf) + "," + kLeaf), 3),
            Names({"", "scale", "bias"}));
}

TEST(InputNames, NestedOnesAreJoined) {
  const std::string pair =
      R"({"type": "builtins.tuple", "context": "null", "children_spec": [)" + std::string(kLeaf) + "," + kLeaf + "]}";
  EXPECT_EQ(input_names(call("", R"([\"state\"])", pair), 2), Names({"state.0", "state.1"}));
}

TEST(InputNames, AnotherNumberOfLeavesGivesNone) {
  EXPECT_EQ(input_names(call("", R"([\"scale\"])", kLeaf), 2), Names({"", ""}));
}

TEST(InputNames, EmptyDescriptionGivesNone) {
  EXPECT_EQ(input_names("", 1), Names({""}));
}

TEST(InputNames, CutDescriptionGivesNone) {
  const std::string whole = call(kLeaf, R"([\"scale\"])", kLeaf);
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_EQ(input_names(whole.substr(0, size), 2), Names({"", ""}));
}

TEST(InputNames, DeepNestingGivesNone) {
  EXPECT_EQ(input_names(std::string(1 << 20, '['), 1), Names({""}));
}

}  // namespace
}  // namespace pteron::runtime
