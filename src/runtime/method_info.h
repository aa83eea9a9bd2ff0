// What C callers see of a method: pteron_method_info with everything it points at.
#pragma once

#include <string>
#include <vector>

#include "format/program_file.h"
#include "pteron/c/program.h"

namespace pteron::runtime {

class MethodInfo {
 public:
  // Views of `method` are kept: it must outlive this.
  explicit MethodInfo(const format::Method& method);
  MethodInfo(const MethodInfo&) = delete;
  MethodInfo& operator=(const MethodInfo&) = delete;

  const pteron_method_info* get() const { return &info_; }

 private:
  // Structs of one kind with an array of pointers to them, as the C interface wants it.
  template <typename T>
  struct List {
    std::vector<T> items;
    std::vector<const T*> pointers;

    void point() {
      pointers.reserve(items.size());
      for (const T& item : items) pointers.push_back(&item);
    }
  };
  struct Specs {
    std::vector<const char*> keys;
    std::vector<const void*> values;
    std::vector<size_t> sizes;
  };

  void add_signature(const format::Method& method);
  void add_operators(const format::Method& method);
  void add_delegates(const format::Method& method);

  pteron_method_info info_{};
  std::vector<std::string> input_names_;
  List<pteron_value_info> inputs_;
  List<pteron_value_info> outputs_;
  List<pteron_operator_info> operators_;
  List<pteron_delegate_info> delegates_;
  std::vector<Specs> specs_;
};

}  // namespace pteron::runtime
