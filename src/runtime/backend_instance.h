// One delegated part of a method, alive: the handle its backend made, what it allocated, how it is run and ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pteron/c/backend.h"
#include "pteron/result.h"
#include "runtime/host.h"

namespace pteron::runtime {

// Where a backend's requests for named blobs and its thanks for a payload go.
class DelegateData {
 public:
  virtual ~DelegateData() = default;
  // The blob of that key; false when there is none. The bytes live as long as the plan.
  virtual bool named_data(std::string_view key, pteron_bytes* out) const = 0;
  // The backend no longer reads its payload.
  virtual void release_payload(pteron_bytes payload) const { (void)payload; }
};

struct BackendOption {
  std::string key;
  std::string value;
};

// What to make an instance of. Pointers need to live during create() only, but for `payload`, which the backend may
// read until the instance ends or it gives it back.
struct DelegateRequest {
  const char* method_name = "";
  pteron_bytes payload{nullptr, 0};
  const pteron_compile_spec* compile_specs = nullptr;
  size_t compile_spec_count = 0;
  const DelegateData* data = nullptr;                   // or null: no named blobs
  const std::vector<BackendOption>* options = nullptr;  // or null
};

class BackendInstance {
 public:
  // Asks the backend whether it is available, then makes its handle. Errors: PTERON_MISSING_BACKEND when it is not
  // available here, PTERON_BACKEND_FAILED (or the backend's own code) when it refuses; both with the backend's words:
  // "backend 'X': ...". On failure nothing is left behind.
  static Result<std::unique_ptr<BackendInstance>> create(const pteron_backend* backend, const DelegateRequest& request);

  ~BackendInstance();
  BackendInstance(const BackendInstance&) = delete;
  BackendInstance& operator=(const BackendInstance&) = delete;

  // Runs the part on inputs then outputs. `cancel` is the caller's flag, read atomically, or null. One
  // thread at a time.
  Status execute(pteron_value* const* args, size_t count, const int32_t* cancel);

  const pteron_backend* backend() const { return backend_; }

 private:
  BackendInstance(const pteron_backend* backend, const DelegateRequest& request);
  Status init(const DelegateRequest& request);

  const pteron_backend* backend_;
  const DelegateData* data_;
  std::vector<BackendOption> options_;
  BlockList lasting_;    // what the backend allocated for the handle
  BlockList temporary_;  // and for the call that is under way
  void* handle_ = nullptr;
  bool made_ = false;  // init succeeded: the handle is the backend's to destroy, even a null one
};

// Sets a run-time option of a backend; PTERON_UNSUPPORTED when it has none, else what it answers.
Status set_backend_option(const pteron_backend* backend, const char* key, const char* value);

}  // namespace pteron::runtime
