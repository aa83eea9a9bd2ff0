// All operators of libpteron_kernels.so in one table.
//
// To add an operator: write a function in the file of its family (its parameters follow the schema, see
// pteron/kernel.h), declare it in the family's header, add a row to table.cc.
#pragma once

#include <cstddef>

#include "pteron/c/kernel.h"

namespace pteron::kernels {

extern const pteron_kernel* const* const kRows;
extern const size_t kRowCount;

// The row of "namespace::operator.overload", or null.
const pteron_kernel* find_row(const char* name);

}  // namespace pteron::kernels
