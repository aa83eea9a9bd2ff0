// Bundle: a program with test cases (`.bpte`).
//
//   auto bundle = pteron::Bundle::load("model.bpte");
//   auto test = bundle->test_case("forward", 0);
//   // test->inputs, test->expected: views that live as long as the bundle
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pteron/program.h"
#include "pteron/value.h"

namespace pteron {
inline namespace v1_0 {

// Inputs and expected outputs of one case; views that live as long as the bundle.
struct TestCase {
  std::vector<ValueView> inputs;
  std::vector<ValueView> expected;
};

// A `.bpte` file.
//
//   auto bundle = pteron::Bundle::load("model.bpte");
//   for (size_t i = 0; i < bundle->case_count("forward"); ++i) check(*bundle->test_case("forward", i));
//
// Ownership: move-only; holds its program. Threads: immutable, any number at once.
class Bundle {
 public:
  // Fails as Program::load does; PTERON_INVALID_FILE for a program without test cases.
  static Result<Bundle> load(const std::string& path, const LoadOptions& options = {}) {
    const detail::RawLoadOptions raw_options(options);
    pteron_bundle* raw = nullptr;
    PTERON_TRY(Status::adopt(pteron_bundle_load_file(path.c_str(), raw_options.get(), &raw)));
    return Bundle(raw);
  }

  Bundle(Bundle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Bundle& operator=(Bundle&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;
  ~Bundle() {
    if (raw_ != nullptr) pteron_bundle_release(raw_);
  }

  Program program() const { return Program::from_raw(pteron_bundle_program(raw_)); }
  // Cases of a method; 0 when it has none.
  size_t case_count(const std::string& method) const { return pteron_bundle_case_count(raw_, method.c_str()); }
  // Fails with PTERON_NOT_FOUND for a case that is not there.
  Result<TestCase> test_case(const std::string& method, size_t index) const {
    const pteron_value* const* inputs = nullptr;
    const pteron_value* const* expected = nullptr;
    size_t input_count = 0;
    size_t expected_count = 0;
    PTERON_TRY(Status::adopt(
        pteron_bundle_case(raw_, method.c_str(), index, &inputs, &input_count, &expected, &expected_count)));
    TestCase test;
    for (size_t i = 0; i < input_count; ++i) test.inputs.emplace_back(inputs[i]);
    for (size_t i = 0; i < expected_count; ++i) test.expected.emplace_back(expected[i]);
    return test;
  }

  pteron_bundle* raw() const { return raw_; }  // borrowed

 private:
  explicit Bundle(pteron_bundle* raw) : raw_(raw) {}

  pteron_bundle* raw_;
};

}  // namespace v1_0
}  // namespace pteron
