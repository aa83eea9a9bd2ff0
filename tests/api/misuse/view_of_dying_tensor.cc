// expects: deleted
#include "pteron/tensor.h"

void use(pteron::Result<pteron::Tensor> tensor) {
#ifdef MISUSE
  const pteron::TensorView view = std::move(tensor).value();
#else
  const pteron::TensorView view = tensor.value();
#endif
  (void)view;
}
