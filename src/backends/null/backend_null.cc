// The backend `PteronNull`: copies input i to output i, and misbehaves on order (see README.md). It shows all that a
// backend needs: a table, a component, and a constructor that registers it. Only the C interface is used, so that
// nothing of C++ is needed at run time.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "pteron/c/component.h"

namespace {

// What the payload orders. Lives in the handle's memory and points at nothing of the payload, which may be given back.
struct Orders {
  const char* fail_execute = nullptr;
  int64_t wait_ms = 0;
  int32_t resize_rank = -1;  // -1: outputs take the sizes of their inputs
  int64_t resize[PTERON_MAX_RANK] = {};
  bool free_early = false;
};

// The services of one call.
struct Call {
  const pteron_host* host;
  pteron_backend_context* context;

  int fail(int code, const char* format, const char* text, size_t size) const {
    char message[512];
    std::snprintf(message, sizeof message, format, static_cast<int>(size < 400 ? size : 400), text);
    return host->fail(context, code, message);
  }
};

// ---- The payload: "key=value" lines

struct Text {
  const char* data;
  size_t size;

  bool is(const char* other) const { return std::strlen(other) == size && std::memcmp(data, other, size) == 0; }
};

// A copy with a terminator, in the handle's memory; null when memory is short.
char* keep(const Call& call, Text text) {
  auto* copy = static_cast<char*>(call.host->allocate(call.context, text.size + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text.data, text.size);
  copy[text.size] = '\0';
  return copy;
}

// A whole number that is not negative; false for anything else. `*at` moves behind it.
bool read_number(Text text, size_t* at, int64_t* number) {
  const size_t begin = *at;
  *number = 0;
  for (; *at < text.size && text.data[*at] >= '0' && text.data[*at] <= '9'; ++*at) {
    if (*number > (INT64_MAX - 9) / 10) return false;
    *number = *number * 10 + (text.data[*at] - '0');
  }
  return *at > begin;
}

// "2,3"; "" is rank 0.
bool read_sizes(Text text, Orders* orders) {
  orders->resize_rank = 0;
  for (size_t at = 0; at < text.size; ++at) {
    if (orders->resize_rank == PTERON_MAX_RANK) return false;
    if (!read_number(text, &at, &orders->resize[orders->resize_rank++])) return false;
    if (at < text.size && text.data[at] != ',') return false;
  }
  return true;
}

int read_order(const Call& call, Text key, Text value, Orders* orders) {
  size_t at = 0;
  if (key.is("fail_init")) return call.fail(PTERON_BACKEND_FAILED, "%.*s", value.data, value.size);
  if (key.is("fail_execute")) {
    orders->fail_execute = keep(call, value);
    return orders->fail_execute != nullptr ? PTERON_OK
                                           : call.host->fail(call.context, PTERON_OUT_OF_MEMORY, "no memory");
  }
  if (key.is("free_early")) {
    orders->free_early = value.is("1");
    return PTERON_OK;
  }
  if (key.is("wait_ms") && read_number(value, &at, &orders->wait_ms) && at == value.size) return PTERON_OK;
  if (key.is("resize") && read_sizes(value, orders)) return PTERON_OK;
  return call.fail(PTERON_INVALID_FILE, "the payload orders something unknown or malformed: '%.*s'", key.data,
                   static_cast<size_t>(value.data + value.size - key.data));
}

int read_payload(const Call& call, pteron_bytes payload, Orders* orders) {
  const char* at = static_cast<const char*>(payload.data);
  const char* const end = at + payload.size;
  while (at < end) {
    const void* newline = std::memchr(at, '\n', static_cast<size_t>(end - at));
    const char* const line_end = newline != nullptr ? static_cast<const char*>(newline) : end;
    const auto size = static_cast<size_t>(line_end - at);
    const auto* equals = static_cast<const char*>(std::memchr(at, '=', size));
    if (equals == nullptr)
      return call.fail(PTERON_INVALID_FILE, "the payload's line '%.*s' is not key=value", at, size);
    const Text key{at, static_cast<size_t>(equals - at)};
    const Text value{equals + 1, static_cast<size_t>(line_end - equals - 1)};
    if (const int code = read_order(call, key, value, orders)) return code;
    at = line_end == end ? end : line_end + 1;
  }
  return PTERON_OK;
}

// ---- Copying

// Copies `count` elements in row-major order of the indices, each where its tensor's strides put it.
void copy_elements(const pteron_tensor& from, const pteron_tensor& to, int64_t count, size_t element) {
  int64_t from_index[PTERON_MAX_RANK] = {};
  int64_t to_index[PTERON_MAX_RANK] = {};
  const auto offset = [](const pteron_tensor& tensor, const int64_t* index) {
    int64_t at = 0;
    for (int32_t i = 0; i < tensor.rank; ++i) at += index[i] * tensor.strides[i];
    return at;
  };
  const auto step = [](const pteron_tensor& tensor, int64_t* index) {
    for (int32_t i = tensor.rank - 1; i >= 0 && ++index[i] == tensor.sizes[i]; --i) index[i] = 0;
  };
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<char*>(to.data) + static_cast<size_t>(offset(to, to_index)) * element,
                static_cast<const char*>(from.data) + static_cast<size_t>(offset(from, from_index)) * element, element);
    step(from, from_index);
    step(to, to_index);
  }
}

int copy_tensor(const Call& call, const Orders& orders, const pteron_tensor& from, pteron_tensor* to) {
  if (from.dtype != to->dtype) {
    return call.host->fail(call.context, PTERON_INVALID_FILE, "an output's dtype is not that of its input");
  }
  const bool ordered = orders.resize_rank >= 0;
  if (const int code = call.host->resize(call.context, to, ordered ? orders.resize : from.sizes,
                                         ordered ? orders.resize_rank : from.rank)) {
    return code;
  }
  const int64_t from_count = pteron_tensor_numel(&from);
  const int64_t to_count = pteron_tensor_numel(to);
  const size_t element = pteron_dtype_size(from.dtype);
  if (to_count > from_count) std::memset(to->data, 0, static_cast<size_t>(to_count) * element);
  copy_elements(from, *to, from_count < to_count ? from_count : to_count, element);
  return PTERON_OK;
}

int copy_value(const Call& call, const Orders& orders, const pteron_value& from, pteron_value* to) {
  if (from.kind == PTERON_KIND_TENSOR && to->kind == PTERON_KIND_TENSOR) {
    return copy_tensor(call, orders, *from.as.tensor, to->as.tensor);
  }
  if (from.kind == PTERON_KIND_INT || from.kind == PTERON_KIND_DOUBLE || from.kind == PTERON_KIND_BOOL) {
    to->kind = from.kind;
    to->as = from.as;
    return PTERON_OK;
  }
  return call.host->fail(call.context, PTERON_UNSUPPORTED, "an argument is neither a tensor nor a number");
}

// Sleeps in short pieces, so that a cancelled run ends soon.
int wait(const Call& call, int64_t milliseconds) {
  const timespec piece{0, 1'000'000};
  timespec start{};
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (;;) {
    if (call.host->cancelled(call.context) != 0) return call.host->fail(call.context, PTERON_CANCELLED, "cancelled");
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t passed = (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1'000'000;
    if (passed >= milliseconds) return PTERON_OK;
    nanosleep(&piece, nullptr);
  }
}

// ---- The table

// The load-time option `unavailable` is the reason to give.
int available(const pteron_backend*, const pteron_host* host, pteron_backend_context* context) {
  const char* reason = host->option(context, "unavailable");
  return reason == nullptr ? PTERON_OK : host->fail(context, PTERON_UNSUPPORTED, reason);
}

int init(const pteron_backend*, const pteron_host* host, pteron_backend_context* context,
         const pteron_delegate* delegate, void** handle) {
  const Call call{host, context};
  auto* orders = static_cast<Orders*>(host->allocate(context, sizeof(Orders)));
  if (orders == nullptr) return host->fail(context, PTERON_OUT_OF_MEMORY, "no memory for the handle");
  *orders = Orders();
  if (const int code = read_payload(call, delegate->payload, orders)) return code;
  if (orders->free_early) host->release_payload(context);
  *handle = orders;
  return PTERON_OK;
}

int execute(const pteron_backend*, const pteron_host* host, pteron_backend_context* context, void* handle,
            pteron_value* const* args, size_t count) {
  const Call call{host, context};
  const Orders& orders = *static_cast<const Orders*>(handle);
  if (orders.wait_ms > 0) {
    if (const int code = wait(call, orders.wait_ms)) return code;
  }
  if (orders.fail_execute != nullptr) return host->fail(context, PTERON_BACKEND_FAILED, orders.fail_execute);
  if (count % 2 != 0) return host->fail(context, PTERON_INVALID_FILE, "it needs as many outputs as inputs");
  for (size_t i = 0; i < count / 2; ++i) {
    if (const int code = copy_value(call, orders, *args[i], args[count / 2 + i])) return code;
  }
  return PTERON_OK;
}

// The handle is memory of the host, which frees it.
void destroy(const pteron_backend*, void*) {}

const pteron_backend kBackend = {
    sizeof(pteron_backend),
    PTERON_BACKEND_ABI_MAJOR,
    PTERON_BACKEND_ABI_MINOR,
    0,
    0,
    "PteronNull",
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
    0,
    0,
    "backend_null",
    PTERON_VERSION,
    nullptr,
    0,
    kBackends,
    1,
    nullptr,
    PTERON_OK,
    nullptr,
};

}  // namespace

extern "C" {

// Registers the backend. Runs by itself when the library is linked or loaded; again is harmless.
PTERON_EXPORT int pteron_register_backend_null(void) {
  return pteron_register_component(&component);
}

// What a static link asks for, so that this object and its constructor are taken from the archive.
PTERON_EXPORT void pteron_link_backend_null(void) {}

__attribute__((constructor)) static void register_when_loaded(void) {
  static_cast<void>(pteron_register_backend_null());
}
}
