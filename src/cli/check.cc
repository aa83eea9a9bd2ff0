// pteron check: a bundle's cases against their expected outputs.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/compare.h"
#include "cli/failure.h"
#include "cli/session.h"
#include "cli/tensors.h"
#include "pteron/bundle.h"

namespace pteron::cli {
namespace {

constexpr char kHelp[] =
    "Examples:\n"
    "  pteron check model.bpte\n"
    "  pteron check model.bpte --atol 1e-3 --rtol 1e-3\n\n"
    "An element passes when |found - expected| <= atol + rtol * |expected|. Cases of a method run in order on one\n"
    "instance, so that state is carried from case to case. The exit code is 1 when an output is out of tolerance.";

struct CheckOptions {
  ModelOptions model;
  std::optional<double> absolute;
  std::optional<double> relative;
};

// The worst of several differences of one output, over all cases.
struct OutputResult {
  Difference worst;
  size_t failed_cases = 0;
};

struct MethodResult {
  std::string name;
  size_t cases = 0;
  size_t failed_cases = 0;
  std::vector<OutputResult> outputs;
  std::vector<std::string> reasons;
};

void merge(const Difference& difference, OutputResult* result) {
  Difference& worst = result->worst;
  worst.tolerance = difference.tolerance;
  worst.largest_absolute = std::max(worst.largest_absolute, difference.largest_absolute);
  worst.largest_relative = std::max(worst.largest_relative, difference.largest_relative);
  worst.outside += difference.outside;
  worst.count += difference.count;
  worst.within = worst.within && difference.within;
  result->failed_cases += difference.within ? 0 : 1;
}

// Compares one case; true when it passes.
bool compare_case(const CheckOptions& options, const Outputs& outputs, const TestCase& test, size_t index,
                  MethodResult* result) {
  const std::string place = "case " + std::to_string(index);
  if (outputs.size() != test.expected.size()) {
    result->reasons.push_back(place + ": " + std::to_string(test.expected.size()) +
                              " outputs are expected, there are " + std::to_string(outputs.size()));
    return false;
  }
  bool passed = true;
  result->outputs.resize(std::max(result->outputs.size(), outputs.size()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Difference difference = compare_values(outputs[i], test.expected[i], options.absolute, options.relative);
    merge(difference, &result->outputs[i]);
    if (difference.within) continue;
    passed = false;
    result->reasons.push_back(place + ", output " + std::to_string(i) + ": " + difference.reason);
  }
  return passed;
}

MethodResult check_method(const CheckOptions& options, const Bundle& bundle, const MethodInfo& info,
                          Progress* progress) {
  MethodResult result;
  result.name = info.name();
  result.cases = bundle.case_count(info.name());
  if (result.cases == 0) return result;
  const Plan plan = take(Plan::create(bundle.program(), info.name(), plan_options(options.model, info)), Stage::kPlan);
  Method method = take(Method::create(plan), Stage::kPlan);
  for (size_t index = 0; index < result.cases; ++index) {
    const TestCase test = take(bundle.test_case(info.name(), index), Stage::kOther);
    if (test.inputs.size() != info.input_count()) {
      fail(kInputRefused, "case %zu of method '%s' has %zu inputs, the method takes %zu", index, info.name(),
           test.inputs.size(), info.input_count());
    }
    for (size_t i = 0; i < test.inputs.size(); ++i) require(method.set_input(i, test.inputs[i]), Stage::kInput);
    require(method.run(interruptible()), Stage::kRun);
    const Outputs outputs = take(method.outputs(), Stage::kRun);
    if (!compare_case(options, outputs, test, index, &result)) ++result.failed_cases;
    progress->show(index + 1, result.cases);
  }
  return result;
}

Json to_json(const CheckOptions& options, const std::vector<MethodResult>& results, bool passed) {
  Json methods = Json::array();
  for (const MethodResult& method : results) {
    Json outputs = Json::array();
    for (size_t i = 0; i < method.outputs.size(); ++i) {
      const Difference& worst = method.outputs[i].worst;
      outputs.push_back({{"index", i},
                         {"passed", worst.within},
                         {"max_abs", json_number(worst.largest_absolute)},
                         {"max_rel", json_number(worst.largest_relative)},
                         {"atol", worst.tolerance.absolute},
                         {"rtol", worst.tolerance.relative},
                         {"elements", worst.count},
                         {"outside", worst.outside}});
    }
    methods.push_back({{"name", method.name},
                       {"cases", method.cases},
                       {"failed_cases", method.failed_cases},
                       {"outputs", std::move(outputs)},
                       {"reasons", method.reasons}});
  }
  return {{"schema", "pteron.check/1"},
          {"model", options.model.model},
          {"passed", passed},
          {"methods", std::move(methods)}};
}

std::string to_text(const std::vector<MethodResult>& results, bool passed) {
  std::string text;
  for (const MethodResult& method : results) {
    append_format(&text, "method %s: %zu of %zu cases passed\n", printable_text(method.name).c_str(),
                  method.cases - method.failed_cases, method.cases);
    for (size_t i = 0; i < method.outputs.size(); ++i) {
      const Difference& worst = method.outputs[i].worst;
      append_format(&text, "  output %zu: largest difference %.3g absolute, %.3g relative (atol %g, rtol %g)%s\n", i,
                    worst.largest_absolute, worst.largest_relative, worst.tolerance.absolute, worst.tolerance.relative,
                    worst.within ? "" : ": out of tolerance");
    }
    for (const std::string& reason : method.reasons) text += "  " + reason + "\n";
  }
  return text + (passed ? "passed\n" : "failed\n");
}

void check(const CheckOptions& options) {
  apply_threads(options.model);
  const Bundle bundle = take(Bundle::load(options.model.model, load_options(options.model)), Stage::kLoad);
  const Program program = bundle.program();
  std::vector<MethodResult> results;
  size_t cases = 0;
  bool passed = true;
  {
    Progress progress("cases");
    for (const MethodInfo& method : program.methods()) {
      results.push_back(check_method(options, bundle, method, &progress));
      cases += results.back().cases;
      passed = passed && results.back().failed_cases == 0;
    }
  }
  if (cases == 0) fail(kFileRefused, "'%s' holds no test cases", options.model.model.c_str());
  if (options.model.json) {
    print_result(to_json(options, results, passed));
  } else {
    print_result(to_text(results, passed));
  }
  if (!passed) throw Failure(kComparisonFailed, "outputs differ from the expected ones");
}

// CLI11's own ranges let NaN through, with which nothing would pass.
std::string tolerance_problem(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  return std::isfinite(value) && value >= 0 ? "" : "a tolerance is a finite number of at least 0, not '" + text + "'";
}

}  // namespace

void add_check(CLI::App* app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app->add_subcommand(
      "check", "Run the cases of a bundled program and compare the outputs with the expected ones.");
  command->footer(kHelp);
  add_model_options(command, &options->model, kWithRunning);
  command->add_option("--atol", options->absolute, "Absolute tolerance, for all dtypes; default: by dtype")
      ->type_name("X")
      ->check(tolerance_problem, "NONNEGATIVE");
  command->add_option("--rtol", options->relative, "Relative tolerance, for all dtypes; default: by dtype")
      ->type_name("X")
      ->check(tolerance_problem, "NONNEGATIVE");
  command->callback([options] { check(*options); });
}

}  // namespace pteron::cli
