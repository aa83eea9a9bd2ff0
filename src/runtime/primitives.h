// The operators that libpteron brings itself: arithmetic on scalars, sizes, slots and views (docs/primitives.md).
#pragma once

#include "pteron/c/component.h"

namespace pteron::runtime {

// The registry holds it from the start.
extern pteron_component primitives_component;

}  // namespace pteron::runtime
