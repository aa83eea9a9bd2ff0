#include "runtime/planner.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/checked.h"
#include "base/error.h"

namespace pteron::runtime {
namespace {

// Wide enough for any vector load and for packed tiles to start on a cache line.
constexpr uint64_t kAlignment = 64;

using format::Storage;

bool is_planned(const format::Tensor& tensor) {
  return tensor.storage == Storage::kPlanned || tensor.storage == Storage::kPlannedInitialised ||
         tensor.storage == Storage::kPlannedExternalInit;
}

bool has_initial_value(const format::Tensor& tensor) {
  return tensor.storage == Storage::kPlannedInitialised || tensor.storage == Storage::kPlannedExternalInit;
}

std::vector<bool> marked_tensors(const Graph& graph, const std::vector<int32_t>& value_indices) {
  std::vector<bool> marked(graph.tensors.size());
  auto mark = [&](const format::Value& value) {
    if (value.kind == PTERON_KIND_TENSOR) marked[static_cast<size_t>(value.tensor)] = true;
  };
  for (const int32_t index : value_indices) {
    const format::Value& value = graph.values[static_cast<size_t>(index)];
    mark(value);
    if (value.kind != PTERON_KIND_TENSOR_LIST && value.kind != PTERON_KIND_OPTIONAL_TENSOR_LIST) continue;
    for (const int32_t item : value.items) {
      if (item >= 0) mark(graph.values[static_cast<size_t>(item)]);
    }
  }
  return marked;
}

// What happens first to a tensor, and when it is written.
struct Touches {
  int64_t first = -1;  // step; -1: never touched
  bool read_first = false;
  std::vector<int64_t> writes;
};

std::vector<Touches> touches_of(const Graph& graph) {
  std::vector<Touches> touches(graph.tensors.size());
  for (size_t s = 0; s < graph.steps.size(); ++s) {
    for (const TensorAccess& access : graph.tensor_accesses(graph.steps[s])) {
      Touches& tensor = touches[static_cast<size_t>(access.tensor)];
      // A delegate does not say which arguments it writes; one that nothing wrote before is taken for an output.
      const bool reads = access.access != Access::kWrite && graph.steps[s].opcode != format::Opcode::kDelegate;
      if (tensor.first < 0) {
        tensor.first = static_cast<int64_t>(s);
        tensor.read_first = reads;
      }
      if (access.access != Access::kRead) tensor.writes.push_back(static_cast<int64_t>(s));
    }
  }
  return touches;
}

// Groups of tensors that share memory on purpose. There are two kinds of views: `out` of et_view, and views that the
// exporter leaves out of the instructions altogether. The latter are tensors that nothing writes before they are read
// and that the file's plan puts exactly where another tensor of the same size lies; they are views of whichever such
// tensor was written last before.
class AliasGroups {
 public:
  explicit AliasGroups(const Graph& graph)
      : inputs_(marked_tensors(graph, graph.inputs)), parent_(graph.tensors.size()), placed_(graph.tensors.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const Step& step : graph.steps) {
      if (!graph.is_view(step)) continue;
      const int32_t self = graph.values[static_cast<size_t>(step.args[0])].tensor;
      join(self, graph.values[static_cast<size_t>(step.args[2])].tensor);
    }
    join_silent_views(graph);
  }

  // The tensor whose memory the group uses.
  int32_t root(int32_t tensor) const {
    while (parent_[static_cast<size_t>(tensor)] != tensor) tensor = parent_[static_cast<size_t>(tensor)];
    return tensor;
  }
  bool is_root(size_t tensor) const { return parent_[tensor] == static_cast<int32_t>(tensor); }
  // True for a view that no instruction makes: it needs its address from the plan.
  bool is_silent_view(size_t tensor) const { return placed_[tensor]; }
  bool is_input(size_t tensor) const { return inputs_[tensor]; }
  bool has_views(size_t tensor) const {
    for (size_t i = 0; i < parent_.size(); ++i) {
      if (i != tensor && root(static_cast<int32_t>(i)) == static_cast<int32_t>(tensor)) return true;
    }
    return false;
  }

 private:
  void join(int32_t a, int32_t b) {
    if (root(a) != root(b)) parent_[static_cast<size_t>(root(b))] = root(a);
  }

  using Spot = std::tuple<uint32_t, uint64_t, uint64_t, uint8_t>;  // memory id, offset, bytes, dtype

  void join_silent_views(const Graph& graph) {
    const std::vector<Touches> touches = touches_of(graph);
    const std::vector<bool> outputs = marked_tensors(graph, graph.outputs);
    std::map<Spot, std::vector<int32_t>> at_spot;
    auto spot = [&](size_t i) {
      const format::Tensor& tensor = graph.tensors[i];
      return Spot(tensor.memory_id, tensor.memory_offset, tensor.bytes, tensor.dtype);
    };
    for (size_t i = 0; i < graph.tensors.size(); ++i) {
      if (is_planned(graph.tensors[i])) at_spot[spot(i)].push_back(static_cast<int32_t>(i));
    }
    for (size_t i = 0; i < graph.tensors.size(); ++i) {
      const bool unwritten = touches[i].first < 0 ? outputs[i] : touches[i].read_first;
      if (graph.tensors[i].storage != Storage::kPlanned || inputs_[i] || !unwritten) continue;
      const int64_t needed = touches[i].first < 0 ? static_cast<int64_t>(graph.steps.size()) : touches[i].first;
      const int32_t source = last_written(graph, touches, at_spot[spot(i)], static_cast<int32_t>(i), needed);
      if (source < 0) continue;
      join(source, static_cast<int32_t>(i));
      placed_[i] = true;
    }
  }

  int32_t last_written(const Graph& graph, const std::vector<Touches>& touches, const std::vector<int32_t>& candidates,
                       int32_t view, int64_t needed) const {
    int32_t best = -1;
    int64_t best_step = -2;
    for (const int32_t candidate : candidates) {
      const auto c = static_cast<size_t>(candidate);
      if (candidate == view || root(candidate) == view) continue;
      int64_t written = inputs_[c] || has_initial_value(graph.tensors[c]) ? -1 : -2;
      for (const int64_t step : touches[c].writes) {
        if (step < needed) written = std::max(written, step);
      }
      if (written > best_step) {
        best = candidate;
        best_step = written;
      }
    }
    return best;
  }

  std::vector<bool> inputs_;
  std::vector<int32_t> parent_;
  std::vector<bool> placed_;
};

void include(Lifetime& lifetime, int64_t step) {
  if (lifetime.first > lifetime.last) {
    lifetime.first = lifetime.last = step;
  } else {
    lifetime.first = std::min(lifetime.first, step);
    lifetime.last = std::max(lifetime.last, step);
  }
}

void stretch_over_run(Lifetime& lifetime, int64_t step_count) {
  include(lifetime, -1);
  include(lifetime, step_count);
}

// Repeats until nothing changes, since a stretched lifetime may reach into an enclosing loop.
void stretch_over_loops(const Graph& graph, std::vector<Lifetime>& lifetimes) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = 0; i < graph.steps.size(); ++i) {
      const Step& step = graph.steps[i];
      const auto end = static_cast<int64_t>(i);
      if (step.opcode != format::Opcode::kJumpFalse || step.operand > end) continue;
      const int64_t begin = step.operand;
      for (Lifetime& lifetime : lifetimes) {
        if (lifetime.first > lifetime.last || lifetime.last < begin || lifetime.first > end) continue;
        if (lifetime.first <= begin && lifetime.last >= end) continue;
        include(lifetime, begin);
        include(lifetime, end);
        changed = true;
      }
    }
  }
}

std::vector<Lifetime> lifetimes_of(const Graph& graph, const AliasGroups& groups) {
  const auto step_count = static_cast<int64_t>(graph.steps.size());
  const std::vector<bool> outputs = marked_tensors(graph, graph.outputs);
  std::vector<Lifetime> of_group(graph.tensors.size());
  auto group = [&](size_t tensor) -> Lifetime& {
    return of_group[static_cast<size_t>(groups.root(static_cast<int32_t>(tensor)))];
  };
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    // An input keeps its content, so that a method can run again without being given it again.
    if (groups.is_input(i) || has_initial_value(graph.tensors[i])) stretch_over_run(group(i), step_count);
  }
  for (size_t s = 0; s < graph.steps.size(); ++s) {
    for (const TensorAccess& access : graph.tensor_accesses(graph.steps[s])) {
      Lifetime& lifetime = group(static_cast<size_t>(access.tensor));
      const bool first_touch = lifetime.first > lifetime.last;
      include(lifetime, static_cast<int64_t>(s));
      if (!first_touch || access.access == Access::kWrite) continue;
      // A delegate does not say which arguments it writes; one that nothing wrote before is taken for an output.
      if (graph.steps[s].opcode == format::Opcode::kDelegate) continue;
      lifetime.state = true;
      stretch_over_run(lifetime, step_count);
    }
  }
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (outputs[i]) include(group(i), step_count);
  }
  stretch_over_loops(graph, of_group);
  std::vector<Lifetime> lifetimes(graph.tensors.size());
  for (size_t i = 0; i < lifetimes.size(); ++i) lifetimes[i] = group(i);
  return lifetimes;
}

// One block of the arena: a group of tensors that share memory.
struct Block {
  int32_t root;
  uint64_t bytes;
  Lifetime lifetime;
  uint64_t offset = 0;
};

bool overlap_in_time(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

// Greedy by size: the largest block first, each at the lowest offset that is free during its whole lifetime.
// Pisarchyk & Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020.
Status place_blocks(std::vector<Block>& blocks, uint64_t* arena_bytes) {
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.bytes > b.bytes; });
  std::vector<Block*> placed;  // by offset
  for (Block& block : blocks) {
    uint64_t offset = 0;
    for (const Block* other : placed) {
      if (!overlap_in_time(block.lifetime, other->lifetime)) continue;
      if (other->offset >= offset + block.bytes) break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    block.offset = offset;
    uint64_t end = 0;
    if (!checked_add(offset, block.bytes, &end)) {
      return error(PTERON_OUT_OF_MEMORY, "the values of the method need more than 2^64 bytes of memory");
    }
    *arena_bytes = std::max(*arena_bytes, end);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &block,
                                   [](const Block* a, const Block* b) { return a->offset < b->offset; }),
                  &block);
  }
  return Status();
}

// Placements with nothing but their roots.
Result<std::vector<Placement>> roots_of(const Graph& graph, const AliasGroups& groups) {
  std::vector<Placement> placements(graph.tensors.size());
  for (size_t i = 0; i < placements.size(); ++i) {
    placements[i].root = groups.root(static_cast<int32_t>(i));
    const format::Tensor& root = graph.tensors[static_cast<size_t>(placements[i].root)];
    if (is_constant(root) && graph.tensors[i].bytes > root.bytes) {
      return error(PTERON_INVALID_FILE,
                   "tensor %zu of method '%s' is a view of constant %d but larger: %llu bytes of %llu", i,
                   graph.name.c_str(), placements[i].root, static_cast<unsigned long long>(graph.tensors[i].bytes),
                   static_cast<unsigned long long>(root.bytes));
    }
  }
  return placements;
}

Result<MemoryPlan> plan_from_lifetimes(const Graph& graph, const AliasGroups& groups,
                                       const std::vector<Lifetime>& lifetimes) {
  MemoryPlan plan;
  plan.planner = PTERON_PLANNER_OWN;
  PTERON_ASSIGN(plan.placements, roots_of(graph, groups));
  // A view may be larger than what it views until the step that makes it has run.
  std::vector<uint64_t> group_bytes(graph.tensors.size());
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    uint64_t& bytes = group_bytes[static_cast<size_t>(plan.placements[i].root)];
    bytes = std::max(bytes, graph.tensors[i].bytes);
  }
  std::vector<Block> blocks;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const format::Tensor& tensor = graph.tensors[i];
    Placement& placement = plan.placements[i];
    if (is_constant(tensor)) continue;
    if (!groups.is_root(i)) {
      placement.place = Place::kView;
    } else if (groups.is_input(i) && !is_planned(tensor) && !groups.has_views(i)) {
      placement.place = Place::kCaller;
    } else {
      placement.place = Place::kArena;
      placement.state = (lifetimes[i].state || has_initial_value(tensor)) && !groups.is_input(i);
      if (lifetimes[i].first > lifetimes[i].last) continue;  // never touched: any address will do
      uint64_t bytes = 0;
      if (!checked_align(std::max<uint64_t>(group_bytes[i], 1), kAlignment, &bytes)) {
        return error(PTERON_OUT_OF_MEMORY, "tensor %zu needs %llu bytes, more than an address can hold", i,
                     static_cast<unsigned long long>(group_bytes[i]));
      }
      blocks.push_back({static_cast<int32_t>(i), bytes, lifetimes[i]});
    }
  }
  PTERON_TRY(place_blocks(blocks, &plan.arena_bytes));
  for (const Block& block : blocks) plan.placements[static_cast<size_t>(block.root)].offset = block.offset;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (!groups.is_silent_view(i)) continue;
    const Placement& root = plan.placements[static_cast<size_t>(groups.root(static_cast<int32_t>(i)))];
    if (root.place != Place::kArena) {
      return error(PTERON_INVALID_FILE,
                   "tensor %zu of method '%s' is planned over memory that the plan does not own, and no instruction "
                   "says what it holds",
                   i, graph.name.c_str());
    }
    plan.placements[i].place = Place::kArena;
    plan.placements[i].offset = root.offset;
  }
  return plan;
}

// The file's buffers laid end to end in one arena.
Result<MemoryPlan> plan_of_file(const Graph& graph, const AliasGroups& groups, const std::vector<Lifetime>& lifetimes) {
  MemoryPlan plan;
  plan.planner = PTERON_PLANNER_FILE;
  PTERON_ASSIGN(plan.placements, roots_of(graph, groups));
  std::vector<uint64_t> starts;
  for (const uint64_t bytes : graph.buffer_bytes) {
    starts.push_back(plan.arena_bytes);
    uint64_t rounded = 0;
    if (!checked_align(bytes, kAlignment, &rounded) || !checked_add(plan.arena_bytes, rounded, &plan.arena_bytes)) {
      return error(PTERON_OUT_OF_MEMORY, "the planned buffers of the method need more than 2^64 bytes of memory");
    }
  }
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const format::Tensor& tensor = graph.tensors[i];
    Placement& placement = plan.placements[i];
    if (is_constant(tensor)) continue;
    if (is_planned(tensor)) {
      placement.place = Place::kArena;
      placement.offset = starts[tensor.memory_id - 1] + tensor.memory_offset;
      placement.state = groups.is_root(i) && (lifetimes[i].state || has_initial_value(tensor)) && !groups.is_input(i);
    } else if (!groups.is_root(i) && tensor.bytes <= graph.tensors[static_cast<size_t>(placement.root)].bytes) {
      placement.place = Place::kView;
    } else if (groups.is_input(i) && !groups.has_views(i)) {
      placement.place = Place::kCaller;
    } else if (lifetimes[i].first <= lifetimes[i].last) {
      return error(PTERON_INVALID_FILE,
                   "the memory plan of method '%s' has no room for tensor %zu, which the method "
                   "uses; plan with the runtime's own planner",
                   graph.name.c_str(), i);
    }
  }
  return plan;
}

// Two values that are alive at once and share bytes, unless one is a view of the other.
Status check_overlaps(const Graph& graph, const AliasGroups& groups, const std::vector<Lifetime>& lifetimes,
                      const MemoryPlan& plan) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const bool used = plan.placements[i].place == Place::kArena && lifetimes[i].first <= lifetimes[i].last;
    if (used && graph.tensors[i].bytes > 0) order.push_back(static_cast<int32_t>(i));
  }
  auto begin = [&](int32_t tensor) { return plan.placements[static_cast<size_t>(tensor)].offset; };
  auto end = [&](int32_t tensor) { return begin(tensor) + graph.tensors[static_cast<size_t>(tensor)].bytes; };
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return begin(a) < begin(b); });
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = i + 1; j < order.size() && begin(order[j]) < end(order[i]); ++j) {
      const Lifetime& a = lifetimes[static_cast<size_t>(order[i])];
      const Lifetime& b = lifetimes[static_cast<size_t>(order[j])];
      if (!overlap_in_time(a, b) || groups.root(order[i]) == groups.root(order[j])) continue;
      return error(PTERON_INVALID_FILE,
                   "the memory plan of method '%s' puts tensors %d and %d into the same bytes while both are needed "
                   "(steps %lld..%lld and %lld..%lld); plan with the runtime's own planner",
                   graph.name.c_str(), order[i], order[j], static_cast<long long>(a.first),
                   static_cast<long long>(a.last), static_cast<long long>(b.first), static_cast<long long>(b.last));
    }
  }
  return Status();
}

}  // namespace

std::vector<Lifetime> tensor_lifetimes(const Graph& graph) {
  return lifetimes_of(graph, AliasGroups(graph));
}

Result<MemoryPlan> plan_memory(const Graph& graph, pteron_planner planner) {
  const AliasGroups groups(graph);
  const std::vector<Lifetime> lifetimes = lifetimes_of(graph, groups);
  if (planner != PTERON_PLANNER_OWN) {
    Result<MemoryPlan> plan = plan_of_file(graph, groups, lifetimes);
    if (plan.ok()) {
      Status sound = check_overlaps(graph, groups, lifetimes, *plan);
      if (sound.ok()) return plan;
      if (planner == PTERON_PLANNER_FILE) return sound;
    } else if (planner == PTERON_PLANNER_FILE) {
      return plan;
    }
  }
  return plan_from_lifetimes(graph, groups, lifetimes);
}

}  // namespace pteron::runtime
