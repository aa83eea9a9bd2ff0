// How many threads may compute at once here.
#pragma once

#include <string>
#include <vector>

namespace pteron {

// The least of: CPUs the process may run on, its cgroup's quota (rounded up), physical cores among those CPUs. At least
// 1.
int usable_cores();

// CPUs the calling thread may run on, in order.
std::vector<int> allowed_cpus();

// Where the operating system tells; tests give a folder of their own.
struct CpuFiles {
  std::string cpus = "/sys/devices/system/cpu";
  std::string own_cgroup = "/proc/self/cgroup";
  std::string cgroups = "/sys/fs/cgroup";
};

// Cores that have at least one of `cpus`. Each CPU counts where the system tells nothing about it.
int physical_cores(const std::vector<int>& cpus, const CpuFiles& files);

// The least CPU quota of the process's cgroup and those around it, version 1 or 2, rounded up to whole CPUs; 0 when
// there is none.
int cgroup_quota(const CpuFiles& files);

}  // namespace pteron
