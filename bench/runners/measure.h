// What both runners measure and print, so that their figures mean the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

inline double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// Peak resident memory of the process in KiB; 0 when the system does not tell.
inline long peak_memory_kib() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  char line[256];
  long kib = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "VmHWM:", 6) == 0) kib = std::atol(line + 6);
  }
  std::fclose(file);
  return kib;
}

// The same floats in [0, 1) for both runtimes.
inline void fill(float* out, size_t count, uint32_t seed) {
  uint32_t state = 2463534242u + seed;
  for (size_t i = 0; i < count; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    out[i] = static_cast<float>(state >> 8) * 0x1p-24f;
  }
}

struct Figures {
  double load_ms = 0;
  double first_ms = 0;
  std::vector<double> steady_ms;
  double output_sum = 0;  // of the first output's absolute values after the first run: both runtimes computed the same
};

// Runs `step` again and again for about `seconds`, at least three times, at most a thousand.
template <typename Step>
void repeat(Step&& step, double seconds, Figures* figures) {
  const auto start = Clock::now();
  while (figures->steady_ms.size() < 1000) {
    if (figures->steady_ms.size() >= 3 && milliseconds(start, Clock::now()) > seconds * 1000) return;
    const auto before = Clock::now();
    step();
    figures->steady_ms.push_back(milliseconds(before, Clock::now()));
  }
}

inline void print(const Figures& figures) {
  std::printf("{\"load_ms\": %.4f, \"first_ms\": %.4f, \"output_sum\": %.6g, \"peak_kib\": %ld, \"steady_ms\": [",
              figures.load_ms, figures.first_ms, figures.output_sum, peak_memory_kib());
  for (size_t i = 0; i < figures.steady_ms.size(); ++i) std::printf("%s%.4f", i == 0 ? "" : ", ", figures.steady_ms[i]);
  std::printf("]}\n");
}

}  // namespace bench
