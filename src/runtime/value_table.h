// The values of one graph as kernels see them: an array of pteron_value with the tensors and lists they point at.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "pteron/c/tensor.h"
#include "runtime/graph.h"
#include "runtime/tensor.h"

namespace pteron::runtime {

class ValueTable {
 public:
  // Every value as the file has it: constants point into the program, all other tensors have no data and their
  // upper-bound sizes. The graph must outlive the table.
  explicit ValueTable(const Graph& graph);
  ValueTable(const ValueTable&) = delete;
  ValueTable& operator=(const ValueTable&) = delete;

  pteron_value& value(int32_t index) { return values_[static_cast<size_t>(index)]; }
  const pteron_value& value(int32_t index) const { return values_[static_cast<size_t>(index)]; }
  pteron_tensor& tensor(int32_t index) { return tensors_[static_cast<size_t>(index)].tensor; }
  size_t value_count() const { return values_.size(); }

  // Brings the items of an int list up to date with the values they name. PTERON_INVALID_FILE when one is not an int.
  Status refresh_list(int32_t index);
  // Puts a scalar back to what the file says.
  void reset_scalar(int32_t index);

 private:
  void set_scalar(int32_t index);
  void set_list(int32_t index);

  const Graph& graph_;
  std::vector<pteron_value> values_;
  std::vector<TensorStorage> tensors_;
  std::deque<std::vector<int64_t>> int_lists_;  // deques: items stay where they are
  std::deque<std::vector<pteron_tensor*>> tensor_lists_;
};

}  // namespace pteron::runtime
