// How a subcommand gives up: an exit code, which scripts act on, and a sentence for a person.
#pragma once

#include <stdexcept>
#include <string>

#include "pteron/result.h"

namespace pteron::cli {

// The command's exit codes; part of its interface (docs/cli.md).
enum ExitCode : int {
  kSuccess = 0,
  kComparisonFailed = 1,
  kUsage = 2,
  kFileRefused = 3,
  kMissing = 4,  // an operator or a backend
  kInputRefused = 5,
  kExecutionFailed = 6,
  kInputOutput = 7,
  kInterrupted = 130
};

class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// Throws a Failure whose sentence is formatted as by printf.
[[noreturn]] void fail(ExitCode code, const char* format, ...) PTERON_PRINTF(2, 3);

// What a call was about: decides the exit code where the status alone does not.
enum class Stage { kLoad, kPlan, kInput, kRun, kOther };

ExitCode exit_code_of(pteron_code code, Stage stage);

// Throws a Failure unless `status` is a success.
void require(const Status& status, Stage stage);

// The value of a result, or a Failure.
template <typename T>
T take(Result<T> result, Stage stage) {
  if (!result.ok()) require(result.status(), stage);
  return std::move(result).value();
}

}  // namespace pteron::cli
