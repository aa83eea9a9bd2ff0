// expects: deleted
#include "pteron/method.h"

void use(pteron::Method& method, pteron::TensorView& output) {
#ifdef MISUSE
  (void)method.bind_output(0, pteron::TensorView(output));  // written to after it is gone
#else
  (void)method.bind_output(0, output);
#endif
}
