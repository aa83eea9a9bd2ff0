#include "runtime/constant_views.h"

#include <gtest/gtest.h>

namespace pteron::runtime {
namespace {

using format::Opcode;
using format::Storage;

constexpr pteron_kernel kernel_named(const char* name) {
  return {sizeof(pteron_kernel), name, "", nullptr, 0, 0, nullptr, nullptr, nullptr};
}
constexpr pteron_kernel kPermute = kernel_named("aten::permute_copy.out");
constexpr pteron_kernel kMultiply = kernel_named("aten::mm.out");
constexpr pteron_kernel kAdd = kernel_named("aten::add.out");

// input [4, 3] times the transpose of weight [2, 3]: permute_copy(weight, [1, 0]) -> turned, mm(input, turned) -> out.
struct LinearGraph {
  explicit LinearGraph(const pteron_kernel* reader) {
    input = tensor(Storage::kPlanned, {4, 3});
    weight = tensor(Storage::kConstant, {2, 3});
    graph.tensors[1].data = reinterpret_cast<const uint8_t*>(data);
    turned = tensor(Storage::kPlanned, {3, 2});
    out = tensor(Storage::kPlanned, {4, 2});
    const int32_t one = integer(1);
    const int32_t zero = integer(0);
    format::Value dims;
    dims.kind = PTERON_KIND_INT_LIST;
    dims.items = {one, zero};
    graph.values.push_back(dims);
    const auto dims_index = static_cast<int32_t>(graph.values.size()) - 1;
    step(&kPermute, {weight, dims_index, turned});
    step(reader, {input, turned, out});
    graph.inputs = {input};
    graph.outputs = {out};
  }

  int32_t tensor(Storage storage, std::vector<int64_t> sizes) {
    format::Tensor tensor;
    tensor.dtype = PTERON_FLOAT32;
    tensor.storage = storage;
    tensor.sizes = std::move(sizes);
    tensor.dim_order = {0, 1};
    graph.tensors.push_back(tensor);
    format::Value value;
    value.kind = PTERON_KIND_TENSOR;
    value.tensor = static_cast<int32_t>(graph.tensors.size()) - 1;
    graph.values.push_back(value);
    return static_cast<int32_t>(graph.values.size()) - 1;
  }
  int32_t integer(int64_t number) {
    format::Value value;
    value.kind = PTERON_KIND_INT;
    value.as_int = number;
    graph.values.push_back(value);
    return static_cast<int32_t>(graph.values.size()) - 1;
  }
  void step(const pteron_kernel* kernel, std::vector<int32_t> args) {
    Step step;
    step.opcode = Opcode::kKernel;
    step.kernel = kernel;
    step.access.assign(args.size(), Access::kRead);
    step.access.back() = Access::kWrite;
    step.args = std::move(args);
    graph.steps.push_back(std::move(step));
    graph.sources.emplace_back();
  }

  float data[6] = {0, 1, 2, 3, 4, 5};
  Graph graph;
  int32_t input, weight, turned, out;
};

TEST(ConstantViews, APermutedWeightBecomesAViewOfTheSameBytes) {
  LinearGraph linear(&kMultiply);
  view_permuted_constants(linear.graph);
  const format::Tensor& turned = linear.graph.tensors[2];
  EXPECT_EQ(turned.storage, Storage::kConstant);
  EXPECT_EQ(turned.data, linear.graph.tensors[1].data);
  EXPECT_EQ(turned.dim_order, (std::vector<uint8_t>{1, 0}));
}

TEST(ConstantViews, TheStepIsTakenOut) {
  LinearGraph linear(&kMultiply);
  view_permuted_constants(linear.graph);
  ASSERT_EQ(linear.graph.steps.size(), 1u);
  EXPECT_EQ(linear.graph.steps[0].kernel, &kMultiply);
}

TEST(ConstantViews, OtherReadersKeepTheCopy) {
  LinearGraph linear(&kAdd);
  view_permuted_constants(linear.graph);
  EXPECT_EQ(linear.graph.steps.size(), 2u);
  EXPECT_EQ(linear.graph.tensors[2].storage, Storage::kPlanned);
}

TEST(ConstantViews, WhatIsNoConstantStays) {
  LinearGraph linear(&kMultiply);
  linear.graph.tensors[1].storage = Storage::kPlannedInitialised;
  view_permuted_constants(linear.graph);
  EXPECT_EQ(linear.graph.steps.size(), 2u);
}

TEST(ConstantViews, AResultThatIsAnOutputStays) {
  LinearGraph linear(&kMultiply);
  linear.graph.outputs.push_back(linear.turned);
  view_permuted_constants(linear.graph);
  EXPECT_EQ(linear.graph.steps.size(), 2u);
}

TEST(ConstantViews, JumpsGoToTheStepThatFollowsARemovedOne) {
  LinearGraph linear(&kMultiply);
  Step jump;
  jump.opcode = Opcode::kJumpFalse;
  jump.operand = 0;  // the permutation
  format::Value condition;
  condition.kind = PTERON_KIND_BOOL;
  linear.graph.values.push_back(condition);
  jump.target = static_cast<int32_t>(linear.graph.values.size()) - 1;
  linear.graph.steps.push_back(jump);
  linear.graph.sources.emplace_back();
  view_permuted_constants(linear.graph);
  ASSERT_EQ(linear.graph.steps.size(), 2u);
  EXPECT_EQ(linear.graph.steps[1].operand, 0);
}

}  // namespace
}  // namespace pteron::runtime
