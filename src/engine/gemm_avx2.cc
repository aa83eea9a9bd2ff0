#define PTERON_ISA_NAMESPACE isa_avx2
#include "engine/gemm-inl.h"
