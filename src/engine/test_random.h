// Numbers for tests: small deterministic generator, so that a seed reproduces a failure everywhere; and a pool of plain
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "engine/isa.h"
#include "engine/parallel.h"

namespace pteron::engine {

class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : state_(seed * 2 + 1) {}
  // splitmix64
  uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t limit) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(limit)); }
  int64_t between(int64_t lo, int64_t hi) { return lo + below(hi - lo + 1); }
  // In [-1, 1).
  double real() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0; }

 private:
  uint64_t state_;
};

inline std::vector<float> random_floats(TestRandom& random, int64_t count, double scale = 1.0) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(random.real() * scale);
  return values;
}

// Runs every range of `grain` on one of `threads` new threads, in whatever order they come.
inline Parallel test_threads(int threads) {
  Parallel parallel;
  parallel.threads = threads;
  parallel.pool = reinterpret_cast<void*>(static_cast<intptr_t>(threads));
  parallel.run = [](void* pool, int64_t count, int64_t grain, void (*body)(void*, int64_t, int64_t), void* arg) {
    std::atomic<int64_t> next{0};
    std::vector<std::thread> workers;
    for (intptr_t t = 0; t < reinterpret_cast<intptr_t>(pool); ++t) {
      workers.emplace_back([&] {
        for (;;) {
          const int64_t begin = next.fetch_add(grain);
          if (begin >= count) return;
          body(arg, begin, begin + grain < count ? begin + grain : count);
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
  };
  return parallel;
}

inline std::vector<Isa> supported_isas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (isa_supported(isa)) isas.push_back(isa);
  }
  return isas;
}

// 64-byte aligned memory for scratch and packed weights, with guard bytes after the asked size.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(size_t bytes) : bytes_(bytes), memory_(bytes + 64 + kGuard, kMark) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    data_ = memory_.data() + (64 - address % 64) % 64;
  }
  void* get() { return data_; }
  float* floats() { return static_cast<float*>(get()); }
  // False when something was written beyond the asked size.
  bool intact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (data_[bytes_ + i] != kMark) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 128;
  static constexpr unsigned char kMark = 0xa5;
  size_t bytes_;
  std::vector<unsigned char> memory_;
  unsigned char* data_;
};

}  // namespace pteron::engine
