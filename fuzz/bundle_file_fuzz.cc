// A `.bpte`: reading it and the program inside, and touching every byte of its tensors.
#include "format/bundle_file.h"

#include "exact_block.h"
#include "format/program_file.h"

namespace {

void touch(const std::vector<pteron::format::BundleValue>& values) {
  volatile uint8_t sum = 0;
  for (const pteron::format::BundleValue& value : values) {
    for (uint64_t i = 0; i < value.shape.bytes; ++i) sum += value.data[i];
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = pteron::format::read_bundle_file(pteron::fuzz::exact_block(data, size));
  if (!file) return 0;
  for (const pteron::format::BundleSuite& suite : file->suites) {
    for (const pteron::format::BundleCase& one : suite.cases) {
      touch(one.inputs);
      touch(one.expected);
    }
  }
  (void)pteron::format::read_program_file(file->program, {}).ok();
  return 0;
}
