// Module: the short way from a file to results.
//
//   std::vector<float> pixels(64);
//   auto module = pteron::Module::load("digits.pte");
//   if (!module) return report(module.status().message());
//   auto outputs = module->forward(pteron::TensorView::of(pixels, {1, 1, 8, 8}));
//   if (!outputs) return report(outputs.status().message());
//   pteron::Span<const float> scores = *outputs->tensor(0)->data<float>();
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pteron/method.h"
#include "pteron/plan.h"
#include "pteron/program.h"
#include "pteron/value.h"

namespace pteron {
inline namespace v1_0 {

// How a module prepares its methods.
struct ModuleOptions {
  LoadOptions load;
  PlanOptions plan;
  uint64_t seed = 0;  // of random operators; 0: a fixed default
  // Methods use the mutable buffers of the one that was prepared first, where the names are the same.
  bool share_state = false;
};

namespace detail {

inline Result<Value> to_value(Value&& value) {
  return std::move(value);
}
template <typename T>
Result<Value> to_value(T&& value) {
  return Value(std::forward<T>(value));
}
// A result stands for its value; a failed one for its failure.
template <typename T>
Result<Value> to_value(Result<T>&& result) {
  if (!result.ok()) return std::move(result).status();
  return Value(std::move(result).value());
}
template <typename T>
Result<Value> to_value(Result<T>& result) {
  if (!result.ok()) return Status(result.status().code(), result.status().message());
  return Value(result.value());
}

}  // namespace detail

// A program with its methods, prepared when they are first used.
//
//   auto module = pteron::Module::load("model.pte");
//   auto outputs = module->execute("encode", tokens, 3);
//
// Ownership: move-only; owns its methods. Outputs are views, valid until the same method runs again or the module goes;
// inputs are used in place and needed only during the call. Threads: one at a time; more modules of one Program share
// its memory.
class Module {
 public:
  // Fails as Program::load does. Methods are prepared later, so missing operators are reported by the first call or
  // prepare().
  static Result<Module> load(const std::string& path, const ModuleOptions& options = {}) {
    PTERON_ASSIGN(Program program, Program::load(path, options.load));
    return Module(std::move(program), options);
  }
  explicit Module(Program program, ModuleOptions options = {})
      : program_(std::move(program)), options_(std::move(options)) {}

  Module(Module&&) = default;
  Module& operator=(Module&&) = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const Program& program() const { return program_; }

  // Runs the method "forward". Arguments: tensors, views, numbers, strings, lists, Values, or a Result of one of them,
  // whose failure is then the call's.
  template <typename... Arguments>
  Result<Outputs> forward(Arguments&&... arguments) {
    return execute("forward", std::forward<Arguments>(arguments)...);
  }

  // Runs a method. Fails as Plan::create, Method::set_input and Method::run do.
  template <typename... Arguments>
  Result<Outputs> execute(const std::string& method, Arguments&&... arguments) {
    std::vector<Value> values;
    values.reserve(sizeof...(arguments));
    Status status;
    (collect(detail::to_value(std::forward<Arguments>(arguments)), &values, &status), ...);
    PTERON_TRY(std::move(status));
    return execute_values(method, std::move(values));
  }
  Result<Outputs> execute_values(const std::string& method, std::vector<Value> values, const RunOptions& options = {}) {
    PTERON_ASSIGN(Method * instance, prepare(method));
    if (values.size() != instance->input_count()) {
      const std::string message = "the method '" + method + "' takes " + std::to_string(instance->input_count()) +
                                  " inputs, " + std::to_string(values.size()) + " were given";
      return Status(PTERON_INVALID_INPUT, message.c_str());
    }
    for (size_t i = 0; i < values.size(); ++i) PTERON_TRY(instance->set_input(i, std::move(values[i])));
    PTERON_TRY(instance->run(options));
    return instance->outputs();
  }

  // Makes the instance of a method ready, if it is not; the pointer is good as long as the module.
  Result<Method*> prepare(const std::string& method) {
    const auto found = methods_.find(method);
    if (found != methods_.end()) return found->second.get();
    PTERON_ASSIGN(const Plan plan, Plan::create(program_, method, options_.plan));
    MethodOptions method_options;
    method_options.seed = options_.seed;
    if (options_.share_state) method_options.state_from = first_;
    PTERON_ASSIGN(Method instance, Method::create(plan, method_options));
    auto kept = std::make_unique<Method>(std::move(instance));
    Method* pointer = kept.get();
    methods_.emplace(method, std::move(kept));
    if (first_ == nullptr) first_ = pointer;
    return pointer;
  }

  // Puts the mutable buffers of all methods back to their initial content.
  Status reset_state() {
    for (auto& entry : methods_) PTERON_TRY(entry.second->reset_state());
    return Status();
  }

 private:
  static void collect(Result<Value> value, std::vector<Value>* values, Status* status) {
    if (!status->ok()) return;
    if (value.ok()) {
      values->push_back(std::move(value).value());
    } else {
      *status = std::move(value).status();
    }
  }

  Program program_;
  ModuleOptions options_;
  std::map<std::string, std::unique_ptr<Method>> methods_;
  const Method* first_ = nullptr;  // of methods_, the one prepared first
};

}  // namespace v1_0
}  // namespace pteron
