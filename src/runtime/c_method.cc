// The C functions of plans and methods.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "pteron/c/method.h"
#include "runtime/guard.h"
#include "runtime/handles.h"
#include "runtime/method.h"
#include "runtime/plan.h"

namespace {

using pteron::error;
using pteron::Status;
using pteron::runtime::BackendOption;
using pteron::runtime::guard;
using pteron::runtime::Method;
using pteron::runtime::MethodOptions;
using pteron::runtime::Missing;
using pteron::runtime::Plan;
using pteron::runtime::PlanOptions;

// A caller's options struct, which may be shorter (an older header) or longer (a newer one) than ours.
template <typename Options>
Options known_part(const Options* options) {
  Options known{};
  if (options != nullptr) std::memcpy(&known, options, std::min(options->struct_size, sizeof(Options)));
  return known;
}

Status require(bool condition, const char* function, const char* what) {
  if (condition) return Status();
  return error(PTERON_INVALID_ARGUMENT, "%s: %s is null", function, what);
}

pteron::Result<PlanOptions> plan_options(const pteron_plan_options* given) {
  const pteron_plan_options known = known_part(given);
  if (known.planner < PTERON_PLANNER_AUTO || known.planner > PTERON_PLANNER_OWN) {
    return error(PTERON_INVALID_ARGUMENT, "plan option 'planner' is %d; it can be 0 (auto), 1 (file) or 2 (own)",
                 known.planner);
  }
  PlanOptions options;
  options.planner = static_cast<pteron_planner>(known.planner);
  options.auto_load = known.no_auto_load == 0;
  if (known.backend_option_count != 0 && known.backend_options == nullptr) {
    return error(PTERON_INVALID_ARGUMENT, "%zu backend options were announced, but the list is null",
                 known.backend_option_count);
  }
  for (size_t i = 0; i < known.backend_option_count; ++i) {
    const pteron_backend_option& option = known.backend_options[i];
    if (option.backend == nullptr || option.key == nullptr || option.value == nullptr) {
      return error(PTERON_INVALID_ARGUMENT, "backend option %zu has no backend, key or value", i);
    }
    options.backend_options.emplace_back(option.backend, BackendOption{option.key, option.value});
  }
  return options;
}

}  // namespace

pteron_status* pteron_plan_create(pteron_program* program, const char* method, const pteron_plan_options* options,
                                  pteron_plan** out) {
  return guard([&]() -> Status {
    PTERON_TRY(require(program != nullptr, "pteron_plan_create", "program"));
    PTERON_TRY(require(method != nullptr, "pteron_plan_create", "method"));
    PTERON_TRY(require(out != nullptr, "pteron_plan_create", "out"));
    PTERON_ASSIGN(PlanOptions known, plan_options(options));
    PTERON_ASSIGN(auto plan, Plan::create(program->object, method, std::move(known)));
    *out = new pteron_plan(std::move(plan));
    return Status();
  });
}

void pteron_plan_retain(pteron_plan* plan) {
  pteron::runtime::retain(plan);
}

void pteron_plan_release(pteron_plan* plan) {
  pteron::runtime::release(plan);
}

const pteron_method_info* pteron_plan_method_info(const pteron_plan* plan) {
  return plan->object->info();
}

uint64_t pteron_plan_arena_bytes(const pteron_plan* plan) {
  return plan->object->memory().arena_bytes;
}

uint64_t pteron_plan_shared_bytes(const pteron_plan* plan) {
  return plan->object->shared_bytes();
}

int pteron_plan_planner(const pteron_plan* plan) {
  return plan->object->memory().planner;
}

pteron_status* pteron_program_visit_missing(pteron_program* program, const char* method,
                                            const pteron_plan_options* options,
                                            void (*visit)(void* user, int code, const char* name, const char* sentence),
                                            void* user) {
  return guard([&]() -> Status {
    PTERON_TRY(require(program != nullptr, "pteron_program_visit_missing", "program"));
    PTERON_TRY(require(method != nullptr, "pteron_program_visit_missing", "method"));
    PTERON_TRY(require(visit != nullptr, "pteron_program_visit_missing", "visit"));
    PTERON_ASSIGN(const PlanOptions known, plan_options(options));
    PTERON_ASSIGN(const std::vector<Missing> missing,
                  pteron::runtime::find_missing(*program->object, method, known.auto_load));
    for (const Missing& one : missing) visit(user, one.code, one.name.c_str(), one.sentence.c_str());
    return Status();
  });
}

pteron_status* pteron_method_create(pteron_plan* plan, const pteron_method_options* options, pteron_method** out) {
  return guard([&]() -> Status {
    PTERON_TRY(require(plan != nullptr, "pteron_method_create", "plan"));
    PTERON_TRY(require(out != nullptr, "pteron_method_create", "out"));
    const pteron_method_options known = known_part(options);
    MethodOptions own;
    own.arena = known.arena;
    own.arena_bytes = known.arena_bytes;
    if (known.state_from != nullptr) own.state_from = known.state_from->object;
    own.seed = known.seed;
    PTERON_ASSIGN(auto method, Method::create(plan->object, std::move(own)));
    *out = new pteron_method{std::move(method)};
    return Status();
  });
}

void pteron_method_destroy(pteron_method* method) {
  delete method;
}

pteron_status* pteron_method_set_input(pteron_method* method, size_t index, const pteron_value* value) {
  return guard([&]() -> Status {
    PTERON_TRY(require(method != nullptr, "pteron_method_set_input", "method"));
    PTERON_TRY(require(value != nullptr, "pteron_method_set_input", "value"));
    return method->object->set_input(index, *value);
  });
}

pteron_status* pteron_method_bind_output(pteron_method* method, size_t index, pteron_tensor* tensor) {
  return guard([&]() -> Status {
    PTERON_TRY(require(method != nullptr, "pteron_method_bind_output", "method"));
    return method->object->bind_output(index, tensor);
  });
}

pteron_status* pteron_method_run(pteron_method* method, const pteron_run_options* options) {
  return guard([&]() -> Status {
    PTERON_TRY(require(method != nullptr, "pteron_method_run", "method"));
    const pteron_run_options known = known_part(options);
    return method->object->run(&known);
  });
}

pteron_status* pteron_method_step(pteron_method* method, const pteron_run_options* options, int* done) {
  return guard([&]() -> Status {
    PTERON_TRY(require(method != nullptr, "pteron_method_step", "method"));
    PTERON_TRY(require(done != nullptr, "pteron_method_step", "done"));
    const pteron_run_options known = known_part(options);
    bool finished = false;
    Status status = method->object->step(&known, &finished);
    *done = finished ? 1 : 0;
    return status;
  });
}

void pteron_method_abandon_steps(pteron_method* method) {
  method->object->abandon_steps();
}

const pteron_value* pteron_method_output(const pteron_method* method, size_t index) {
  return method->object->output(index);
}

pteron_status* pteron_method_reset_state(pteron_method* method) {
  return guard([&]() -> Status {
    PTERON_TRY(require(method != nullptr, "pteron_method_reset_state", "method"));
    return method->object->reset_state();
  });
}

void pteron_method_set_trace(pteron_method* method, void (*callback)(void* user, const pteron_trace_event* event),
                             void* user) {
  method->object->set_trace(callback, user);
}
