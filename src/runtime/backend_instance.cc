#include "runtime/backend_instance.h"

#include <exception>

#include "base/error.h"
#include "base/thread_pool.h"
#include "runtime/foreign_code.h"
#include "runtime/host.h"

namespace pteron::runtime {
namespace {

// Calls into a backend. It is a C interface, so nothing should be thrown; what is thrown all the same ends here.
template <typename Call>
int call_backend(pteron_backend_context* context, Call call) {
  try {
    return call();
  } catch (const std::exception& problem) {
    return kHost.fail(context, PTERON_BACKEND_FAILED, problem.what());
  } catch (...) {
    return kHost.fail(context, PTERON_BACKEND_FAILED, "it threw an exception of an unknown type");
  }
}

// The backend's own words; what its code means when it gave none.
std::string reason(const pteron_backend_context& context, int code) {
  if (!context.message.empty()) return context.message;
  return format_text("%s (it gave no reason)", pteron_code_name(known_code(code, PTERON_BACKEND_FAILED)));
}

Status failure(const pteron_backend* backend, const pteron_backend_context& context, int code, const char* what) {
  return error(known_code(code, PTERON_BACKEND_FAILED), "backend '%s': %s%s", backend->id, what,
               reason(context, code).c_str());
}

Status require_available(const pteron_backend* backend, pteron_backend_context* context) {
  const int code = call_backend(context, [&] { return backend->available(backend, &kHost, context); });
  if (code == PTERON_OK) return {};
  return error(PTERON_MISSING_BACKEND, "backend '%s' is present but not available here: %s", backend->id,
               reason(*context, code).c_str());
}

}  // namespace

BackendInstance::BackendInstance(const pteron_backend* backend, const DelegateRequest& request)
    : backend_(backend), data_(request.data) {
  if (request.options != nullptr) options_ = *request.options;
}

Result<std::unique_ptr<BackendInstance>> BackendInstance::create(const pteron_backend* backend,
                                                                 const DelegateRequest& request) {
  std::unique_ptr<BackendInstance> instance(new BackendInstance(backend, request));
  PTERON_TRY(instance->init(request));
  return instance;
}

Status BackendInstance::init(const DelegateRequest& request) {
  pteron_backend_context context;
  context.lasting = &lasting_;
  context.temporary = &temporary_;
  context.data = data_;
  context.options = &options_;
  PTERON_TRY(require_available(backend_, &context));

  const pteron_delegate delegate = {sizeof(pteron_delegate), request.method_name, request.payload,
                                    request.compile_specs, request.compile_spec_count};
  const int code =
      call_backend(&context, [&] { return backend_->init(backend_, &kHost, &context, &delegate, &handle_); });
  temporary_.clear();
  if (code != PTERON_OK) return failure(backend_, context, code, "cannot load its part of the program: ");
  made_ = true;
  const int loop_failure = take_loop_failure();
  if (loop_failure != PTERON_OK)
    return failure(backend_, context, loop_failure, "a parallel loop failed while loading: ");
  if (context.payload_released && data_ != nullptr) data_->release_payload(request.payload);
  return {};
}

BackendInstance::~BackendInstance() {
  if (made_) backend_->destroy(backend_, handle_);
}

Status BackendInstance::execute(pteron_value* const* args, size_t count, const int32_t* cancel) {
  pteron_backend_context context;
  context.lasting = &lasting_;
  context.temporary = &temporary_;
  context.data = data_;
  context.options = &options_;
  context.cancel = cancel;
  int code =
      call_backend(&context, [&] { return backend_->execute(backend_, &kHost, &context, handle_, args, count); });
  temporary_.clear();
  const int loop_failure = take_loop_failure();
  if (code == PTERON_OK) code = loop_failure;
  return code == PTERON_OK ? Status() : failure(backend_, context, code, "");
}

Status set_backend_option(const pteron_backend* backend, const char* key, const char* value) {
  const bool has_options = backend->struct_size >= offsetof(pteron_backend, set_option) + sizeof(backend->set_option) &&
                           backend->set_option != nullptr;
  if (!has_options) return error(PTERON_UNSUPPORTED, "backend '%s' has no options", backend->id);
  pteron_backend_context context;
  BlockList temporary;
  context.temporary = &temporary;
  const int code = call_backend(&context, [&] { return backend->set_option(backend, &kHost, &context, key, value); });
  return code == PTERON_OK ? Status() : failure(backend, context, code, "");
}

}  // namespace pteron::runtime
