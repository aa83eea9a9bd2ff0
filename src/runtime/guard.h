// The border between C callers and code that may throw: every exported function runs inside guard().
//
//   pteron_status* pteron_thing(int x) { return guard([&] { return do_thing(x); }); }
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "base/error.h"
#include "pteron/result.h"

namespace pteron::runtime {

// Calls `f`, which returns a Status, and hands its result to C. No exception leaves: short memory becomes
// PTERON_OUT_OF_MEMORY, anything else PTERON_INTERNAL with the exception's own words.
template <typename F>
[[nodiscard]] pteron_status* guard(F&& f) noexcept {
  try {
    return std::forward<F>(f)().release();
  } catch (const std::bad_alloc&) {
    return pteron_status_create(PTERON_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& problem) {
    return pteron_status_create(PTERON_INTERNAL, problem.what());
  } catch (...) {
    return pteron_status_create(PTERON_INTERNAL, "an unknown exception was thrown inside the runtime");
  }
}

}  // namespace pteron::runtime
