// Operator schemas: what a kernel says about its arguments, and whether a call of a program fits it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pteron/c/tensor.h"
#include "pteron/result.h"

namespace pteron::runtime {

enum class ArgumentType : uint8_t {
  kTensor,
  kScalar,  // int, double or bool
  kInt,     // int, SymInt, ScalarType, MemoryFormat, Layout, Device
  kDouble,  // float
  kBool,
  kString,
  kIntList,
  kDoubleList,
  kBoolList,
  kTensorList,
  kOptionalTensorList,  // Tensor?[]
};

struct Argument {
  std::string name;
  ArgumentType type = ArgumentType::kTensor;
  bool optional = false;  // "?": none is allowed
  bool written = false;   // "(a!)": the kernel writes it
  bool output = false;    // written and behind the "*": an out argument, whose old content does not matter
  char alias = 0;         // the letter of "(a!)", else 0
};

// "(Tensor self, SymInt[2] size, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)"
struct Schema {
  std::vector<Argument> arguments;
  uint32_t returns = 0;        // how many values the operator returns
  std::string return_aliases;  // one letter a return; ' ' for one that is no argument
};

// Parses from the opening parenthesis of the arguments; a name before it is skipped. PTERON_INVALID_ARGUMENT with the
// place in the text otherwise.
Result<Schema> parse_schema(std::string_view text);

// The kind of a value whose content is only known while running: the out slot of a primitive (whatever kind the file
// writes there is a placeholder: the exporter writes Int 0 even for comparisons and divisions), or an input that the
// file leaves open (None). It fits any scalar argument at load; see accepts() for the check while running.
inline constexpr int32_t kKindComputed = 0;

// One argument of a call: the kind of the value (a pteron_kind or kKindComputed) and which value it is.
struct CallArgument {
  int32_t kind = kKindComputed;
  int32_t value = -1;  // index of the value in the method; used to tell whether a returned value is the out argument
};

// True when a value of that kind fits the argument. As in Python, int and bool fit a double and each other (files hold
// a constant in the kind it had in Python, and pteron/kernel.h reads it as the parameter's); a double fits no int. A
// scalar that is written may hold any scalar or none before. With kKindComputed at load, ask again while running.
bool accepts(const Argument& argument, int32_t kind);

// Checks number and kinds of a call's arguments. The exporter appends the returned value behind the arguments: the out
// argument again, or one tensor list of several; both forms are accepted, with or without. The kernel gets the first
// `schema.arguments.size()` of them. PTERON_INVALID_FILE naming the argument, expected and found.
Status check_call(const Schema& schema, std::span<const CallArgument> arguments);

// "tensor", "optional int list", ...
std::string describe(const Argument& argument);

}  // namespace pteron::runtime
