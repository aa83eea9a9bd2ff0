#include "base/cpu_count.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace pteron {
namespace {

// The start of a small file of the system's; "" when it cannot be read.
std::string read_small_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char text[4096];
  const ssize_t size = read(fd, text, sizeof text);
  close(fd);
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : std::string();
}

// The numbers of "0-3,8,10-11".
std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  const char* at = text.c_str();
  while (*at >= '0' && *at <= '9') {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) cpus.push_back(static_cast<int>(cpu));
    at = *end == ',' ? end + 1 : end;
  }
  return cpus;
}

int whole_cpus(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<long long>((quota + period - 1) / period, CPU_SETSIZE));
}

int least_positive(int a, int b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// cgroup v2: "max 100000" or "150000 100000".
int quota_v2(const std::string& folder) {
  const std::string text = read_small_file(folder + "/cpu.max");
  char* end = nullptr;
  const long long quota = std::strtoll(text.c_str(), &end, 10);
  return end == text.c_str() ? 0 : whole_cpus(quota, std::strtoll(end, nullptr, 10));
}

int quota_v1(const std::string& folder) {
  const std::string quota = read_small_file(folder + "/cpu.cfs_quota_us");
  const std::string period = read_small_file(folder + "/cpu.cfs_period_us");
  return whole_cpus(std::atoll(quota.c_str()), std::atoll(period.c_str()));
}

// The least quota on the way from `root` + `path` up to `root`. Inside a container the path may name folders that only
// exist outside; those are skipped, and the container's own group is the root.
template <typename QuotaOf>
int least_quota_upwards(const std::string& root, std::string path, QuotaOf quota_of) {
  int least = quota_of(root);
  while (path.size() > 1) {
    least = least_positive(least, quota_of(root + path));
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  return least;
}

bool lists_cpu_controller(std::string_view controllers) {
  while (!controllers.empty()) {
    const size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    return cpus;
  }
  // More CPUs than the fixed set holds.
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  for (int cpu = 0; cpu < online; ++cpu) cpus.push_back(cpu);
  return cpus;
}

int physical_cores(const std::vector<int>& cpus, const CpuFiles& files) {
  std::vector<int> counted;  // CPUs on cores that are counted already
  int cores = 0;
  for (const int cpu : cpus) {
    if (std::find(counted.begin(), counted.end(), cpu) != counted.end()) continue;
    ++cores;
    const std::string file = files.cpus + "/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list";
    const std::vector<int> siblings = parse_cpu_list(read_small_file(file));
    counted.insert(counted.end(), siblings.begin(), siblings.end());
  }
  return cores;
}

int cgroup_quota(const CpuFiles& files) {
  // Lines are "0::/path" (version 2) and "4:cpu,cpuacct:/path" (version 1).
  const std::string text = read_small_file(files.own_cgroup);
  int least = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      least = least_positive(least, least_quota_upwards(files.cgroups, path, quota_v2));
    } else if (lists_cpu_controller(controllers)) {
      least = least_positive(least, least_quota_upwards(files.cgroups + "/cpu", path, quota_v1));
    }
  }
  return least;
}

int usable_cores() {
  const CpuFiles files;
  const std::vector<int> cpus = allowed_cpus();
  int cores = std::max(1, physical_cores(cpus, files));
  const int quota = cgroup_quota(files);
  return quota > 0 ? std::min(cores, quota) : cores;
}

}  // namespace pteron
