#include "engine/isa.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "engine/gemm_table.h"

namespace pteron::engine {
namespace {

TEST(IsaTest, TableOfEachIsaIsItsOwn) {
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (!isa_supported(isa)) continue;
    EXPECT_STREQ(gemm_table<float>(isa).isa, isa_name(isa));
    EXPECT_STREQ(gemm_table<double>(isa).isa, isa_name(isa));
  }
}

TEST(IsaTest, SwitchingChangesTheActiveOne) {
  const Isa before = active_isa();
  ASSERT_TRUE(set_active_isa(Isa::kScalar));
  EXPECT_EQ(active_isa(), Isa::kScalar);
  ASSERT_TRUE(set_active_isa(before));
  EXPECT_EQ(active_isa(), before);
}

// The variable is read once in a process: each case runs in a child that exits with the isa it chose, after printing
// the note.
int chosen_with(const char* value) {
  setenv("PTERON_ISA", value, 1);
  std::fprintf(stderr, "note=[%s]\n", isa_note());
  return static_cast<int>(active_isa());
}

class IsaEnvironmentTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(IsaEnvironmentTest, ScalarIsForced) {
  EXPECT_EXIT(std::exit(chosen_with("scalar")), testing::ExitedWithCode(0), "note=\\[\\]");
}

TEST_F(IsaEnvironmentTest, Avx2IsForced) {
  if (!isa_supported(Isa::kAvx2)) GTEST_SKIP() << "this CPU has no AVX2";
  EXPECT_EXIT(std::exit(chosen_with("avx2")), testing::ExitedWithCode(1), "note=\\[\\]");
}

TEST_F(IsaEnvironmentTest, UnknownNameIsExplained) {
  EXPECT_EXIT(std::exit(chosen_with("sse9") == 0 ? 0 : 7), testing::ExitedWithCode(isa_supported(Isa::kAvx2) ? 7 : 0),
              "PTERON_ISA=sse9 is not one of");
}

}  // namespace
}  // namespace pteron::engine
