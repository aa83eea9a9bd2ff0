#include "runtime/constant_views.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pteron::runtime {
namespace {

using format::Opcode;
using format::Storage;

// Kernels that take a matrix of any dim order and pack it.
bool is_matrix_product(std::string_view kernel) {
  return kernel == "aten::mm.out" || kernel == "aten::addmm.out" || kernel == "aten::bmm.out";
}

// Where each dim of the result comes from.
using Permutation = std::vector<size_t>;

// A dim as the program gives it, which may count from the back.
std::optional<size_t> dim_at(int64_t dim, size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (dim < 0) dim += signed_rank;
  if (dim < 0 || dim >= signed_rank) return std::nullopt;
  return static_cast<size_t>(dim);
}

class PermutedConstants {
 public:
  explicit PermutedConstants(Graph& graph) : graph_(graph) {}

  void view() {
    std::vector<bool> removed(graph_.steps.size());
    const std::vector<bool> candidates = read_by_products_only();
    for (size_t i = 0; i < graph_.steps.size(); ++i) removed[i] = view_result(graph_.steps[i], candidates);
    remove(removed);
  }

 private:
  const format::Value& value(int32_t index) const { return graph_.values[static_cast<size_t>(index)]; }

  // Tensors that one step writes and nothing but matrix products reads.
  std::vector<bool> read_by_products_only() const {
    std::vector<bool> fits(graph_.tensors.size(), true);
    std::vector<int> writers(graph_.tensors.size());
    auto rule_out = [&](int32_t index) {
      if (value(index).kind == PTERON_KIND_TENSOR) fits[static_cast<size_t>(value(index).tensor)] = false;
    };
    std::for_each(graph_.inputs.begin(), graph_.inputs.end(), rule_out);
    std::for_each(graph_.outputs.begin(), graph_.outputs.end(), rule_out);
    for (const Step& step : graph_.steps) {
      const bool product = step.kernel != nullptr && is_matrix_product(step.kernel->name);
      for (const TensorAccess& access : graph_.tensor_accesses(step)) {
        const auto tensor = static_cast<size_t>(access.tensor);
        if (access.access == Access::kWrite) ++writers[tensor];
        if (access.access != Access::kWrite && !(product && access.access == Access::kRead)) fits[tensor] = false;
      }
    }
    for (size_t i = 0; i < fits.size(); ++i) fits[i] = fits[i] && writers[i] == 1;
    return fits;
  }

  std::optional<Permutation> permutation_of(const Step& step, size_t rank) const {
    const std::string_view name = step.kernel->name;
    Permutation from(rank);
    std::iota(from.begin(), from.end(), size_t{0});
    if (name == "aten::permute_copy.out") {
      const format::Value& dims = value(step.args[1]);
      if (dims.items.size() != rank) return std::nullopt;
      for (size_t i = 0; i < rank; ++i) {
        const std::optional<size_t> dim = dim_at(value(dims.items[i]).as_int, rank);
        if (!dim.has_value()) return std::nullopt;
        from[i] = *dim;
      }
      return is_permutation(from) ? std::optional(from) : std::nullopt;
    }
    if (name == "aten::t_copy.out" && rank == 2) return Permutation{1, 0};
    if (name == "aten::transpose_copy.int_out") {
      const std::optional<size_t> a = dim_at(value(step.args[1]).as_int, rank);
      const std::optional<size_t> b = dim_at(value(step.args[2]).as_int, rank);
      if (!a.has_value() || !b.has_value()) return std::nullopt;
      std::swap(from[*a], from[*b]);
      return from;
    }
    return std::nullopt;
  }

  static bool is_permutation(const Permutation& from) {
    std::vector<bool> seen(from.size());
    for (const size_t dim : from) seen[dim] = true;
    return std::find(seen.begin(), seen.end(), false) == seen.end();
  }

  // True when the step's result became a constant.
  bool view_result(const Step& step, const std::vector<bool>& candidates) {
    const bool computed = !step.computed_lists.empty();
    if (step.opcode != Opcode::kKernel || step.args.size() < 2 || computed) return false;
    if (value(step.args.front()).kind != PTERON_KIND_TENSOR || value(step.args.back()).kind != PTERON_KIND_TENSOR) {
      return false;
    }
    const format::Tensor& source = graph_.tensors[static_cast<size_t>(value(step.args.front()).tensor)];
    const auto out = static_cast<size_t>(value(step.args.back()).tensor);
    format::Tensor& result = graph_.tensors[out];
    if (!is_constant(source) || !candidates[out] || result.bounded || result.dtype != source.dtype) return false;
    const std::optional<Permutation> from = permutation_of(step, source.sizes.size());
    if (!from.has_value() || result.sizes.size() != from->size()) return false;
    std::vector<uint8_t> to(from->size());  // where each dim of the source goes
    for (size_t i = 0; i < from->size(); ++i) {
      if (result.sizes[i] != source.sizes[(*from)[i]]) return false;
      to[(*from)[i]] = static_cast<uint8_t>(i);
    }
    result.storage = Storage::kConstant;
    result.data = source.data;
    for (size_t k = 0; k < to.size(); ++k) result.dim_order[k] = to[source.dim_order[k]];
    return true;
  }

  // Jumps go to steps by number; one that went to a removed step goes to the next that stayed.
  void remove(const std::vector<bool>& removed) {
    std::vector<int32_t> new_number(graph_.steps.size() + 1);
    int32_t kept = 0;
    for (size_t i = 0; i < graph_.steps.size(); ++i) {
      new_number[i] = kept;
      if (!removed[i]) ++kept;
    }
    new_number.back() = kept;
    std::vector<Step> steps;
    std::vector<std::string> sources;
    for (size_t i = 0; i < graph_.steps.size(); ++i) {
      if (removed[i]) continue;
      Step& step = graph_.steps[i];
      if (step.opcode == Opcode::kJumpFalse) step.operand = new_number[static_cast<size_t>(step.operand)];
      steps.push_back(std::move(step));
      sources.push_back(std::move(graph_.sources[i]));
    }
    graph_.steps = std::move(steps);
    graph_.sources = std::move(sources);
  }

  Graph& graph_;
};

}  // namespace

void view_permuted_constants(Graph& graph) {
  PermutedConstants(graph).view();
}

}  // namespace pteron::runtime
