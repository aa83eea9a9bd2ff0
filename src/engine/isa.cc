#include "engine/isa.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace pteron::engine {
namespace {

constexpr int kUndecided = -1;
// Constant-initialised and never destroyed: usable from constructors and destructors of other libraries.
std::atomic<int> active{kUndecided};
char note[160] = "";

Isa best_supported(Isa limit) {
  for (int isa = static_cast<int>(limit); isa > 0; --isa) {
    if (isa_supported(static_cast<Isa>(isa))) return static_cast<Isa>(isa);
  }
  return Isa::kScalar;
}

// Writes the note and the choice once; a second thread that arrives meanwhile computes and writes the same bytes.
Isa decide() {
  const char* wanted = std::getenv("PTERON_ISA");
  if (wanted == nullptr || *wanted == '\0') return best_supported(Isa::kAvx512);
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (std::strcmp(wanted, isa_name(isa)) != 0) continue;
    const Isa chosen = best_supported(isa);
    if (chosen != isa) {
      std::snprintf(note, sizeof note, "PTERON_ISA=%s is not supported by this CPU or build; %s is used instead",
                    isa_name(isa), isa_name(chosen));
    }
    return chosen;
  }
  const Isa chosen = best_supported(Isa::kAvx512);
  std::snprintf(note, sizeof note, "PTERON_ISA=%.32s is not one of scalar, avx2, avx512; %s is used instead", wanted,
                isa_name(chosen));
  return chosen;
}

#if defined(__x86_64__)
// clang 16 has no name for this one in __builtin_cpu_supports.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

}  // namespace

Isa active_isa() {
  const int current = active.load(std::memory_order_acquire);
  if (current != kUndecided) return static_cast<Isa>(current);
  const Isa chosen = decide();
  int expected = kUndecided;
  active.compare_exchange_strong(expected, static_cast<int>(chosen), std::memory_order_acq_rel);
  return static_cast<Isa>(active.load(std::memory_order_acquire));
}

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return "scalar";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "unknown";
}

bool isa_supported(Isa isa) {
  if (isa == Isa::kScalar) return true;
#if defined(__x86_64__)
  // These ask the operating system (XCR0) as well as the CPU.
  if (isa == Isa::kAvx2) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  }
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && isa_supported(Isa::kAvx2);
#else
  return false;
#endif
}

const char* isa_note() {
  active_isa();
  return note;
}

bool set_active_isa(Isa isa) {
  if (!isa_supported(isa)) return false;
  active_isa();
  active.store(static_cast<int>(isa), std::memory_order_release);
  return true;
}

}  // namespace pteron::engine
