// One program, one plan, a method for each thread: threads linear.pte
#include <pteron/pteron.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

int report(const pteron::Status& status) {
  std::fprintf(stderr, "%s\n", status.message());
  return 1;
}

// Runs an instance of its own; weights are the plan's and shared.
void work(const pteron::Plan& plan, std::atomic<int>* failures) {
  auto method = pteron::Method::create(plan);
  if (!method) {
    failures->fetch_add(report(method.status()));
    return;
  }
  const pteron::ValueInfo info = plan.info().inputs()[0];
  auto input = pteron::Tensor::create(info.dtype(), info.shape());
  for (int i = 0; i < 100; ++i) {
    if (auto status = method->set_input(0, *input); !status) failures->fetch_add(report(status));
    if (auto status = method->run(); !status) failures->fetch_add(report(status));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto program = pteron::Program::load(argv[1]);
  if (!program) return report(program.status());
  auto plan = pteron::Plan::create(*program, "forward");
  if (!plan) return report(plan.status());

  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, std::cref(*plan), &failures);
  for (std::thread& thread : threads) thread.join();
  std::printf("400 runs, %d failures\n", failures.load());
  return failures.load() == 0 ? 0 : 1;
}
