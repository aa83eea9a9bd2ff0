#include "runtime/kernel_context.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/checked.h"
#include "pteron/result.h"

namespace pteron::runtime {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallestBlock = size_t{16} << 10;

}  // namespace

void FreeMemory::operator()(void* memory) const {
  std::free(memory);
}

Memory allocate_memory(size_t bytes) {
  uint64_t rounded = 0;
  if (!checked_align(std::max<uint64_t>(bytes, 1), kAlignment, &rounded)) return nullptr;
  return Memory(std::aligned_alloc(kAlignment, rounded));
}

void* Scratch::allocate(size_t bytes) {
  uint64_t rounded = 0;
  if (!checked_align(std::max<uint64_t>(bytes, 1), kAlignment, &rounded)) return nullptr;
  if (blocks_.empty() || blocks_.back().size - blocks_.back().used < rounded) {
    Block block;
    block.size = std::max<size_t>(rounded, kSmallestBlock);
    block.memory = allocate_memory(block.size);
    if (block.memory == nullptr) return nullptr;
    blocks_.push_back(std::move(block));
  }
  Block& block = blocks_.back();
  void* piece = static_cast<char*>(block.memory.get()) + block.used;
  block.used += rounded;
  return piece;
}

void Scratch::reset() {
  if (blocks_.size() > 1) {
    size_t total = 0;
    for (const Block& block : blocks_) total += block.size;
    blocks_.clear();
    Block merged;
    merged.memory = allocate_memory(total);
    merged.size = total;
    if (merged.memory != nullptr) blocks_.push_back(std::move(merged));
  } else if (!blocks_.empty()) {
    blocks_.front().used = 0;
  }
}

uint64_t Generator::next() {
  state_ += 0x9e3779b97f4a7c15u;
  uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

}  // namespace pteron::runtime

int pteron_kernel_fail(pteron_kernel_context* context, int code, const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  try {
    context->failure = text;
  } catch (...) {
    context->failure.clear();
  }
  return code == PTERON_OK ? PTERON_INTERNAL : code;
}

int pteron_kernel_resize(pteron_kernel_context* context, pteron_tensor* tensor, const int64_t* sizes, int32_t rank) {
  bool same = tensor->rank == rank;
  for (int32_t i = 0; same && i < rank; ++i) same = tensor->sizes[i] == sizes[i];
  if (same) return PTERON_OK;
  const pteron::Status status = pteron::Status::adopt(pteron_tensor_resize(tensor, sizes, rank));
  return status.ok() ? PTERON_OK : pteron_kernel_fail(context, status.code(), "%s", status.message());
}

void* pteron_kernel_scratch(pteron_kernel_context* context, size_t bytes) {
  void* memory = nullptr;
  try {
    memory = context->scratch.allocate(bytes);
  } catch (...) {
    memory = nullptr;
  }
  if (memory == nullptr) {
    pteron_kernel_fail(context, PTERON_OUT_OF_MEMORY, "out of memory: %zu bytes of scratch were asked for", bytes);
  }
  return memory;
}

void* pteron_kernel_allocate(pteron_kernel_context* context, size_t bytes) {
  if (context->prepared == nullptr) {
    pteron_kernel_fail(context, PTERON_INVALID_STATE, "pteron_kernel_allocate was called outside prepare");
    return nullptr;
  }
  try {
    pteron::runtime::Memory memory = pteron::runtime::allocate_memory(bytes);
    if (memory != nullptr) {
      void* raw = memory.get();
      context->prepared->blocks.push_back(std::move(memory));
      context->prepared->bytes += bytes;
      return raw;
    }
  } catch (...) {
  }
  pteron_kernel_fail(context, PTERON_OUT_OF_MEMORY, "out of memory: %zu bytes were asked for to prepare a kernel",
                     bytes);
  return nullptr;
}

void* pteron_kernel_state(pteron_kernel_context* context) {
  return context->state;
}

uint64_t pteron_kernel_random(pteron_kernel_context* context) {
  return context->generator.next();
}
