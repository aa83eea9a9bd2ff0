// What kernels are written in: the types of pteron/kernel.h by their short names.
#pragma once

#include "pteron/kernel.h"

namespace pteron::kernels {

using namespace ::pteron::kernel;

}  // namespace pteron::kernels
