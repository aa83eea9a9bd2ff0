// Runs the calls in tests/data/operators/*.txt, whose expected values come from eager PyTorch
// (tests/conformance/make_operator_cases.py, which describes the format).

#include <dirent.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "kernels/test_call.h"

namespace pteron::kernels::testing {
namespace {

int dtype_named(const std::string& name) {
  for (int dtype = 0; dtype < 32; ++dtype) {
    if (pteron_dtype_size(dtype) != 0 && name == pteron_dtype_name(dtype)) return dtype;
  }
  ADD_FAILURE() << "unknown dtype " << name;
  return PTERON_FLOAT32;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  if (text == "-" || text.empty()) return parts;
  std::stringstream stream(text);
  std::string part;
  while (std::getline(stream, part, separator)) parts.push_back(part);
  return parts;
}

std::vector<int64_t> numbers(const std::string& text) {
  std::vector<int64_t> result;
  for (const std::string& part : split(text, ',')) result.push_back(std::strtoll(part.c_str(), nullptr, 10));
  return result;
}

bool is_true(const std::string& text) {
  return text == "True" || text == "1";
}

// How far a result may be from PyTorch's: a few units in the last place; sums may be taken in another order.
void expect_near(int dtype, double actual, double expected, const std::string& place) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << place << ": " << actual << ", expected NaN";
    return;
  }
  if (std::isinf(expected)) {
    EXPECT_EQ(actual, expected) << place;
    return;
  }
  const double relative = dtype == PTERON_FLOAT64   ? 1e-12
                          : dtype == PTERON_FLOAT32 ? 2e-6
                          : dtype == PTERON_FLOAT16 ? 1.0 / 1024
                                                    : 1.0 / 128;
  const double absolute = dtype == PTERON_FLOAT64 ? 1e-12 : dtype == PTERON_FLOAT32 ? 2e-7 : 1e-6;
  EXPECT_LE(std::abs(actual - expected), absolute + relative * std::abs(expected))
      << place << ": " << actual << ", expected " << expected;
}

struct Expectation {
  TensorBox* box;
  std::vector<int64_t> sizes;
  std::vector<std::string> values;
};

struct Case {
  std::string name;
  std::vector<std::string> lines;
};

class CaseRunner {
 public:
  // `constant`: the operator is prepared with all its inputs as constants of the program.
  CaseRunner(const Case& test, bool constant) : test_(test), constant_(constant) {}

  void run() {
    const pteron_kernel* kernel = find_row(test_.name.c_str());
    ASSERT_NE(kernel, nullptr) << "no row for " << test_.name;
    while (at_ < test_.lines.size()) argument();
    const Outcome outcome = call(*kernel, arguments_, constant_ ? inputs_ : std::vector<size_t>());
    if (must_fail_) {
      EXPECT_NE(outcome.code, PTERON_OK) << "a call that must be refused went through";
      EXPECT_NE(outcome.failure, "");
    } else {
      ASSERT_EQ(outcome.code, PTERON_OK) << outcome.failure;
      for (const Expectation& expectation : expectations_) check(expectation);
    }
    for (const auto& box : boxes_) EXPECT_TRUE(box->guards_are_intact()) << "memory beside a tensor was written";
  }

 private:
  TensorBox& box(const std::string& line, std::vector<std::string>* values) {
    std::istringstream stream(line);
    std::string letter, dtype, sizes, strides, colon, value;
    stream >> letter >> dtype >> sizes >> strides >> colon;
    while (stream >> value) values->push_back(value);
    std::vector<int64_t> size_list = numbers(sizes);
    std::vector<int64_t> stride_list = letter == "x" ? contiguous_strides(size_list) : numbers(strides);
    boxes_.push_back(std::make_unique<TensorBox>(dtype_named(dtype), std::move(size_list), std::move(stride_list)));
    return *boxes_.back();
  }

  void fill(TensorBox& target, const std::vector<std::string>& values) {
    ASSERT_EQ(values.size(), static_cast<size_t>(target.numel()));
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string& text = values[i];
      const bool truth = text == "True" || text == "False";
      write_element(target.raw()->dtype, target.element(static_cast<int64_t>(i)),
                    truth ? is_true(text) : std::strtod(text.c_str(), nullptr),
                    truth ? is_true(text) : static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10)));
    }
  }

  pteron_tensor* tensor_item() {
    const std::string line = test_.lines[at_++];
    if (line[0] == 'n') return nullptr;
    std::vector<std::string> values;
    TensorBox& made = box(line, &values);
    if (line[0] == 't') {
      fill(made, values);
    } else if (line[0] == 'x') {
      must_fail_ = true;
    } else {
      expectations_.push_back({&made, made.sizes(), values});
    }
    return made.raw();
  }

  void argument() {
    const std::string line = test_.lines[at_];
    const std::string rest = line.size() > 2 ? line.substr(2) : "";
    switch (line[0]) {
      case 't':
      case 'o':
      case 'x': {
        tensor_item();
        if (line[0] == 't') inputs_.push_back(arguments_.pointers().size());
        arguments_.tensor(*boxes_.back());
        return;
      }
      case 'w': {  // the next line says what it holds afterwards
        std::vector<std::string> before, after;
        TensorBox& made = box(line, &before);
        fill(made, before);
        arguments_.tensor(made);
        box(test_.lines[at_ + 1], &after);
        expectations_.push_back({&made, made.sizes(), after});
        at_ += 2;
        return;
      }
      case 'L': {
        ++at_;
        std::vector<pteron_tensor*> items;
        bool optional = false;
        for (int64_t count = std::strtoll(rest.c_str(), nullptr, 10); count > 0; --count) {
          items.push_back(tensor_item());
          optional = optional || items.back() == nullptr;
        }
        arguments_.tensors(items, optional);
        return;
      }
      case 'i':
        arguments_.integer(std::strtoll(rest.c_str(), nullptr, 10));
        break;
      case 'd':
        arguments_.real(std::strtod(rest.c_str(), nullptr));
        break;
      case 'b':
        arguments_.boolean(rest == "1");
        break;
      case 'n':
        arguments_.none();
        break;
      case 's':
        arguments_.string(rest);
        break;
      case 'I':
        arguments_.integers(numbers(rest));
        break;
      case 'D': {
        std::vector<double> items;
        for (const std::string& part : split(rest, ',')) items.push_back(std::strtod(part.c_str(), nullptr));
        arguments_.reals(items);
        break;
      }
      case 'B': {
        std::vector<uint8_t> items;
        for (const std::string& part : split(rest, ',')) items.push_back(part == "1");
        arguments_.booleans(items);
        break;
      }
      default:
        FAIL() << "unknown line: " << line;
    }
    ++at_;
  }

  void check(const Expectation& expectation) {
    const pteron_tensor* raw = expectation.box->raw();
    ASSERT_EQ(std::vector<int64_t>(raw->sizes, raw->sizes + raw->rank), expectation.sizes);
    ASSERT_EQ(expectation.values.size(), static_cast<size_t>(expectation.box->numel()));
    for (size_t i = 0; i < expectation.values.size(); ++i) {
      const std::string& text = expectation.values[i];
      const char* element = expectation.box->element(static_cast<int64_t>(i));
      const std::string place = "element " + std::to_string(i);
      if (is_floating(raw->dtype)) {
        expect_near(raw->dtype, read_real(raw->dtype, element), std::strtod(text.c_str(), nullptr), place);
      } else {
        const int64_t expected = text == "True"    ? 1
                                 : text == "False" ? 0
                                                   : static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10));
        EXPECT_EQ(read_integer(raw->dtype, element), expected) << place;
      }
    }
  }

  const Case& test_;
  const bool constant_;
  std::vector<size_t> inputs_;  // positions of the tensors that are only read
  size_t at_ = 0;
  bool must_fail_ = false;
  std::vector<std::unique_ptr<TensorBox>> boxes_;
  std::vector<Expectation> expectations_;
  Arguments arguments_;
};

std::string folder() {
  return std::string(PTERON_TEST_DATA) + "/operators";
}

std::vector<std::string> families() {
  std::vector<std::string> names;
  if (DIR* directory = opendir(folder().c_str())) {
    while (const dirent* entry = readdir(directory)) {
      const std::string name = entry->d_name;
      if (name.size() > 4 && name.substr(name.size() - 4) == ".txt") names.push_back(name.substr(0, name.size() - 4));
    }
    closedir(directory);
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Operators : public ::testing::TestWithParam<std::string> {};

TEST_P(Operators, AgreeWithPyTorch) {
  std::ifstream file(folder() + "/" + GetParam() + ".txt");
  ASSERT_TRUE(file.good());
  std::vector<Case> cases;
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("case ", 0) == 0) {
      cases.push_back({line.substr(5), {}});
    } else {
      ASSERT_FALSE(cases.empty());
      cases.back().lines.push_back(line);
    }
  }
  ASSERT_FALSE(cases.empty());
  for (const Case& test : cases) {
    std::string arguments;
    for (const std::string& text : test.lines) arguments += "\n  " + text.substr(0, 160);
    SCOPED_TRACE(test.name + arguments);
    CaseRunner(test, false).run();
    CaseRunner(test, true).run();
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Operators, ::testing::ValuesIn(families()),
                         [](const auto& family) { return family.param; });

}  // namespace
}  // namespace pteron::kernels::testing
