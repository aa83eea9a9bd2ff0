#include "base/cpu_count.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace pteron {
namespace {

// A folder that looks like the system's files.
class CpuCount : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            ("cpu_count_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(root_);
    files_ = {root_ / "cpus", root_ / "own_cgroup", root_ / "cgroups"};
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  std::filesystem::path root_;
  CpuFiles files_;
};

TEST_F(CpuCount, SiblingsCountAsOneCore) {
  for (const int cpu : {0, 1, 2, 3}) {
    write("cpus/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", cpu % 2 == 0 ? "0,2\n" : "1,3\n");
  }
  EXPECT_EQ(physical_cores({0, 1, 2, 3}, files_), 2);
  EXPECT_EQ(physical_cores({0, 2}, files_), 1);
  EXPECT_EQ(physical_cores({0, 1}, files_), 2);
}

TEST_F(CpuCount, SiblingRangesAreRead) {
  for (const int cpu : {4, 5, 6}) write("cpus/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", "4-6\n");
  EXPECT_EQ(physical_cores({4, 5, 6}, files_), 1);
}

TEST_F(CpuCount, CpusOfUnknownTopologyCountEach) {
  EXPECT_EQ(physical_cores({0, 1, 7}, files_), 3);
}

TEST_F(CpuCount, NoQuotaWithoutFiles) {
  EXPECT_EQ(cgroup_quota(files_), 0);
}

TEST_F(CpuCount, QuotaOfVersion2IsRoundedUp) {
  write("own_cgroup", "0::/a/b\n");
  write("cgroups/a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_quota(files_), 2);
}

TEST_F(CpuCount, OuterGroupLimitsInnerOnes) {
  write("own_cgroup", "0::/a/b\n");
  write("cgroups/a/cpu.max", "300000 100000\n");
  write("cgroups/a/b/cpu.max", "800000 100000\n");
  EXPECT_EQ(cgroup_quota(files_), 3);
}

TEST_F(CpuCount, ContainersSeeTheirGroupAtTheRoot) {
  write("own_cgroup", "0::/outside/only\n");
  write("cgroups/cpu.max", "400000 100000\n");
  EXPECT_EQ(cgroup_quota(files_), 4);
}

TEST_F(CpuCount, UnlimitedVersion2IsNoQuota) {
  write("own_cgroup", "0::/a\n");
  write("cgroups/a/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_quota(files_), 0);
}

TEST_F(CpuCount, QuotaOfVersion1) {
  write("own_cgroup", "5:memory:/m\n4:cpu,cpuacct:/g\n0::/\n");
  write("cgroups/cpu/g/cpu.cfs_quota_us", "50000\n");
  write("cgroups/cpu/g/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_quota(files_), 1);
}

TEST_F(CpuCount, UnlimitedVersion1IsNoQuota) {
  write("own_cgroup", "4:cpu:/g\n");
  write("cgroups/cpu/g/cpu.cfs_quota_us", "-1\n");
  write("cgroups/cpu/g/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_quota(files_), 0);
}

TEST_F(CpuCount, ThisMachineHasACore) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), static_cast<int>(allowed_cpus().size()));
}

}  // namespace
}  // namespace pteron
