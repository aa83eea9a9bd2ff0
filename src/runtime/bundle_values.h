// The test cases of a bundle as the values that C callers see.
#pragma once

#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/bundle_file.h"
#include "pteron/c/tensor.h"
#include "runtime/tensor.h"

namespace pteron::runtime {

class BundleValues {
 public:
  struct Case {
    std::vector<const pteron_value*> inputs;
    std::vector<const pteron_value*> expected;
  };

  explicit BundleValues(format::BundleFile file);
  BundleValues(const BundleValues&) = delete;
  BundleValues& operator=(const BundleValues&) = delete;

  // Cases of a method; null when it has no suite. They live as long as this.
  const std::vector<Case>* cases(std::string_view method) const;

 private:
  std::vector<const pteron_value*> convert(const std::vector<format::BundleValue>& from);

  format::BundleFile file_;
  std::deque<TensorStorage> tensors_;  // addresses stay
  std::deque<pteron_value> values_;
  std::unordered_map<std::string_view, std::vector<Case>> cases_;
};

}  // namespace pteron::runtime
