#include "runtime/plan.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "runtime/component_loader.h"
#include "runtime/constant_views.h"
#include "runtime/foreign_code.h"
#include "runtime/graph_builder.h"
#include "runtime/value_table.h"

namespace pteron::runtime {
namespace {

Result<const format::Method*> method_named(const Program& program, std::string_view name) {
  const format::Method* method = program.find_method(name);
  if (method != nullptr) return method;
  std::string names;
  for (const format::Method& one : program.file().methods) {
    names += (names.empty() ? "'" : ", '") + std::string(one.name) + "'";
  }
  return error(PTERON_NOT_FOUND, "the program has no method '%s'; it has %s",
               printable(name.data(), name.size()).c_str(), names.c_str());
}

std::string with_dtypes(const MissingOperator& missing) {
  return missing.dtypes.empty() ? missing.name : missing.name + " (" + missing.dtypes + ")";
}

Status check_operators(const format::Method& method, bool auto_load) {
  const std::vector<MissingOperator> missing = find_missing_operators(method, auto_load);
  if (missing.empty()) return Status();
  std::string list;
  for (const MissingOperator& one : missing) list += (list.empty() ? "" : ", ") + with_dtypes(one);
  return error(PTERON_MISSING_OPERATOR, "method '%s' needs %zu operator%s without a kernel: %s. %s",
               std::string(method.name).c_str(), missing.size(), missing.size() == 1 ? "" : "s", list.c_str(),
               missing_kernels_hint(auto_load).c_str());
}

// One sentence for all backends that are missing, so that a user installs once.
Result<std::vector<const pteron_backend*>> find_backends(const format::Method& method, bool auto_load) {
  std::vector<const pteron_backend*> backends;
  std::string sentences;
  std::vector<std::string_view> reported;
  for (const format::Delegate& delegate : method.delegates) {
    Result<const pteron_backend*> backend = find_or_load_backend(delegate.id, auto_load);
    backends.push_back(backend.ok() ? *backend : nullptr);
    if (backend.ok() || std::find(reported.begin(), reported.end(), delegate.id) != reported.end()) continue;
    reported.push_back(delegate.id);
    sentences += (sentences.empty() ? "" : "; ") + std::string(backend.status().message());
  }
  if (sentences.empty()) return backends;
  return error(PTERON_MISSING_BACKEND, "method '%s': %s", std::string(method.name).c_str(), sentences.c_str());
}

// A tensor that is read although nothing ever gives it bytes: neither the file, nor the caller, nor a step.
Status check_sources(const Graph& graph) {
  const std::vector<Lifetime> lifetimes = tensor_lifetimes(graph);
  std::vector<bool> given(graph.tensors.size());
  for (const int32_t input : graph.inputs) {
    const format::Value& value = graph.values[static_cast<size_t>(input)];
    if (value.kind == PTERON_KIND_TENSOR) given[static_cast<size_t>(value.tensor)] = true;
  }
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].storage != format::Storage::kUnplanned || given[i] || !lifetimes[i].state) continue;
    if (graph.tensors[i].bytes == 0) continue;
    return error(PTERON_INVALID_FILE,
                 "method '%s' reads tensor %zu, but nothing gives it data: it is no constant, no input, has no planned "
                 "memory and no earlier instruction writes it",
                 graph.name.c_str(), i);
  }
  return Status();
}

template <typename T>
void append(std::string* key, const T& part) {
  key->append(reinterpret_cast<const char*>(&part), sizeof part);
}

void append_tensor(std::string* key, const pteron_tensor* tensor) {
  append(key, tensor != nullptr);
  if (tensor == nullptr) return;
  append(key, tensor->data);
  append(key, tensor->dtype);
  append(key, tensor->rank);
  append(key, tensor->flags);
  key->append(reinterpret_cast<const char*>(tensor->sizes), sizeof(int64_t) * static_cast<size_t>(tensor->rank));
  key->append(reinterpret_cast<const char*>(tensor->strides), sizeof(int64_t) * static_cast<size_t>(tensor->rank));
}

template <typename T>
void append_list(std::string* key, const T* items, size_t count) {
  append(key, count);
  if (count > 0) key->append(reinterpret_cast<const char*>(items), sizeof(T) * count);
}

// All that a kernel's `prepare` can see of a call; two calls with the same key prepare the same.
std::string preparation_key(const pteron_kernel& kernel, const std::vector<pteron_value*>& args) {
  std::string key;
  append(&key, &kernel);
  for (const pteron_value* arg : args) {
    append(&key, arg->kind);
    append(&key, arg->flags);
    switch (arg->kind) {
      case PTERON_KIND_INT:
        append(&key, arg->as.as_int);
        break;
      case PTERON_KIND_BOOL:
        append(&key, arg->as.as_bool);
        break;
      case PTERON_KIND_DOUBLE:
        append(&key, arg->as.as_double);
        break;
      case PTERON_KIND_STRING:
        append_list(&key, arg->as.string.data, arg->as.string.size);
        break;
      case PTERON_KIND_TENSOR:
        append_tensor(&key, arg->as.tensor);
        break;
      case PTERON_KIND_INT_LIST:
        append_list(&key, arg->as.int_list.items, arg->as.int_list.count);
        break;
      case PTERON_KIND_DOUBLE_LIST:
        append_list(&key, arg->as.double_list.items, arg->as.double_list.count);
        break;
      case PTERON_KIND_BOOL_LIST:
        append_list(&key, arg->as.bool_list.items, arg->as.bool_list.count);
        break;
      case PTERON_KIND_TENSOR_LIST:
      case PTERON_KIND_OPTIONAL_TENSOR_LIST:
        append(&key, arg->as.tensor_list.count);
        for (size_t i = 0; i < arg->as.tensor_list.count; ++i) append_tensor(&key, arg->as.tensor_list.items[i]);
        break;
      default:
        break;
    }
  }
  return key;
}

}  // namespace

Plan::~Plan() {
  for (const auto& [kernel, state] : states_) {
    if (state != nullptr && kernel->destroy != nullptr) kernel->destroy(state);
  }
}

Result<std::shared_ptr<const Plan>> Plan::create(std::shared_ptr<const Program> program, std::string_view method_name,
                                                 PlanOptions options) {
  PTERON_ASSIGN(const format::Method* const method, method_named(*program, method_name));
  std::shared_ptr<Plan> plan(new Plan());
  plan->program_ = std::move(program);
  plan->options_ = std::move(options);
  plan->info_ = plan->program_->method_info(method_name);
  PTERON_TRY(check_operators(*method, plan->options_.auto_load));
  PTERON_ASSIGN(plan->backends_, find_backends(*method, plan->options_.auto_load));
  PTERON_ASSIGN(plan->graph_, build_graph(*plan->program_, *method));
  PTERON_TRY(check_sources(plan->graph_));
  view_permuted_constants(plan->graph_);

  ValueUses uses = value_uses(plan->graph_);
  for (size_t i = 0; i < uses.written.size(); ++i) {
    const bool input = std::find(plan->graph_.inputs.begin(), plan->graph_.inputs.end(), static_cast<int32_t>(i)) !=
                       plan->graph_.inputs.end();
    const bool scalar = plan->graph_.values[i].kind != PTERON_KIND_TENSOR;
    if (uses.written[i] && scalar && !input) plan->computed_scalars_.push_back(static_cast<int32_t>(i));
  }
  plan->read_ = std::move(uses.read);
  PTERON_ASSIGN(plan->memory_, plan_memory(plan->graph_, plan->options_.planner));
  PTERON_TRY(plan->prepare_kernels(uses.written));
  return std::shared_ptr<const Plan>(std::move(plan));
}

Status Plan::prepare_kernels(const std::vector<bool>& written) {
  ValueTable table(graph_);
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    const bool input = std::find(graph_.inputs.begin(), graph_.inputs.end(), index) != graph_.inputs.end();
    if (input || written[i]) table.value(index).flags |= PTERON_VALUE_COMPUTED;
  }
  pteron_kernel_context context(0);
  context.prepared = &prepared_;
  std::vector<pteron_value*> args;
  std::unordered_map<std::string, void*> prepared;  // an unrolled loop calls one layer many times: it is packed once
  for (Step& step : graph_.steps) {
    if (step.kernel == nullptr || step.kernel->prepare == nullptr) continue;
    for (const int32_t list : step.computed_lists) table.value(list).flags |= PTERON_VALUE_COMPUTED;
    args.clear();
    for (const int32_t arg : step.args) args.push_back(&table.value(arg));
    const std::string key = preparation_key(*step.kernel, args);
    if (const auto found = prepared.find(key); found != prepared.end()) {
      step.state = found->second;
      continue;
    }
    int code = step.kernel->prepare(&context, args.data(), args.size(), &step.state);
    context.scratch.reset();
    states_.emplace_back(step.kernel, step.state);
    prepared.emplace(key, step.state);
    const int loop_failure = take_loop_failure();
    if (code == PTERON_OK && loop_failure != PTERON_OK) {
      code = loop_failure;
      context.failure = "a parallel loop did not finish";
    }
    if (code != PTERON_OK) {
      return error(known_code(code, PTERON_KERNEL_FAILED), "%s: %s", graph_.place(step).c_str(),
                   context.failure.c_str());
    }
  }
  return Status();
}

Result<std::vector<Missing>> find_missing(const Program& program, std::string_view method_name, bool auto_load) {
  PTERON_ASSIGN(const format::Method* const method, method_named(program, method_name));
  std::vector<Missing> missing;
  for (const MissingOperator& one : find_missing_operators(*method, auto_load)) {
    missing.push_back({PTERON_MISSING_OPERATOR, one.name,
                       "no kernel for " + with_dtypes(one) + ". " + missing_kernels_hint(auto_load)});
  }
  for (const format::Delegate& delegate : method->delegates) {
    const bool known =
        std::any_of(missing.begin(), missing.end(), [&](const Missing& one) { return one.name == delegate.id; });
    const Result<const pteron_backend*> backend = find_or_load_backend(delegate.id, auto_load);
    if (backend.ok() || known) continue;
    missing.push_back({PTERON_MISSING_BACKEND, std::string(delegate.id), backend.status().message()});
  }
  for (const format::Tensor& tensor : method->tensors) {
    if (tensor.storage != format::Storage::kExternalConstant &&
        tensor.storage != format::Storage::kPlannedExternalInit) {
      continue;
    }
    const Result<format::ByteView> data = program.external_data(tensor);
    if (!data.ok()) missing.push_back({PTERON_NOT_FOUND, std::string(tensor.name), data.status().message()});
  }
  return missing;
}

}  // namespace pteron::runtime
