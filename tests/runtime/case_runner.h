// Runs the cases of a bundle and compares with what eager PyTorch gave.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pteron/pteron.h"

namespace pteron_tests {

inline std::string program_path(const std::string& name) {
  return std::string(PTERON_TEST_DATA) + "/programs/" + name;
}

// The value, or a failed test and an abort of it.
template <typename T>
T must(pteron::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().message());
  return std::move(result).value();
}

inline void must(pteron::Status status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

// Where element number `index`, counted row-major, lies.
inline const char* element(const pteron_tensor& tensor, int64_t index, size_t size) {
  int64_t offset = 0;
  for (int dim = tensor.rank - 1; dim >= 0; --dim) {
    offset += index % tensor.sizes[dim] * tensor.strides[dim];
    index /= tensor.sizes[dim];
  }
  return static_cast<const char*>(tensor.data) + offset * static_cast<int64_t>(size);
}

inline void expect_near(const pteron_tensor& got, const pteron_tensor& expected, const std::string& where) {
  ASSERT_EQ(got.dtype, expected.dtype) << where;
  ASSERT_EQ(got.rank, expected.rank) << where;
  for (int i = 0; i < got.rank; ++i) ASSERT_EQ(got.sizes[i], expected.sizes[i]) << where << ", size " << i;
  // By index, not by address: layouts may differ.
  const int64_t count = pteron_tensor_numel(&got);
  const size_t size = pteron_dtype_size(got.dtype);
  for (int64_t i = 0; i < count; ++i) {
    const char* a = element(got, i, size);
    const char* b = element(expected, i, size);
    const bool equal = std::memcmp(a, b, size) == 0;
    if (equal || got.dtype != PTERON_FLOAT32) {
      ASSERT_TRUE(equal) << where << ", element " << i;
      continue;
    }
    float x = 0;
    float y = 0;
    std::memcpy(&x, a, size);
    std::memcpy(&y, b, size);
    ASSERT_TRUE((std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= 1e-5f + 1e-4f * std::fabs(y))
        << where << ", element " << i << ": " << x << ", expected " << y;
  }
}

// Sets the inputs of a case, without running.
inline void set_inputs(pteron_method* method, pteron_bundle* bundle, const char* name, size_t index) {
  const pteron_value* const* inputs = nullptr;
  const pteron_value* const* expected = nullptr;
  size_t input_count = 0;
  size_t expected_count = 0;
  must(pteron::Status::adopt(
      pteron_bundle_case(bundle, name, index, &inputs, &input_count, &expected, &expected_count)));
  for (size_t i = 0; i < input_count; ++i) {
    must(pteron::Status::adopt(pteron_method_set_input(method, i, inputs[i])));
  }
}

// Compares the outputs of the last run with those of a case.
inline void expect_outputs(const pteron_method* method, pteron_bundle* bundle, const char* name, size_t index) {
  const pteron_value* const* inputs = nullptr;
  const pteron_value* const* expected = nullptr;
  size_t input_count = 0;
  size_t expected_count = 0;
  must(pteron::Status::adopt(
      pteron_bundle_case(bundle, name, index, &inputs, &input_count, &expected, &expected_count)));
  for (size_t i = 0; i < expected_count; ++i) {
    const pteron_value* got = pteron_method_output(method, i);
    ASSERT_NE(got, nullptr);
    ASSERT_EQ(got->kind, expected[i]->kind);
    const std::string where = std::string(name) + ", case " + std::to_string(index) + ", output " + std::to_string(i);
    if (got->kind == PTERON_KIND_TENSOR) expect_near(*got->as.tensor, *expected[i]->as.tensor, where);
    if (got->kind == PTERON_KIND_INT) {
      EXPECT_EQ(got->as.as_int, expected[i]->as.as_int) << where;
    }
  }
}

// A program without cases: one instance of its method "forward", its tensor inputs set to zeros.
class LoadedProgram {
 public:
  explicit LoadedProgram(const std::string& file) {
    must(pteron::Status::adopt(pteron_program_load_file(program_path(file).c_str(), nullptr, &program)));
    must(pteron::Status::adopt(pteron_plan_create(program, "forward", nullptr, &plan)));
  }
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;
  ~LoadedProgram() {
    if (method != nullptr) pteron_method_destroy(method);
    if (plan != nullptr) pteron_plan_release(plan);
    if (program != nullptr) pteron_program_release(program);
  }

  pteron::Status make_method() {
    PTERON_TRY(pteron::Status::adopt(pteron_method_create(plan, nullptr, &method)));
    const pteron_method_info& info = *pteron_plan_method_info(plan);
    for (size_t i = 0; i < info.input_count; ++i) {
      const pteron_value_info& input = *info.inputs[i];
      pteron::Tensor zeros = must(pteron::Tensor::create(static_cast<pteron::DType>(input.dtype),
                                                         pteron::Shape(input.sizes, static_cast<size_t>(input.rank))));
      pteron_value value{};
      value.kind = PTERON_KIND_TENSOR;
      value.as.tensor = zeros.raw();
      PTERON_TRY(pteron::Status::adopt(pteron_method_set_input(method, i, &value)));
      inputs.push_back(std::move(zeros));
    }
    return pteron::Status();
  }
  pteron::Status run() { return pteron::Status::adopt(pteron_method_run(method, nullptr)); }

  pteron_program* program = nullptr;
  pteron_plan* plan = nullptr;
  pteron_method* method = nullptr;
  std::vector<pteron::Tensor> inputs;
};

// A bundle with one instance of one method.
class Loaded {
 public:
  explicit Loaded(const std::string& file, const char* method_name = "forward",
                  const pteron_plan_options* plan_options = nullptr, const pteron_method_options* options = nullptr)
      : name(method_name) {
    must(pteron::Status::adopt(pteron_bundle_load_file(program_path(file).c_str(), nullptr, &bundle)));
    must(pteron::Status::adopt(pteron_plan_create(pteron_bundle_program(bundle), method_name, plan_options, &plan)));
    must(pteron::Status::adopt(pteron_method_create(plan, options, &method)));
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    if (method != nullptr) pteron_method_destroy(method);
    if (plan != nullptr) pteron_plan_release(plan);
    if (bundle != nullptr) pteron_bundle_release(bundle);
  }

  pteron::Status run(const pteron_run_options* options = nullptr) {
    return pteron::Status::adopt(pteron_method_run(method, options));
  }
  void set_case(size_t index) { set_inputs(method, bundle, name.c_str(), index); }
  void expect_case(size_t index) { expect_outputs(method, bundle, name.c_str(), index); }
  void run_case(size_t index) {
    set_case(index);
    must(run());
    expect_case(index);
  }
  const pteron_tensor& output(size_t index = 0) const { return *pteron_method_output(method, index)->as.tensor; }

  std::string name;
  pteron_bundle* bundle = nullptr;
  pteron_plan* plan = nullptr;
  pteron_method* method = nullptr;
};

// What a failed status says: its code and every word looked for.
inline void expect_failure(const pteron::Status& status, pteron_code code, std::initializer_list<const char*> words) {
  EXPECT_EQ(pteron_code_name(status.code()), std::string(pteron_code_name(code))) << status.message();
  for (const char* word : words) {
    EXPECT_NE(std::strstr(status.message(), word), nullptr) << "'" << word << "' is not in: " << status.message();
  }
}

}  // namespace pteron_tests
