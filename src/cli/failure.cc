#include "cli/failure.h"

#include <cstdarg>
#include <cstdio>
#include <vector>

namespace pteron::cli {

void fail(ExitCode code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string message(size > 0 ? static_cast<size_t>(size) : 0, '\0');
  std::vsnprintf(message.data(), message.size() + 1, format, again);
  va_end(again);
  throw Failure(code, message);
}

ExitCode exit_code_of(pteron_code code, Stage stage) {
  switch (code) {
    case PTERON_OK:
      return kSuccess;
    case PTERON_INVALID_FILE:
      return kFileRefused;
    case PTERON_UNSUPPORTED:
      return stage == Stage::kLoad ? kFileRefused : kMissing;
    case PTERON_MISSING_OPERATOR:
    case PTERON_MISSING_BACKEND:
      return kMissing;
    case PTERON_INVALID_INPUT:
      return kInputRefused;
    case PTERON_INVALID_STATE:
      return stage == Stage::kRun ? kInputRefused : kExecutionFailed;
    case PTERON_INVALID_ARGUMENT:
      return kUsage;
    case PTERON_NOT_FOUND:
      // At load: the file itself. When a method is prepared: weights that no data file holds.
      return stage == Stage::kLoad ? kInputOutput : kFileRefused;
    case PTERON_IO:
      return kInputOutput;
    case PTERON_CANCELLED:
      return kInterrupted;
    default:
      return kExecutionFailed;
  }
}

void require(const Status& status, Stage stage) {
  if (!status.ok()) throw Failure(exit_code_of(status.code(), stage), status.message());
}

}  // namespace pteron::cli
