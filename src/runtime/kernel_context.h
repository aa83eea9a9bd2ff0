// What a kernel reaches of the runtime during one call: error text, scratch memory, its prepared state, random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pteron/c/kernel.h"

namespace pteron::runtime {

struct FreeMemory {
  void operator()(void* memory) const;
};
using Memory = std::unique_ptr<void, FreeMemory>;

// 64-byte aligned memory; null when there is none. Never throws.
Memory allocate_memory(size_t bytes);

// Scratch that is handed out piece by piece and taken back at once. After a call that needed several blocks, one block
// of the summed size replaces them, so that a steady run allocates nothing.
class Scratch {
 public:
  void* allocate(size_t bytes);
  void reset();

 private:
  struct Block {
    Memory memory;
    size_t size = 0;
    size_t used = 0;
  };
  std::vector<Block> blocks_;
};

// SplitMix64: Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  uint64_t next();

 private:
  uint64_t state_;
};

// Memory that kernels prepared into; lives as long as the plan.
struct PreparedMemory {
  std::vector<Memory> blocks;
  uint64_t bytes = 0;
};

}  // namespace pteron::runtime

struct pteron_kernel_context {
  explicit pteron_kernel_context(uint64_t seed) : generator(seed) {}

  pteron::runtime::Scratch scratch;
  pteron::runtime::Generator generator;
  void* state = nullptr;
  pteron::runtime::PreparedMemory* prepared = nullptr;  // set during `prepare` only
  std::string failure;
};
