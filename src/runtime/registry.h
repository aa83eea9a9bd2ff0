// The one registry of the process: which components are there, and which kernels and backends they bring.
#pragma once

#include <string>
#include <string_view>

#include "pteron/c/component.h"
#include "runtime/schema.h"

namespace pteron::runtime {

// A kernel with its schema parsed. Lives as long as the process.
struct KernelEntry {
  const pteron_kernel* kernel = nullptr;
  const pteron_component* component = nullptr;
  Schema schema;
  bool parsed = false;
  std::string error;  // why the record is unusable (its schema does not parse), else ""
};

// The kernel registered under "namespace::name.overload", or null. Loads nothing. Any thread.
const KernelEntry* find_kernel(std::string_view name);

// The backend registered under `id`, or null. Loads nothing. Any thread.
const pteron_backend* find_backend(std::string_view id);

// The registered (not refused) component of that name, or null. Any thread.
const pteron_component* find_component(std::string_view name);

// Calls `visit` for each component, refused ones included, in order of registration. Any thread; `visit` may look
// things up.
void visit_components(void (*visit)(void* user, const pteron_component* component), void* user);

// True for [A-Za-z][A-Za-z0-9_]{0,63}.
bool is_backend_id(std::string_view id);

// The names of all registered backends, comma-separated, for messages. Any thread.
std::string backend_names();

}  // namespace pteron::runtime
