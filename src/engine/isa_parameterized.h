// Fixture for tests that run once on each instruction set this CPU supports.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "engine/test_random.h"

namespace pteron::engine {

class IsaParameterized : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    before_ = active_isa();
    ASSERT_TRUE(set_active_isa(GetParam()));
  }
  void TearDown() override { set_active_isa(before_); }

 private:
  Isa before_ = Isa::kScalar;
};

#define PTERON_FOR_EACH_ISA(Fixture)                                           \
  INSTANTIATE_TEST_SUITE_P(Isas, Fixture, testing::ValuesIn(supported_isas()), \
                           [](const auto& param) { return std::string(isa_name(param.param)); })

}  // namespace pteron::engine
