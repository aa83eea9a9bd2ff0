// expects: do not fit the schema of my::scale.out
#include "pteron/kernel.h"

using namespace pteron::kernel;

#ifdef MISUSE
int scale(KernelContext&, const Tensor&, int64_t, Tensor&) {
  return PTERON_OK;
}  // the schema says float
#else
int scale(KernelContext&, const Tensor&, double, Tensor&) {
  return PTERON_OK;
}
#endif

extern constexpr pteron_kernel kScale =
    PTERON_KERNEL("my::scale.out", "(Tensor self, float factor, *, Tensor(a!) out) -> Tensor(a!)", (Dtypes<>), scale);
