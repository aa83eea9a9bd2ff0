#include "kernels/creation.h"

#include <cmath>

#include "base/checked.h"
#include "kernels/shape.h"

namespace pteron::kernels {
namespace {

int fill_out(KernelContext& context, IntList size, const Scalar& value, Tensor& out) {
  PTERON_PASS(context.resize(out, size));
  PTERON_REQUIRE(context, scalar_fits(value, out.dtype()), "the number %g does not fit dtype %s", value.to_double(),
                 pteron_dtype_name(out.dtype()));
  fill_view(view_of(out), value);
  return PTERON_OK;
}

// How many bits of a random integer make a uniform number that the dtype holds exactly.
int uniform_bits(int dtype) {
  switch (dtype) {
    case PTERON_FLOAT64:
      return 53;
    case PTERON_FLOAT16:
      return 11;
    case PTERON_BFLOAT16:
      return 8;
    default:
      return 24;
  }
}

double uniform(KernelContext& context, int bits) {
  return static_cast<double>(context.random() >> (64 - bits)) * std::ldexp(1.0, -bits);
}

// Fills `out` with what `draw` gives, one call an element, in logical order.
template <class Draw>
int fill_drawn(KernelContext& context, Tensor& out, Draw&& draw) {
  View drawn = view_of(out);
  const int64_t numel = drawn.numel();
  drawn.dtype = PTERON_FLOAT64;
  set_contiguous_strides(drawn);
  auto* values = static_cast<double*>(context.scratch(static_cast<size_t>(numel) * sizeof(double)));
  if (values == nullptr) return PTERON_OUT_OF_MEMORY;
  drawn.data = reinterpret_cast<char*>(values);
  for (int64_t i = 0; i < numel; ++i) values[i] = draw();
  copy_view(view_of(out), drawn);
  return PTERON_OK;
}

// How many numbers lie in [start, end) with the step. Fails when they do not, or are not a sensible number.
int range_length(KernelContext& context, const Scalar& start, const Scalar& end, const Scalar& step, int64_t* length) {
  if (!start.is_double() && !end.is_double() && !step.is_double()) {
    const int64_t from = start.to_int(), to = end.to_int(), by = step.to_int();
    PTERON_REQUIRE(context, by != 0, "the step of a range is 0");
    int64_t span = 0;
    PTERON_REQUIRE(context, !__builtin_sub_overflow(to, from, &span) && by != INT64_MIN && span != INT64_MIN,
                   "the range is too long");
    PTERON_REQUIRE(context, span == 0 || (span > 0) == (by > 0), "start and end of the range do not fit its step");
    *length = span / by + (span % by != 0 ? 1 : 0);
    return PTERON_OK;
  }
  const double from = start.to_double(), to = end.to_double(), by = step.to_double();
  PTERON_REQUIRE(context, std::isfinite(from) && std::isfinite(to) && by != 0 && !std::isnan(by),
                 "start, end and step of a range must be finite and the step not 0");
  PTERON_REQUIRE(context, to == from || (to > from) == (by > 0), "start and end of the range do not fit its step");
  const double count = std::ceil((to - from) / by);
  PTERON_REQUIRE(context, count >= 0 && count < 4611686018427387904.0, "the range is too long");
  *length = static_cast<int64_t>(count);
  return PTERON_OK;
}

}  // namespace

int full_out(KernelContext& context, IntList size, Scalar fill_value, Tensor& out) {
  return fill_out(context, size, fill_value, out);
}

int full_like_out(KernelContext& context, const Tensor& self, Scalar fill_value, std::optional<int64_t>, Tensor& out) {
  return fill_out(context, self.sizes(), fill_value, out);
}

int ones_out(KernelContext& context, IntList size, Tensor& out) {
  return fill_out(context, size, Scalar(1), out);
}

int zeros_out(KernelContext& context, IntList size, Tensor& out) {
  return fill_out(context, size, Scalar(0), out);
}

int empty_out(KernelContext& context, IntList size, std::optional<int64_t>, Tensor& out) {
  return context.resize(out, size);
}

int arange_out(KernelContext& context, Scalar end, Tensor& out) {
  return arange_start_out(context, Scalar(0), end, Scalar(1), out);
}

int arange_start_out(KernelContext& context, Scalar start, Scalar end, Scalar step, Tensor& out) {
  int64_t length = 0;
  PTERON_PASS(range_length(context, start, end, step, &length));
  PTERON_PASS(context.resize(out, IntList(&length, 1)));
  const bool integers = is_integral(out.dtype());
  const Compute compute = integers ? Compute::kInt : Compute::kDouble;
  const StoreFn store = find_store(out.dtype(), compute);
  const int64_t bytes = static_cast<int64_t>(out.element_size());
  alignas(64) char buffer[kChunk * 8];
  const uint64_t first = static_cast<uint64_t>(start.to_int()), by = static_cast<uint64_t>(step.to_int());
  for (int64_t done = 0; done < length; done += kChunk) {
    const int64_t take = std::min(kChunk, length - done);
    if (integers) {
      auto* values = reinterpret_cast<int64_t*>(buffer);
      for (int64_t i = 0; i < take; ++i) values[i] = static_cast<int64_t>(first + static_cast<uint64_t>(done + i) * by);
    } else {
      auto* values = reinterpret_cast<double*>(buffer);
      for (int64_t i = 0; i < take; ++i) {
        values[i] = start.to_double() + static_cast<double>(done + i) * step.to_double();
      }
    }
    store(buffer, out.data<char>() + done * out.stride(0) * bytes, out.stride(0) * bytes, take);
  }
  return PTERON_OK;
}

int repeat_interleave_out(KernelContext& context, const Tensor& repeats, std::optional<int64_t> output_size,
                          Tensor& out) {
  PTERON_REQUIRE(context, repeats.rank() == 1, "the repeats must be a vector, found rank %d", repeats.rank());
  const int64_t count = repeats.size(0);
  View source = view_of(repeats), counts = source;
  counts.dtype = PTERON_INT64;
  set_contiguous_strides(counts);
  counts.data = static_cast<char*>(context.scratch(static_cast<size_t>(count) * sizeof(int64_t)));
  if (counts.data == nullptr) return PTERON_OUT_OF_MEMORY;
  copy_view(counts, source);
  const auto* times = reinterpret_cast<const int64_t*>(counts.data);
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    PTERON_REQUIRE(context, times[i] >= 0 && checked_add(total, times[i], &total), "repeat %lld is not possible",
                   static_cast<long long>(times[i]));
  }
  PTERON_REQUIRE(context, !output_size.has_value() || *output_size == total,
                 "the repeats add up to %lld, output_size says %lld", static_cast<long long>(total),
                 static_cast<long long>(output_size.value_or(0)));
  PTERON_PASS(context.resize(out, IntList(&total, 1)));
  View target = view_of(out);
  const int64_t step = target.strides[0] * static_cast<int64_t>(out.element_size());
  for (int64_t i = 0; i < count; ++i) {
    target.sizes[0] = times[i];
    fill_view(target, Scalar(i));
    if (target.data != nullptr) target.data += times[i] * step;
  }
  return PTERON_OK;
}

int scalar_tensor_out(KernelContext& context, Scalar value, Tensor& out) {
  return fill_out(context, IntList(), value, out);
}

int rand_out(KernelContext& context, IntList size, Tensor& out) {
  PTERON_PASS(context.resize(out, size));
  const int bits = uniform_bits(out.dtype());
  return fill_drawn(context, out, [&] { return uniform(context, bits); });
}

int randn_out(KernelContext& context, IntList size, Tensor& out) {
  PTERON_PASS(context.resize(out, size));
  // Box and Muller: two uniform numbers give two normal ones.
  double kept = 0;
  bool has_kept = false;
  return fill_drawn(context, out, [&] {
    if (has_kept) {
      has_kept = false;
      return kept;
    }
    constexpr double kTwoPi = 6.28318530717958647692;
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(context, 53)));  // 1 - u is never 0
    const double angle = kTwoPi * uniform(context, 53);
    kept = radius * std::sin(angle);
    has_kept = true;
    return radius * std::cos(angle);
  });
}

int native_dropout_out(KernelContext& context, const Tensor& input, double p, std::optional<bool> train, Tensor& out,
                       Tensor& mask) {
  PTERON_REQUIRE(context, p >= 0 && p <= 1, "the probability of dropping is %g, expected one in [0, 1]", p);
  PTERON_PASS(context.resize(out, input.sizes()));
  PTERON_PASS(context.resize(mask, input.sizes()));
  if (!train.value_or(true) || p == 0) {
    fill_view(view_of(mask), Scalar(true));
    return copy_to_out(context, view_of(input), out);
  }
  PTERON_PASS(fill_drawn(context, mask, [&] { return uniform(context, 53) >= p ? 1.0 : 0.0; }));
  if (p == 1) {
    fill_view(view_of(out), Scalar(0));
    return PTERON_OK;
  }
  struct Scaled {
    static float apply(float x, float kept, const Params& params) { return x * kept * params.floats[0]; }
    static double apply(double x, double kept, const Params& params) { return x * kept * params.doubles[0]; }
  };
  Params params;
  params.set(0, Scalar(1 / (1 - p)));
  return elementwise(context, floating<Scaled, 2>(input.dtype()), out, {input, mask}, params);
}

}  // namespace pteron::kernels
