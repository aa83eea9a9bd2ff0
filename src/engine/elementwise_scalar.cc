#define PTERON_ISA_NAMESPACE isa_scalar
#include "engine/elementwise-inl.h"
#include "engine/rows-inl.h"
