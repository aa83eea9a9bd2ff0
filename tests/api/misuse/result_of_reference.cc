// expects: static
#include "pteron/result.h"

int number = 0;

void use() {
#ifdef MISUSE
  pteron::Result<int&> result(number);
#else
  pteron::Result<int*> result(&number);
#endif
  (void)result;
}
