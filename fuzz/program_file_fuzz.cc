// A `.pte`: reading it, and describing what was read.
#include "exact_block.h"
#include "format/program_file.h"
#include "runtime/instruction_text.h"
#include "runtime/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto program = pteron::runtime::Program::create(pteron::fuzz::exact_block(data, size), {}, {});
  if (!program) return 0;
  for (const pteron::format::Method& method : (*program)->file().methods) {
    const pteron::runtime::InstructionText writer(method);
    for (const pteron::format::Chain& chain : method.chains) {
      for (const pteron::format::Instruction& instruction : chain.instructions) (void)writer.text(instruction);
    }
  }
  return 0;
}
