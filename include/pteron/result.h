// Status and Result: one pointer when all is well, otherwise a code and a sentence.
//
//   pteron::Result<pteron::Module> module = pteron::Module::load("model.pte");
//   if (!module) return report(module.status().message());
//   auto outputs = module->forward(...);
#pragma once

#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "pteron/c/status.h"

namespace pteron {
inline namespace v1_0 {

// Success, or why not. Move-only; owns its text. Ignoring one is a warning.
class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  Status(pteron_code code, const char* message) : raw_(pteron_status_create(code, message)) {}
  Status(Status&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Status& operator=(Status&& other) noexcept {
    if (this != &other) {
      pteron_status_free(raw_);
      raw_ = std::exchange(other.raw_, nullptr);
    }
    return *this;
  }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  ~Status() { pteron_status_free(raw_); }

  // Takes over what a C function returned.
  static Status adopt(pteron_status* raw) {
    Status status;
    status.raw_ = raw;
    return status;
  }
  // Hands the object to a C caller.
  [[nodiscard]] pteron_status* release() { return std::exchange(raw_, nullptr); }

  bool ok() const { return raw_ == nullptr; }
  explicit operator bool() const { return ok(); }
  pteron_code code() const { return pteron_status_code(raw_); }
  const char* message() const { return pteron_status_message(raw_); }  // valid as long as the status

 private:
  pteron_status* raw_ = nullptr;
};

// A value, or a failed Status. Using the value of a failed result is the caller's mistake and aborts.
template <typename T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<std::remove_cv_t<T>, Status>);

 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {
    if (status_.ok()) status_ = Status(PTERON_INTERNAL, "a result was made from a success without a value");
  }

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }

  T& value() & {
    require();
    return *value_;
  }
  const T& value() const& {
    require();
    return *value_;
  }
  // By value: a reference into a result that is about to die would outlive it in `for (x : *f())`.
  T value() && {
    require();
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void require() const {
    if (!ok()) __builtin_trap();
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace v1_0
}  // namespace pteron

#define PTERON_CONCAT_INNER(a, b) a##b
#define PTERON_CONCAT(a, b) PTERON_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expression`, a Status, has failed.
#define PTERON_TRY(expression)                             \
  do {                                                     \
    ::pteron::Status pteron_try_status = (expression);     \
    if (!pteron_try_status.ok()) return pteron_try_status; \
  } while (false)

// Assigns the value of a Result to `target` (a declaration or an lvalue), or returns its Status.
#define PTERON_ASSIGN(target, expression)                               \
  auto PTERON_CONCAT(pteron_result_, __LINE__) = (expression);          \
  if (!PTERON_CONCAT(pteron_result_, __LINE__).ok())                    \
    return std::move(PTERON_CONCAT(pteron_result_, __LINE__)).status(); \
  target = std::move(PTERON_CONCAT(pteron_result_, __LINE__)).value()
