// expects: nodiscard
#ifdef MISUSE
#pragma GCC diagnostic error "-Wunused-result"
#endif
#include "pteron/method.h"

void use(pteron::Method& method) {
#ifdef MISUSE
  method.run();
#else
  (void)method.run();
#endif
}
