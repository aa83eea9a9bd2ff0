#include "format/chain_reader.h"

#include <cinttypes>

#include "base/error.h"
#include "format/shape.h"

namespace pteron::format {
namespace {

template <typename T>
bool is_index(int32_t index, const std::vector<T>& of) {
  return index >= 0 && static_cast<size_t>(index) < of.size();
}

class ChainReader {
 public:
  ChainReader(MethodContext& context, const Method& method) : context_(context), method_(method) {}

  Result<Chain> read(const pte::Chain& from) {
    PTERON_TRY(check_indices(from.inputs(), "input"));
    PTERON_TRY(check_indices(from.outputs(), "output"));
    if (from.instructions() == nullptr) return error(PTERON_INVALID_FILE, "its instructions are absent");
    Chain chain;
    count_ = from.instructions()->size();
    PTERON_TRY(context_.budget.take(uint64_t{count_} * 4));
    chain.instructions.reserve(count_);
    for (uint32_t i = 0; i < count_; ++i) {
      Result<Instruction> instruction = read_instruction(*from.instructions()->Get(i));
      if (!instruction) return with_place(std::move(instruction).status(), "instruction %u", i);
      chain.instructions.push_back(*std::move(instruction));
    }
    PTERON_TRY(read_sources(from, &chain));
    return chain;
  }

 private:
  Result<Instruction> read_instruction(const pte::Instruction& from) {
    const auto kind = static_cast<int>(from.instr_args_type());
    if (kind < static_cast<int>(Opcode::kKernel) || kind > static_cast<int>(Opcode::kFree)) {
      return error(PTERON_INVALID_FILE, "its kind is %d, expected 1 (kernel) to 5 (free)", kind);
    }
    if (from.instr_args() == nullptr) return error(PTERON_INVALID_FILE, "its arguments are absent");
    Instruction instruction;
    instruction.opcode = static_cast<Opcode>(kind);
    PTERON_TRY(fill(from, &instruction));
    return instruction;
  }

  Status fill(const pte::Instruction& from, Instruction* to) {
    switch (to->opcode) {
      case Opcode::kKernel:
        return read_kernel(*from.instr_args_as_KernelCall(), to);
      case Opcode::kDelegate:
        return read_delegate(*from.instr_args_as_DelegateCall(), to);
      case Opcode::kMove:
        return read_move(*from.instr_args_as_MoveCall(), to);
      case Opcode::kJumpFalse:
        return read_jump(*from.instr_args_as_JumpFalseCall(), to);
      case Opcode::kFree:
        return read_free(*from.instr_args_as_FreeCall(), to);
    }
    return error(PTERON_INTERNAL, "unhandled kind of instruction");
  }

  Status read_kernel(const pte::KernelCall& from, Instruction* to) {
    to->target = from.op_index();
    if (!is_index(to->target, method_.operators)) {
      return error(PTERON_INVALID_FILE, "it calls operator %d, the method has %zu", to->target,
                   method_.operators.size());
    }
    return with_place(read_args(from.args(), to), "call of %s",
                      method_.operators[static_cast<size_t>(to->target)].c_str());
  }

  Status read_delegate(const pte::DelegateCall& from, Instruction* to) {
    to->target = from.delegate_index();
    if (!is_index(to->target, method_.delegates)) {
      return error(PTERON_INVALID_FILE, "it calls delegate %d, the method has %zu", to->target,
                   method_.delegates.size());
    }
    return with_place(read_args(from.args(), to), "call of delegate %d", to->target);
  }

  Status read_args(const flatbuffers::Vector<int32_t>* from, Instruction* to) {
    if (from == nullptr) return error(PTERON_INVALID_FILE, "its argument list is absent");
    PTERON_TRY(check_indices(from, "argument"));
    PTERON_TRY(context_.budget.take(uint64_t{from->size()} * sizeof(int32_t)));
    to->args.assign(from->begin(), from->end());
    return {};
  }

  Status read_move(const pte::MoveCall& from, Instruction* to) {
    to->target = from.move_from();
    to->operand = from.move_to();
    PTERON_TRY(check_value(to->target, "the source of the move"));
    PTERON_TRY(check_value(to->operand, "the destination of the move"));
    const Value& source = value(to->target);
    const Value& destination = value(to->operand);
    if (source.kind != destination.kind) {
      return error(PTERON_INVALID_FILE, "it moves value %d of kind %s to value %d of kind %s, expected equal kinds",
                   to->target, pteron_kind_name(source.kind), to->operand, pteron_kind_name(destination.kind));
    }
    return source.kind == PTERON_KIND_TENSOR ? check_move(*to, tensor(source), tensor(destination)) : Status();
  }

  // The destination takes over the source's content, so both must describe the same tensor; sizes that vary may have
  // different bounds.
  Status check_move(const Instruction& move, const Tensor& source, const Tensor& destination) {
    const bool sizes_fit = source.bounded || destination.bounded ? source.sizes.size() == destination.sizes.size()
                                                                 : source.sizes == destination.sizes;
    if (source.dtype != destination.dtype || !sizes_fit) {
      return error(PTERON_INVALID_FILE, "it moves value %d (%s) to value %d (%s), expected equal types and shapes",
                   move.target, shape_text(source.dtype, source.sizes).c_str(), move.operand,
                   shape_text(destination.dtype, destination.sizes).c_str());
    }
    if (destination.storage == Storage::kConstant || destination.storage == Storage::kExternalConstant) {
      return error(PTERON_INVALID_FILE, "it moves to value %d, which is a constant", move.operand);
    }
    return {};
  }

  Status read_jump(const pte::JumpFalseCall& from, Instruction* to) {
    to->target = from.cond_value_index();
    to->operand = from.destination_instruction();
    PTERON_TRY(check_value(to->target, "the condition of the jump"));
    const Value& condition = value(to->target);
    const bool is_bool = condition.kind == PTERON_KIND_BOOL;
    const bool is_bool_tensor =
        condition.kind == PTERON_KIND_TENSOR && tensor(condition).dtype == PTERON_BOOL && tensor(condition).bytes == 1;
    if (!is_bool && !is_bool_tensor) {
      const std::string found = condition.kind == PTERON_KIND_TENSOR
                                    ? shape_text(tensor(condition).dtype, tensor(condition).sizes)
                                    : std::string(pteron_kind_name(condition.kind));
      return error(PTERON_INVALID_FILE,
                   "the condition of the jump is value %d (%s), expected a bool or a bool tensor of one element",
                   to->target, found.c_str());
    }
    if (to->operand < 0 || static_cast<uint32_t>(to->operand) > count_) {
      return error(PTERON_INVALID_FILE, "it jumps to instruction %d, expected 0 to %u (the end of the chain)",
                   to->operand, count_);
    }
    return {};
  }

  Status read_free(const pte::FreeCall& from, Instruction* to) {
    to->target = from.value_index();
    PTERON_TRY(check_value(to->target, "the value to free"));
    if (value(to->target).kind != PTERON_KIND_TENSOR) {
      return error(PTERON_INVALID_FILE, "it frees value %d of kind %s, expected a tensor", to->target,
                   pteron_kind_name(value(to->target).kind));
    }
    return {};
  }

  Status check_value(int32_t index, const char* what) const {
    if (is_index(index, method_.values)) return {};
    return error(PTERON_INVALID_FILE, "%s is value %d, the method has %zu", what, index, method_.values.size());
  }

  Status check_indices(const flatbuffers::Vector<int32_t>* indices, const char* what) const {
    if (indices == nullptr) return {};
    for (uint32_t i = 0; i < indices->size(); ++i) {
      if (!is_index(indices->Get(i), method_.values)) {
        return error(PTERON_INVALID_FILE, "%s %u is value %d, the method has %zu", what, i, indices->Get(i),
                     method_.values.size());
      }
    }
    return {};
  }

  Status read_sources(const pte::Chain& from, Chain* to) {
    // Stack traces are for people: a list that does not match the instructions is as good as none.
    if (from.stacktrace() == nullptr || from.stacktrace()->size() != count_) return {};
    to->sources.reserve(count_);
    for (const pte::FrameList* frames : *from.stacktrace()) {
      const uint32_t depth = frames->items() == nullptr ? 0 : frames->items()->size();
      std::string text = depth == 0 ? std::string() : source_text(*frames->items()->Get(depth - 1));
      PTERON_TRY(context_.budget.take(text.size()));
      to->sources.push_back(std::move(text));
    }
    return {};
  }

  // "model.py:12 forward: x + y"
  static std::string source_text(const pte::Frame& frame) {
    const auto text = [](const flatbuffers::String* string) {
      return string == nullptr ? std::string() : printable(string->c_str(), string->size());
    };
    std::string line = format_text("%s:%d", text(frame.filename()).c_str(), frame.lineno());
    const std::string function = text(frame.name());
    const std::string code = text(frame.context());
    if (!function.empty()) line += " " + function;
    if (!code.empty()) line += ": " + code;
    return line;
  }

  const Value& value(int32_t index) const { return method_.values[static_cast<size_t>(index)]; }
  const Tensor& tensor(const Value& value) const { return method_.tensors[static_cast<size_t>(value.tensor)]; }

  MethodContext& context_;
  const Method& method_;
  uint32_t count_ = 0;  // instructions of the chain being read
};

}  // namespace

Status read_chains(const pte::ExecutionPlan& plan, MethodContext& context, Method* method) {
  if (plan.chains()->size() == 0) return error(PTERON_INVALID_FILE, "the method has no chain of instructions");
  ChainReader reader(context, *method);
  for (const pte::Chain* from : *plan.chains()) {
    Result<Chain> chain = reader.read(*from);
    if (!chain) return with_place(std::move(chain).status(), "chain %zu", method->chains.size());
    method->chains.push_back(*std::move(chain));
  }
  return {};
}

}  // namespace pteron::format
