// pteron_runner MODEL.pte SECONDS: loads and runs `forward`, prints figures as JSON.
#include <pteron/pteron.h>

#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "measure.h"

namespace {

template <typename T>
T need(pteron::Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().message());
    std::exit(1);
  }
  return std::move(result).value();
}

void need(const pteron::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  bench::Figures figures;
  const auto start = bench::Clock::now();
  pteron::Module module = need(pteron::Module::load(argv[1]));
  pteron::Method* method = need(module.prepare("forward"));
  figures.load_ms = bench::milliseconds(start, bench::Clock::now());

  const pteron::MethodInfo info = need(module.program().find_method("forward"));
  std::vector<std::vector<unsigned char>> storage;
  std::vector<pteron::TensorView> views;
  uint32_t seed = 0;
  for (const pteron::ValueInfo& input : info.inputs()) {
    if (input.kind() != pteron::Kind::kTensor) return 3;
    std::vector<unsigned char>& bytes = storage.emplace_back(input.bytes());
    if (input.dtype() == pteron::DType::kFloat32)
      bench::fill(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float), ++seed);
    views.push_back(need(pteron::TensorView::of_bytes(bytes.data(), bytes.size(), input.dtype(), input.shape())));
  }
  // Inputs are given anew for every run, as an application does.
  const auto run = [&] {
    for (size_t i = 0; i < views.size(); ++i) need(method->set_input(i, pteron::Value(views[i])));
    need(method->run());
  };
  const auto first = bench::Clock::now();
  run();
  figures.first_ms = bench::milliseconds(first, bench::Clock::now());
  const pteron::TensorView output = need(need(method->outputs()).tensor(0));
  if (output.dtype() == pteron::DType::kFloat32) {
    for (const float value : need(output.data<float>())) figures.output_sum += std::fabs(static_cast<double>(value));
  }
  bench::repeat(run, std::atof(argv[2]), &figures);
  bench::print(figures);
}
