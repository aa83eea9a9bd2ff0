// The runtime's own graph of one method: what is planned and executed. It starts as a copy of what the file says, with
// chains laid end to end, operators resolved to kernels and external weights resolved to bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/program_file.h"
#include "pteron/c/backend.h"
#include "pteron/c/kernel.h"
#include "runtime/schema.h"

namespace pteron::runtime {

// True for a tensor whose bytes are the program's or a data file's and never change.
inline bool is_constant(const format::Tensor& tensor) {
  return tensor.storage == format::Storage::kConstant || tensor.storage == format::Storage::kExternalConstant;
}

// How a step touches one of its arguments.
enum class Access : uint8_t {
  kRead,
  kWrite,      // an out argument: the old content does not matter
  kReadWrite,  // updated in place
};

// One instruction. Chains run one after the other, so steps are numbered through; a jump's destination is a step
// number.
struct Step {
  format::Opcode opcode = format::Opcode::kFree;
  int32_t chain = 0;  // where it stands in the file, for messages
  int32_t instruction = 0;
  int32_t target = -1;   // delegate index; move: source; jump: condition; free: the value
  int32_t operand = -1;  // move: destination value; jump: destination step
  std::vector<int32_t> args;
  std::vector<Access> access;           // one per argument
  std::vector<int32_t> computed_lists;  // int lists among the arguments with items that are known only while running
  const pteron_kernel* kernel = nullptr;
  const Schema* schema = nullptr;
  void* state = nullptr;  // what the kernel prepared
};

// What a step does to one tensor.
struct TensorAccess {
  int32_t tensor;
  Access access;
};

struct Graph {
  std::string name;
  std::vector<format::Value> values;
  std::vector<format::Tensor> tensors;
  std::vector<int32_t> inputs;   // value indices
  std::vector<int32_t> outputs;  // value indices
  std::vector<Step> steps;
  std::vector<format::Delegate> delegates;
  std::vector<uint64_t> buffer_bytes;  // the file's plan
  std::vector<std::string> sources;    // source line per step, or empty

  // Tensors that a step reads and writes, those inside lists included; a delegate's arguments count as read-write.
  std::vector<TensorAccess> tensor_accesses(const Step& step) const;
  // True for a step after which another view of the same memory exists: `out` of et_view shares `self`.
  bool is_view(const Step& step) const;
  // "instruction 0:12 (aten::add.out)" for messages.
  std::string place(const Step& step) const;
  std::string step_name(const Step& step) const;
};

}  // namespace pteron::runtime
