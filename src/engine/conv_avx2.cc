#define PTERON_ISA_NAMESPACE isa_avx2
#include "engine/conv-inl.h"
