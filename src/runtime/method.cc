#include "runtime/method.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "runtime/foreign_code.h"

namespace pteron::runtime {
namespace {

using format::Opcode;

constexpr uint64_t kDefaultSeed = 0x7074'6572'6f6e;
constexpr uint64_t kDefaultBudget = uint64_t{1} << 32;
// Below this malloc's own pages are cheaper than a mapping.
constexpr uint64_t kMapFrom = uint64_t{256} << 10;

uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

bool is_aligned(const void* data, int32_t dtype) {
  return reinterpret_cast<uintptr_t>(data) % pteron_dtype_size(dtype) == 0;
}

// The program's blobs, as a backend asks for them.
class ProgramData : public DelegateData {
 public:
  explicit ProgramData(const Program& program) : program_(program) {}
  bool named_data(std::string_view key, pteron_bytes* out) const override {
    const format::ByteView* blob = program_.named_data(key);
    if (blob == nullptr) return false;
    *out = {blob->data, blob->size};
    return true;
  }

 private:
  const Program& program_;
};

// "float32 [2, 3]", with "<=" before sizes that are upper bounds.
std::string expected_text(const format::Tensor& tensor) {
  std::string text = std::string(pteron_dtype_name(tensor.dtype)) + " [";
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(tensor.bounded ? "<=" : "") + std::to_string(tensor.sizes[i]);
  }
  return text + "]";
}

bool sizes_fit(const format::Tensor& expected, const pteron_tensor& given) {
  if (given.rank != static_cast<int32_t>(expected.sizes.size())) return false;
  for (int32_t i = 0; i < given.rank; ++i) {
    const int64_t limit = expected.sizes[static_cast<size_t>(i)];
    if (given.sizes[i] < 0 || given.sizes[i] > limit) return false;
    if (!expected.bounded && given.sizes[i] != limit) return false;
  }
  return true;
}

// The exporter gives buffers that methods share a memory of their own, after the first, and the same place in it; other
// buffers are known by name.
bool is_same_buffer(const format::Tensor& a, const format::Tensor& b) {
  if (!a.name.empty() || !b.name.empty()) return a.name == b.name;
  return a.memory_id > 1 && a.memory_id == b.memory_id && a.memory_offset == b.memory_offset;
}

bool equals_exported(const format::Value& exported, const pteron_value& given) {
  switch (exported.kind) {
    case PTERON_KIND_INT:
      return given.as.as_int == exported.as_int;
    case PTERON_KIND_BOOL:
      return (given.as.as_bool != 0) == exported.as_bool;
    case PTERON_KIND_DOUBLE:
      return given.as.as_double == exported.as_double;
    case PTERON_KIND_STRING:
      return exported.string == std::string_view(given.as.string.data, given.as.string.size);
    default:
      return true;
  }
}

std::string value_text(const pteron_value& value) {
  switch (value.kind) {
    case PTERON_KIND_INT:
      return std::to_string(value.as.as_int);
    case PTERON_KIND_BOOL:
      return value.as.as_bool != 0 ? "true" : "false";
    case PTERON_KIND_DOUBLE:
      return format_text("%.17g", value.as.as_double);
    case PTERON_KIND_STRING:
      return "'" + printable(value.as.string.data, value.as.string.size) + "'";
    default:
      return pteron_kind_name(value.kind);
  }
}

std::string exported_text(const format::Value& value) {
  pteron_value plain{};
  plain.kind = value.kind;
  if (value.kind == PTERON_KIND_INT) plain.as.as_int = value.as_int;
  if (value.kind == PTERON_KIND_BOOL) plain.as.as_bool = value.as_bool ? 1 : 0;
  if (value.kind == PTERON_KIND_DOUBLE) plain.as.as_double = value.as_double;
  if (value.kind == PTERON_KIND_STRING) plain.as.string = {value.string.data(), value.string.size()};
  return value_text(plain);
}

// True when a step may write its result of that type straight to `tensor`.
bool can_hold(const format::Tensor& expected, const pteron_tensor& tensor) {
  if (tensor.capacity < expected.bytes || tensor.data == nullptr || !is_aligned(tensor.data, tensor.dtype))
    return false;
  const bool resizable = (tensor.flags & PTERON_TENSOR_RESIZABLE) != 0;
  const bool sizes_match = std::equal(expected.sizes.begin(), expected.sizes.end(), tensor.sizes);
  return has_layout(tensor, expected.dim_order.data()) && (expected.bounded ? resizable : sizes_match);
}

}  // namespace

Status OwnedCopy::reserve(uint64_t needed) {
  if (memory != nullptr && bytes >= needed) return Status();
  memory = allocate_memory(needed);
  bytes = memory == nullptr ? 0 : needed;
  if (memory != nullptr) return Status();
  return error(PTERON_OUT_OF_MEMORY, "out of memory: a copy of %llu bytes is needed",
               static_cast<unsigned long long>(needed));
}

// ---- Arena -------------------------------------------------------------------------------------------------------

Result<Arena> Arena::allocate(uint64_t bytes) {
  Arena arena;
  arena.bytes_ = std::max<uint64_t>(bytes, 64);
  arena.mapped_ = arena.bytes_ >= kMapFrom;
  if (arena.mapped_) {
    void* memory =
        mmap(nullptr, arena.bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    arena.data_ = memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
  } else {
    arena.data_ = static_cast<uint8_t*>(allocate_memory(arena.bytes_).release());
    if (arena.data_ != nullptr) std::memset(arena.data_, 0, arena.bytes_);
  }
  if (arena.data_ == nullptr) {
    return error(PTERON_OUT_OF_MEMORY, "out of memory: the method's values need %llu bytes",
                 static_cast<unsigned long long>(bytes));
  }
  return arena;
}

Arena Arena::borrow(void* memory, uint64_t bytes) {
  Arena arena;
  arena.data_ = static_cast<uint8_t*>(memory);
  arena.bytes_ = bytes;
  arena.borrowed_ = true;
  return arena;
}

Arena::Arena(Arena&& other) noexcept {
  *this = std::move(other);
}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(borrowed_, other.borrowed_);
  return *this;
}

Arena::~Arena() {
  if (data_ == nullptr || borrowed_) return;
  if (mapped_) {
    munmap(data_, bytes_);
  } else {
    FreeMemory()(data_);
  }
}

// ---- Making a method -----------------------------------------------------------------------------------------------

Method::Method(std::shared_ptr<const Plan> plan, uint64_t seed)
    : plan_(std::move(plan)),
      graph_(plan_->graph()),
      values_(graph_),
      state_data_(graph_.tensors.size()),
      inputs_(graph_.inputs.size()),
      outputs_(graph_.outputs.size()),
      context_(seed == 0 ? kDefaultSeed : seed) {}

Result<std::shared_ptr<Method>> Method::create(std::shared_ptr<const Plan> plan, MethodOptions options) {
  std::shared_ptr<Method> method(new Method(std::move(plan), options.seed));
  const uint64_t needed = method->plan_->memory().arena_bytes;
  if (options.arena != nullptr) {
    if (options.arena_bytes < needed || reinterpret_cast<uintptr_t>(options.arena) % 64 != 0) {
      return error(
          PTERON_INVALID_ARGUMENT, "method '%s' needs an arena of %llu bytes aligned to 64; %zu bytes at %p were given",
          method->graph_.name.c_str(), static_cast<unsigned long long>(needed), options.arena_bytes, options.arena);
    }
    method->arena_ = Arena::borrow(options.arena, options.arena_bytes);
  } else {
    PTERON_ASSIGN(method->arena_, Arena::allocate(needed));
  }
  method->state_from_ = std::move(options.state_from);
  method->place_tensors();
  PTERON_TRY(method->share_state());
  method->follow_roots();
  PTERON_TRY(method->reset_state());
  method->resolve_steps();
  method->find_outputs();
  PTERON_TRY(method->make_delegates());
  return method;
}

void Method::place_tensors() {
  const std::vector<Placement>& placements = plan_->memory().placements;
  for (size_t i = 0; i < placements.size(); ++i) {
    if (placements[i].place != Place::kArena) continue;
    pteron_tensor& tensor = values_.tensor(static_cast<int32_t>(i));
    tensor.data = arena_.data() + placements[i].offset;
    if (placements[i].state) state_data_[i] = static_cast<uint8_t*>(tensor.data);
  }
}

// Another method's buffer takes the place of this one's when it is the same one of the program.
Status Method::share_state() {
  if (state_from_ == nullptr) return Status();
  const Graph& other = state_from_->graph_;
  const bool same_plan = state_from_->plan_ == plan_;
  size_t shared = 0;
  for (size_t i = 0; i < graph_.tensors.size(); ++i) {
    const format::Tensor& tensor = graph_.tensors[i];
    if (state_data_[i] == nullptr) continue;
    for (size_t j = 0; j < other.tensors.size(); ++j) {
      if (state_from_->state_data_[j] == nullptr) continue;
      if (same_plan ? i != j : !is_same_buffer(tensor, other.tensors[j])) continue;
      if (other.tensors[j].dtype != tensor.dtype || other.tensors[j].bytes != tensor.bytes) {
        return error(PTERON_INVALID_ARGUMENT, "mutable buffer '%s' is %s in method '%s' and %s in method '%s'",
                     std::string(tensor.name).c_str(), expected_text(tensor).c_str(), graph_.name.c_str(),
                     expected_text(other.tensors[j]).c_str(), other.name.c_str());
      }
      values_.tensor(static_cast<int32_t>(i)).data = state_from_->state_data_[j];
      state_data_[i] = nullptr;  // not ours to reset
      ++shared;
    }
  }
  if (shared > 0) return Status();
  return error(PTERON_INVALID_ARGUMENT,
               "methods '%s' and '%s' have no mutable buffer in common (by name, or by a place in a shared part of the "
               "memory plan), so there is no state to share",
               graph_.name.c_str(), other.name.c_str());
}

void Method::follow_roots() {
  const std::vector<Placement>& placements = plan_->memory().placements;
  for (size_t i = 0; i < placements.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    if (placements[i].root == index) continue;
    const bool same_place = placements[i].place == Place::kView ||
                            placements[i].offset == placements[static_cast<size_t>(placements[i].root)].offset;
    if (same_place) values_.tensor(index).data = values_.tensor(placements[i].root).data;
  }
}

Status Method::reset_state() {
  for (size_t i = 0; i < state_data_.size(); ++i) {
    if (state_data_[i] == nullptr) continue;
    const format::Tensor& tensor = graph_.tensors[i];
    if (tensor.data != nullptr) {
      std::memcpy(state_data_[i], tensor.data, tensor.bytes);
    } else {
      std::memset(state_data_[i], 0, tensor.bytes);
    }
  }
  return Status();
}

void Method::resolve_steps() {
  size_t count = 0;
  for (const Step& step : graph_.steps) count += step.args.size();
  arg_pool_.reserve(count);
  for (const Step& step : graph_.steps) {
    first_arg_.push_back(arg_pool_.size());
    for (const int32_t arg : step.args) arg_pool_.push_back(&values_.value(arg));
  }
}

void Method::find_outputs() {
  const std::vector<Placement>& placements = plan_->memory().placements;
  std::vector<bool> input(graph_.tensors.size());
  std::vector<int> in_group(graph_.tensors.size());
  std::vector<int> as_output(graph_.tensors.size());
  for (const int32_t index : graph_.inputs) {
    const format::Value& value = graph_.values[static_cast<size_t>(index)];
    if (value.kind == PTERON_KIND_TENSOR) input[static_cast<size_t>(value.tensor)] = true;
  }
  for (const Placement& placement : placements) ++in_group[static_cast<size_t>(placement.root)];
  for (const int32_t index : graph_.outputs) {
    const format::Value& value = graph_.values[static_cast<size_t>(index)];
    if (value.kind == PTERON_KIND_TENSOR) ++as_output[static_cast<size_t>(value.tensor)];
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    output.value = graph_.outputs[i];
    const format::Value& value = graph_.values[static_cast<size_t>(output.value)];
    if (value.kind != PTERON_KIND_TENSOR) continue;
    const auto tensor = static_cast<size_t>(value.tensor);
    const auto root = static_cast<size_t>(placements[tensor].root);
    output.copied = input[root];
    output.replaceable = placements[tensor].place == Place::kArena && root == tensor && !placements[tensor].state &&
                         !input[tensor] && in_group[tensor] == 1 && as_output[tensor] == 1 &&
                         plan_->memory().planner == PTERON_PLANNER_OWN;
  }
}

Status Method::make_delegates() {
  delegate_data_ = std::make_unique<ProgramData>(plan_->program());
  for (size_t i = 0; i < graph_.delegates.size(); ++i) {
    const format::Delegate& delegate = graph_.delegates[i];
    std::vector<pteron_compile_spec> specs;
    for (const format::CompileSpec& spec : delegate.specs) {
      specs.push_back({spec.key.data(), {spec.value.data, spec.value.size}});
    }
    std::vector<BackendOption> options;
    for (const auto& [backend, option] : plan_->options().backend_options) {
      if (backend == delegate.id) options.push_back(option);
    }
    DelegateRequest request;
    request.method_name = graph_.name.c_str();
    request.payload = {delegate.payload.data, delegate.payload.size};
    request.compile_specs = specs.data();
    request.compile_spec_count = specs.size();
    request.data = delegate_data_.get();
    request.options = &options;
    Result<std::unique_ptr<BackendInstance>> instance = BackendInstance::create(plan_->backends()[i], request);
    if (!instance.ok()) {
      return with_place(std::move(instance).status(), "method '%s', delegate %zu", graph_.name.c_str(), i);
    }
    delegates_.push_back(std::move(instance).value());
  }
  return Status();
}

// ---- Inputs
// ----------------------------------------------------------------------------------------------------------

std::string Method::input_text(size_t index) const {
  const pteron_method_info* info = plan_->info();
  const char* name = info != nullptr && index < info->input_count ? info->inputs[index]->name : "";
  std::string text = "input " + std::to_string(index);
  if (name != nullptr && name[0] != '\0') text += " ('" + std::string(name) + "')";
  return text + " of method '" + graph_.name + "'";
}

Status Method::set_input(size_t index, const pteron_value& given) {
  if (index >= inputs_.size()) {
    return error(PTERON_INVALID_INPUT, "method '%s' has %zu inputs; there is no input %zu", graph_.name.c_str(),
                 inputs_.size(), index);
  }
  if (running_.load(std::memory_order_acquire)) {
    return error(PTERON_BUSY, "method '%s' is running; its inputs cannot change now", graph_.name.c_str());
  }
  const format::Value& expected = graph_.values[static_cast<size_t>(graph_.inputs[index])];
  switch (expected.kind) {
    case PTERON_KIND_TENSOR:
      if (given.kind != PTERON_KIND_TENSOR) {
        return error(PTERON_INVALID_INPUT, "%s: expected a tensor, %s, got a %s", input_text(index).c_str(),
                     expected_text(graph_.tensors[static_cast<size_t>(expected.tensor)]).c_str(),
                     pteron_kind_name(given.kind));
      }
      PTERON_TRY(set_tensor_input(index, expected.tensor, given.as.tensor));
      break;
    case PTERON_KIND_NONE:
    case PTERON_KIND_INT:
    case PTERON_KIND_BOOL:
    case PTERON_KIND_DOUBLE:
    case PTERON_KIND_STRING:
      PTERON_TRY(set_scalar_input(index, given));
      break;
    default:  // the loader takes no other kinds as inputs: the exporter flattens lists
      return error(PTERON_INTERNAL, "%s is a %s", input_text(index).c_str(), pteron_kind_name(expected.kind));
  }
  inputs_[index].set = true;
  return Status();
}

Status Method::set_scalar_input(size_t index, const pteron_value& given) {
  const int32_t value_index = graph_.inputs[index];
  const format::Value& expected = graph_.values[static_cast<size_t>(value_index)];
  pteron_value& target = values_.value(value_index);
  pteron_value accepted = given;
  accepted.flags = 0;
  const bool open = expected.kind == PTERON_KIND_NONE;  // the file leaves kind and content to the caller
  if (expected.kind == PTERON_KIND_DOUBLE && given.kind == PTERON_KIND_INT) {
    accepted.kind = PTERON_KIND_DOUBLE;
    accepted.as.as_double = static_cast<double>(given.as.as_int);
  }
  const bool scalar =
      accepted.kind >= PTERON_KIND_NONE && accepted.kind <= PTERON_KIND_STRING && accepted.kind != PTERON_KIND_TENSOR;
  if (!scalar || (!open && accepted.kind != expected.kind)) {
    return error(PTERON_INVALID_INPUT, "%s: expected %s, got a %s", input_text(index).c_str(),
                 open ? "an int, double, bool, string or none" : pteron_kind_name(expected.kind),
                 pteron_kind_name(given.kind));
  }
  if (accepted.kind == PTERON_KIND_STRING) {
    Input& input = inputs_[index];
    input.text.assign(given.as.string.data == nullptr ? "" : given.as.string.data, given.as.string.size);
    accepted.as.string.data = input.text.c_str();
  }
  // The exporter bakes such a value into the program: another one would silently be ignored.
  if (!open && !plan_->is_read(value_index) && !equals_exported(expected, accepted)) {
    return error(PTERON_INVALID_INPUT, "%s: the program was exported for the %s %s only, and does not read it; got %s",
                 input_text(index).c_str(), pteron_kind_name(expected.kind), exported_text(expected).c_str(),
                 value_text(accepted).c_str());
  }
  target = accepted;
  return Status();
}

Status Method::set_tensor_input(size_t index, int32_t tensor, const pteron_tensor* given) {
  const format::Tensor& expected = graph_.tensors[static_cast<size_t>(tensor)];
  if (given == nullptr) {
    return error(PTERON_INVALID_INPUT, "%s: expected a tensor, %s, got none", input_text(index).c_str(),
                 expected_text(expected).c_str());
  }
  const bool has_arrays = given->rank == 0 || (given->sizes != nullptr && given->strides != nullptr);
  if (given->rank < 0 || given->rank > PTERON_MAX_RANK || !has_arrays) {
    return error(PTERON_INVALID_INPUT, "%s: the tensor given has rank %d%s; ranks go from 0 to %d",
                 input_text(index).c_str(), given->rank, has_arrays ? "" : " and no sizes or strides", PTERON_MAX_RANK);
  }
  if (given->dtype != expected.dtype || !sizes_fit(expected, *given)) {
    return error(PTERON_INVALID_INPUT, "%s: expected %s, got %s", input_text(index).c_str(),
                 expected_text(expected).c_str(), describe(*given).c_str());
  }
  if (given->device_type != PTERON_DEVICE_CPU) {
    return error(PTERON_INVALID_INPUT, "%s: expected a tensor in memory of the CPU, got device type %d",
                 input_text(index).c_str(), given->device_type);
  }
  if (given->data == nullptr && pteron_tensor_numel(given) != 0) {
    return error(PTERON_INVALID_INPUT, "%s: the tensor given, %s, has no data", input_text(index).c_str(),
                 describe(*given).c_str());
  }
  pteron_tensor& target = values_.tensor(tensor);
  if (expected.bounded) {
    // The bounds were checked above; this keeps strides in step with the sizes.
    target.capacity = std::max<size_t>(target.capacity, expected.bytes);
    PTERON_TRY(Status::adopt(pteron_tensor_resize(&target, given->sizes, given->rank)));
  }
  if (plan_->memory().placements[static_cast<size_t>(tensor)].place == Place::kArena) {
    return copy_tensor(*given, target);
  }
  if (has_layout(*given, target.dim_order) && is_aligned(given->data, given->dtype)) {
    target.data = given->data != nullptr ? given->data : arena_.data();
    return Status();
  }
  return use_converted(tensor, *given);
}

Status Method::use_converted(int32_t tensor, const pteron_tensor& given) {
  pteron_tensor& target = values_.tensor(tensor);
  OwnedCopy& copy = converted_[tensor];
  PTERON_TRY(copy.reserve(tensor_bytes(target)));
  target.data = copy.memory.get();
  return copy_tensor(given, target);
}

// ---- Running
// -----------------------------------------------------------------------------------------------------------

// What bounds one call of run() or step().
struct Method::Limits {
  const int32_t* cancel = nullptr;
  uint64_t deadline_ns = 0;  // 0: none
  uint64_t time_limit_us = 0;
  uint64_t budget = kDefaultBudget;

  explicit Limits(const pteron_run_options* options) {
    if (options == nullptr) return;
    cancel = options->cancel;
    time_limit_us = options->time_limit_us;
    if (time_limit_us != 0 && time_limit_us < UINT64_MAX / 2000) deadline_ns = now_ns() + time_limit_us * 1000;
    if (options->instruction_budget != 0) budget = options->instruction_budget;
  }
  bool cancelled() const { return cancel != nullptr && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0; }
};

namespace {

// Holds the method for one call; a second caller is turned away instead of waiting.
class Occupied {
 public:
  explicit Occupied(std::atomic<bool>& flag) : flag_(flag), taken_(!flag.exchange(true, std::memory_order_acquire)) {}
  Occupied(const Occupied&) = delete;
  Occupied& operator=(const Occupied&) = delete;
  ~Occupied() {
    if (taken_) flag_.store(false, std::memory_order_release);
  }
  bool taken() const { return taken_; }

 private:
  std::atomic<bool>& flag_;
  bool taken_;
};

}  // namespace

Status Method::run(const pteron_run_options* options) {
  const Occupied occupied(running_);
  if (!occupied.taken()) {
    return error(PTERON_BUSY, "method '%s' is running in another thread; make a method for each thread",
                 graph_.name.c_str());
  }
  if (next_step_.has_value()) {
    return error(PTERON_INVALID_STATE,
                 "method '%s' is being run step by step, at step %zu; finish or abandon the steps first",
                 graph_.name.c_str(), *next_step_);
  }
  PTERON_TRY(begin_run());
  Limits limits(options);
  size_t next = 0;
  while (next < graph_.steps.size()) PTERON_TRY(execute_step(next, limits, &next));
  return finish_run();
}

Status Method::step(const pteron_run_options* options, bool* done) {
  const Occupied occupied(running_);
  if (!occupied.taken()) {
    return error(PTERON_BUSY, "method '%s' is running in another thread; make a method for each thread",
                 graph_.name.c_str());
  }
  *done = false;
  if (!next_step_.has_value()) {
    PTERON_TRY(begin_run());
    next_step_ = 0;
  }
  Limits limits(options);
  if (*next_step_ < graph_.steps.size()) {
    size_t next = *next_step_;
    Status status = execute_step(*next_step_, limits, &next);
    if (!status.ok()) {
      next_step_.reset();
      return status;
    }
    next_step_ = next;
  }
  if (*next_step_ < graph_.steps.size()) return Status();
  next_step_.reset();
  *done = true;
  return finish_run();
}

Status Method::begin_run() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].set) continue;
    return error(PTERON_INVALID_STATE, "%s was never set; set every input before the run", input_text(i).c_str());
  }
  has_run_ = false;
  for (const int32_t scalar : plan_->computed_scalars()) values_.reset_scalar(scalar);
  return Status();
}

Status Method::execute_step(size_t index, Limits& limits, size_t* next) {
  const Step& step = graph_.steps[index];
  if (limits.budget-- == 0) {
    return failed(step, error(PTERON_BUDGET_EXHAUSTED,
                              "the instruction budget ran out; the program may loop without end. Raise the budget of "
                              "the run if it is meant to run longer"));
  }
  if (limits.cancelled()) return failed(step, error(PTERON_CANCELLED, "the run was cancelled"));
  if (limits.deadline_ns != 0 && now_ns() > limits.deadline_ns) {
    return failed(step, error(PTERON_TIME_LIMIT, "the time limit of %llu us ran out",
                              static_cast<unsigned long long>(limits.time_limit_us)));
  }
  const uint64_t start_ns = trace_ != nullptr ? now_ns() : 0;
  *next = index + 1;
  switch (step.opcode) {
    case Opcode::kKernel:
      PTERON_TRY(execute_kernel(index));
      break;
    case Opcode::kDelegate: {
      Status status = delegates_[static_cast<size_t>(step.target)]->execute(&arg_pool_[first_arg_[index]],
                                                                            step.args.size(), limits.cancel);
      if (!status.ok()) return failed(step, std::move(status));
      break;
    }
    case Opcode::kMove:
      PTERON_TRY(execute_move(step));
      break;
    case Opcode::kJumpFalse: {
      bool condition = false;
      PTERON_TRY(jump_condition(step, &condition));
      if (!condition) *next = static_cast<size_t>(step.operand);
      break;
    }
    case Opcode::kFree:
      break;  // lifetimes are known beforehand
  }
  if (trace_ != nullptr) trace_step(index, start_ns);
  return Status();
}

Status Method::execute_kernel(size_t index) {
  const Step& step = graph_.steps[index];
  for (const int32_t list : step.computed_lists) {
    Status status = values_.refresh_list(list);
    if (!status.ok()) return failed(step, std::move(status));
  }
  context_.state = step.state;
  int code = step.kernel->fn(&context_, arg_pool_.data() + first_arg_[index], step.args.size());
  context_.scratch.reset();
  const int loop_failure = take_loop_failure();
  if (code == PTERON_OK && loop_failure != PTERON_OK) {
    code = loop_failure;
    context_.failure = "a parallel loop did not finish";
  }
  if (code == PTERON_OK) return Status();
  return failed(step, Status(known_code(code, PTERON_KERNEL_FAILED), context_.failure.c_str()));
}

// A moved tensor is copied, so that both values keep memory of their own: the planner need not know which branch ran.
Status Method::execute_move(const Step& step) {
  const pteron_value& from = values_.value(step.target);
  pteron_value& to = values_.value(step.operand);
  if (from.kind != PTERON_KIND_TENSOR) {
    to = from;
    return Status();
  }
  pteron_tensor& target = *to.as.tensor;
  const pteron_tensor& source = *from.as.tensor;
  if (&target == &source) return Status();
  Status status = Status::adopt(pteron_tensor_resize(&target, source.sizes, source.rank));
  if (status.ok() && (target.data != source.data || !same_layout(source, target))) status = copy_tensor(source, target);
  return status.ok() ? Status() : failed(step, std::move(status));
}

Status Method::jump_condition(const Step& step, bool* condition) const {
  const pteron_value& value = values_.value(step.target);
  if (value.kind == PTERON_KIND_BOOL) {
    *condition = value.as.as_bool != 0;
    return Status();
  }
  if (value.kind == PTERON_KIND_TENSOR) {
    const pteron_tensor& tensor = *value.as.tensor;
    if (tensor.dtype == PTERON_BOOL && pteron_tensor_numel(&tensor) == 1 && tensor.data != nullptr) {
      *condition = *static_cast<const uint8_t*>(tensor.data) != 0;
      return Status();
    }
  }
  return failed(step, error(PTERON_INVALID_FILE,
                            "the condition, value %d, is a %s; a bool or a tensor of one bool is "
                            "needed",
                            step.target,
                            value.kind == PTERON_KIND_TENSOR ? describe(*value.as.tensor).c_str()
                                                             : pteron_kind_name(value.kind)));
}

Status Method::failed(const Step& step, Status status) const {
  const size_t index = static_cast<size_t>(&step - graph_.steps.data());
  const std::string& source = graph_.sources[index];
  return with_place(std::move(status), "%s%s%s%s", graph_.place(step).c_str(), source.empty() ? "" : " [",
                    source.c_str(), source.empty() ? "" : "]");
}

void Method::trace_step(size_t index, uint64_t start_ns) {
  const Step& step = graph_.steps[index];
  const std::string name = graph_.step_name(step);
  pteron_trace_event event{};
  event.struct_size = sizeof event;
  event.name = name.c_str();
  event.chain = step.chain;
  event.instruction = step.instruction;
  event.start_ns = start_ns;
  event.duration_ns = now_ns() - start_ns;
  event.args = arg_pool_.data() + first_arg_[index];
  event.arg_count = step.args.size();
  for (size_t i = 0; i < event.arg_count; ++i) {
    if (event.args[i]->kind == PTERON_KIND_TENSOR) event.bytes += tensor_bytes(*event.args[i]->as.tensor);
  }
  trace_(trace_user_, &event);
}

void Method::set_trace(void (*callback)(void*, const pteron_trace_event*), void* user) {
  trace_ = callback;
  trace_user_ = user;
}

// ---- Outputs
// -----------------------------------------------------------------------------------------------------------

const pteron_value* Method::output(size_t index) const {
  return has_run_ && index < outputs_.size() ? &outputs_[index].result : nullptr;
}

Status Method::finish_run() {
  for (size_t i = 0; i < outputs_.size(); ++i) PTERON_TRY(finish_output(i));
  has_run_ = true;
  return Status();
}

Status Method::finish_output(size_t index) {
  Output& output = outputs_[index];
  output.result = values_.value(output.value);
  if (output.result.kind == PTERON_KIND_INT_LIST) PTERON_TRY(values_.refresh_list(output.value));
  if (output.result.kind != PTERON_KIND_TENSOR) return Status();
  const pteron_tensor& tensor = *output.result.as.tensor;
  if (output.copied) {
    PTERON_TRY(output.copy.reserve(tensor_bytes(tensor)));
    output.copy_storage.set_shape(tensor.dtype, tensor.rank, tensor.sizes, tensor.dim_order);
    output.copy_storage.tensor.data = output.copy.memory.get();
    output.copy_storage.tensor.capacity = output.copy.bytes;
    PTERON_TRY(copy_tensor(tensor, output.copy_storage.tensor));
    output.result.as.tensor = &output.copy_storage.tensor;
  }
  if (output.bound == nullptr) return Status();
  if (!same_sizes(tensor, *output.bound)) {
    Status status = Status::adopt(pteron_tensor_resize(output.bound, tensor.sizes, tensor.rank));
    if (!status.ok()) {
      return error(PTERON_INVALID_INPUT, "output %zu of method '%s' is %s and does not fit the tensor bound to it, %s",
                   index, graph_.name.c_str(), describe(tensor).c_str(), describe(*output.bound).c_str());
    }
  }
  return output.replaced ? Status() : copy_tensor(tensor, *output.bound);
}

Status Method::bind_output(size_t index, pteron_tensor* tensor) {
  if (index >= outputs_.size()) {
    return error(PTERON_INVALID_ARGUMENT, "method '%s' has %zu outputs; there is no output %zu", graph_.name.c_str(),
                 outputs_.size(), index);
  }
  Output& output = outputs_[index];
  const format::Value& value = graph_.values[static_cast<size_t>(output.value)];
  if (value.kind != PTERON_KIND_TENSOR) {
    return error(PTERON_INVALID_ARGUMENT, "output %zu of method '%s' is a %s; only tensors can be bound", index,
                 graph_.name.c_str(), pteron_kind_name(value.kind));
  }
  const format::Tensor& expected = graph_.tensors[static_cast<size_t>(value.tensor)];
  if (tensor != nullptr &&
      (tensor->dtype != expected.dtype || tensor->rank != static_cast<int32_t>(expected.sizes.size()) ||
       (tensor->flags & PTERON_TENSOR_READ_ONLY) != 0 || tensor->device_type != PTERON_DEVICE_CPU)) {
    return error(PTERON_INVALID_ARGUMENT, "output %zu of method '%s' is %s; the tensor to bind, %s, cannot take it",
                 index, graph_.name.c_str(), expected_text(expected).c_str(), describe(*tensor).c_str());
  }
  pteron_tensor& own = values_.tensor(value.tensor);
  output.bound = tensor;
  output.replaced = tensor != nullptr && output.replaceable && can_hold(expected, *tensor);
  own.data = output.replaced ? tensor->data
                             : arena_.data() + plan_->memory().placements[static_cast<size_t>(value.tensor)].offset;
  return Status();
}

}  // namespace pteron::runtime
