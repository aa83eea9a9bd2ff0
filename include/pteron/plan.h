// Plan: one method of a program prepared for this machine.
//
//   auto program = pteron::Program::load("model.pte");
//   auto plan = pteron::Plan::create(*program, "forward");
//   if (!plan) return report(plan.status().message());   // names every operator and backend that is missing
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pteron/c/method.h"
#include "pteron/program.h"

namespace pteron {
inline namespace v1_0 {

enum class Planner : int32_t {
  kAuto = PTERON_PLANNER_AUTO,  // the file's memory plan when it is sound, else the runtime's own
  kFile = PTERON_PLANNER_FILE,  // the file's; refused when values that are alive at once overlap
  kOwn = PTERON_PLANNER_OWN     // the runtime's own
};

// An option for one backend: {"OpenvinoBackend", "num_threads", "2"}.
struct BackendOption {
  std::string backend;
  std::string key;
  std::string value;
};

// How to prepare a method.
//
//   pteron::PlanOptions options;
//   options.backend_options.push_back({"OpenvinoBackend", "num_threads", "2"});
struct PlanOptions {
  Planner planner = Planner::kAuto;
  bool auto_load = true;  // false: use only components that are linked or were loaded by name
  std::vector<BackendOption> backend_options;
};

// Something that stands between a method and running here.
struct Missing {
  pteron_code code = PTERON_OK;  // PTERON_MISSING_OPERATOR, PTERON_MISSING_BACKEND, PTERON_NOT_FOUND (external data)
  std::string name;              // of the operator, backend or key
  std::string sentence;          // why, and what to do
};

namespace detail {

// An option struct of the C interface with pointers into a PlanOptions.
class RawPlanOptions {
 public:
  explicit RawPlanOptions(const PlanOptions& options) {
    for (const BackendOption& option : options.backend_options) {
      options_.push_back({option.backend.c_str(), option.key.c_str(), option.value.c_str()});
    }
    raw_.struct_size = sizeof(raw_);
    raw_.planner = static_cast<int32_t>(options.planner);
    raw_.no_auto_load = options.auto_load ? 0 : 1;
    raw_.backend_options = options_.data();
    raw_.backend_option_count = options_.size();
  }
  RawPlanOptions(const RawPlanOptions&) = delete;
  RawPlanOptions& operator=(const RawPlanOptions&) = delete;
  const pteron_plan_options* get() const { return &raw_; }

 private:
  std::vector<pteron_backend_option> options_;
  pteron_plan_options raw_{};
};

}  // namespace detail

// A method prepared to run: operators and backends resolved, weights packed, memory planned.
//
//   auto plan = pteron::Plan::create(*program, "forward");
//   auto first = pteron::Method::create(*plan);
//   auto second = pteron::Method::create(*plan);   // shares the packed weights
//
// Ownership: a counted reference to an immutable object, which keeps the program alive; copying is cheap. Threads: any
// number at once.
class Plan {
 public:
  // Fails with PTERON_NOT_FOUND (no such method, or the first external key without data), PTERON_MISSING_OPERATOR or
  // PTERON_MISSING_BACKEND (all at once, by name), PTERON_INVALID_FILE, PTERON_BACKEND_FAILED, PTERON_OUT_OF_MEMORY.
  static Result<Plan> create(const Program& program, const std::string& method, const PlanOptions& options = {}) {
    const detail::RawPlanOptions raw_options(options);
    pteron_plan* raw = nullptr;
    PTERON_TRY(Status::adopt(pteron_plan_create(program.raw(), method.c_str(), raw_options.get(), &raw)));
    return Plan(raw);
  }

  // What stands between the method and running here, found without preparing it. Empty: nothing. Fails with
  // PTERON_NOT_FOUND for an unknown method.
  static Result<std::vector<Missing>> missing(const Program& program, const std::string& method,
                                              const PlanOptions& options = {}) {
    const detail::RawPlanOptions raw_options(options);
    std::vector<Missing> list;
    PTERON_TRY(Status::adopt(
        pteron_program_visit_missing(program.raw(), method.c_str(), raw_options.get(), &keep_missing, &list)));
    return list;
  }

  Plan(const Plan& other) : raw_(other.raw_) { pteron_plan_retain(raw_); }
  Plan(Plan&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Plan& operator=(Plan other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Plan() {
    if (raw_ != nullptr) pteron_plan_release(raw_);
  }

  MethodInfo info() const { return MethodInfo(pteron_plan_method_info(raw_)); }
  // Bytes that each method instance needs.
  uint64_t arena_bytes() const { return pteron_plan_arena_bytes(raw_); }
  // Bytes that the plan holds for all its instances: packed weights.
  uint64_t shared_bytes() const { return pteron_plan_shared_bytes(raw_); }
  // The planner that was used: kFile or kOwn.
  Planner planner() const { return static_cast<Planner>(pteron_plan_planner(raw_)); }

  pteron_plan* raw() const { return raw_; }  // borrowed

 private:
  explicit Plan(pteron_plan* raw) : raw_(raw) {}

  // Called through C: a failing allocation ends the process rather than crossing it.
  static void keep_missing(void* user, int code, const char* name, const char* sentence) noexcept {
    static_cast<std::vector<Missing>*>(user)->push_back({static_cast<pteron_code>(code), name, sentence});
  }

  pteron_plan* raw_;
};

}  // namespace v1_0
}  // namespace pteron
