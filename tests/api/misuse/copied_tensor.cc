// expects: deleted
#include "pteron/tensor.h"

void use(const pteron::Tensor& tensor) {
#ifdef MISUSE
  pteron::Tensor copy = tensor;
#else
  pteron::Result<pteron::Tensor> copy = tensor.clone();
#endif
  (void)copy;
}
