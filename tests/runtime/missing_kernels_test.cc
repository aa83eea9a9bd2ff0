// What is said when kernels are missing: a program of its own, since a process that loaded the kernels keeps them.
#include <gtest/gtest.h>

#include <memory>

#include "case_runner.h"

namespace pteron_tests {
namespace {

TEST(Plan, NamesEveryOperatorWithoutAKernel) {
  pteron_program* program = nullptr;
  must(pteron::Status::adopt(pteron_program_load_file(program_path("conv.pte").c_str(), nullptr, &program)));
  const std::unique_ptr<pteron_program, void (*)(pteron_program*)> owner(program, pteron_program_release);
  pteron_plan_options options{};
  options.struct_size = sizeof options;
  options.no_auto_load = 1;
  pteron_plan* plan = nullptr;
  expect_failure(pteron::Status::adopt(pteron_plan_create(program, "forward", &options, &plan)),
                 PTERON_MISSING_OPERATOR,
                 {"3 operators", "aten::convolution.out (float32", "aten::max_pool2d_with_indices.out (float32, int64)",
                  "aten::relu.out (float32)"});
}

}  // namespace
}  // namespace pteron_tests
