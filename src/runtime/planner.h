// Memory planning: where each tensor of a graph lives during a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pteron/c/method.h"
#include "pteron/result.h"
#include "runtime/graph.h"

namespace pteron::runtime {

// Where one tensor finds its bytes.
enum class Place : uint8_t {
  kConstant,  // in the program
  kArena,     // at `offset` in the method's arena
  kCaller,    // an input used in place: whatever the caller set
  kView,      // wherever a step (et_view) points it to
};

struct Placement {
  Place place = Place::kConstant;
  uint64_t offset = 0;  // kArena
  bool state = false;   // kArena: keeps its content from run to run
  int32_t root = -1;    // the tensor whose memory this one is a view of, or itself
};

struct MemoryPlan {
  pteron_planner planner = PTERON_PLANNER_OWN;
  std::vector<Placement> placements;  // one per tensor of the graph
  uint64_t arena_bytes = 0;
};

// The steps between which a tensor's memory holds something that is still needed: from -1 (before the first step) to
// steps.size() (after the last), both included. `first` > `last` when it is never touched.
struct Lifetime {
  int64_t first = 0;
  int64_t last = -1;
  bool state = false;  // read before it is written: its content comes from an earlier run, or is its initial value
};

// Lifetimes of all tensors. Tensors that may share memory by intention (views) get the union of theirs. A backward jump
// stretches whatever is alive inside the loop over the whole loop, so that one interval is enough for any control flow.
std::vector<Lifetime> tensor_lifetimes(const Graph& graph);

// Plans with the planner asked for. PTERON_PLANNER_FILE is refused when the file's plan lets two values that are alive
// at once overlap, or leaves a value without memory.
Result<MemoryPlan> plan_memory(const Graph& graph, pteron_planner planner);

}  // namespace pteron::runtime
