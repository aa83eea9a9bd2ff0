// Method: an instance that runs a plan.
//
//   auto method = pteron::Method::create(*plan);
//   if (auto status = method->set_input(0, image); !status) return report(status.message());
//   if (auto status = method->run(); !status) return report(status.message());
//   pteron::Result<pteron::TensorView> scores = method->output(0)->tensor();
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pteron/c/method.h"
#include "pteron/plan.h"
#include "pteron/value.h"

namespace pteron {
inline namespace v1_0 {

class Method;

// How to make an instance.
//
//   pteron::MethodOptions options;
//   options.state_from = &prefill;   // share the cache of another method of the same program
struct MethodOptions {
  // Caller's memory for the arena: at least Plan::arena_bytes(), aligned to 64; must outlive the method. Empty: own.
  Span<unsigned char> arena;
  // A method whose mutable buffers this one shares, matched by name; kept alive by the runtime. The two must not run at
  // the same time. Null: own state.
  const Method* state_from = nullptr;
  uint64_t seed = 0;  // of random operators; 0: a fixed default
};

// Limits of one run.
//
//   std::atomic<int32_t> cancel{0};
//   pteron::RunOptions options;
//   options.cancel = &cancel;                             // another thread, or a signal handler, stores 1
//   options.time_limit = std::chrono::milliseconds(50);
struct RunOptions {
  const std::atomic<int32_t>* cancel = nullptr;  // stops with PTERON_CANCELLED soon after it becomes nonzero
  std::chrono::microseconds time_limit{0};       // 0: none; looked at between instructions
  uint64_t instruction_budget = 0;               // 0: 2^32
};

namespace detail {

static_assert(sizeof(std::atomic<int32_t>) == sizeof(int32_t) && std::atomic<int32_t>::is_always_lock_free,
              "the C interface reads the flag as a plain int32_t, atomically");

inline pteron_run_options raw_run_options(const RunOptions& options) {
  pteron_run_options raw{};
  raw.struct_size = sizeof(raw);
  raw.cancel = reinterpret_cast<const int32_t*>(options.cancel);
  raw.time_limit_us = options.time_limit.count() > 0 ? static_cast<uint64_t>(options.time_limit.count()) : 0;
  raw.instruction_budget = options.instruction_budget;
  return raw;
}

}  // namespace detail

// One executed instruction, as a trace shows it. Lives during the callback.
//
//   method->set_trace([](const pteron::TraceEvent& event) { printf("%s %lu ns\n", event.name(), event.duration_ns());
//   });
class TraceEvent {
 public:
  explicit TraceEvent(const pteron_trace_event* raw) : raw_(raw) {}
  const char* name() const { return raw_->name; }  // operator, "delegate:<id>", "move", "jump_if_false", "free"
  int32_t chain() const { return raw_->chain; }
  int32_t instruction() const { return raw_->instruction; }
  uint64_t start_ns() const { return raw_->start_ns; }  // CLOCK_MONOTONIC
  uint64_t duration_ns() const { return raw_->duration_ns; }
  uint64_t bytes() const { return raw_->bytes; }  // of all tensor arguments
  size_t argument_count() const { return raw_->arg_count; }
  // Outputs last; `index` below argument_count().
  ValueView argument(size_t index) const { return ValueView(raw_->args[index]); }

 private:
  const pteron_trace_event* raw_;
};

// The outputs of a run.
//
//   pteron::Result<pteron::Outputs> outputs = module->forward(image);
//   pteron::Result<pteron::TensorView> scores = outputs->tensor(0);
//   pteron::Result<pteron::Tensor> kept = scores->clone();   // to own it beyond the next run
//
// Ownership: none. Views of the method's memory, valid until it runs again or goes.
class Outputs {
 public:
  explicit Outputs(std::vector<ValueView> values) : values_(std::move(values)) {}

  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  ValueView operator[](size_t index) const { return values_[index]; }  // `index` below size()
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  // Output `index` as a tensor; fails with PTERON_INVALID_ARGUMENT when there is none.
  Result<TensorView> tensor(size_t index) const {
    if (index >= values_.size()) {
      const std::string message =
          "there is no output " + std::to_string(index) + "; the method has " + std::to_string(values_.size());
      return Status(PTERON_INVALID_ARGUMENT, message.c_str());
    }
    return values_[index].tensor();
  }

 private:
  std::vector<ValueView> values_;
};

// An instance of a plan: an arena, inputs, outputs and state.
//
//   auto method = pteron::Method::create(*plan);
//   method->set_input(0, image);
//   method->run();
//
// Ownership: move-only; keeps its plan alive. Threads: one at a time; a second concurrent run gets PTERON_BUSY. More
// instances of one plan are cheap.
class Method {
 public:
  static Result<Method> create(const Plan& plan, const MethodOptions& options = {}) {
    pteron_method_options raw_options{};
    raw_options.struct_size = sizeof(raw_options);
    raw_options.arena = options.arena.data();
    raw_options.arena_bytes = options.arena.size();
    raw_options.state_from = options.state_from == nullptr ? nullptr : options.state_from->raw_;
    raw_options.seed = options.seed;
    pteron_method* raw = nullptr;
    PTERON_TRY(Status::adopt(pteron_method_create(plan.raw(), &raw_options, &raw)));
    return Method(plan, raw);
  }

  Method(Method&& other) noexcept
      : plan_(other.plan_),
        raw_(std::exchange(other.raw_, nullptr)),
        inputs_(std::move(other.inputs_)),
        trace_(std::move(other.trace_)) {}
  Method& operator=(Method&& other) noexcept {
    std::swap(plan_, other.plan_);
    std::swap(raw_, other.raw_);
    std::swap(inputs_, other.inputs_);
    std::swap(trace_, other.trace_);
    return *this;
  }
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  ~Method() {
    if (raw_ != nullptr) pteron_method_destroy(raw_);
  }

  const Plan& plan() const { return plan_; }
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return plan_.info().output_count(); }

  // Sets an input for the runs that follow. The method keeps `value`; the elements of a tensor view stay the caller's
  // and must live until the last run that uses them. PTERON_INVALID_INPUT names the input, what is expected and what
  // was given; the input that was set before stays.
  Status set_input(size_t index, Value value) {
    if (index >= inputs_.size()) {
      const std::string message = "there is no input " + std::to_string(index) + "; the method '" +
                                  plan_.info().name() + "' has " + std::to_string(inputs_.size());
      return Status(PTERON_INVALID_INPUT, message.c_str());
    }
    auto input = std::make_unique<Input>();
    input->value = std::move(value);
    input->raw = input->value.raw();
    PTERON_TRY(Status::adopt(pteron_method_set_input(raw_, index, &input->raw)));
    inputs_[index] = std::move(input);
    return Status();
  }
  // The same with a value that stays the caller's and in place until the last run that uses it.
  Status set_input(size_t index, ValueView value) {
    PTERON_TRY(Status::adopt(pteron_method_set_input(raw_, index, value.raw())));
    inputs_[index].reset();
    return Status();
  }

  // Makes the runs that follow write tensor output `index` to the caller's memory. The view must stay in place until
  // the binding is undone; with set_resizable(true) it takes the output's sizes, else its own must fit.
  Status bind_output(size_t index, TensorView& tensor) {
    return Status::adopt(pteron_method_bind_output(raw_, index, tensor.raw()));
  }
  Status bind_output(size_t index, TensorView&& tensor) = delete;
  Status unbind_output(size_t index) { return Status::adopt(pteron_method_bind_output(raw_, index, nullptr)); }

  // Runs the method. Fails with PTERON_INVALID_STATE when an input was never set, PTERON_BUSY, PTERON_KERNEL_FAILED,
  // PTERON_BACKEND_FAILED, PTERON_CANCELLED, PTERON_TIME_LIMIT, PTERON_BUDGET_EXHAUSTED. It can be run again
  // afterwards.
  Status run(const RunOptions& options = {}) {
    const pteron_run_options raw_options = detail::raw_run_options(options);
    return Status::adopt(pteron_method_run(raw_, &raw_options));
  }

  // Runs one instruction; true after the last one.
  Result<bool> step(const RunOptions& options = {}) {
    const pteron_run_options raw_options = detail::raw_run_options(options);
    int done = 0;
    PTERON_TRY(Status::adopt(pteron_method_step(raw_, &raw_options, &done)));
    return done != 0;
  }
  // Gives up a run that was begun with step().
  void abandon_steps() { pteron_method_abandon_steps(raw_); }

  // Output `index` of the last run, a view valid until the next run. Fails with PTERON_INVALID_STATE before the first
  // run and for an index out of range.
  Result<ValueView> output(size_t index) const {
    const pteron_value* value = pteron_method_output(raw_, index);
    if (value != nullptr) return ValueView(value);
    const std::string message = "there is no output " + std::to_string(index) + ": the method '" + plan_.info().name() +
                                "' has " + std::to_string(output_count()) + " outputs, and they exist after a run";
    return Status(PTERON_INVALID_STATE, message.c_str());
  }
  Result<Outputs> outputs() const {
    std::vector<ValueView> values;
    const size_t count = output_count();
    values.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      PTERON_ASSIGN(const ValueView value, output(i));
      values.push_back(value);
    }
    return Outputs(std::move(values));
  }

  // Puts the mutable buffers back to their initial content.
  Status reset_state() { return Status::adopt(pteron_method_reset_state(raw_)); }

  // Calls `callback` after each instruction of the runs that follow, in the running thread; an empty one switches
  // tracing off. It must not throw.
  void set_trace(std::function<void(const TraceEvent&)> callback) {
    if (!callback) {
      pteron_method_set_trace(raw_, nullptr, nullptr);
      trace_.reset();
      return;
    }
    auto kept = std::make_unique<std::function<void(const TraceEvent&)>>(std::move(callback));
    pteron_method_set_trace(raw_, &forward_trace, kept.get());
    trace_ = std::move(kept);
  }

  pteron_method* raw() const { return raw_; }  // borrowed

 private:
  struct Input {
    Value value;
    pteron_value raw{};
  };

  Method(const Plan& plan, pteron_method* raw) : plan_(plan), raw_(raw), inputs_(plan.info().input_count()) {}

  static void forward_trace(void* user, const pteron_trace_event* event) noexcept {
    (*static_cast<std::function<void(const TraceEvent&)>*>(user))(TraceEvent(event));
  }

  Plan plan_;
  pteron_method* raw_;
  std::vector<std::unique_ptr<Input>> inputs_;  // in place while the runtime may look at them
  std::unique_ptr<std::function<void(const TraceEvent&)>> trace_;
};

}  // namespace v1_0
}  // namespace pteron
