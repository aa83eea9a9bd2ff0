// Which instruction set the engine's vector code runs on: chosen once, by CPUID, or forced by PTERON_ISA.
#pragma once

#include <cstdint>

namespace pteron::engine {

// kScalar is what the compiler may assume anyway (SSE2 on x86_64, NEON on aarch64); it is the reference.
// kAvx2 means AVX2 + FMA + F16C, kAvx512 means AVX-512 F, BW, DQ, VL as well.
enum class Isa : uint8_t { kScalar = 0, kAvx2 = 1, kAvx512 = 2 };

// The one in use. The environment variable PTERON_ISA=scalar|avx2|avx512, read on the first call, lowers the
// choice; a name that is unknown or that this CPU does not support leaves the best supported one below it and
// is explained by isa_note(). Thread-safe.
Isa active_isa();

// "scalar", "avx2", "avx512".
const char* isa_name(Isa isa);

// Whether this build has code for `isa` and this CPU and operating system can run it.
bool isa_supported(Isa isa);

// Why active_isa() is not what PTERON_ISA asked for, or "" when it is. Never null; static storage.
const char* isa_note();

// For tests and benchmarks: switch to `isa` from now on; false (and no change) when it is not supported.
// Weights packed before the switch must not be used after it. Not to be called while other threads compute.
bool set_active_isa(Isa isa);

}  // namespace pteron::engine
