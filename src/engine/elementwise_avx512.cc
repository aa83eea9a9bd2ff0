#define PTERON_ISA_NAMESPACE isa_avx512
#include "engine/copy-inl.h"
#include "engine/elementwise-inl.h"
#include "engine/rows-inl.h"
