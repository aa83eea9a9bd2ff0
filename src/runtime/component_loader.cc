#include "runtime/component_loader.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "base/dynamic_library.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"

namespace pteron::runtime {
namespace {

constexpr const char* kSearchPath = "PTERON_BACKEND_PATH";

// Namespaces whose operators libpteron_kernels.so brings. executorch_prim is libpteron's own.
constexpr std::string_view kKernelNamespaces[] = {"aten", "dim_order_ops", "quantized_decomposed", "llama", "et_copy"};

// Something whose address tells which file this copy of the runtime is in. Not exported: an exported name could
// resolve to another copy.
constexpr char kOwnAddress = 0;

bool runtime_is_shared() {
  const std::string file = file_of(&kOwnAddress);
  return file.compare(folder_of(file).size() + (file.find('/') != std::string::npos), 12, "libpteron.so") == 0;
}

bool is_component_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_folder(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// One search for a library: every place that was tried, with the reason it did not serve.
class Search {
 public:
  explicit Search(std::string file) : file_(std::move(file)) {}

  bool try_folder(const std::string& folder) { return try_file(folder + "/" + file_); }

  bool try_file(const std::string& path) {
    std::string reason = why_unsafe_to_load(path);
    if (reason.empty()) {
      library_ = open_library(path);
      if (library_.handle != nullptr) {
        path_ = path;
        return true;
      }
      reason = library_.error;
    }
    tried_ += (tried_.empty() ? "" : "; ") + path + ": " + reason;
    return false;
  }

  const std::string& file() const { return file_; }
  const std::string& path() const { return path_; }  // of the library that was opened
  const std::string& tried() const { return tried_; }
  const DynamicLibrary& library() const { return library_; }

 private:
  std::string file_;
  std::string path_;
  std::string tried_;
  DynamicLibrary library_;
};

bool search_default_folders(Search* search) {
  if (const char* folders = trusted_environment(kSearchPath)) {
    for (const std::string& folder : split_path_list(folders)) {
      if (search->try_folder(folder)) return true;
    }
  }
  return search->try_folder(folder_of(file_of(&kOwnAddress)));
}

struct Refusal {
  const std::string* path;
  const pteron_component* component = nullptr;
};

// The component that the library at `path` tried to register and the registry refused, or null.
const pteron_component* refused_component_of(const std::string& path) {
  Refusal refusal{&path};
  visit_components(
      [](void* user, const pteron_component* component) {
        auto* found = static_cast<Refusal*>(user);
        if (component->status != PTERON_OK && *found->path == file_of(component)) found->component = component;
      },
      &refusal);
  return refusal.component;
}

// An opened library must have registered with this copy of the runtime.
Status check_registered(const Search& search) {
  const char* runtime = file_of(library_symbol(search.library(), "pteron_register_component"));
  const std::string own = file_of(&kOwnAddress);
  if (runtime[0] != '\0' && own != runtime) {
    return error(PTERON_UNSUPPORTED,
                 "%s is bound to another copy of the runtime, %s; this one is %s: remove one of them",
                 search.path().c_str(), runtime, own.c_str());
  }
  if (const pteron_component* refused = refused_component_of(search.path())) {
    const auto code = static_cast<pteron_code>(refused->status);
    return code == PTERON_ALREADY_EXISTS
               ? error(code, "%s was refused: component '%s' is registered already", search.path().c_str(),
                       refused->name)
               : error(code,
                       "%s was refused: it needs a runtime of interface %d.%d, this one has %d.%d; take both from "
                       "one release",
                       search.path().c_str(), refused->abi_major, refused->min_host_minor, PTERON_BACKEND_ABI_MAJOR,
                       PTERON_BACKEND_ABI_MINOR);
  }
  log(PTERON_LOG_INFO, "registry", "loaded %s", search.path().c_str());
  return {};
}

Status search_and_load(Search* search, const char* path) {
  if (!runtime_is_shared()) {
    return error(PTERON_UNSUPPORTED,
                 "%s cannot be loaded: the runtime is linked into this program, and a shared library would not find it "
                 "there; link the component's static library too, or use the shared runtime",
                 search->file().c_str());
  }
  bool found = false;
  if (path == nullptr) {
    found = search_default_folders(search);
  } else if (is_folder(path)) {
    found = search->try_folder(path);
  } else {
    found = search->try_file(path);
  }
  if (found) return check_registered(*search);
  return error(PTERON_NOT_FOUND,
               "%s was not loaded; tried %s. Install it beside libpteron.so, or name its folder in %s",
               search->file().c_str(), search->tried().c_str(), kSearchPath);
}

std::string library_file(std::string_view component) {
  return "libpteron_" + std::string(component) + ".so";
}

bool kernels_library_brings(std::string_view kernel) {
  const size_t colons = kernel.find("::");
  return colons != std::string_view::npos && std::find(std::begin(kKernelNamespaces), std::end(kKernelNamespaces),
                                                       kernel.substr(0, colons)) != std::end(kKernelNamespaces);
}

std::string registered_backends() {
  const std::string names = backend_names();
  return names.empty() ? "no backend is registered" : "registered are " + names;
}

}  // namespace

std::string library_name_of_backend(std::string_view id) {
  if (!is_backend_id(id)) return {};
  constexpr std::string_view kPrefix = "Pteron";
  constexpr std::string_view kSuffix = "Backend";
  if (id.size() > kPrefix.size() && id.substr(0, kPrefix.size()) == kPrefix) id.remove_prefix(kPrefix.size());
  if (id.size() > kSuffix.size() && id.substr(id.size() - kSuffix.size()) == kSuffix) id.remove_suffix(kSuffix.size());
  std::string name(id);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

Status load_component(std::string_view name, const char* path) {
  if (!is_component_name(name)) {
    return error(PTERON_INVALID_ARGUMENT, "'%s' is no name of a component: expected small letters, digits and '_'",
                 printable(name.data(), name.size()).c_str());
  }
  Search search(library_file(name));
  return search_and_load(&search, path);
}

Result<const pteron_backend*> find_or_load_backend(std::string_view id, bool auto_load) {
  if (const pteron_backend* backend = find_backend(id)) return backend;
  const std::string shown = printable(id.data(), id.size());
  const std::string name = library_name_of_backend(id);
  if (name.empty()) {
    return error(PTERON_MISSING_BACKEND, "'%s' is no id of a backend: expected [A-Za-z][A-Za-z0-9_]{0,63}",
                 shown.c_str());
  }
  Search search(library_file("backend_" + name));
  if (!auto_load) {
    return error(PTERON_MISSING_BACKEND,
                 "backend '%s' is not registered (%s) and loading on demand is off; link or load %s first",
                 shown.c_str(), registered_backends().c_str(), search.file().c_str());
  }
  const Status loaded = search_and_load(&search, nullptr);
  if (!loaded.ok()) {
    return error(PTERON_MISSING_BACKEND, "backend '%s' is not registered (%s): %s", shown.c_str(),
                 registered_backends().c_str(), loaded.message());
  }
  if (const pteron_backend* backend = find_backend(id)) return backend;
  return error(PTERON_MISSING_BACKEND, "%s was loaded for backend '%s', which it does not bring (%s)",
               search.path().c_str(), shown.c_str(), registered_backends().c_str());
}

const KernelEntry* find_or_load_kernel(std::string_view name, bool auto_load) {
  const KernelEntry* entry = find_kernel(name);
  if (entry != nullptr || !auto_load || !kernels_library_brings(name) || find_component("kernels") != nullptr) {
    return entry;
  }
  const Status loaded = load_component("kernels", nullptr);
  return loaded.ok() ? find_kernel(name) : nullptr;
}

std::string missing_kernels_hint(bool auto_load) {
  const pteron_component* kernels = find_component("kernels");
  if (kernels != nullptr) {
    return format_text(
        "the kernels library in use (%s %s) does not have them; register them from a library of your own",
        file_of(kernels), kernels->version != nullptr ? kernels->version : "");
  }
  if (!auto_load)
    return "no kernels library is registered and loading on demand is off; link or load libpteron_kernels.so";
  return load_component("kernels", nullptr).message();
}

}  // namespace pteron::runtime
