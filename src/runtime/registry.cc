#include "runtime/registry.h"

#include <cstddef>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "base/dynamic_library.h"
#include "base/log.h"
#include "runtime/primitives.h"

namespace pteron::runtime {
namespace {

constexpr const char* kLog = "registry";

// Constant-initialised: components register from constructors of their libraries, before or after ours ran.
constinit std::mutex registry_mutex;
// The runtime's own operators are there from the start.
constinit pteron_component* first_component = &primitives_component;
constinit pteron_component* last_component = &primitives_component;

// True when a record of `struct_size` bytes reaches past `member`.
#define PTERON_HAS_MEMBER(record, type, member) \
  ((record).struct_size >= offsetof(type, member) + sizeof((record).member))

bool same_text(const char* a, const char* b) {
  return std::strcmp(a, b) == 0;
}

bool versions_fit(uint16_t major, uint16_t min_host_minor) {
  return major == PTERON_BACKEND_ABI_MAJOR && min_host_minor <= PTERON_BACKEND_ABI_MINOR;
}

bool is_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Why a backend's table cannot be used, or null.
const char* backend_defect(const pteron_backend* backend) {
  if (backend == nullptr || !PTERON_HAS_MEMBER(*backend, pteron_backend, destroy)) return "its table is too short";
  if (!versions_fit(backend->abi_major, backend->min_host_minor)) return "it needs another version of this runtime";
  if (!is_backend_id(backend->id == nullptr ? "" : backend->id)) return "its id is not [A-Za-z][A-Za-z0-9_]{0,63}";
  if (backend->available == nullptr || backend->init == nullptr || backend->execute == nullptr ||
      backend->destroy == nullptr) {
    return "a required function is missing";
  }
  return nullptr;
}

const char* kernel_defect(const pteron_kernel* kernel) {
  if (kernel == nullptr || !PTERON_HAS_MEMBER(*kernel, pteron_kernel, fn)) return "its record is too short";
  if (kernel->name == nullptr || kernel->schema == nullptr || kernel->fn == nullptr) return "a required field is null";
  return nullptr;
}

// Everything registered, by name. Grows at the first lookup after a registration, so that registering itself allocates
// nothing. Guarded by registry_mutex; never destroyed, since lookups may happen while the process ends.
class Index {
 public:
  // Takes in the components that came since the last call.
  void update() {
    pteron_component* component = last_indexed_ == nullptr ? first_component : last_indexed_->next;
    for (; component != nullptr; component = component->next) {
      if (component->status == PTERON_OK) add(component);
      last_indexed_ = component;
    }
  }

  KernelEntry* kernel(std::string_view name) {
    return slots_.empty() || slots_[slot_of(name)] == 0 ? nullptr : &kernels_[slots_[slot_of(name)] - 1];
  }

  const pteron_backend* backend(std::string_view id) const {
    for (const BackendEntry& entry : backends_) {
      if (id == entry.backend->id) return entry.backend;
    }
    return nullptr;
  }

  std::string backend_names() const {
    std::string names;
    for (const BackendEntry& entry : backends_) names += (names.empty() ? "" : ", ") + std::string(entry.backend->id);
    return names;
  }

 private:
  struct BackendEntry {
    const pteron_backend* backend;
    const pteron_component* component;
  };

  void add(pteron_component* component) {
    for (size_t i = 0; i < component->kernel_count; ++i) add_kernel(component, component->kernels[i]);
    for (size_t i = 0; i < component->backend_count; ++i) add_backend(component, component->backends[i]);
  }

  void add_kernel(pteron_component* component, const pteron_kernel* kernel) {
    if (const char* defect = kernel_defect(kernel)) {
      log(PTERON_LOG_ERROR, kLog, "a kernel of component '%s' (%s) is left out: %s", component->name,
          file_of(component), defect);
      return;
    }
    if (const KernelEntry* first = this->kernel(kernel->name)) {
      return note_conflict(component, first->component, "kernel", kernel->name);
    }
    if (2 * (kernels_.size() + 1) > slots_.size()) grow();
    KernelEntry& entry = kernels_.emplace_back();
    entry.kernel = kernel;
    entry.component = component;
    slots_[slot_of(kernel->name)] = static_cast<uint32_t>(kernels_.size());
  }

  void add_backend(pteron_component* component, const pteron_backend* backend) {
    if (const char* defect = backend_defect(backend)) {
      log(PTERON_LOG_ERROR, kLog, "a backend of component '%s' (%s) is left out: %s", component->name,
          file_of(component), defect);
      return;
    }
    for (const BackendEntry& entry : backends_) {
      if (same_text(entry.backend->id, backend->id)) {
        return note_conflict(component, entry.component, "backend", backend->id);
      }
    }
    backends_.push_back({backend, component});
  }

  // The first stays. A component that is taken in again after memory ran out halfway meets itself: no conflict.
  void note_conflict(pteron_component* second, const pteron_component* first, const char* what, const char* name) {
    if (first == second) return;
    second->status_note = first->name;
    log(PTERON_LOG_WARNING, kLog, "%s '%s' of component '%s' (%s) is left out: component '%s' (%s) has it already",
        what, name, second->name, file_of(second), first->name, file_of(first));
  }

  // Where `name` is, or the free slot where it would be; 0 in a slot is "free", else the number of a kernel + 1.
  size_t slot_of(std::string_view name) const {
    uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != 0 && name != kernels_[slots_[slot] - 1].kernel->name)
      slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  void grow() {
    std::vector<uint32_t> larger(slots_.empty() ? 128 : 2 * slots_.size());
    slots_.swap(larger);
    for (size_t i = 0; i < kernels_.size(); ++i)
      slots_[slot_of(kernels_[i].kernel->name)] = static_cast<uint32_t>(i + 1);
  }

  pteron_component* last_indexed_ = nullptr;
  std::deque<KernelEntry> kernels_;  // entries never move
  std::vector<uint32_t> slots_;      // size is a power of two, at least twice the kernels
  std::vector<BackendEntry> backends_;
};

// With registry_mutex held.
Index& updated_index() {
  static Index* const index = new Index;
  index->update();
  return *index;
}

pteron_component* find_node(const char* name) {
  for (pteron_component* node = first_component; node != nullptr; node = node->next) {
    if (node->status == PTERON_OK && same_text(node->name, name)) return node;
  }
  return nullptr;
}

bool is_linked(const pteron_component* component) {
  for (const pteron_component* node = first_component; node != nullptr; node = node->next) {
    if (node == component) return true;
  }
  return false;
}

void link(pteron_component* component, pteron_code status, const char* note) {
  component->status = status;
  component->status_note = note;
  component->next = nullptr;
  last_component->next = component;
  last_component = component;
}

// Decides and links; with registry_mutex held. Sets `*first` to the holder of the name.
pteron_code decide(pteron_component* component, const pteron_component** first) {
  if (!versions_fit(component->abi_major, component->min_host_minor)) {
    link(component, PTERON_UNSUPPORTED, "it was made for another version of the interface");
    return PTERON_UNSUPPORTED;
  }
  *first = find_node(component->name);
  if (*first != nullptr) {
    link(component, PTERON_ALREADY_EXISTS, (*first)->name);
    return PTERON_ALREADY_EXISTS;
  }
  link(component, PTERON_OK, nullptr);
  return PTERON_OK;
}

}  // namespace

bool is_backend_id(std::string_view id) {
  if (id.empty() || id.size() > 64 || !is_id_character(id[0]) || id[0] == '_' || (id[0] >= '0' && id[0] <= '9')) {
    return false;
  }
  for (const char c : id) {
    if (!is_id_character(c)) return false;
  }
  return true;
}

const KernelEntry* find_kernel(std::string_view name) {
  const std::lock_guard lock(registry_mutex);
  KernelEntry* entry = updated_index().kernel(name);
  if (entry == nullptr || entry->parsed) return entry;
  Result<Schema> schema = parse_schema(entry->kernel->schema);
  if (schema) {
    entry->schema = std::move(*schema);
  } else {
    entry->error = schema.status().message();
  }
  entry->parsed = true;
  return entry;
}

const pteron_backend* find_backend(std::string_view id) {
  const std::lock_guard lock(registry_mutex);
  return updated_index().backend(id);
}

const pteron_component* find_component(std::string_view name) {
  const std::lock_guard lock(registry_mutex);
  for (const pteron_component* node = first_component; node != nullptr; node = node->next) {
    if (node->status == PTERON_OK && name == node->name) return node;
  }
  return nullptr;
}

std::string backend_names() {
  const std::lock_guard lock(registry_mutex);
  return updated_index().backend_names();
}

void visit_components(void (*visit)(void* user, const pteron_component* component), void* user) {
  const pteron_component* node = nullptr;
  {
    const std::lock_guard lock(registry_mutex);
    updated_index();  // notes conflicts
    node = first_component;
  }
  // Nodes stay linked and only the last one's `next` changes, under the lock.
  while (node != nullptr) {
    visit(user, node);
    const std::lock_guard lock(registry_mutex);
    node = node->next;
  }
}

}  // namespace pteron::runtime

int pteron_register_component(pteron_component* component) {
  using namespace pteron::runtime;
  if (component == nullptr || !PTERON_HAS_MEMBER(*component, pteron_component, status_note) ||
      component->name == nullptr) {
    pteron::log(PTERON_LOG_ERROR, kLog, "a component was refused: its record is too short or has no name");
    return PTERON_INVALID_ARGUMENT;
  }
  const pteron_component* first = nullptr;
  pteron_code code = PTERON_OK;
  {
    const std::lock_guard lock(registry_mutex);
    if (is_linked(component)) return component->status;
    code = decide(component, &first);
  }
  if (code == PTERON_ALREADY_EXISTS) {
    pteron::log(PTERON_LOG_WARNING, kLog, "component '%s' of %s is refused: %s registered one of that name first",
                component->name, pteron::file_of(component), pteron::file_of(first));
  } else if (code == PTERON_UNSUPPORTED) {
    pteron::log(PTERON_LOG_WARNING, kLog,
                "component '%s' of %s is refused: it needs a host of interface %d.%d or later "
                "in %d, this runtime has %d.%d",
                component->name, pteron::file_of(component), component->abi_major, component->min_host_minor,
                component->abi_major, PTERON_BACKEND_ABI_MAJOR, PTERON_BACKEND_ABI_MINOR);
  }
  return code;
}
