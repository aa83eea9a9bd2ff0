// The runtime of the process: version, log, threads, components.
//
//   pteron::set_thread_count(4);
//   for (const pteron::Component& component : pteron::components()) puts(component.name.c_str());
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pteron/c/runtime.h"
#include "pteron/result.h"

namespace pteron {
inline namespace v1_0 {

// Of the library that is loaded: "1.0.0".
inline const char* version() {
  return pteron_version();
}

enum class LogLevel : int {
  kDebug = PTERON_LOG_DEBUG,
  kInfo = PTERON_LOG_INFO,
  kWarning = PTERON_LOG_WARNING,  // the default
  kError = PTERON_LOG_ERROR,
  kOff = PTERON_LOG_OFF
};

// Drops lines below `level`. Any thread.
inline void set_log_level(LogLevel level) {
  pteron_set_log_level(static_cast<int>(level));
}
inline LogLevel log_level() {
  return static_cast<LogLevel>(pteron_get_log_level());
}

// Replaces the receiver of log lines; null restores standard error. It may be called from several threads at once and
// must not throw. Any thread.
inline void set_log_callback(pteron_log_callback callback, void* user) {
  pteron_set_log_callback(callback, user);
}

// How many threads work on one parallel loop, the caller's included; 0 restores the default. Fails with
// PTERON_INVALID_ARGUMENT below 0 and above 1024. Any thread.
inline Status set_thread_count(int threads) {
  return Status::adopt(pteron_set_thread_count(threads));
}
inline int thread_count() {
  return pteron_thread_count();
}

// Loads libpteron_<name>.so from the known folders, or the library at `path`. PTERON_NOT_FOUND lists every path tried.
// Any thread.
inline Status load_component(const std::string& name) {
  return Status::adopt(pteron_load_component(name.c_str(), nullptr));
}
inline Status load_component(const std::string& name, const std::string& path) {
  return Status::adopt(pteron_load_component(name.c_str(), path.c_str()));
}

// What a library registered, or tried to.
struct Component {
  std::string name;
  std::string version;
  size_t kernel_count = 0;
  std::vector<std::string> backends;
  pteron_code code = PTERON_OK;  // PTERON_OK when it is registered
  std::string note;              // why not
};

namespace detail {

// Called through C: a failing allocation ends the process rather than crossing it.
inline void keep_component(void* user, const pteron_component* raw) noexcept {
  Component component;
  component.name = raw->name;
  component.version = raw->version == nullptr ? "" : raw->version;
  component.kernel_count = raw->kernel_count;
  for (size_t i = 0; i < raw->backend_count; ++i) component.backends.emplace_back(raw->backends[i]->id);
  component.code = static_cast<pteron_code>(raw->status);
  component.note = raw->status_note == nullptr ? "" : raw->status_note;
  static_cast<std::vector<Component>*>(user)->push_back(component);
}

}  // namespace detail

// All components, refused ones included, in order of registration. Any thread.
inline std::vector<Component> components() {
  std::vector<Component> list;
  pteron_visit_components(&detail::keep_component, &list);
  return list;
}

// Whether a kernel is registered for "namespace::name.overload", a backend under an id. Load nothing. Any thread.
inline bool has_kernel(const std::string& name) {
  return pteron_find_kernel(name.c_str()) != nullptr;
}
inline bool has_backend(const std::string& id) {
  return pteron_find_backend(id.c_str()) != nullptr;
}

}  // namespace v1_0
}  // namespace pteron
