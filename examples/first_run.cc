// The shortest way from a file to numbers: first_run add.pte
#include <pteron/pteron.h>

#include <cstdio>
#include <vector>

namespace {

int report(const pteron::Status& status) {
  std::fprintf(stderr, "%s\n", status.message());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::vector<float> x = {1, 2, 3};
  const std::vector<float> y = {10, 20, 30};

  auto module = pteron::Module::load(argv[1]);
  if (!module) return report(module.status());
  auto outputs = module->forward(pteron::TensorView::of(x), pteron::TensorView::of(y));
  if (!outputs) return report(outputs.status());

  auto sum = outputs->tensor(0)->data<float>();
  if (!sum) return report(sum.status());
  for (const float value : sum.value()) std::printf("%g\n", static_cast<double>(value));
  return sum.value()[2] == 33.0f ? 0 : 1;
}
