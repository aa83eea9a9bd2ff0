#include "runtime/instruction_text.h"

#include <algorithm>
#include <cinttypes>

#include "base/error.h"

namespace pteron::runtime {
namespace {

constexpr size_t kLongestList = 16;

// The one operator that writes its first argument and is not followed by a result.
constexpr char kCopyIndex[] = "executorch_prim::et_copy_index.tensor";

std::string index_text(int32_t index) {
  return "%" + std::to_string(index);
}

template <typename List, typename Text>
std::string joined(const List& items, const Text& text) {
  std::string result = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != 0) result += ", ";
    if (i == kLongestList) {
      result += format_text("... %zu in all", items.size());
      break;
    }
    result += text(items[i]);
  }
  return result + "]";
}

}  // namespace

InstructionText::InstructionText(const format::Method& method) : method_(method), varies_(method.values.size()) {
  for (const int32_t input : method.inputs) varies_[static_cast<size_t>(input)] = true;
  for (const format::Chain& chain : method.chains) {
    for (const format::Instruction& instruction : chain.instructions) {
      // The last argument of an operator is its result.
      if (instruction.opcode == format::Opcode::kKernel && !instruction.args.empty()) {
        varies_[static_cast<size_t>(instruction.args.back())] = true;
      } else if (instruction.opcode == format::Opcode::kMove) {
        varies_[static_cast<size_t>(instruction.operand)] = true;
      }
    }
  }
}

std::string InstructionText::text(const format::Instruction& instruction) const {
  const auto target = static_cast<size_t>(instruction.target);
  switch (instruction.opcode) {
    case format::Opcode::kKernel:
      return call_text(method_.operators[target], instruction.args);
    case format::Opcode::kDelegate:
      return format_text("delegate %d (%s)(%s)", instruction.target, std::string(method_.delegates[target].id).c_str(),
                         args_text(instruction.args, instruction.args.size()).c_str());
    case format::Opcode::kMove:
      return format_text("move %%%d -> %%%d", instruction.target, instruction.operand);
    case format::Opcode::kJumpFalse:
      return format_text("if not %s, jump to %d", value_text(instruction.target).c_str(), instruction.operand);
    case format::Opcode::kFree:
      return format_text("free %%%d", instruction.target);
  }
  return "";
}

// An out-variant names its output twice, as argument and as result; a list of results stands behind its members.
std::string InstructionText::call_text(const std::string& callee, const std::vector<int32_t>& args) const {
  if (args.empty()) return callee + "()";
  if (callee == kCopyIndex) return callee + "(" + args_text(args, args.size()) + ") -> " + index_text(args[0]);
  size_t shown = args.size() - 1;
  const format::Value& result = method_.values[static_cast<size_t>(args.back())];
  if (result.kind == PTERON_KIND_TENSOR_LIST && result.items.size() <= shown &&
      std::equal(result.items.rbegin(), result.items.rend(), args.rbegin() + 1)) {
    shown -= result.items.size();
  } else if (shown > 0 && args[shown - 1] == args.back()) {
    --shown;
  }
  const bool is_list = result.kind >= PTERON_KIND_INT_LIST;
  return callee + "(" + args_text(args, shown) + ") -> " + (is_list ? list_text(result) : index_text(args.back()));
}

std::string InstructionText::args_text(const std::vector<int32_t>& args, size_t count) const {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + value_text(args[i]);
  return text;
}

std::string InstructionText::value_text(int32_t index) const {
  if (index < 0) return "none";
  const format::Value& value = method_.values[static_cast<size_t>(index)];
  if (value.kind >= PTERON_KIND_INT_LIST) return list_text(value);
  if (varies_[static_cast<size_t>(index)] || value.kind == PTERON_KIND_TENSOR) return index_text(index);
  switch (value.kind) {
    case PTERON_KIND_INT:
      return format_text("%" PRId64, value.as_int);
    case PTERON_KIND_BOOL:
      return value.as_bool ? "true" : "false";
    case PTERON_KIND_DOUBLE:
      return format_text("%g", value.as_double);
    case PTERON_KIND_STRING:
      return "'" + printable(value.string.data(), value.string.size()) + "'";
    default:
      return "none";
  }
}

std::string InstructionText::list_text(const format::Value& list) const {
  switch (list.kind) {
    case PTERON_KIND_DOUBLE_LIST:
      return joined(list.doubles, [](double item) { return format_text("%g", item); });
    case PTERON_KIND_BOOL_LIST:
      return joined(list.bools, [](uint8_t item) { return std::string(item != 0 ? "true" : "false"); });
    default:
      return joined(list.items, [this](int32_t item) { return value_text(item); });
  }
}

}  // namespace pteron::runtime
