#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <string>

#include "base/aligned_memory.h"
#include "base/checked.h"
#include "base/error.h"

namespace pteron {
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

 private:
  int fd_;
};

pteron_code code_of(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return PTERON_NOT_FOUND;
    case ENOMEM:
      return PTERON_OUT_OF_MEMORY;
    default:
      return PTERON_IO;
  }
}

Status system_error(const char* what, const char* name, int number) {
  return error(code_of(number), "cannot %s '%s': %s", what, name, std::strerror(number));
}

Status too_large(const char* name, uint64_t size) {
  return error(PTERON_OUT_OF_MEMORY, "cannot read '%s': no memory for %" PRIu64 " bytes", name, size);
}

Result<Bytes> copy_range(int fd, const char* name, uint64_t offset, uint64_t size) {
  size_t length = 0;
  if (!checked_cast(size, &length)) return too_large(name, size);
  std::shared_ptr<uint8_t> memory = allocate_aligned(length);
  if (memory == nullptr) return too_large(name, size);
  // Linux transfers at most 2 GiB minus a page a call.
  constexpr size_t kLongestRead = size_t{1} << 30;
  size_t done = 0;
  while (done < length) {
    const ssize_t count =
        ::pread(fd, memory.get() + done, std::min(length - done, kLongestRead), static_cast<off_t>(offset + done));
    if (count < 0) {
      if (errno == EINTR) continue;
      return system_error("read", name, errno);
    }
    if (count == 0) {
      return error(PTERON_IO,
                   "cannot read '%s': it ended after %" PRIu64 " bytes, expected %" PRIu64
                   "; did it change while it was read?",
                   name, offset + done, offset + size);
    }
    done += static_cast<size_t>(count);
  }
  return Bytes(memory.get(), length, memory);
}

struct Mapping {
  void* address;
  size_t length;
  ~Mapping() { ::munmap(address, length); }
};

Result<Bytes> map_range(int fd, const char* name, uint64_t offset, uint64_t size) {
  const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t lead = offset % page;
  uint64_t total = 0;
  size_t length = 0;
  if (!checked_add(size, lead, &total) || !checked_cast(total, &length)) return too_large(name, size);
  void* address = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, fd, static_cast<off_t>(offset - lead));
  if (address == MAP_FAILED) return system_error("map", name, errno);
  std::shared_ptr<const Mapping> mapping;
  try {
    mapping = std::make_shared<const Mapping>(address, length);
  } catch (...) {
    ::munmap(address, length);
    throw;
  }
  const uint8_t* data = static_cast<const uint8_t*>(address) + lead;
  return Bytes(data, static_cast<size_t>(size), std::move(mapping));
}

Result<Bytes> read_range(int fd, const char* name, uint64_t offset, uint64_t size, FileAccess access) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return system_error("read", name, errno);
  if (S_ISDIR(info.st_mode)) return error(PTERON_IO, "cannot read '%s': it is a directory, expected a file", name);
  if (!S_ISREG(info.st_mode)) {
    return error(PTERON_IO,
                 "cannot read '%s': it is a pipe or a device, expected a regular file; "
                 "read it yourself and load the bytes",
                 name);
  }
  const uint64_t file_size = static_cast<uint64_t>(info.st_size);
  if (offset > file_size) {
    return error(PTERON_IO, "cannot read '%s': offset %" PRIu64 " lies beyond its end, it has %" PRIu64 " bytes", name,
                 offset, file_size);
  }
  if (size == 0) size = file_size - offset;
  if (!range_fits(offset, size, file_size)) {
    return error(PTERON_IO,
                 "cannot read '%s': %" PRIu64 " bytes at offset %" PRIu64 " asked for, but it has %" PRIu64 " bytes",
                 name, size, offset, file_size);
  }
  if (size == 0) return Bytes();
  if (access == FileAccess::kMap && offset % kBytesAlignment == 0) return map_range(fd, name, offset, size);
  return copy_range(fd, name, offset, size);
}

}  // namespace

Result<Bytes> read_file(const char* path, FileAccess access) {
  if (path == nullptr || path[0] == '\0') return error(PTERON_INVALID_ARGUMENT, "the path of a file is empty");
  // Without O_NONBLOCK the open of a pipe waits for a writer; regular files do not care.
  int fd = -1;
  do {
    fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return system_error("open", path, errno);
  const Descriptor descriptor(fd);
  return read_range(descriptor.get(), path, 0, 0, access);
}

Result<Bytes> read_descriptor(int fd, uint64_t offset, uint64_t size, FileAccess access) {
  return read_range(fd, format_text("file descriptor %d", fd).c_str(), offset, size, access);
}

Result<Bytes> copy_bytes(const void* data, size_t size) {
  std::shared_ptr<uint8_t> memory = allocate_aligned(size);
  if (memory == nullptr) return error(PTERON_OUT_OF_MEMORY, "no memory to copy %zu bytes", size);
  if (size != 0) std::memcpy(memory.get(), data, size);
  return Bytes(memory.get(), size, memory);
}

}  // namespace pteron
