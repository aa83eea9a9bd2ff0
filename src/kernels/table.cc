#include "kernels/table.h"

#include <iterator>
#include <utility>

#include "kernels/binary.h"
#include "kernels/dtypes.h"

namespace pteron::kernels {
namespace {

#define ROW(name, schema, masks, function) PTERON_KERNEL(name, schema, masks, function)
#define PREPARED_ROW(name, schema, masks, function, prepare) \
  PTERON_PREPARED_KERNEL(name, schema, masks, function, prepare)
#define MASKS(...) (Dtypes<__VA_ARGS__>)

// clang-format off
constexpr pteron_kernel kTable[] = {
    // ---- Arithmetic on two operands (binary.cc) ----
    ROW("aten::add.out", "(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        MASKS(kRealBool, kRealBool, kRealBool), add_out),
};
// clang-format on

template <size_t... rows>
struct Pointers {
  static constexpr const pteron_kernel* values[] = {&kTable[rows]...};
};

template <size_t... rows>
constexpr const pteron_kernel* const* pointers(std::index_sequence<rows...>) {
  return Pointers<rows...>::values;
}

}  // namespace

const pteron_kernel* const* const kRows = pointers(std::make_index_sequence<std::size(kTable)>());
const size_t kRowCount = std::size(kTable);

}  // namespace pteron::kernels
