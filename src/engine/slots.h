// Numbered pieces of scratch memory for tasks of a pool whose threads have no numbers.
#pragma once

#include <atomic>
#include <cstdint>

namespace pteron::engine {

inline constexpr int kMaxSlots = 64;

// At most `count` (<= 64) slots are held at a time. A pool runs at most Parallel::threads bodies at once, so with that
// many slots one is free; should a pool break the promise, the surplus waits for a slot instead of sharing memory.
class SlotAllocator {
 public:
  explicit SlotAllocator(int count)
      : free_(count >= 64 ? ~uint64_t{0} : (uint64_t{1} << (count < 1 ? 1 : count)) - 1) {}

  class Slot {
   public:
    explicit Slot(SlotAllocator& owner) : owner_(owner), index_(owner.take()) {}
    ~Slot() { owner_.free_.fetch_or(uint64_t{1} << index_, std::memory_order_release); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    int index() const { return index_; }

   private:
    SlotAllocator& owner_;
    int index_;
  };

 private:
  int take() {
    for (;;) {
      uint64_t free = free_.load(std::memory_order_relaxed);
      while (free != 0) {
        const uint64_t lowest = free & (~free + 1);
        if (free_.compare_exchange_weak(free, free & ~lowest, std::memory_order_acquire)) {
          return __builtin_ctzll(lowest);
        }
      }
    }
  }

  std::atomic<uint64_t> free_;
};

}  // namespace pteron::engine
