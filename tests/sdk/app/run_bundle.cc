// Runs the cases of bundled programs and compares with their expected outputs: run_bundle FILE.bpte...
//
// Takes no operator by name and makes no registering call, so it only works when linking pteron::kernels is enough.
#include <pteron/pteron.h>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

int fail(const char* file, const char* what, const char* why) {
  std::fprintf(stderr, "%s: %s: %s\n", file, what, why);
  return 1;
}

bool close(float a, float b) {
  return std::fabs(a - b) <= 1e-5f + 1e-4f * std::fabs(b);
}

int compare(const char* file, size_t output, const pteron::TensorView& got, const pteron::TensorView& expected) {
  if (got.shape() != expected.shape()) return fail(file, "shape", got.shape().to_string().c_str());
  const auto values = got.data<float>();
  const auto wanted = expected.data<float>();
  if (!values.ok()) return fail(file, "output", values.status().message());
  if (!wanted.ok()) return fail(file, "expected output", wanted.status().message());
  for (size_t i = 0; i < wanted->size(); ++i) {
    if (close((*values)[i], (*wanted)[i])) continue;
    std::fprintf(stderr, "%s: output %zu, element %zu: %g, expected %g\n", file, output, i,
                 static_cast<double>((*values)[i]), static_cast<double>((*wanted)[i]));
    return 1;
  }
  return 0;
}

int run_case(const char* file, pteron::Module& module, const pteron::TestCase& test) {
  std::vector<pteron::Value> inputs;
  for (const pteron::ValueView& input : test.inputs) {
    auto copy = input.clone();
    if (!copy.ok()) return fail(file, "input", copy.status().message());
    inputs.push_back(std::move(copy).value());
  }
  auto outputs = module.execute_values("forward", std::move(inputs));
  if (!outputs.ok()) return fail(file, "run", outputs.status().message());
  if (outputs->size() != test.expected.size()) return fail(file, "run", "wrong number of outputs");
  for (size_t i = 0; i < test.expected.size(); ++i) {
    const auto got = outputs->tensor(i);
    const auto expected = test.expected[i].tensor();
    if (!got.ok()) return fail(file, "output", got.status().message());
    if (compare(file, i, *got, *expected) != 0) return 1;
  }
  return 0;
}

int run_bundle(const char* file) {
  auto bundle = pteron::Bundle::load(file);
  if (!bundle.ok()) return fail(file, "load", bundle.status().message());
  // No library may be looked for: what is linked must do.
  pteron::ModuleOptions options;
  options.plan.auto_load = false;
  pteron::Module module(bundle->program(), options);
  const size_t cases = bundle->case_count("forward");
  if (cases == 0) return fail(file, "bundle", "no cases");
  for (size_t i = 0; i < cases; ++i) {
    const auto test = bundle->test_case("forward", i);
    if (!test.ok()) return fail(file, "case", test.status().message());
    if (run_case(file, module, *test) != 0) return 1;
  }
  std::printf("%s: %zu cases agree\n", file, cases);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fail("run_bundle", "usage", "run_bundle FILE.bpte...");
  for (int i = 1; i < argc; ++i) {
    if (run_bundle(argv[i]) != 0) return 1;
  }
  return 0;
}
