#include "runtime/planner.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pteron::runtime {
namespace {

using format::Opcode;
using format::Storage;

constexpr int64_t kElements = 16;  // float32: 64 bytes, one unit of the planner's alignment
constexpr uint64_t kBytes = kElements * 4;

// A graph of tensors of 64 bytes each, built value by value and step by step; value i is tensor i.
class GraphMaker {
 public:
  int32_t tensor(Storage storage, uint64_t offset = 0) {
    format::Tensor tensor;
    tensor.dtype = PTERON_FLOAT32;
    tensor.storage = storage;
    tensor.memory_id = 1;
    tensor.memory_offset = offset;
    tensor.bytes = kBytes;
    tensor.sizes = {kElements};
    tensor.dim_order = {0};
    graph.tensors.push_back(tensor);
    format::Value value;
    value.kind = PTERON_KIND_TENSOR;
    value.tensor = static_cast<int32_t>(graph.tensors.size()) - 1;
    graph.values.push_back(value);
    return value.tensor;
  }
  int32_t boolean() {
    format::Value value;
    value.kind = PTERON_KIND_BOOL;
    graph.values.push_back(value);
    return static_cast<int32_t>(graph.values.size()) - 1;
  }
  void kernel(std::vector<int32_t> reads, std::vector<int32_t> writes) {
    Step step;
    step.opcode = Opcode::kKernel;
    step.kernel = &kAny;
    for (const int32_t read : reads) add(step, read, Access::kRead);
    for (const int32_t write : writes) add(step, write, Access::kWrite);
    push(step);
  }
  void view(int32_t self, int32_t size, int32_t out) {
    Step step;
    step.opcode = Opcode::kKernel;
    step.kernel = &kView;
    add(step, self, Access::kRead);
    add(step, size, Access::kRead);
    add(step, out, Access::kWrite);
    push(step);
  }
  void delegate(std::vector<int32_t> args) {
    Step step;
    step.opcode = Opcode::kDelegate;
    for (const int32_t arg : args) add(step, arg, Access::kReadWrite);
    push(step);
  }
  void jump_if_false(int32_t condition, int32_t destination) {
    Step step;
    step.opcode = Opcode::kJumpFalse;
    step.target = condition;
    step.operand = destination;
    push(step);
  }

  Graph graph;

 private:
  static constexpr pteron_kernel kAny{sizeof(pteron_kernel), "test::any", "", nullptr, 0, 0, nullptr, nullptr, nullptr};
  static constexpr pteron_kernel kView{
      sizeof(pteron_kernel), "executorch_prim::et_view.default", "", nullptr, 0, 0, nullptr, nullptr, nullptr};

  static void add(Step& step, int32_t value, Access access) {
    step.args.push_back(value);
    step.access.push_back(access);
  }
  void push(Step& step) {
    step.instruction = static_cast<int32_t>(graph.steps.size());
    graph.steps.push_back(step);
    graph.sources.emplace_back();
  }
};

MemoryPlan planned(const Graph& graph, pteron_planner planner) {
  Result<MemoryPlan> plan = plan_memory(graph, planner);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan.ok() ? std::move(plan).value() : MemoryPlan();
}

// input -> a -> b -> c(output), each read only by the next.
TEST(Planner, ReusesMemoryOfValuesThatAreNoLongerNeeded) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kPlanned, 0);
  const int32_t a = maker.tensor(Storage::kPlanned, 64);
  const int32_t b = maker.tensor(Storage::kPlanned, 128);
  const int32_t c = maker.tensor(Storage::kPlanned, 192);
  maker.kernel({input}, {a});
  maker.kernel({a}, {b});
  maker.kernel({b}, {c});
  maker.graph.inputs = {input};
  maker.graph.outputs = {c};
  const MemoryPlan plan = planned(maker.graph, PTERON_PLANNER_OWN);
  EXPECT_EQ(plan.placements[static_cast<size_t>(a)].offset, plan.placements[static_cast<size_t>(c)].offset);
  EXPECT_EQ(plan.arena_bytes, 3 * kBytes);
}

TEST(Planner, KeepsInputsForTheNextRun) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kPlanned, 0);
  const int32_t a = maker.tensor(Storage::kPlanned, 64);
  const int32_t b = maker.tensor(Storage::kPlanned, 0);  // the file reuses the input's memory
  maker.kernel({input}, {a});
  maker.kernel({a}, {b});
  maker.graph.inputs = {input};
  maker.graph.outputs = {b};
  maker.graph.buffer_bytes = {128};
  const MemoryPlan plan = planned(maker.graph, PTERON_PLANNER_AUTO);
  EXPECT_EQ(plan.planner, PTERON_PLANNER_OWN);
  EXPECT_NE(plan.placements[static_cast<size_t>(input)].offset, plan.placements[static_cast<size_t>(b)].offset);
}

TEST(Planner, TakesTheFilesPlanWhenItIsSound) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kPlanned, 128);
  const int32_t a = maker.tensor(Storage::kPlanned, 64);
  const int32_t b = maker.tensor(Storage::kPlanned, 0);
  maker.kernel({input}, {a});
  maker.kernel({a}, {b});
  maker.graph.inputs = {input};
  maker.graph.outputs = {b};
  maker.graph.buffer_bytes = {192};
  const MemoryPlan plan = planned(maker.graph, PTERON_PLANNER_AUTO);
  EXPECT_EQ(plan.planner, PTERON_PLANNER_FILE);
  EXPECT_EQ(plan.placements[static_cast<size_t>(a)].offset, 64u);
  EXPECT_EQ(plan.arena_bytes, 192u);
}

TEST(Planner, RefusesAFilePlanThatOverlapsLiveValues) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kPlanned, 128);
  const int32_t a = maker.tensor(Storage::kPlanned, 0);
  const int32_t b = maker.tensor(Storage::kPlanned, 32);  // over the second half of a
  const int32_t c = maker.tensor(Storage::kPlanned, 192);
  maker.kernel({input}, {a});
  maker.kernel({input}, {b});
  maker.kernel({a, b}, {c});
  maker.graph.inputs = {input};
  maker.graph.outputs = {c};
  maker.graph.buffer_bytes = {256};
  Result<MemoryPlan> plan = plan_memory(maker.graph, PTERON_PLANNER_FILE);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), PTERON_INVALID_FILE);
  EXPECT_NE(std::strstr(plan.status().message(), "tensors 1 and 2"), nullptr) << plan.status().message();
}

TEST(Planner, FindsViewsThatNoInstructionMakes) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kPlanned, 0);
  const int32_t a = maker.tensor(Storage::kPlanned, 64);
  const int32_t view_of_a = maker.tensor(Storage::kPlanned, 64);  // only ever read
  const int32_t b = maker.tensor(Storage::kPlanned, 128);
  const int32_t c = maker.tensor(Storage::kPlanned, 192);
  maker.kernel({input}, {a});
  maker.kernel({input}, {b});
  maker.kernel({view_of_a, b}, {c});
  maker.graph.inputs = {input};
  maker.graph.outputs = {c};
  const MemoryPlan plan = planned(maker.graph, PTERON_PLANNER_OWN);
  EXPECT_EQ(plan.placements[static_cast<size_t>(view_of_a)].root, a);
  EXPECT_EQ(plan.placements[static_cast<size_t>(view_of_a)].offset, plan.placements[static_cast<size_t>(a)].offset);
  EXPECT_NE(plan.placements[static_cast<size_t>(b)].offset, plan.placements[static_cast<size_t>(a)].offset);
}

TEST(Planner, TheLatestWriterIsWhatASilentViewShows) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kPlanned, 0);
  const int32_t early = maker.tensor(Storage::kPlanned, 64);
  const int32_t middle = maker.tensor(Storage::kPlanned, 128);
  const int32_t late = maker.tensor(Storage::kPlanned, 64);
  const int32_t view = maker.tensor(Storage::kPlanned, 64);
  const int32_t out = maker.tensor(Storage::kPlanned, 128);
  maker.kernel({input}, {early});
  maker.kernel({early}, {middle});
  maker.kernel({middle}, {late});
  maker.kernel({view}, {out});
  maker.graph.inputs = {input};
  maker.graph.outputs = {out};
  EXPECT_EQ(planned(maker.graph, PTERON_PLANNER_OWN).placements[static_cast<size_t>(view)].root, late);
}

TEST(Planner, ViewsKeepWhatTheyShowAlive) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kPlanned);
  const int32_t a = maker.tensor(Storage::kPlanned, 64);
  const int32_t view = maker.tensor(Storage::kPlanned, 64);
  const int32_t b = maker.tensor(Storage::kPlanned, 128);
  const int32_t c = maker.tensor(Storage::kPlanned, 192);
  const int32_t size = maker.boolean();
  maker.kernel({input}, {a});
  maker.view(a, size, view);
  maker.kernel({input}, {b});
  maker.kernel({view, b}, {c});
  maker.graph.inputs = {input};
  maker.graph.outputs = {c};
  const std::vector<Lifetime> lifetimes = tensor_lifetimes(maker.graph);
  EXPECT_EQ(lifetimes[static_cast<size_t>(a)].last, 3);
  EXPECT_EQ(planned(maker.graph, PTERON_PLANNER_OWN).placements[static_cast<size_t>(view)].place, Place::kView);
}

TEST(Planner, WhatIsAliveInsideALoopStaysForTheWholeLoop) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kPlanned);
  const int32_t carried = maker.tensor(Storage::kPlanned, 64);
  const int32_t inner = maker.tensor(Storage::kPlanned, 128);
  const int32_t out = maker.tensor(Storage::kPlanned, 192);
  const int32_t again = maker.boolean();
  maker.kernel({input}, {carried});
  maker.kernel({carried}, {inner});  // step 1: the loop starts here and reads `carried` in each round
  maker.kernel({inner}, {out});
  maker.jump_if_false(again, 1);
  maker.graph.inputs = {input};
  maker.graph.outputs = {out};
  const std::vector<Lifetime> lifetimes = tensor_lifetimes(maker.graph);
  EXPECT_EQ(lifetimes[static_cast<size_t>(carried)].last, 3);
  EXPECT_EQ(lifetimes[static_cast<size_t>(inner)].first, 1);
  EXPECT_EQ(lifetimes[static_cast<size_t>(inner)].last, 3);
}

TEST(Planner, AValueReadBeforeItIsWrittenIsState) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kPlanned);
  const int32_t buffer = maker.tensor(Storage::kPlanned, 64);
  const int32_t out = maker.tensor(Storage::kPlanned, 128);
  maker.kernel({input, buffer}, {out});
  maker.kernel({out}, {buffer});
  maker.graph.inputs = {input};
  maker.graph.outputs = {out};
  const MemoryPlan plan = planned(maker.graph, PTERON_PLANNER_OWN);
  EXPECT_TRUE(plan.placements[static_cast<size_t>(buffer)].state);
  EXPECT_FALSE(plan.placements[static_cast<size_t>(out)].state);
}

TEST(Planner, WhatADelegateTouchesFirstIsTakenForItsOutput) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kPlanned);
  const int32_t out = maker.tensor(Storage::kPlanned, 64);
  maker.delegate({input, out});
  maker.graph.inputs = {input};
  maker.graph.outputs = {out};
  EXPECT_FALSE(planned(maker.graph, PTERON_PLANNER_OWN).placements[static_cast<size_t>(out)].state);
}

TEST(Planner, InputsWithoutAPlanStayWithTheCaller) {
  GraphMaker maker;
  const int32_t input = maker.tensor(Storage::kUnplanned);
  const int32_t out = maker.tensor(Storage::kUnplanned);
  maker.kernel({input}, {out});
  maker.graph.inputs = {input};
  maker.graph.outputs = {out};
  const MemoryPlan plan = planned(maker.graph, PTERON_PLANNER_AUTO);
  EXPECT_EQ(plan.placements[static_cast<size_t>(input)].place, Place::kCaller);
  EXPECT_EQ(plan.placements[static_cast<size_t>(out)].place, Place::kArena);
}

}  // namespace
}  // namespace pteron::runtime
