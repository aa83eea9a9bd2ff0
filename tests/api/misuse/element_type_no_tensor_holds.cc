// expects: no tensor holds this type
#include "pteron/tensor.h"

void use(const pteron::TensorView& tensor) {
#ifdef MISUSE
  (void)tensor.data<long double>();
#else
  (void)tensor.data<double>();
#endif
}
