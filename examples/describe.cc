// What a program offers and what it needs, without preparing it: describe model.pte
#include <pteron/pteron.h>

#include <cstdio>

namespace {

void describe(const char* what, const pteron::ValueInfo& info) {
  if (info.kind() == pteron::Kind::kTensor) {
    std::printf("  %s %s %s\n", what, pteron::dtype_name(info.dtype()), info.shape().to_string().c_str());
  } else {
    std::printf("  %s %s\n", what, pteron::kind_name(info.kind()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto program = pteron::Program::load(argv[1]);
  if (!program) {
    std::fprintf(stderr, "%s\n", program.status().message());
    return 1;
  }
  for (const pteron::MethodInfo& method : program->methods()) {
    std::printf("%s\n", method.name());
    for (const pteron::ValueInfo& input : method.inputs()) describe("takes", input);
    for (const pteron::ValueInfo& output : method.outputs()) describe("gives", output);
    const auto missing = pteron::Plan::missing(*program, method.name());
    if (!missing) return 1;
    for (const pteron::Missing& entry : missing.value()) std::printf("  cannot run here: %s\n", entry.sentence.c_str());
  }
  return 0;
}
