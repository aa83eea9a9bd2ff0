// official_runner MODEL.pte SECONDS: the same as pteron_runner with the official runtime's C++ SDK.
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <sched.h>

#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "measure.h"

// Not among the installed headers, but exported: without it the pool has a thread for every core of the machine,
// however few the process may use.
namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  bool _unsafe_reset_threadpool(uint32_t new_thread_count);
};
ThreadPool* get_threadpool();
}  // namespace executorch::extension::threadpool

namespace {

uint32_t usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<uint32_t>(CPU_COUNT(&cores));
}

template <typename T>
T need(executorch::runtime::Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "error %#x\n", static_cast<unsigned>(result.error()));
    std::exit(1);
  }
  return std::move(result.get());
}

void need(executorch::runtime::Error error) {
  if (error == executorch::runtime::Error::Ok) return;
  std::fprintf(stderr, "error %#x\n", static_cast<unsigned>(error));
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  using executorch::extension::Module;
  if (argc != 3) return 2;
  executorch::extension::threadpool::get_threadpool()->_unsafe_reset_threadpool(usable_cores());
  bench::Figures figures;
  const auto start = bench::Clock::now();
  Module module(argv[1], Module::LoadMode::Mmap);
  need(module.load_method("forward"));
  figures.load_ms = bench::milliseconds(start, bench::Clock::now());

  const auto meta = need(module.method_meta("forward"));
  std::vector<std::vector<unsigned char>> storage;
  std::vector<executorch::extension::TensorPtr> tensors;
  std::vector<executorch::runtime::EValue> inputs;
  uint32_t seed = 0;
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    const auto input = need(meta.input_tensor_meta(i));
    storage.emplace_back(input.nbytes());
    if (input.scalar_type() == executorch::aten::ScalarType::Float)
      bench::fill(reinterpret_cast<float*>(storage.back().data()), input.nbytes() / sizeof(float), ++seed);
    const std::vector<executorch::aten::SizesType> sizes(input.sizes().begin(), input.sizes().end());
    tensors.push_back(executorch::extension::from_blob(storage.back().data(), sizes, input.scalar_type()));
    inputs.emplace_back(*tensors.back());
  }
  const auto first = bench::Clock::now();
  auto outputs = need(module.execute("forward", inputs));
  figures.first_ms = bench::milliseconds(first, bench::Clock::now());
  const auto& output = outputs[0].toTensor();
  if (output.scalar_type() == executorch::aten::ScalarType::Float) {
    const float* values = output.const_data_ptr<float>();
    for (ssize_t i = 0; i < output.numel(); ++i) figures.output_sum += std::fabs(static_cast<double>(values[i]));
  }
  bench::repeat([&] { need(module.execute("forward", inputs).error()); }, std::atof(argv[2]), &figures);
  bench::print(figures);
}
