// What the readers of a method's parts share while one program is decoded.
#pragma once

#include <memory>
#include <vector>

#include <program_generated.h>
#include "format/constant_copies.h"
#include "format/constant_table.h"
#include "format/decode_budget.h"
#include "format/program_file.h"
#include "format/segment_table.h"

namespace pteron::format {

struct MethodContext {
  const pte::Program& program;
  const SegmentTable& segments;
  const ConstantTable& constants;
  const Limits& limits;
  DecodeBudget& budget;
  ConstantCopies& copies;
};

}  // namespace pteron::format
