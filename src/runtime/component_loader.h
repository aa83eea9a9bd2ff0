// Finding the library that brings what a program asks for: at run time, by a name that is derived, never by a path from
// a file.
#pragma once

#include <string>
#include <string_view>

#include "pteron/c/component.h"
#include "pteron/result.h"
#include "runtime/registry.h"

namespace pteron::runtime {

// The backend `id`: registered already, or after loading libpteron_backend_<name>.so. Errors are PTERON_MISSING_BACKEND
// (the id names no library, none was found, or the one found does not bring that id) with every place that was searched
// and what the loader said. A failed search can be repeated. Any thread.
Result<const pteron_backend*> find_or_load_backend(std::string_view id, bool auto_load);

// The kernel `name`: registered already, or after loading libpteron_kernels.so when its namespace is one of that
// library's. Null when there is none: callers collect all that are missing before they report. Any thread.
const KernelEntry* find_or_load_kernel(std::string_view name, bool auto_load);

// Why find_or_load_kernel found nothing: what was searched and what the loader said for the kernels library, or which
// library brings such a namespace. For the end of a message that lists missing operators.
std::string missing_kernels_hint(bool auto_load);

// Loads libpteron_<name>.so (see pteron_load_component).
Status load_component(std::string_view name, const char* path);

// "XnnpackBackend" -> "xnnpack"; "" for an id that is not [A-Za-z][A-Za-z0-9_]{0,63}.
std::string library_name_of_backend(std::string_view id);

}  // namespace pteron::runtime
