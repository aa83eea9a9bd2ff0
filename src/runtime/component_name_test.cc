// What the loader decides before it opens anything. (component_loader_test.cc opens libraries, with the shared
// runtime.)
#include <gtest/gtest.h>

#include "runtime/component_loader.h"

namespace pteron::runtime {
namespace {

TEST(ComponentName, FollowsFromTheBackendsId) {
  EXPECT_EQ(library_name_of_backend("XnnpackBackend"), "xnnpack");
  EXPECT_EQ(library_name_of_backend("OpenvinoBackend"), "openvino");
  EXPECT_EQ(library_name_of_backend("PteronNull"), "null");
  EXPECT_EQ(library_name_of_backend("Backend"), "backend");
  EXPECT_EQ(library_name_of_backend("My_Backend2"), "my_backend2");
}

TEST(ComponentName, IdsThatAreNoNamesHaveNoLibrary) {
  for (const char* id : {"", "../evil", "a b", "9", "x/y"}) EXPECT_EQ(library_name_of_backend(id), "") << id;
}

TEST(ComponentName, ThreeReasonsForAMissingBackend) {
  EXPECT_STREQ(find_or_load_backend("", true).status().message(),
               "'' is no id of a backend: expected [A-Za-z][A-Za-z0-9_]{0,63}");
  EXPECT_STREQ(
      find_or_load_backend("AbsentBackend", false).status().message(),
      "backend 'AbsentBackend' is not registered (no backend is registered) and loading on demand is off; link "
      "or load libpteron_backend_absent.so first");
  EXPECT_EQ(find_or_load_backend("AbsentBackend", true).status().code(), PTERON_MISSING_BACKEND);
}

TEST(ComponentName, NamesThatCouldLeaveTheFolderAreRefused) {
  for (const char* name : {"", "../kernels", "a/b", "Kernels", "a.b", "a b"}) {
    EXPECT_EQ(load_component(name, nullptr).code(), PTERON_INVALID_ARGUMENT) << name;
  }
}

TEST(ComponentName, AStaticRuntimeLoadsNoSharedComponents) {
  const Status status = load_component("kernels", nullptr);
  EXPECT_EQ(status.code(), PTERON_UNSUPPORTED);
  EXPECT_NE(std::string(status.message()).find("the runtime is linked into this program"), std::string::npos);
}

TEST(ComponentName, OnlyOperatorsOfTheKernelsLibraryAreLookedForThere) {
  EXPECT_EQ(find_or_load_kernel("executorch_prim::no_such", true), nullptr);
  EXPECT_EQ(find_or_load_kernel("custom::no_such.out", true), nullptr);
  EXPECT_EQ(find_or_load_kernel("aten::no_such.out", true), nullptr);
  EXPECT_EQ(find_or_load_kernel("no_colons", true), nullptr);
}

}  // namespace
}  // namespace pteron::runtime
