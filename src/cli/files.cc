#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/failure.h"

namespace pteron::cli {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int close() {
    const int result = ::close(fd_);
    fd_ = -1;
    return result;
  }

 private:
  int fd_;
};

void write_all(int fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(kInputOutput, "cannot write '%s': %s", path.c_str(), std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

// A link, a device or a pipe at `path` is there for a purpose; putting a file in its place would undo it.
bool may_replace(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

int open_to_write(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) fail(kInputOutput, "cannot create '%s': %s", path.c_str(), std::strerror(errno));
  return fd;
}

void write_and_close(Descriptor* file, const std::string& path, std::string_view bytes) {
  write_all(file->get(), path, bytes);
  if (file->close() != 0) fail(kInputOutput, "cannot write '%s': %s", path.c_str(), std::strerror(errno));
}

template <typename T>
T load(const char* data) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;) value = static_cast<T>((value << 8) | static_cast<uint8_t>(data[i]));
  return value;
}
template <>
uint16_t load(const char* data) {
  return static_cast<uint16_t>(static_cast<uint8_t>(data[0]) | (static_cast<uint8_t>(data[1]) << 8));
}

template <typename T>
void append(std::string* out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out->push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

}  // namespace

std::string read_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe is refused below, not waited for
  if (file.get() < 0) fail(kInputOutput, "cannot open '%s': %s", path.c_str(), std::strerror(errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) {
    fail(kInputOutput, "cannot look at '%s': %s", path.c_str(), std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) fail(kInputOutput, "'%s' is not a regular file", path.c_str());
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(kInputOutput, "cannot read '%s': %s", path.c_str(), std::strerror(errno));
    if (count == 0) fail(kInputOutput, "'%s' became shorter while it was read", path.c_str());
    done += static_cast<size_t>(count);
  }
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  const bool replace = may_replace(path);
  const std::string target = replace ? path + ".partial" : path;
  Descriptor file(open_to_write(target));
  if (!replace) return write_and_close(&file, target, bytes);
  try {
    write_and_close(&file, target, bytes);
    if (std::rename(target.c_str(), path.c_str()) != 0) {
      fail(kInputOutput, "cannot write '%s': %s", path.c_str(), std::strerror(errno));
    }
  } catch (...) {
    ::unlink(target.c_str());
    throw;
  }
}

bool ends_with(const std::string& text, std::string_view ending) {
  return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

uint16_t load_u16(const char* data) {
  return load<uint16_t>(data);
}
uint32_t load_u32(const char* data) {
  return load<uint32_t>(data);
}
uint64_t load_u64(const char* data) {
  return load<uint64_t>(data);
}
void append_u16(std::string* out, uint16_t value) {
  append(out, value);
}
void append_u32(std::string* out, uint32_t value) {
  append(out, value);
}
void append_u64(std::string* out, uint64_t value) {
  append(out, value);
}

}  // namespace pteron::cli
