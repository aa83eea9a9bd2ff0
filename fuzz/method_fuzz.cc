// A whole run of what a `.pte` says, whatever it says: load, plan, execute with inputs of zeros and ones. Numbers from
// the file reach the kernels as shapes, indices and lists.
#include <cstdint>
#include <memory>
#include <vector>

#include "pteron/c/method.h"
#include "pteron/c/runtime.h"

extern "C" int pteron_register_kernels(void);

namespace {

constexpr uint64_t kLargestMemory = uint64_t{1} << 20;  // small, so that many files can be tried
constexpr uint64_t kInstructions = 300;

template <typename T, void (*free_one)(T*)>
struct Free {
  void operator()(T* object) const { free_one(object); }
};
using ProgramPointer = std::unique_ptr<pteron_program, Free<pteron_program, pteron_program_release>>;
using PlanPointer = std::unique_ptr<pteron_plan, Free<pteron_plan, pteron_plan_release>>;
using MethodPointer = std::unique_ptr<pteron_method, Free<pteron_method, pteron_method_destroy>>;

bool succeeded(pteron_status* status) {
  const bool ok = status == nullptr;
  pteron_status_free(status);
  return ok;
}

// Zeros of the input's largest shape; false for one that is too large to try.
bool set_tensor(pteron_method* method, size_t index, const pteron_value_info& info, std::vector<uint8_t>* memory) {
  if (info.bytes > kLargestMemory) return false;
  memory->assign(static_cast<size_t>(info.bytes) + 1, 0);
  std::vector<int64_t> sizes(info.sizes, info.sizes + info.rank);
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t k = sizes.size(); k-- > 0;) {
    strides[info.dim_order[k]] = step;
    step *= sizes[info.dim_order[k]] == 0 ? 1 : sizes[info.dim_order[k]];
  }
  pteron_tensor tensor{};
  tensor.data = memory->data();
  tensor.sizes = sizes.data();
  tensor.strides = strides.data();
  tensor.capacity = memory->size();
  tensor.rank = info.rank;
  tensor.dtype = static_cast<uint8_t>(info.dtype);
  pteron_value value{};
  value.kind = PTERON_KIND_TENSOR;
  value.as.tensor = &tensor;
  return succeeded(pteron_method_set_input(method, index, &value));
}

bool set_inputs(pteron_method* method, const pteron_method_info& info, std::vector<std::vector<uint8_t>>* memory) {
  memory->resize(info.input_count);
  for (size_t i = 0; i < info.input_count; ++i) {
    const pteron_value_info& input = *info.inputs[i];
    pteron_value value = input.scalar;
    if (input.kind == PTERON_KIND_NONE) {
      value.kind = PTERON_KIND_INT;
      value.as.as_int = 1;
    }
    const bool set = input.kind == PTERON_KIND_TENSOR ? set_tensor(method, i, input, &(*memory)[i])
                                                      : succeeded(pteron_method_set_input(method, i, &value));
    if (!set) return false;
  }
  return true;
}

void run(pteron_program* program, const pteron_method_info& info) {
  pteron_plan_options plan_options{};
  plan_options.struct_size = sizeof plan_options;
  plan_options.no_auto_load = 1;
  pteron_plan* plan = nullptr;
  if (!succeeded(pteron_plan_create(program, info.name, &plan_options, &plan))) return;
  const PlanPointer plan_owner(plan);
  pteron_method* method = nullptr;
  if (!succeeded(pteron_method_create(plan, nullptr, &method))) return;
  const MethodPointer owner(method);
  std::vector<std::vector<uint8_t>> memory;
  if (!set_inputs(method, info, &memory)) return;
  pteron_run_options options{};
  options.struct_size = sizeof options;
  options.instruction_budget = kInstructions;
  (void)succeeded(pteron_method_run(method, &options));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  pteron_set_log_level(PTERON_LOG_OFF);
  pteron_register_kernels();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pteron_load_options options{};
  options.struct_size = sizeof options;
  options.max_memory = kLargestMemory;
  pteron_program* program = nullptr;
  if (!succeeded(pteron_program_load_bytes(data, size, nullptr, nullptr, &options, &program))) return 0;
  const ProgramPointer owner(program);
  for (size_t i = 0; i < pteron_program_method_count(program); ++i) run(program, *pteron_program_method(program, i));
  return 0;
}
