#define PTERON_ISA_NAMESPACE isa_scalar
#include "engine/conv-inl.h"
