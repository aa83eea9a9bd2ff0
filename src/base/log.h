// The process's log. Levels are those of pteron_log_level.
#pragma once

#include <cstdarg>

#include "pteron/c/export.h"
#include "pteron/c/runtime.h"

namespace pteron {

// False when a line of that level would be dropped: ask before building what is only logged.
bool log_enabled(int level);

// Writes a line to the log's receiver. Never throws or fails; when memory is short a long line is cut.
void log(int level, const char* component, const char* format, ...) noexcept PTERON_PRINTF(3, 4);
void vlog(int level, const char* component, const char* format, va_list args) noexcept;

void set_log_callback(pteron_log_callback callback, void* user);
void set_log_level(int level);
int log_level();

}  // namespace pteron
