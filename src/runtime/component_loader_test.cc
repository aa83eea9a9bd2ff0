// Loading components at run time, through the shared runtime's C functions. PTERON_FIXTURES is the folder of the
// component libraries that are built for this test.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "pteron/c/method.h"
#include "pteron/c/runtime.h"
#include "pteron/result.h"

namespace pteron {
namespace {

namespace fs = std::filesystem;

const std::string kFixtures = PTERON_FIXTURES;

Status load(const char* name, const char* path = nullptr) {
  return Status::adopt(pteron_load_component(name, path));
}

void expect_message(const Status& status, const std::string& part) {
  EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status.message();
}

// A folder of the test's own that only we may write.
class ComponentLoader : public testing::Test {
 protected:
  void SetUp() override {
    pteron_set_log_level(PTERON_LOG_OFF);  // refusals are expected here
    folder_ = fs::path(testing::TempDir()) /
              ("loader_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    chmod(folder_.c_str(), 0755);
  }
  void TearDown() override {
    unsetenv("PTERON_BACKEND_PATH");
    fs::remove_all(folder_);
  }
  std::string copy_fixture(const std::string& name) const {
    const std::string file = "libpteron_" + name + ".so";
    fs::copy_file(fs::path(kFixtures) / file, folder_ / file, fs::copy_options::overwrite_existing);
    return (folder_ / file).string();
  }
  fs::path folder_;
};

TEST_F(ComponentLoader, LoadsFromAnExplicitFolder) {
  ASSERT_EQ(pteron_find_backend("FixtureOne"), nullptr);
  ASSERT_TRUE(load("backend_fixture_one", kFixtures.c_str()).ok());
  EXPECT_NE(pteron_find_backend("FixtureOne"), nullptr);
  EXPECT_TRUE(load("backend_fixture_one", kFixtures.c_str()).ok()) << "loading again is harmless";
}

TEST_F(ComponentLoader, LoadsFromAnExplicitFile) {
  ASSERT_TRUE(load("backend_fixture_two", (kFixtures + "/libpteron_backend_fixture_two.so").c_str()).ok());
  EXPECT_NE(pteron_find_backend("FixtureTwo"), nullptr);
}

TEST_F(ComponentLoader, LoadsFromTheSearchPath) {
  setenv("PTERON_BACKEND_PATH", ("/nonexistent:" + kFixtures).c_str(), 1);
  ASSERT_TRUE(load("backend_fixture_three").ok());
  EXPECT_NE(pteron_find_backend("FixtureThree"), nullptr);
}

TEST_F(ComponentLoader, ListsEveryPlaceThatWasTried) {
  setenv("PTERON_BACKEND_PATH", ("/nonexistent:" + folder_.string()).c_str(), 1);
  const Status status = load("backend_absent");
  EXPECT_EQ(status.code(), PTERON_NOT_FOUND);
  expect_message(status, "/nonexistent/libpteron_backend_absent.so: No such file or directory");
  expect_message(status, folder_.string() + "/libpteron_backend_absent.so: No such file or directory");
  expect_message(status, "/lib/libpteron_backend_absent.so: No such file or directory");
  expect_message(status, "PTERON_BACKEND_PATH");
}

TEST_F(ComponentLoader, AFailedTryCanBeRepeated) {
  const std::string path = (folder_ / "libpteron_backend_fixture_four.so").string();
  std::ofstream(path) << "no library";
  const Status status = load("backend_fixture_four", folder_.c_str());
  EXPECT_EQ(status.code(), PTERON_NOT_FOUND);
  expect_message(status, "file too short");  // the loader's own words
  copy_fixture("backend_fixture_four");
  EXPECT_TRUE(load("backend_fixture_four", folder_.c_str()).ok());
  EXPECT_NE(pteron_find_backend("FixtureFour"), nullptr);
}

TEST_F(ComponentLoader, RefusesFoldersThatEverybodyMayWrite) {
  copy_fixture("backend_fixture_unsafe");
  chmod(folder_.c_str(), 0777);
  setenv("PTERON_BACKEND_PATH", folder_.c_str(), 1);
  expect_message(load("backend_fixture_unsafe"), "everybody may write its folder");
  EXPECT_EQ(pteron_find_backend("FixtureUnsafe"), nullptr);
}

TEST_F(ComponentLoader, RefusesFilesThatEverybodyMayWrite) {
  chmod(copy_fixture("backend_fixture_unsafe").c_str(), 0777);
  expect_message(load("backend_fixture_unsafe", folder_.c_str()), "everybody may write it");
  EXPECT_EQ(pteron_find_backend("FixtureUnsafe"), nullptr);
}

TEST_F(ComponentLoader, RefusesRelativeFolders) {
  copy_fixture("backend_fixture_unsafe");
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  setenv("PTERON_BACKEND_PATH", ".", 1);
  const Status status = load("backend_fixture_unsafe");
  fs::current_path(before);
  expect_message(status, "not an absolute path");
  EXPECT_EQ(pteron_find_backend("FixtureUnsafe"), nullptr);
}

TEST_F(ComponentLoader, RefusesNamesThatAreNoNames) {
  EXPECT_EQ(load("../backend_fixture_one", kFixtures.c_str()).code(), PTERON_INVALID_ARGUMENT);
  EXPECT_EQ(load(nullptr).code(), PTERON_INVALID_ARGUMENT);
}

TEST_F(ComponentLoader, RefusesASecondLibraryOfTheSameComponent) {
  ASSERT_TRUE(load("backend_fixture_five", kFixtures.c_str()).ok());
  const pteron_backend* first = pteron_find_backend("FixtureFive");
  const std::string copy = copy_fixture("backend_fixture_five");
  const Status status = load("backend_fixture_five", copy.c_str());
  EXPECT_EQ(status.code(), PTERON_ALREADY_EXISTS);
  expect_message(status, copy);
  EXPECT_EQ(pteron_find_backend("FixtureFive"), first);
}

TEST_F(ComponentLoader, RefusesComponentsForANewerRuntime) {
  const Status status = load("backend_fixture_newer", kFixtures.c_str());
  EXPECT_EQ(status.code(), PTERON_UNSUPPORTED);
  expect_message(status, "needs a runtime of interface 1.99, this one has 1.0");
  EXPECT_EQ(pteron_find_backend("FixtureNewer"), nullptr);
}

TEST_F(ComponentLoader, ProgramsBringTheirBackendOnDemand) {
  pteron_program* program = nullptr;
  ASSERT_TRUE(
      Status::adopt(pteron_program_load_file(PTERON_TEST_DATA "/programs/null_whole.pte", nullptr, &program)).ok());
  pteron_plan_options options{};
  options.struct_size = sizeof options;
  options.no_auto_load = 1;
  pteron_plan* plan = nullptr;
  const Status refused = Status::adopt(pteron_plan_create(program, "forward", &options, &plan));
  EXPECT_EQ(refused.code(), PTERON_MISSING_BACKEND);
  expect_message(refused, "loading on demand is off; link or load libpteron_backend_null.so first");

  // libpteron_backend_null.so lies beside libpteron.so.
  const Status loaded = Status::adopt(pteron_plan_create(program, "forward", nullptr, &plan));
  EXPECT_TRUE(loaded.ok()) << loaded.message();
  EXPECT_NE(pteron_find_backend("PteronNull"), nullptr);
  pteron_plan_release(plan);
  pteron_program_release(program);
}

}  // namespace
}  // namespace pteron
