// A `.ptd`: reading it, and touching every byte that it promises.
#include "format/weights_file.h"

#include "exact_block.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = pteron::format::read_weights_file(pteron::fuzz::exact_block(data, size));
  if (!file) return 0;
  volatile uint8_t sum = 0;
  for (const pteron::format::WeightsEntry& entry : file->entries) {
    for (uint64_t i = 0; i < (entry.has_layout ? entry.shape.bytes : entry.data.size); ++i) sum += entry.data.data[i];
  }
  return 0;
}
