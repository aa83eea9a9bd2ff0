// expects: of
#include <vector>

#include "pteron/tensor.h"

std::vector<float> pixels();

void use() {
#ifdef MISUSE
  (void)pteron::TensorView::of(pixels(), {4});  // gone at the end of the line
#else
  const std::vector<float> kept = pixels();
  (void)pteron::TensorView::of(kept, {4});
#endif
}
