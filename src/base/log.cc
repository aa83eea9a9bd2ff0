#include "base/log.h"

#include <strings.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>

#include "base/environment.h"

namespace pteron {
namespace {

constexpr int kLevelUnset = -1;
constexpr const char* kLevelNames[] = {"debug", "info", "warning", "error", "off"};

// Constant-initialised: components register and may log before main.
constinit std::atomic<int> current_level{kLevelUnset};
constinit std::mutex receiver_mutex;
constinit pteron_log_callback receiver = nullptr;
constinit void* receiver_user = nullptr;

int level_from_environment() {
  const char* text = environment("PTERON_LOG_LEVEL");
  for (int level = 0; text != nullptr && level <= PTERON_LOG_OFF; ++level) {
    if (strcasecmp(text, kLevelNames[level]) == 0) return level;
  }
  return PTERON_LOG_WARNING;
}

// One write, so that lines of several threads do not mix.
void write_to_standard_error(int level, const char* component, const char* message) {
  char line[1200];
  const int size = std::snprintf(line, sizeof line, "pteron: %s: %s: %s", kLevelNames[level], component, message);
  if (size < 0) return;
  const size_t length = static_cast<size_t>(size) < sizeof line - 1 ? static_cast<size_t>(size) : sizeof line - 2;
  line[length] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, length + 1);
}

void deliver(int level, const char* component, const char* message) {
  pteron_log_callback callback = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock(receiver_mutex);
    callback = receiver;
    user = receiver_user;
  }
  if (callback == nullptr) {
    write_to_standard_error(level, component, message);
  } else {
    callback(user, level, component, message);
  }
}

}  // namespace

int log_level() {
  int level = current_level.load(std::memory_order_relaxed);
  if (level == kLevelUnset) {
    level = level_from_environment();
    current_level.store(level, std::memory_order_relaxed);
  }
  return level;
}

void set_log_level(int level) {
  if (level < PTERON_LOG_DEBUG) level = PTERON_LOG_DEBUG;
  if (level > PTERON_LOG_OFF) level = PTERON_LOG_OFF;
  current_level.store(level, std::memory_order_relaxed);
}

bool log_enabled(int level) {
  return level >= log_level() && level >= PTERON_LOG_DEBUG && level < PTERON_LOG_OFF;
}

void set_log_callback(pteron_log_callback callback, void* user) {
  const std::lock_guard lock(receiver_mutex);
  receiver = callback;
  receiver_user = user;
}

void vlog(int level, const char* component, const char* format, va_list args) noexcept {
  if (!log_enabled(level)) return;
  if (component == nullptr) component = "?";
  va_list again;
  va_copy(again, args);
  char text[1024];
  const int size = std::vsnprintf(text, sizeof text, format, args);
  const bool fits = size < 0 || static_cast<size_t>(size) < sizeof text;
  char* whole = fits ? nullptr : static_cast<char*>(std::malloc(static_cast<size_t>(size) + 1));
  if (whole != nullptr) std::vsnprintf(whole, static_cast<size_t>(size) + 1, format, again);
  va_end(again);
  deliver(level, component, size < 0 ? format : whole != nullptr ? whole : text);
  std::free(whole);
}

void log(int level, const char* component, const char* format, ...) noexcept {
  va_list args;
  va_start(args, format);
  vlog(level, component, format, args);
  va_end(args);
}

}  // namespace pteron
