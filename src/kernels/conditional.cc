#include "kernels/conditional.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/shape.h"

namespace pteron::kernels {
namespace {

template <class T>
void choose(const void* const* in, void* out, int64_t count, const Params&) {
  const auto* condition = static_cast<const uint8_t*>(in[0]);
  const T* yes = static_cast<const T*>(in[1]);
  const T* no = static_cast<const T*>(in[2]);
  T* result = static_cast<T*>(out);
  for (int64_t i = 0; i < count; ++i) {
    const T a = yes[i], b = no[i];
    result[i] = condition[i] != 0 ? a : b;
  }
}

// condition ? in[1] : in[2]
Operation choice(int common) {
  Operation operation;
  operation.common = common;
  operation.set_compute(compute_for(common));
  operation.in[0] = Compute::kBool;
  switch (operation.out) {
    case Compute::kInt:
      operation.fn = &choose<int64_t>;
      break;
    case Compute::kFloat:
      operation.fn = &choose<float>;
      break;
    default:
      operation.fn = &choose<double>;
      break;
  }
  return operation;
}

template <class T>
bool is_nan(T value) {
  return value != value;
}

template <class T>
T at_least(T x, T low) {
  return x < low || is_nan(low) ? low : x;
}
template <class T>
T at_most(T x, T high) {
  return x > high || is_nan(high) ? high : x;
}

struct ClampNumbers {
  template <class T>
  static T apply(T x, const Params& params) {
    return at_most(at_least(x, params.get<T>(0)), params.get<T>(1));
  }
};
struct ClampBelow {
  template <class T>
  static T apply(T x, T low, const Params&) {
    return is_nan(x) ? x : at_least(x, low);
  }
};
struct ClampAbove {
  template <class T>
  static T apply(T x, T high, const Params&) {
    return is_nan(x) ? x : at_most(x, high);
  }
};
struct ClampBoth {
  template <class T>
  static T apply(T x, T low, T high, const Params&) {
    if (is_nan(x)) return x;
    const T raised = at_least(x, low);
    return is_nan(raised) ? raised : at_most(raised, high);
  }
};

// The views of `self` and `mask` on the sizes of their broadcast, packed into scratch memory in logical order: `self`
// in its own dtype, the mask as bytes.
struct Packed {
  View self;
  const uint8_t* mask = nullptr;
};

int pack(KernelContext& context, View self, View mask, const int64_t* sizes, int rank, Packed* packed) {
  PTERON_REQUIRE(context, expand_view(self, sizes, rank) && expand_view(mask, sizes, rank),
                 "the mask does not broadcast with the tensor");
  const size_t numel = static_cast<size_t>(self.numel());
  const size_t bytes = (numel * pteron_dtype_size(self.dtype) + 63) / 64 * 64;
  auto* memory = static_cast<char*>(context.scratch(bytes + numel));
  if (memory == nullptr) return PTERON_OUT_OF_MEMORY;
  View to = self;
  to.data = memory;
  set_contiguous_strides(to);
  copy_view(to, self);
  View mask_to = to;
  mask_to.dtype = PTERON_BOOL;
  mask_to.data = memory + bytes;
  copy_view(mask_to, mask);
  packed->self = to;
  packed->mask = reinterpret_cast<const uint8_t*>(mask_to.data);
  return PTERON_OK;
}

int require_condition(KernelContext& context, const Tensor& mask) {
  PTERON_REQUIRE(context, mask.dtype() == PTERON_BOOL || mask.dtype() == PTERON_UINT8,
                 "a mask must be of dtype bool, found %s", pteron_dtype_name(mask.dtype()));
  return PTERON_OK;
}

}  // namespace

int where_self_out(KernelContext& context, const Tensor& condition, const Tensor& self, const Tensor& other,
                   Tensor& out) {
  PTERON_PASS(require_condition(context, condition));
  const int common = Promotion().add(self).add(other).result();
  PTERON_PASS(require_castable(context, common, out.dtype()));
  return elementwise(context, choice(common), out, {condition, self, other});
}

int clamp_out(KernelContext& context, const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max,
              Tensor& out) {
  PTERON_REQUIRE(context, min.has_value() || max.has_value(), "neither a lower nor an upper bound is given");
  Promotion promotion;
  promotion.add(self);
  if (min.has_value()) promotion.add(*min);
  if (max.has_value()) promotion.add(*max);
  const int common = promotion.result();
  PTERON_PASS(require_castable(context, common, out.dtype()));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Params params;
  params.set(0, min.value_or(Scalar(-kInfinity)));
  params.set(1, max.value_or(Scalar(kInfinity)));
  const std::optional<Scalar> bounds[] = {min, max};
  for (int i = 0; i < 2; ++i) {
    if (!bounds[i].has_value()) {
      params.integers[i] = i == 0 ? INT64_MIN : INT64_MAX;
      continue;
    }
    PTERON_REQUIRE(context, scalar_fits(*bounds[i], common), "the bound %g does not fit dtype %s",
                   bounds[i]->to_double(), pteron_dtype_name(common));
    if (is_integral(common)) narrow(common, Compute::kInt, &params.integers[i], 1);
  }
  Operation operation = arithmetic<ClampNumbers, 1>(common);
  if (!is_nan(params.doubles[0]) && !is_nan(params.doubles[1])) {
    operation = with_engine<engine::Unary::kClamp>(operation);
  }
  return elementwise(context, operation, out, {self}, params);
}

int clamp_tensor_out(KernelContext& context, const Tensor& self, std::optional<Tensor> min, std::optional<Tensor> max,
                     Tensor& out) {
  PTERON_REQUIRE(context, min.has_value() || max.has_value(), "neither a lower nor an upper bound is given");
  Promotion promotion;
  promotion.add(self);
  if (min.has_value()) promotion.add(*min);
  if (max.has_value()) promotion.add(*max);
  const int common = promotion.result();
  PTERON_REQUIRE(context, is_floating(common) == is_floating(out.dtype()),
                 "the result is of dtype %s and cannot be stored in an out tensor of %s", pteron_dtype_name(common),
                 pteron_dtype_name(out.dtype()));
  if (!max.has_value()) return elementwise(context, arithmetic<ClampBelow, 2>(common), out, {self, *min});
  if (!min.has_value()) return elementwise(context, arithmetic<ClampAbove, 2>(common), out, {self, *max});
  return elementwise(context, arithmetic<ClampBoth, 3>(common), out, {self, *min, *max});
}

int masked_fill_scalar_out(KernelContext& context, const Tensor& self, const Tensor& mask, Scalar value, Tensor& out) {
  PTERON_PASS(require_condition(context, mask));
  PTERON_PASS(require_castable(context, self.dtype(), out.dtype()));
  PTERON_REQUIRE(context, scalar_fits(value, self.dtype()), "the number %g does not fit dtype %s", value.to_double(),
                 pteron_dtype_name(self.dtype()));
  return elementwise(context, choice(self.dtype()), out, {mask, value, self});
}

int masked_select_out(KernelContext& context, const Tensor& self, const Tensor& mask, Tensor& out) {
  PTERON_PASS(require_condition(context, mask));
  int64_t sizes[kMaxRank];
  int rank = 0;
  PTERON_PASS(broadcast_sizes(context, {self, mask}, sizes, &rank));
  Packed packed;
  PTERON_PASS(pack(context, view_of(self), view_of(mask), sizes, rank, &packed));
  const int64_t numel = packed.self.numel();
  int64_t selected = 0;
  for (int64_t i = 0; i < numel; ++i) selected += packed.mask[i] != 0;
  PTERON_PASS(context.resize(out, IntList(&selected, 1)));
  const size_t bytes = pteron_dtype_size(self.dtype());
  char* to = packed.self.data;  // compacted in place, then copied
  for (int64_t i = 0; i < numel; ++i) {
    if (packed.mask[i] == 0) continue;
    std::memmove(to, packed.self.data + static_cast<size_t>(i) * bytes, bytes);
    to += bytes;
  }
  packed.self.rank = 1;
  packed.self.sizes[0] = selected;
  packed.self.strides[0] = 1;
  copy_view(view_of(out), packed.self);
  return PTERON_OK;
}

int masked_scatter_out(KernelContext& context, const Tensor& self, const Tensor& mask, const Tensor& source,
                       Tensor& out) {
  PTERON_PASS(require_condition(context, mask));
  PTERON_REQUIRE(context, self.dtype() == source.dtype(), "tensor and source must be of one dtype, found %s and %s",
                 pteron_dtype_name(self.dtype()), pteron_dtype_name(source.dtype()));
  int64_t sizes[kMaxRank];
  int rank = 0;
  PTERON_PASS(broadcast_sizes(context, {self, mask}, sizes, &rank));
  PTERON_PASS(context.resize(out, IntList(sizes, static_cast<size_t>(rank))));
  Packed packed;
  PTERON_PASS(pack(context, view_of(self), view_of(mask), sizes, rank, &packed));
  const size_t bytes = pteron_dtype_size(self.dtype());
  const int64_t available = source.numel();
  const int64_t numel = packed.self.numel();
  int64_t used = 0;
  int64_t index[kMaxRank] = {};
  const char* from = source.data<char>();
  for (int64_t i = 0; i < numel; ++i) {
    if (packed.mask[i] == 0) continue;
    PTERON_REQUIRE(context, used < available, "the source has %lld elements, fewer than the mask selects",
                   static_cast<long long>(available));
    int64_t offset = 0;
    for (int dim = 0; dim < source.rank(); ++dim) offset += index[dim] * source.stride(dim);
    std::memcpy(packed.self.data + static_cast<size_t>(i) * bytes, from + offset * static_cast<int64_t>(bytes), bytes);
    ++used;
    for (int dim = source.rank() - 1; dim >= 0 && ++index[dim] == source.size(dim); --dim) index[dim] = 0;
  }
  copy_view(view_of(out), packed.self);
  return PTERON_OK;
}

}  // namespace pteron::kernels
