#include "kernels/copy.h"

#include "kernels/shape.h"

namespace pteron::kernels {
namespace {

int copy_broadcast(KernelContext& context, Tensor& target, const Tensor& src) {
  PTERON_PASS(require_copyable(context, src.dtype(), target.dtype()));
  const View to = view_of(target);
  View from = view_of(src);
  PTERON_REQUIRE(context, expand_view(from, to.sizes, to.rank),
                 "the source of rank %d does not broadcast to the target of rank %d", src.rank(), target.rank());
  copy_view(to, from);
  return PTERON_OK;
}

// A dim order, as far as it matters: sizes of 1 may stand anywhere.
int require_dim_order(KernelContext& context, const std::optional<IntList>& dim_order, const Tensor& out) {
  if (!dim_order.has_value()) return PTERON_OK;
  PTERON_REQUIRE(context, dim_order->size() == static_cast<size_t>(out.rank()),
                 "a dim order of %zu dimensions is given for a tensor of rank %d", dim_order->size(), out.rank());
  int64_t outer = INT64_MAX;
  uint32_t seen = 0;
  for (int64_t dim : *dim_order) {
    PTERON_REQUIRE(context, dim >= 0 && dim < out.rank() && (seen & (1u << dim)) == 0,
                   "the dim order is no permutation of the dimensions");
    seen |= 1u << dim;
    const int axis = static_cast<int>(dim);
    if (out.size(axis) <= 1) continue;
    PTERON_REQUIRE(context, out.stride(axis) <= outer,
                   "the out tensor's layout does not follow the dim order asked for");
    outer = out.stride(axis);
  }
  return PTERON_OK;
}

}  // namespace

int plain_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return copy_to_out(context, view_of(self), out);
}

int clone_out(KernelContext& context, const Tensor& self, std::optional<int64_t>, Tensor& out) {
  return copy_to_out(context, view_of(self), out);
}

int to_copy_out(KernelContext& context, const Tensor& self, bool, std::optional<int64_t>, Tensor& out) {
  return copy_to_out(context, view_of(self), out);
}

int to_dim_order_copy_out(KernelContext& context, const Tensor& self, bool, std::optional<IntList> dim_order,
                          Tensor& out) {
  PTERON_PASS(context.resize(out, self.sizes()));
  PTERON_PASS(require_dim_order(context, dim_order, out));
  return copy_to_out(context, view_of(self), out);
}

int empty_dim_order_out(KernelContext& context, IntList size, std::optional<IntList> dim_order, Tensor& out) {
  PTERON_PASS(context.resize(out, size));
  return require_dim_order(context, dim_order, out);
}

int copy_out(KernelContext& context, const Tensor& self, const Tensor& src, bool, Tensor& out) {
  PTERON_PASS(context.resize(out, self.sizes()));
  return copy_broadcast(context, out, src);
}

int copy_in_place(KernelContext& context, Tensor& self, const Tensor& src, bool) {
  return copy_broadcast(context, self, src);
}

int fill_scalar_out(KernelContext& context, const Tensor& self, Scalar value, Tensor& out) {
  PTERON_PASS(context.resize(out, self.sizes()));
  PTERON_REQUIRE(context, scalar_fits(value, out.dtype()), "the number %g does not fit dtype %s", value.to_double(),
                 pteron_dtype_name(out.dtype()));
  fill_view(view_of(out), value);
  return PTERON_OK;
}

int fill_tensor_out(KernelContext& context, const Tensor& self, const Tensor& value, Tensor& out) {
  PTERON_REQUIRE(context, value.rank() == 0, "the value to fill with must have no dimensions, found rank %d",
                 value.rank());
  PTERON_PASS(context.resize(out, self.sizes()));
  return copy_broadcast(context, out, value);
}

}  // namespace pteron::kernels
