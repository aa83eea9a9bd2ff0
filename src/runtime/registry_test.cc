#include "runtime/registry.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/log.h"

namespace pteron::runtime {
namespace {

int run_nothing(pteron_kernel_context*, pteron_value* const*, size_t) {
  return PTERON_OK;
}
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

pteron_kernel kernel(const char* name, const char* schema = "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)") {
  return {sizeof(pteron_kernel), name, schema, nullptr, PTERON_DEVICE_CPU, 0, run_nothing, nullptr, nullptr};
}

pteron_backend backend(const char* id) {
  return {sizeof(pteron_backend),
          PTERON_BACKEND_ABI_MAJOR,
          PTERON_BACKEND_ABI_MINOR,
          0,
          0,
          id,
          available,
          init,
          execute,
          destroy,
          nullptr,
          nullptr};
}

pteron_component component(const char* name) {
  return {sizeof(pteron_component),
          PTERON_BACKEND_ABI_MAJOR,
          PTERON_BACKEND_ABI_MINOR,
          0,
          0,
          name,
          "1",
          nullptr,
          0,
          nullptr,
          0,
          nullptr,
          0,
          nullptr};
}

// Collects what is logged meanwhile.
class CapturedLog {
 public:
  CapturedLog() { set_log_callback(&CapturedLog::receive, this); }
  ~CapturedLog() { set_log_callback(nullptr, nullptr); }
  std::string text;

 private:
  static void receive(void* user, int, const char*, const char* message) {
    static_cast<CapturedLog*>(user)->text += std::string(message) + "\n";
  }
};

// The registry keeps what it is given for the life of the process, so each test uses names and static nodes of its own.

TEST(Registry, FindsKernelsAndBackendsOfAComponent) {
  static const pteron_kernel kernel_a = kernel("test::a.out");
  static const pteron_kernel* const kernels[] = {&kernel_a};
  static const pteron_backend backend_a = backend("TestA");
  static const pteron_backend* const backends[] = {&backend_a};
  static pteron_component node = component("test_a");
  node.kernels = kernels;
  node.kernel_count = 1;
  node.backends = backends;
  node.backend_count = 1;
  EXPECT_EQ(find_kernel("test::a.out"), nullptr);
  ASSERT_EQ(pteron_register_component(&node), PTERON_OK);
  ASSERT_NE(find_kernel("test::a.out"), nullptr);
  EXPECT_EQ(find_kernel("test::a.out")->kernel, &kernel_a);
  EXPECT_EQ(find_kernel("test::a.out")->schema.arguments.size(), 2u);
  EXPECT_EQ(find_backend("TestA"), &backend_a);
  EXPECT_EQ(find_component("test_a"), &node);
  EXPECT_EQ(find_kernel("test::a"), nullptr);
}

TEST(Registry, RegisteringAgainDoesNothing) {
  static pteron_component node = component("test_again");
  EXPECT_EQ(pteron_register_component(&node), PTERON_OK);
  EXPECT_EQ(pteron_register_component(&node), PTERON_OK);
  int count = 0;
  visit_components(
      [](void* user, const pteron_component* one) {
        if (std::string(one->name) == "test_again") ++*static_cast<int*>(user);
      },
      &count);
  EXPECT_EQ(count, 1);
}

TEST(Registry, RefusesASecondComponentOfAName) {
  static pteron_component first = component("test_twice");
  static pteron_component second = component("test_twice");
  ASSERT_EQ(pteron_register_component(&first), PTERON_OK);
  const CapturedLog log;
  EXPECT_EQ(pteron_register_component(&second), PTERON_ALREADY_EXISTS);
  EXPECT_EQ(second.status, PTERON_ALREADY_EXISTS);
  EXPECT_EQ(find_component("test_twice"), &first);
  EXPECT_NE(log.text.find("component 'test_twice'"), std::string::npos) << log.text;
}

TEST(Registry, RefusesComponentsOfAnotherInterface) {
  static pteron_component major = component("test_major");
  major.abi_major = PTERON_BACKEND_ABI_MAJOR + 1;
  static pteron_component minor = component("test_minor");
  minor.min_host_minor = PTERON_BACKEND_ABI_MINOR + 1;
  const CapturedLog log;
  EXPECT_EQ(pteron_register_component(&major), PTERON_UNSUPPORTED);
  EXPECT_EQ(pteron_register_component(&minor), PTERON_UNSUPPORTED);
  EXPECT_EQ(find_component("test_major"), nullptr);
  EXPECT_NE(log.text.find("interface 1.1 or later in 1, this runtime has 1.0"), std::string::npos) << log.text;
}

TEST(Registry, AcceptsNewerComponentsThatAnOlderHostServes) {
  static pteron_component node = component("test_newer");
  node.struct_size = sizeof(pteron_component) + 64;
  node.abi_minor = PTERON_BACKEND_ABI_MINOR + 7;
  EXPECT_EQ(pteron_register_component(&node), PTERON_OK);
}

TEST(Registry, RefusesRecordsWithoutTheirFields) {
  static pteron_component small = component("test_small");
  small.struct_size = 16;
  static pteron_component nameless = component(nullptr);
  const CapturedLog log;
  EXPECT_EQ(pteron_register_component(&small), PTERON_INVALID_ARGUMENT);
  EXPECT_EQ(pteron_register_component(&nameless), PTERON_INVALID_ARGUMENT);
  EXPECT_EQ(pteron_register_component(nullptr), PTERON_INVALID_ARGUMENT);
}

TEST(Registry, TheFirstKernelOfANameStays) {
  static const pteron_kernel kernel_first = kernel("test::taken.out");
  static const pteron_kernel* const kernels_first[] = {&kernel_first};
  static const pteron_kernel kernel_second = kernel("test::taken.out");
  static const pteron_kernel kernel_other = kernel("test::free.out");
  static const pteron_kernel* const kernels_second[] = {&kernel_second, &kernel_other};
  static pteron_component first = component("test_holder");
  first.kernels = kernels_first;
  first.kernel_count = 1;
  static pteron_component second = component("test_latecomer");
  second.kernels = kernels_second;
  second.kernel_count = 2;
  ASSERT_EQ(pteron_register_component(&first), PTERON_OK);
  ASSERT_EQ(pteron_register_component(&second), PTERON_OK);
  const CapturedLog log;
  EXPECT_EQ(find_kernel("test::taken.out")->kernel, &kernel_first);
  EXPECT_EQ(find_kernel("test::free.out")->kernel, &kernel_other);
  EXPECT_STREQ(second.status_note, "test_holder");
  EXPECT_NE(log.text.find("kernel 'test::taken.out' of component 'test_latecomer'"), std::string::npos) << log.text;
}

TEST(Registry, LeavesOutUnusableBackends) {
  static const pteron_backend bad_id = backend("Test/../../B");
  static pteron_backend no_function = backend("TestNoFunction");
  no_function.execute = nullptr;
  static pteron_backend other_abi = backend("TestOtherAbi");
  other_abi.abi_major = 9;
  static const pteron_backend* const backends[] = {&bad_id, &no_function, &other_abi, nullptr};
  static pteron_component node = component("test_bad_backends");
  node.backends = backends;
  node.backend_count = 4;
  const CapturedLog log;
  ASSERT_EQ(pteron_register_component(&node), PTERON_OK);
  EXPECT_EQ(find_backend("Test/../../B"), nullptr);
  EXPECT_EQ(find_backend("TestNoFunction"), nullptr);
  EXPECT_EQ(find_backend("TestOtherAbi"), nullptr);
}

TEST(Registry, KeepsWhyASchemaIsUnusable) {
  static const pteron_kernel kernel_bad = kernel("test::bad_schema.out", "(Thing self) -> Tensor");
  static const pteron_kernel* const kernels[] = {&kernel_bad};
  static pteron_component node = component("test_bad_schema");
  node.kernels = kernels;
  node.kernel_count = 1;
  ASSERT_EQ(pteron_register_component(&node), PTERON_OK);
  EXPECT_NE(find_kernel("test::bad_schema.out")->error.find("expected a type"), std::string::npos);
}

TEST(Registry, HoldsManyKernels) {
  static std::vector<std::string> names;
  static std::vector<pteron_kernel> records;
  static std::vector<const pteron_kernel*> pointers;
  for (int i = 0; i < 1000; ++i) names.push_back("many::k" + std::to_string(i) + ".out");
  for (const std::string& name : names) records.push_back(kernel(name.c_str()));
  for (const pteron_kernel& record : records) pointers.push_back(&record);
  static pteron_component node = component("test_many");
  node.kernels = pointers.data();
  node.kernel_count = pointers.size();
  ASSERT_EQ(pteron_register_component(&node), PTERON_OK);
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(find_kernel(names[i])->kernel, pointers[i]);
  EXPECT_EQ(find_kernel("many::k1000.out"), nullptr);
}

TEST(Registry, IsSafeFromSeveralThreads) {
  static pteron_component nodes[8];
  static std::string names[8];
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    names[i] = "test_thread_" + std::to_string(i);
    nodes[i] = component(names[i].c_str());
    threads.emplace_back([i] {
      EXPECT_EQ(pteron_register_component(&nodes[i]), PTERON_OK);
      EXPECT_NE(find_kernel("executorch_prim::add.Scalar"), nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& name : names) EXPECT_NE(find_component(name), nullptr);
}

TEST(Registry, BackendIdsAreNames) {
  EXPECT_TRUE(is_backend_id("XnnpackBackend"));
  EXPECT_TRUE(is_backend_id("A"));
  EXPECT_TRUE(is_backend_id(std::string(64, 'a')));
  for (const char* id : {"", "9a", "_a", "a-b", "a/b", "..", "a b", "\xc3\xa4"}) EXPECT_FALSE(is_backend_id(id)) << id;
  EXPECT_FALSE(is_backend_id(std::string(65, 'a')));
}

}  // namespace
}  // namespace pteron::runtime
