// The component "kernels": registered when the library is linked or loaded, or by an explicit call.

#include "pteron/c/component.h"

#include <cstring>

#include "kernels/table.h"

namespace pteron::kernels {
namespace {

pteron_component component = {sizeof(pteron_component),
                              PTERON_BACKEND_ABI_MAJOR,
                              PTERON_BACKEND_ABI_MINOR,
                              0,
                              0,
                              "kernels",
                              PTERON_VERSION,
                              nullptr,
                              0,
                              nullptr,
                              0,
                              nullptr,
                              PTERON_OK,
                              nullptr};

}  // namespace

const pteron_kernel* find_row(const char* name) {
  for (size_t i = 0; i < kRowCount; ++i) {
    if (std::strcmp(kRows[i]->name, name) == 0) return kRows[i];
  }
  return nullptr;
}

}  // namespace pteron::kernels

extern "C" {

// Registers all of Pteron's operators. Runs by itself when the library is linked or loaded; again is harmless.
PTERON_EXPORT int pteron_register_kernels(void) {
  pteron::kernels::component.kernels = pteron::kernels::kRows;
  pteron::kernels::component.kernel_count = pteron::kernels::kRowCount;
  return pteron_register_component(&pteron::kernels::component);
}

// What a static link asks for, so that this object and its constructor are taken from the archive.
PTERON_EXPORT void pteron_link_kernels(void) {}

__attribute__((constructor)) static void register_when_loaded(void) {
  static_cast<void>(pteron_register_kernels());
}
}
