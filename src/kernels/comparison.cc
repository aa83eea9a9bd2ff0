#include "kernels/comparison.h"

#include <cmath>
#include <type_traits>

#include "kernels/elementwise.h"

namespace pteron::kernels {
namespace {

struct Equal {
  template <class T>
  static uint8_t apply(T a, T b, const Params&) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static uint8_t apply(T a, T b, const Params&) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static uint8_t apply(T a, T b, const Params&) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static uint8_t apply(T a, T b, const Params&) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static uint8_t apply(T a, T b, const Params&) {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  static uint8_t apply(T a, T b, const Params&) {
    return a >= b;
  }
};

struct And {
  static uint8_t apply(uint8_t a, uint8_t b, const Params&) { return a & b; }
};
struct Or {
  static uint8_t apply(uint8_t a, uint8_t b, const Params&) { return a | b; }
};
struct Xor {
  static uint8_t apply(uint8_t a, uint8_t b, const Params&) { return a ^ b; }
};
struct Not {
  static uint8_t apply(uint8_t a, const Params&) { return a ^ 1; }
};

struct IsNan {
  template <class T>
  static uint8_t apply(T a, const Params&) {
    return a != a;
  }
};
struct IsInf {
  template <class T>
  static uint8_t apply(T a, const Params&) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return 0;
    } else {
      return std::isinf(a);
    }
  }
};

template <class F>
int compare(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return elementwise(context, predicate<F, 2>(Promotion().add(self).add(other).result()), out, {self, other});
}

template <class F>
int compare(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  const int common = Promotion().add(self).add(other).result();
  return elementwise(context, predicate<F, 2>(common), out, {self, other});
}

Operation logic(ChunkFn fn) {
  Operation operation;
  operation.set_compute(Compute::kBool);
  operation.fn = fn;
  return operation;
}

template <class F>
int logic2(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return elementwise(context, logic(&chunk2<F, uint8_t, uint8_t>), out, {self, other});
}

}  // namespace

int eq_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return compare<Equal>(context, self, other, out);
}

int eq_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return compare<Equal>(context, self, other, out);
}

int ne_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return compare<NotEqual>(context, self, other, out);
}

int ne_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return compare<NotEqual>(context, self, other, out);
}

int lt_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return compare<Less>(context, self, other, out);
}

int lt_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return compare<Less>(context, self, other, out);
}

int le_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return compare<LessEqual>(context, self, other, out);
}

int le_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return compare<LessEqual>(context, self, other, out);
}

int gt_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return compare<Greater>(context, self, other, out);
}

int gt_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return compare<Greater>(context, self, other, out);
}

int ge_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return compare<GreaterEqual>(context, self, other, out);
}

int ge_scalar_out(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return compare<GreaterEqual>(context, self, other, out);
}

int logical_and_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return logic2<And>(context, self, other, out);
}

int logical_or_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return logic2<Or>(context, self, other, out);
}

int logical_xor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return logic2<Xor>(context, self, other, out);
}

int logical_not_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return elementwise(context, logic(&chunk1<Not, uint8_t, uint8_t>), out, {self});
}

int isnan_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return elementwise(context, predicate<IsNan, 1>(self.dtype()), out, {self});
}

int isinf_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return elementwise(context, predicate<IsInf, 1>(self.dtype()), out, {self});
}

}  // namespace pteron::kernels
