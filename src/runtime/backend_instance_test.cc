#include "runtime/backend_instance.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "runtime/tensor.h"

namespace pteron::runtime {
namespace {

// A backend whose every step a test decides. One at a time, so plain globals do.
struct Script {
  int available_code = PTERON_OK;
  int init_code = PTERON_OK;
  int execute_code = PTERON_OK;
  const char* message = nullptr;  // said when a step fails
  bool throws = false;
  void (*on_init)(const pteron_host* host, pteron_backend_context* context) = nullptr;
  int (*on_execute)(const pteron_host* host, pteron_backend_context* context, pteron_value* const* args) = nullptr;
  int made = 0;
  int destroyed = 0;
};
Script script;

int answer(const pteron_host* host, pteron_backend_context* context, int code) {
  return code == PTERON_OK || script.message == nullptr ? code : host->fail(context, code, script.message);
}

int scripted_available(const pteron_backend*, const pteron_host* host, pteron_backend_context* context) {
  return answer(host, context, script.available_code);
}
int scripted_init(const pteron_backend*, const pteron_host* host, pteron_backend_context* context,
                  const pteron_delegate*, void** handle) {
  if (script.throws) throw std::runtime_error("thrown");
  if (script.on_init != nullptr) script.on_init(host, context);
  if (script.init_code != PTERON_OK) return answer(host, context, script.init_code);
  ++script.made;
  *handle = nullptr;
  return PTERON_OK;
}
int scripted_execute(const pteron_backend*, const pteron_host* host, pteron_backend_context* context, void*,
                     pteron_value* const* args, size_t) {
  if (script.throws) throw 7;
  if (script.on_execute != nullptr) return script.on_execute(host, context, args);
  return answer(host, context, script.execute_code);
}
void scripted_destroy(const pteron_backend*, void*) {
  ++script.destroyed;
}

constexpr pteron_backend kScripted = {
    sizeof(pteron_backend),
    PTERON_BACKEND_ABI_MAJOR,
    PTERON_BACKEND_ABI_MINOR,
    0,
    0,
    "Scripted",
    scripted_available,
    scripted_init,
    scripted_execute,
    scripted_destroy,
    nullptr,
    nullptr,
};

class Data : public DelegateData {
 public:
  bool named_data(std::string_view key, pteron_bytes* out) const override {
    if (key != "weights") return false;
    *out = {"abc", 3};
    return true;
  }
  void release_payload(pteron_bytes) const override { ++released; }
  mutable int released = 0;
};

class Instance : public testing::Test {
 protected:
  void SetUp() override { script = Script(); }
  Result<std::unique_ptr<BackendInstance>> create() {
    request_.data = &data_;
    return BackendInstance::create(&kScripted, request_);
  }
  Data data_;
  DelegateRequest request_;
};

TEST_F(Instance, HandlesAreDestroyedOnce) {
  { ASSERT_TRUE(create().ok()); }
  EXPECT_EQ(script.made, 1);
  EXPECT_EQ(script.destroyed, 1);
}

TEST_F(Instance, WhatWasNotMadeIsNotDestroyed) {
  script.init_code = PTERON_BACKEND_FAILED;
  { EXPECT_FALSE(create().ok()); }
  script.available_code = PTERON_UNSUPPORTED;
  { EXPECT_FALSE(create().ok()); }
  EXPECT_EQ(script.destroyed, 0);
}

TEST_F(Instance, AnUnavailableBackendSaysWhy) {
  script.available_code = PTERON_UNSUPPORTED;
  script.message = "libdriver.so.1: cannot open shared object file";
  const auto instance = create();
  EXPECT_EQ(instance.status().code(), PTERON_MISSING_BACKEND);
  EXPECT_STREQ(instance.status().message(),
               "backend 'Scripted' is present but not available here: libdriver.so.1: cannot open shared object file");
}

TEST_F(Instance, AvailabilityCanChange) {
  script.available_code = PTERON_UNSUPPORTED;
  ASSERT_FALSE(create().ok());
  script.available_code = PTERON_OK;
  EXPECT_TRUE(create().ok());
}

TEST_F(Instance, FailuresCarryTheBackendsWords) {
  script.init_code = PTERON_BACKEND_FAILED;
  script.message = "blob of version 7, this is 8";
  EXPECT_STREQ(create().status().message(),
               "backend 'Scripted': cannot load its part of the program: blob of version 7, this is 8");
}

TEST_F(Instance, FailuresWithoutWordsSaySo) {
  script.init_code = PTERON_OUT_OF_MEMORY;
  const auto instance = create();
  EXPECT_EQ(instance.status().code(), PTERON_OUT_OF_MEMORY);
  EXPECT_STREQ(instance.status().message(),
               "backend 'Scripted': cannot load its part of the program: OUT_OF_MEMORY (it gave no reason)");
}

TEST_F(Instance, UnknownCodesBecomeBackendFailed) {
  script.init_code = -42;
  EXPECT_EQ(create().status().code(), PTERON_BACKEND_FAILED);
}

TEST_F(Instance, ExceptionsEndAtTheBoundary) {
  script.throws = true;
  EXPECT_STREQ(create().status().message(), "backend 'Scripted': cannot load its part of the program: thrown");
  script.throws = false;
  auto instance = create();
  ASSERT_TRUE(instance.ok());
  script.throws = true;
  EXPECT_EQ((*instance)->execute(nullptr, 0, nullptr).code(), PTERON_BACKEND_FAILED);
}

TEST_F(Instance, ThePayloadIsReleasedAfterInitSucceeded) {
  script.on_init = [](const pteron_host* host, pteron_backend_context* context) { host->release_payload(context); };
  script.init_code = PTERON_BACKEND_FAILED;
  ASSERT_FALSE(create().ok());
  EXPECT_EQ(data_.released, 0);
  script.init_code = PTERON_OK;
  ASSERT_TRUE(create().ok());
  EXPECT_EQ(data_.released, 1);
}

TEST_F(Instance, NamedDataIsFoundByKey) {
  script.on_init = [](const pteron_host* host, pteron_backend_context* context) {
    pteron_bytes blob{};
    EXPECT_EQ(host->named_data(context, "weights", &blob), PTERON_OK);
    EXPECT_EQ(blob.size, 3u);
  };
  EXPECT_TRUE(create().ok());
}

TEST_F(Instance, MissingNamedDataIsReportedByKey) {
  script.on_init = [](const pteron_host* host, pteron_backend_context* context) {
    pteron_bytes blob{};
    EXPECT_EQ(host->named_data(context, "bias", &blob), PTERON_NOT_FOUND);
  };
  script.init_code = PTERON_NOT_FOUND;
  EXPECT_STREQ(create().status().message(),
               "backend 'Scripted': cannot load its part of the program: the program has no named data 'bias'");
}

TEST_F(Instance, MemoryIsAlignedAndChecked) {
  script.on_init = [](const pteron_host* host, pteron_backend_context* context) {
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1000}}) {
      void* lasting = host->allocate(context, bytes);
      void* temporary = host->allocate_temporary(context, bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(lasting) % 64, 0u);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(temporary) % 64, 0u);
      ASSERT_NE(lasting, nullptr);
      ASSERT_NE(temporary, nullptr);
      std::memset(lasting, 1, bytes);
      std::memset(temporary, 1, bytes);
    }
    EXPECT_EQ(host->allocate(context, SIZE_MAX), nullptr);
    EXPECT_EQ(host->allocate(context, SIZE_MAX - 8), nullptr);
  };
  EXPECT_TRUE(create().ok());
}

TEST_F(Instance, OptionsAreFoundByKey) {
  const std::vector<BackendOption> options = {{"threads", "2"}};
  request_.options = &options;
  script.on_init = [](const pteron_host* host, pteron_backend_context* context) {
    EXPECT_STREQ(host->option(context, "threads"), "2");
    EXPECT_EQ(host->option(context, "device"), nullptr);
  };
  EXPECT_TRUE(create().ok());
}

TEST_F(Instance, OutputsThatGrowTooLargeAreRefused) {
  auto instance = create();
  ASSERT_TRUE(instance.ok());
  TensorStorage output;
  const int64_t sizes[] = {2};
  output.set_shape(PTERON_FLOAT32, 1, sizes, nullptr);
  output.tensor.capacity = 8;
  output.tensor.flags = PTERON_TENSOR_RESIZABLE;
  pteron_value value{};
  value.kind = PTERON_KIND_TENSOR;
  value.as.tensor = &output.tensor;
  pteron_value* const args[] = {&value};
  script.on_execute = [](const pteron_host* host, pteron_backend_context* context, pteron_value* const* given) {
    const int64_t larger[] = {3};
    return host->resize(context, given[0]->as.tensor, larger, 1);
  };
  const Status status = (*instance)->execute(args, 1, nullptr);
  EXPECT_EQ(status.code(), PTERON_INVALID_INPUT);
  EXPECT_STREQ(status.message(),
               "backend 'Scripted': a tensor float32 [2] cannot become [3]: that takes 12 bytes and it has room for 8");
}

TEST_F(Instance, TheCancelFlagIsSeen) {
  auto instance = create();
  ASSERT_TRUE(instance.ok());
  script.on_execute = [](const pteron_host* host, pteron_backend_context* context, pteron_value* const*) {
    return host->cancelled(context) != 0 ? host->fail(context, PTERON_CANCELLED, "stopped") : PTERON_OK;
  };
  int32_t cancel = 0;
  EXPECT_TRUE((*instance)->execute(nullptr, 0, &cancel).ok());
  EXPECT_TRUE((*instance)->execute(nullptr, 0, nullptr).ok());
  cancel = 1;
  EXPECT_EQ((*instance)->execute(nullptr, 0, &cancel).code(), PTERON_CANCELLED);
}

TEST_F(Instance, AFailedLoopFailsTheCall) {
  auto instance = create();
  ASSERT_TRUE(instance.ok());
  script.on_execute = [](const pteron_host* host, pteron_backend_context*, pteron_value* const*) {
    host->parallel_for(
        4, 1, [](void*, int64_t, int64_t) { throw std::bad_alloc(); }, nullptr);
    return int{PTERON_OK};
  };
  EXPECT_EQ((*instance)->execute(nullptr, 0, nullptr).code(), PTERON_OUT_OF_MEMORY);
}

TEST_F(Instance, BackendsWithoutOptionsSaySo) {
  EXPECT_STREQ(set_backend_option(&kScripted, "a", "b").message(), "backend 'Scripted' has no options");
}

}  // namespace
}  // namespace pteron::runtime
