// Instructions of a program file as text for people.
#pragma once

#include <string>
#include <vector>

#include "format/program_file.h"

namespace pteron::runtime {

// "aten::add.out(%0, %1, 1) -> %5": values by index, scalars that never change by their content.
class InstructionText {
 public:
  explicit InstructionText(const format::Method& method);

  std::string text(const format::Instruction& instruction) const;

 private:
  std::string call_text(const std::string& callee, const std::vector<int32_t>& args) const;
  std::string args_text(const std::vector<int32_t>& args, size_t count) const;
  std::string value_text(int32_t index) const;
  std::string list_text(const format::Value& list) const;

  const format::Method& method_;
  std::vector<bool> varies_;  // inputs, and values that an instruction writes
};

}  // namespace pteron::runtime
