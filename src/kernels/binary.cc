#include "kernels/binary.h"

#include "kernels/elementwise.h"

namespace pteron::kernels {
namespace {

struct Add {
  template <class T>
  static T apply(T a, T b, const Params&) {
    return a + b;
  }
};

}  // namespace

int add_out(KernelContext& context, const Tensor& self, const Tensor& other, Scalar, Tensor& out) {
  const int common = Promotion().add(self).add(other).result();
  PTERON_PASS(require_castable(context, common, out.dtype()));
  return elementwise(context, arithmetic<Add, 2>(common), out, {self, other});
}

}  // namespace pteron::kernels
