// A component for the loader's tests, built several times: FIXTURE_NAME is its name, FIXTURE_BACKEND its backend's id,
// FIXTURE_MIN_HOST_MINOR the oldest host it works with.
#include "pteron/c/component.h"

namespace {

int available(const pteron_backend*, const pteron_host*, pteron_backend_context*) {
  return PTERON_OK;
}
int init(const pteron_backend*, const pteron_host*, pteron_backend_context*, const pteron_delegate*, void**) {
  return PTERON_OK;
}
int execute(const pteron_backend*, const pteron_host*, pteron_backend_context*, void*, pteron_value* const*, size_t) {
  return PTERON_OK;
}
void destroy(const pteron_backend*, void*) {}

const pteron_backend kBackend = {
    sizeof(pteron_backend),
    PTERON_BACKEND_ABI_MAJOR,
    PTERON_BACKEND_ABI_MINOR,
    FIXTURE_MIN_HOST_MINOR,
    0,
    FIXTURE_BACKEND,
    available,
    init,
    execute,
    destroy,
    nullptr,
    nullptr,
};
const pteron_backend* const kBackends[] = {&kBackend};

pteron_component component = {
    sizeof(pteron_component),
    PTERON_BACKEND_ABI_MAJOR,
    PTERON_BACKEND_ABI_MINOR,
    FIXTURE_MIN_HOST_MINOR,
    0,
    FIXTURE_NAME,
    "1",
    nullptr,
    0,
    kBackends,
    1,
    nullptr,
    PTERON_OK,
    nullptr,
};

__attribute__((constructor)) void register_when_loaded() {
  static_cast<void>(pteron_register_component(&component));
}

}  // namespace
