// The C side of errors. A status is one allocation: the struct with its text behind it.
#include <cstdlib>
#include <cstring>

#include "pteron/c/status.h"

struct pteron_status {
  pteron_code code;
  const char* message;
};

namespace {

// Handed out when a status cannot be allocated; never freed.
pteron_status out_of_memory = {PTERON_OUT_OF_MEMORY, "out of memory, even for the error message"};

}  // namespace

pteron_status* pteron_status_create(pteron_code code, const char* message) {
  if (code == PTERON_OK) return nullptr;
  const size_t length = std::strlen(message);
  auto* status = static_cast<pteron_status*>(std::malloc(sizeof(pteron_status) + length + 1));
  if (status == nullptr) return &out_of_memory;
  char* text = reinterpret_cast<char*>(status + 1);
  std::memcpy(text, message, length + 1);
  *status = {code, text};
  return status;
}

pteron_code pteron_status_code(const pteron_status* status) {
  return status == nullptr ? PTERON_OK : status->code;
}

const char* pteron_status_message(const pteron_status* status) {
  return status == nullptr ? "" : status->message;
}

void pteron_status_free(pteron_status* status) {
  if (status != &out_of_memory) std::free(status);
}

const char* pteron_code_name(pteron_code code) {
  switch (code) {
    case PTERON_OK:
      return "OK";
    case PTERON_INTERNAL:
      return "INTERNAL";
    case PTERON_INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case PTERON_INVALID_INPUT:
      return "INVALID_INPUT";
    case PTERON_INVALID_STATE:
      return "INVALID_STATE";
    case PTERON_INVALID_FILE:
      return "INVALID_FILE";
    case PTERON_UNSUPPORTED:
      return "UNSUPPORTED";
    case PTERON_NOT_FOUND:
      return "NOT_FOUND";
    case PTERON_ALREADY_EXISTS:
      return "ALREADY_EXISTS";
    case PTERON_MISSING_OPERATOR:
      return "MISSING_OPERATOR";
    case PTERON_MISSING_BACKEND:
      return "MISSING_BACKEND";
    case PTERON_BACKEND_FAILED:
      return "BACKEND_FAILED";
    case PTERON_KERNEL_FAILED:
      return "KERNEL_FAILED";
    case PTERON_BUSY:
      return "BUSY";
    case PTERON_OUT_OF_MEMORY:
      return "OUT_OF_MEMORY";
    case PTERON_CANCELLED:
      return "CANCELLED";
    case PTERON_TIME_LIMIT:
      return "TIME_LIMIT";
    case PTERON_BUDGET_EXHAUSTED:
      return "BUDGET_EXHAUSTED";
    case PTERON_IO:
      return "IO";
  }
  return "UNKNOWN";
}
