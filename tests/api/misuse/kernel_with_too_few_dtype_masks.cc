// expects: one dtype mask for each tensor argument
#include "pteron/kernel.h"

using namespace pteron::kernel;

int negate(KernelContext&, const Tensor&, Tensor&) {
  return PTERON_OK;
}

constexpr uint32_t kFloat = PTERON_DTYPE_BIT(PTERON_FLOAT32);
#ifdef MISUSE
extern constexpr pteron_kernel kNegate =
    PTERON_KERNEL("my::negate.out", "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", (Dtypes<kFloat>), negate);
#else
extern constexpr pteron_kernel kNegate =
    PTERON_KERNEL("my::negate.out", "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", (Dtypes<kFloat, kFloat>), negate);
#endif
