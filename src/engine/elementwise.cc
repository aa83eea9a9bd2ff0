#include "engine/elementwise.h"

#include <algorithm>

#include "engine/elementwise_table.h"

namespace pteron::engine {
namespace {

// A range worth a thread: 64 KiB of input.
constexpr int64_t kGrain = 16384;

}  // namespace

void unary(Unary op, const float* in, float* out, int64_t count, const UnaryParams& params, const Parallel& parallel) {
  const ElementwiseTable& table = elementwise_table(active_isa());
  parallel_for(parallel, count, kGrain,
               [&](int64_t begin, int64_t end) { table.unary(op, in + begin, out + begin, end - begin, params); });
}

void binary(Binary op, const float* a, const float* b, float* out, int64_t rows, int64_t cols, Spread spread,
            float alpha, bool swapped, const Parallel& parallel) {
  const ElementwiseTable& table = elementwise_table(active_isa());
  const int step = spread == Spread::kFull || spread == Spread::kCol ? 1 : 0;
  const bool flat = spread == Spread::kFull || spread == Spread::kScalar;
  parallel_for(parallel, rows * cols, kGrain, [&](int64_t begin, int64_t end) {
    if (flat) {
      const float* right = step == 1 ? b + begin : b;
      return table.binary(op, a + begin, right, step, out + begin, end - begin, alpha, swapped);
    }
    while (begin < end) {
      const int64_t row = begin / cols;
      const int64_t col = begin % cols;
      const int64_t n = std::min(cols - col, end - begin);
      const float* right = spread == Spread::kRow ? b + row : b + col;
      table.binary(op, a + begin, right, step, out + begin, n, alpha, swapped);
      begin += n;
    }
  });
}

namespace isa_scalar {
extern const ElementwiseTable elementwise_table;
extern const RowsTable rows_table;
extern const CopyTable copy_table;
}  // namespace isa_scalar
#if defined(__x86_64__)
namespace isa_avx2 {
extern const ElementwiseTable elementwise_table;
extern const RowsTable rows_table;
extern const CopyTable copy_table;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const ElementwiseTable elementwise_table;
extern const RowsTable rows_table;
extern const CopyTable copy_table;
}  // namespace isa_avx512
#endif

const ElementwiseTable& elementwise_table(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) return isa_avx512::elementwise_table;
  if (isa == Isa::kAvx2) return isa_avx2::elementwise_table;
#endif
  (void)isa;
  return isa_scalar::elementwise_table;
}

const RowsTable& rows_table(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) return isa_avx512::rows_table;
  if (isa == Isa::kAvx2) return isa_avx2::rows_table;
#endif
  (void)isa;
  return isa_scalar::rows_table;
}

const CopyTable& copy_table(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) return isa_avx512::copy_table;
  if (isa == Isa::kAvx2) return isa_avx2::copy_table;
#endif
  (void)isa;
  return isa_scalar::copy_table;
}

}  // namespace pteron::engine
