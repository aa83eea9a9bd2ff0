#include "cli/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/failure.h"
#include "cli/summary.h"
#include "cli/tensors.h"

namespace pteron::cli {
namespace {

Difference different(const std::string& reason) {
  Difference difference;
  difference.within = false;
  difference.reason = reason;
  return difference;
}

struct Distance {
  double absolute;
  double relative;
};

// Integers are subtracted as integers: a double cannot tell large ones apart.
double absolute_distance(const Element& found, const Element& expected) {
  if (found.unsigned_integer != 0 || expected.unsigned_integer != 0) {
    return static_cast<double>(std::max(found.unsigned_integer, expected.unsigned_integer) -
                               std::min(found.unsigned_integer, expected.unsigned_integer));
  }
  if (found.integer != 0 || expected.integer != 0) {
    const int64_t low = std::min(found.integer, expected.integer);
    const int64_t high = std::max(found.integer, expected.integer);
    return static_cast<double>(static_cast<uint64_t>(high) - static_cast<uint64_t>(low));
  }
  return std::fabs(found.number - expected.number);
}

Distance distance(const Element& found, const Element& expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double a = found.number;
  const double b = expected.number;
  if (std::isnan(a) && std::isnan(b)) return {0, 0};
  if (std::isnan(a) || std::isnan(b)) return {kInfinity, kInfinity};
  if (std::isinf(a) || std::isinf(b)) return a == b ? Distance{0, 0} : Distance{kInfinity, kInfinity};
  const double absolute = absolute_distance(found, expected);
  return {absolute, b != 0 ? absolute / std::fabs(b) : 0};
}

Difference compare_tensors(const TensorView& found_view, const TensorView& expected_view,
                           std::optional<double> absolute, std::optional<double> relative) {
  if (found_view.dtype() != expected_view.dtype() || found_view.shape() != expected_view.shape()) {
    return different("expected " + tensor_text(expected_view.dtype(), expected_view.shape()) + ", found " +
                     tensor_text(found_view.dtype(), found_view.shape()));
  }
  Tensor storage_found;
  Tensor storage_expected;
  const TensorView found = contiguous(found_view, &storage_found);
  const TensorView expected = contiguous(expected_view, &storage_expected);
  const DType dtype = found.dtype();
  Difference result;
  result.tolerance = tolerance_for(dtype, absolute, relative);
  result.count = static_cast<size_t>(found.numel());
  double worst = -1;
  size_t worst_at = 0;
  for (size_t i = 0; i < result.count; ++i) {
    const Element e = element_at(expected.data_pointer(), dtype, i);
    const Distance d = distance(element_at(found.data_pointer(), dtype, i), e);
    result.largest_absolute = std::max(result.largest_absolute, d.absolute);
    result.largest_relative = std::max(result.largest_relative, d.relative);
    const double magnitude = std::isfinite(e.number) ? std::fabs(e.number) : 0;
    const double excess = d.absolute - (result.tolerance.absolute + result.tolerance.relative * magnitude);
    if (excess <= 0) continue;
    ++result.outside;
    if (excess > worst) {
      worst = excess;
      worst_at = i;
    }
  }
  result.within = result.outside == 0;
  if (!result.within) {
    result.reason = std::to_string(result.outside) + " of " + std::to_string(result.count) +
                    " elements out of tolerance; worst at " + std::to_string(worst_at) + ": expected " +
                    element_text(expected.data_pointer(), dtype, worst_at) + ", found " +
                    element_text(found.data_pointer(), dtype, worst_at);
  }
  return result;
}

// A scalar as a tensor of rank 0, so that one rule serves all.
std::optional<Tensor> scalar_tensor(ValueView value) {
  switch (value.kind()) {
    case Kind::kInt:
      return take(Tensor::copy_of(std::vector<int64_t>{*value.as_int()}, Shape{}), Stage::kOther);
    case Kind::kDouble:
      return take(Tensor::copy_of(std::vector<double>{*value.as_double()}, Shape{}), Stage::kOther);
    case Kind::kBool:
      return take(Tensor::copy_of(std::vector<int64_t>{*value.as_bool() ? 1 : 0}, Shape{}), Stage::kOther);
    default:
      return std::nullopt;
  }
}

}  // namespace

Tolerance tolerance_for(DType dtype, std::optional<double> absolute, std::optional<double> relative) {
  Tolerance tolerance;
  if (dtype == DType::kFloat32 || dtype == DType::kFloat64) {
    tolerance = {1e-5, 1e-4};
  } else if (dtype == DType::kFloat16) {
    tolerance = {1e-3, 1e-3};
  } else if (dtype == DType::kBFloat16) {
    tolerance = {1e-2, 1.6e-2};
  } else if (is_float8(dtype)) {
    tolerance = {0.25, 0.25};
  }
  return {absolute.value_or(tolerance.absolute), relative.value_or(tolerance.relative)};
}

Difference compare_values(ValueView found, ValueView expected, std::optional<double> absolute,
                          std::optional<double> relative) {
  if (found.kind() != expected.kind()) {
    return different(std::string("expected ") + kind_name(expected.kind()) + ", found " + kind_name(found.kind()));
  }
  if (found.is_tensor()) return compare_tensors(*found.tensor(), *expected.tensor(), absolute, relative);
  const std::optional<Tensor> a = scalar_tensor(found);
  const std::optional<Tensor> b = scalar_tensor(expected);
  if (!a || !b) return different(std::string("values of kind ") + kind_name(found.kind()) + " cannot be compared");
  return compare_tensors(*a, *b, absolute, relative);
}

}  // namespace pteron::cli
