// Codes that a kernel or a backend returned as a plain int.
#pragma once

#include "pteron/c/status.h"

namespace pteron::runtime {

// The code of a failure, or `otherwise` for success and for numbers that are no code: those must not become a value of
// the enum.
constexpr pteron_code known_code(int code, pteron_code otherwise) {
  return code > PTERON_OK && code <= PTERON_IO ? static_cast<pteron_code>(code) : otherwise;
}

}  // namespace pteron::runtime
