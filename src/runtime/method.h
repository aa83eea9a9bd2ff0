// Method: an instance of a plan with memory and values of its own. One thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pteron/c/method.h"
#include "pteron/result.h"
#include "runtime/backend_instance.h"
#include "runtime/kernel_context.h"
#include "runtime/plan.h"
#include "runtime/value_table.h"

namespace pteron::runtime {

// Zeroed memory that costs nothing until it is touched.
class Arena {
 public:
  static Result<Arena> allocate(uint64_t bytes);
  // The caller's memory.
  static Arena borrow(void* memory, uint64_t bytes);

  Arena() = default;
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_ = nullptr;
  uint64_t bytes_ = 0;
  bool mapped_ = false;
  bool borrowed_ = false;
};

// Memory for a copy of a tensor that grows when it must.
struct OwnedCopy {
  Memory memory;
  uint64_t bytes = 0;

  Status reserve(uint64_t needed);
};

struct MethodOptions {
  void* arena = nullptr;
  size_t arena_bytes = 0;
  std::shared_ptr<class Method> state_from;
  uint64_t seed = 0;
};

class Method {
 public:
  static Result<std::shared_ptr<Method>> create(std::shared_ptr<const Plan> plan, MethodOptions options);
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;

  // All as their C functions say.
  Status set_input(size_t index, const pteron_value& value);
  Status bind_output(size_t index, pteron_tensor* tensor);
  Status run(const pteron_run_options* options);
  Status step(const pteron_run_options* options, bool* done);
  void abandon_steps() { next_step_.reset(); }
  const pteron_value* output(size_t index) const;
  Status reset_state();
  void set_trace(void (*callback)(void*, const pteron_trace_event*), void* user);

  const Plan& plan() const { return *plan_; }

 private:
  struct Limits;
  struct Input {
    bool set = false;
    std::string text;  // a string that was set
  };
  struct Output {
    int32_t value = -1;
    pteron_value result{};           // what output() hands out
    bool copied = false;             // it shares memory with an input, so the caller gets a copy
    bool replaceable = false;        // a step may write to the caller's memory instead of the arena
    bool replaced = false;           // ... and does
    pteron_tensor* bound = nullptr;  // the caller's tensor
    TensorStorage copy_storage;
    OwnedCopy copy;
  };

  Method(std::shared_ptr<const Plan> plan, uint64_t seed);

  void place_tensors();
  Status share_state();
  void follow_roots();
  Status make_delegates();
  void resolve_steps();
  void find_outputs();

  Status set_scalar_input(size_t index, const pteron_value& value);
  Status set_tensor_input(size_t index, int32_t tensor, const pteron_tensor* given);
  Status use_converted(int32_t tensor, const pteron_tensor& given);
  std::string input_text(size_t index) const;

  Status begin_run();
  Status execute_step(size_t index, Limits& limits, size_t* next);
  Status execute_kernel(size_t index);
  Status execute_move(const Step& step);
  Status jump_condition(const Step& step, bool* value) const;
  Status finish_run();
  Status finish_output(size_t index);
  Status failed(const Step& step, Status status) const;
  void trace_step(size_t index, uint64_t start_ns);

  std::shared_ptr<const Plan> plan_;
  const Graph& graph_;
  Arena arena_;
  ValueTable values_;
  std::vector<uint8_t*> state_data_;  // per tensor: where its state lives, else null
  std::shared_ptr<Method> state_from_;
  std::vector<Input> inputs_;
  std::map<int32_t, OwnedCopy> converted_;  // by tensor: inputs brought to the method's layout
  std::vector<Output> outputs_;
  std::vector<pteron_value*> arg_pool_;          // arguments of all steps, one after the other
  std::vector<size_t> first_arg_;                // per step
  std::unique_ptr<DelegateData> delegate_data_;  // outlives the delegates
  std::vector<std::unique_ptr<BackendInstance>> delegates_;
  pteron_kernel_context context_;
  std::optional<size_t> next_step_;  // set while a run is made step by step
  std::atomic<bool> running_{false};
  bool has_run_ = false;
  void (*trace_)(void*, const pteron_trace_event*) = nullptr;
  void* trace_user_ = nullptr;
};

}  // namespace pteron::runtime
