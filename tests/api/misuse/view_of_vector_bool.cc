// expects: of
#include <vector>

#include "pteron/tensor.h"

void use() {
#ifdef MISUSE
  std::vector<bool> packed(4);  // bits, not elements
  (void)pteron::TensorView::of(packed, {4});
#else
  std::vector<uint8_t> bytes(4);
  (void)pteron::TensorView::of(bytes, {4});
#endif
}
