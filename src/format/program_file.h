// A `.pte` file, verified and decoded into plain structs. Everything a file can get wrong on its own is refused here,
// so that whoever reads these structs indexes without checks: every index is in range, every size fits, every
// permutation is one. Views point into the file, which `bytes` keeps alive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "pteron/c/tensor.h"
#include "pteron/result.h"

namespace pteron::format {

struct ByteView {
  const uint8_t* data = nullptr;
  uint64_t size = 0;
};

// Where a tensor's memory comes from.
enum class Storage : uint8_t {
  kConstant,             // `data` points at its bytes
  kExternalConstant,     // bytes come from a data file, by `name`
  kPlanned,              // in the memory plan
  kPlannedInitialised,   // in the memory plan, starts with the bytes at `data`, keeps its content from run to run
  kPlannedExternalInit,  // the same with the bytes of a data file, by `name`
  kUnplanned,            // no memory of its own: the caller's, or the runtime's own planner
};

struct Tensor {
  uint8_t dtype = 0;     // a pteron_dtype with an element size
  bool bounded = false;  // sizes are upper bounds (DYNAMIC_BOUND)
  uint8_t device_type = 0;
  int8_t device_index = 0;
  Storage storage = Storage::kUnplanned;
  uint32_t memory_id = 0;      // planned: 1-based
  uint64_t memory_offset = 0;  // planned
  uint64_t bytes = 0;          // at the (upper bound) sizes
  std::vector<int64_t> sizes;
  std::vector<uint8_t> dim_order;
  const uint8_t* data = nullptr;  // aligned for the dtype
  std::string_view name;          // fully qualified name, or ""
};

struct Value {
  pteron_kind kind = PTERON_KIND_NONE;
  int64_t as_int = 0;
  double as_double = 0;
  bool as_bool = false;
  std::string_view string;     // zero-terminated in the file
  int32_t tensor = -1;         // index into Method::tensors
  std::vector<int32_t> items;  // int list, tensor list, optional tensor list: value indices, -1 is "none"
  std::vector<double> doubles;
  std::vector<uint8_t> bools;  // 0 or 1 each
};

enum class Opcode : uint8_t { kKernel = 1, kDelegate = 2, kMove = 3, kJumpFalse = 4, kFree = 5 };

struct Instruction {
  Opcode opcode = Opcode::kFree;
  int32_t target =
      0;  // kernel: operator index; delegate: delegate index; move: source value; jump: condition value; free: value
  int32_t operand = 0;        // move: destination value; jump: destination instruction, 0..count (count ends the chain)
  std::vector<int32_t> args;  // kernel, delegate: value indices
};

struct Chain {
  std::vector<Instruction> instructions;
  std::vector<std::string> sources;  // one per instruction when the file has stack traces, else empty
};

struct CompileSpec {
  std::string_view key;  // zero-terminated in the file
  ByteView value;
};

struct Delegate {
  std::string_view id;  // zero-terminated in the file
  ByteView payload;
  std::vector<CompileSpec> specs;
};

// Where a planned buffer is to live.
struct BufferDevice {
  uint8_t type = 0;  // a pteron_device_type
  int8_t index = 0;
};

struct Method {
  std::string_view name;
  std::string_view input_spec;
  std::string_view output_spec;
  std::vector<Value> values;
  std::vector<Tensor> tensors;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<Chain> chains;
  std::vector<std::string> operators;  // "aten::add.out"; "executorch_prim::add.Scalar"
  std::vector<Delegate> delegates;
  std::vector<uint64_t> buffer_bytes;        // entry k is memory id k + 1
  std::vector<BufferDevice> buffer_devices;  // as many
};

struct Segment {
  uint64_t offset = 0;  // from the start of the file
  uint64_t size = 0;
};

struct NamedData {
  std::string_view key;
  ByteView value;
};

struct ProgramFile {
  Bytes bytes;
  std::vector<std::shared_ptr<const void>> copies;  // constants that had to be moved to an aligned place
  std::vector<Method> methods;
  std::vector<Segment> segments;
  std::vector<NamedData> named_data;
};

struct Limits {
  uint64_t max_planned_bytes = uint64_t{64} << 30;  // sum over the buffers of a method
};

// Verifies and decodes. `bytes` must be aligned to 16 (readers of files and memory see to it).
Result<ProgramFile> read_program_file(Bytes bytes, const Limits& limits);

}  // namespace pteron::format
