// No allocation while running: inputs, outputs and arena are the caller's. caller_memory add.pte
#include <pteron/pteron.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int report(const pteron::Status& status) {
  std::fprintf(stderr, "%s\n", status.message());
  return 1;
}

int run(const char* path) {
  auto program = pteron::Program::load(path);
  if (!program) return report(program.status());
  auto plan = pteron::Plan::create(*program, "forward");
  if (!plan) return report(plan.status());

  // The plan says how much it needs; 64 bytes is the alignment it asks for.
  auto arena = pteron::Tensor::create(pteron::DType::kUInt8, {static_cast<int64_t>(plan->arena_bytes())});
  if (!arena) return report(arena.status());
  pteron::MethodOptions options;
  options.arena = arena->mutable_data<uint8_t>().value();
  auto method = pteron::Method::create(*plan, options);
  if (!method) return report(method.status());

  std::vector<float> x = {1, 2, 3};
  std::vector<float> sum(3);
  pteron::TensorView input = pteron::TensorView::of(x).value();
  pteron::TensorView output = pteron::TensorView::of(sum).value();
  for (size_t i = 0; i < 2; ++i) {
    if (auto status = method->set_input(i, input); !status) return report(status);
  }
  if (auto status = method->bind_output(0, output); !status) return report(status);

  for (int step = 0; step < 3; ++step) {
    x[0] = static_cast<float>(step);
    // A planned input is copied in when it is set, so it is set again after a change.
    for (size_t i = 0; i < 2; ++i) {
      if (auto status = method->set_input(i, input); !status) return report(status);
    }
    if (auto status = method->run(); !status) return report(status);
    std::printf("%g + %g = %g\n", static_cast<double>(x[0]), static_cast<double>(x[0]), static_cast<double>(sum[0]));
    if (sum[0] != 2 * x[0]) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return argc == 2 ? run(argv[1]) : 2;
}
