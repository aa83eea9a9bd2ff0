// expects: deleted
#include "pteron/method.h"

void use(pteron::Method& method) {
#ifdef MISUSE
  pteron::Method copy = method;
#else
  pteron::Method copy = std::move(method);
#endif
  (void)copy;
}
