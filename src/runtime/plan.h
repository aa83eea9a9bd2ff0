// Plan: one method of a program prepared for this machine. Immutable once made, shared by the methods that run it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pteron/c/method.h"
#include "pteron/result.h"
#include "runtime/backend_instance.h"
#include "runtime/graph.h"
#include "runtime/kernel_context.h"
#include "runtime/planner.h"
#include "runtime/program.h"

namespace pteron::runtime {

struct PlanOptions {
  pteron_planner planner = PTERON_PLANNER_AUTO;
  bool auto_load = true;
  std::vector<std::pair<std::string, BackendOption>> backend_options;  // backend id, option
};

// Something a method needs and this machine lacks.
struct Missing {
  pteron_code code;  // PTERON_MISSING_OPERATOR, PTERON_MISSING_BACKEND or PTERON_NOT_FOUND (external data)
  std::string name;
  std::string sentence;
};

class Plan {
 public:
  // Errors as pteron_plan_create.
  static Result<std::shared_ptr<const Plan>> create(std::shared_ptr<const Program> program, std::string_view method,
                                                    PlanOptions options);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Program& program() const { return *program_; }
  const Graph& graph() const { return graph_; }
  const MemoryPlan& memory() const { return memory_; }
  const PlanOptions& options() const { return options_; }
  const pteron_method_info* info() const { return info_; }
  uint64_t shared_bytes() const { return prepared_.bytes; }
  // Scalars that steps write, inputs excluded: they start each run with what the file says.
  const std::vector<int32_t>& computed_scalars() const { return computed_scalars_; }
  // True for a value that steps read: an input of that kind may then differ from what the program was exported with.
  bool is_read(int32_t value) const { return read_[static_cast<size_t>(value)]; }
  const std::vector<const pteron_backend*>& backends() const { return backends_; }  // one per delegate of the graph

 private:
  Plan() = default;

  Status prepare_kernels(const std::vector<bool>& written);  // one entry a value: whether steps write it

  std::shared_ptr<const Program> program_;
  const pteron_method_info* info_ = nullptr;
  PlanOptions options_;
  Graph graph_;
  MemoryPlan memory_;
  std::vector<const pteron_backend*> backends_;
  std::vector<int32_t> computed_scalars_;
  std::vector<bool> read_;
  PreparedMemory prepared_;
  std::vector<std::pair<const pteron_kernel*, void*>> states_;  // what kernels prepared; steps may share one
};

// What stands between a method and running here. PTERON_NOT_FOUND for an unknown method.
Result<std::vector<Missing>> find_missing(const Program& program, std::string_view method, bool auto_load);

}  // namespace pteron::runtime
