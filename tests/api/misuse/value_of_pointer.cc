// expects: Value
#include "pteron/value.h"

pteron::Value make(float* data) {
#ifdef MISUSE
  return pteron::Value(data);  // must not turn into a bool
#else
  return pteron::Value(data != nullptr);
#endif
}
