#include "format/program_file.h"

#include <unordered_set>

#include <program_generated.h>
#include "base/error.h"
#include "base/file.h"
#include "format/constant_table.h"
#include "format/flatbuffer_check.h"
#include "format/method_context.h"
#include "format/method_reader.h"
#include "format/named_data.h"
#include "format/program_header.h"
#include "format/segment_table.h"

namespace pteron::format {
namespace {

Status read_methods(MethodContext& context, ProgramFile* file) {
  const auto* plans = context.program.execution_plan();
  if (plans == nullptr) return error(PTERON_INVALID_FILE, "the list of methods ('execution_plan') is absent");
  if (plans->size() == 0) return error(PTERON_INVALID_FILE, "the program has no methods");
  std::unordered_set<std::string_view> names;
  for (const pte::ExecutionPlan* plan : *plans) {
    PTERON_ASSIGN(Method method, read_method(*plan, file->methods.size(), context));
    if (!names.insert(method.name).second) {
      return error(PTERON_INVALID_FILE, "method %zu: there is another one of the name '%s'", file->methods.size(),
                   printable(method.name.data(), method.name.size()).c_str());
    }
    file->methods.push_back(std::move(method));
  }
  return {};
}

}  // namespace

Result<ProgramFile> read_program_file(Bytes bytes, const Limits& limits) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kBytesAlignment != 0) {
    return error(PTERON_INVALID_ARGUMENT, "the bytes of a program must be aligned to %zu", kBytesAlignment);
  }
  PTERON_ASSIGN(const ProgramHeader header, read_program_header(bytes));
  PTERON_ASSIGN(const pte::Program* program,
                check_flatbuffer<pte::Program>(bytes.data(), header.body_size, "the program"));
  if (program->version() != 0) {
    return error(PTERON_UNSUPPORTED, "the program has format version %u, expected 0; it needs a newer Pteron",
                 program->version());
  }
  PTERON_ASSIGN(const SegmentTable segments, SegmentTable::read(*program, header, bytes));
  PTERON_ASSIGN(const ConstantTable constants, ConstantTable::read(*program, segments));

  ProgramFile file;
  DecodeBudget budget(header.body_size);
  ConstantCopies copies(bytes.size());
  MethodContext context{*program, segments, constants, limits, budget, copies};
  PTERON_ASSIGN(file.named_data, read_named_data(*program, segments));
  PTERON_TRY(read_methods(context, &file));
  file.segments = segments.entries();
  file.copies = copies.take();
  file.bytes = std::move(bytes);
  return file;
}

}  // namespace pteron::format
