#define PTERON_ISA_NAMESPACE isa_avx512
#include "engine/conv-inl.h"
