#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/data_source.h"

namespace pteron {
namespace {

std::vector<uint8_t> counting(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 31 + i / 256);
  return bytes;
}

// A file of the test's own, removed at its end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<uint8_t>& content) : path_(testing::TempDir() + "pteron_file_XXXXXX") {
    fd_ = ::mkstemp(path_.data());
    EXPECT_GE(fd_, 0) << path_;
    EXPECT_EQ(::write(fd_, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  const char* path() const { return path_.c_str(); }
  int fd() const { return fd_; }

 private:
  std::string path_;
  int fd_ = -1;
};

void expect_content(const Result<Bytes>& bytes, const std::vector<uint8_t>& content) {
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  ASSERT_EQ(bytes->size(), content.size());
  EXPECT_TRUE(std::equal(content.begin(), content.end(), bytes->data()));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes->data()) % kBytesAlignment, 0u);
}

void expect_failure(const Result<Bytes>& bytes, pteron_code code, std::initializer_list<const char*> words) {
  ASSERT_FALSE(bytes.ok());
  EXPECT_STREQ(pteron_code_name(bytes.status().code()), pteron_code_name(code)) << bytes.status().message();
  for (const char* word : words)
    EXPECT_NE(std::strstr(bytes.status().message(), word), nullptr) << bytes.status().message();
}

std::vector<uint8_t> part(const std::vector<uint8_t>& content, size_t offset, size_t size) {
  const auto begin = content.begin() + static_cast<long>(offset);
  return std::vector<uint8_t>(begin, begin + static_cast<long>(size));
}

class FileByAccess : public testing::TestWithParam<FileAccess> {};

TEST_P(FileByAccess, WholeFile) {
  const std::vector<uint8_t> content = counting(10000);
  const TemporaryFile file(content);
  expect_content(read_file(file.path(), GetParam()), content);
}

TEST_P(FileByAccess, EmptyFileGivesNoBytes) {
  const TemporaryFile file({});
  const Result<Bytes> bytes = read_file(file.path(), GetParam());
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_EQ(bytes->size(), 0u);
}

TEST_P(FileByAccess, PartsAtAnyOffset) {
  const std::vector<uint8_t> content = counting(20000);
  const TemporaryFile file(content);
  for (const size_t offset : {0, 1, 16, 100, 4095, 4096, 4112, 8192, 19999}) {
    SCOPED_TRACE(offset);
    expect_content(read_descriptor(file.fd(), offset, 0, GetParam()), part(content, offset, content.size() - offset));
    expect_content(read_descriptor(file.fd(), offset, 1, GetParam()), part(content, offset, 1));
  }
}

TEST_P(FileByAccess, OffsetBeyondTheEnd) {
  const TemporaryFile file(counting(100));
  expect_failure(read_descriptor(file.fd(), 101, 0, GetParam()), PTERON_IO, {"offset 101", "has 100 bytes"});
}

TEST_P(FileByAccess, OffsetAndSizeWrap) {
  const TemporaryFile file(counting(100));
  expect_failure(read_descriptor(file.fd(), 50, ~uint64_t{0} - 8, GetParam()), PTERON_IO,
                 {"at offset 50", "has 100 bytes"});
}

TEST_P(FileByAccess, SizeBeyondTheEnd) {
  const TemporaryFile file(counting(100));
  expect_failure(read_descriptor(file.fd(), 50, 51, GetParam()), PTERON_IO, {"51 bytes at offset 50"});
}

TEST_P(FileByAccess, MissingFile) {
  const std::string path = testing::TempDir() + "pteron_no_such_file";
  expect_failure(read_file(path.c_str(), GetParam()), PTERON_NOT_FOUND, {"pteron_no_such_file", "No such file"});
}

TEST_P(FileByAccess, Directory) {
  expect_failure(read_file(testing::TempDir().c_str(), GetParam()), PTERON_IO, {"is a directory"});
}

TEST_P(FileByAccess, PipeIsRefusedWithoutWaiting) {
  const std::string path = testing::TempDir() + "pteron_pipe_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_failure(read_file(path.c_str(), GetParam()), PTERON_IO, {"a pipe or a device"});
  ::unlink(path.c_str());
}

TEST_P(FileByAccess, ClosedDescriptor) {
  expect_failure(read_descriptor(-1, 0, 0, GetParam()), PTERON_IO, {"file descriptor -1", "Bad file descriptor"});
}

INSTANTIATE_TEST_SUITE_P(File, FileByAccess, testing::Values(FileAccess::kMap, FileAccess::kCopy),
                         [](const auto& info) { return info.param == FileAccess::kMap ? "Map" : "Copy"; });

TEST(File, EmptyPath) {
  expect_failure(read_file("", FileAccess::kMap), PTERON_INVALID_ARGUMENT, {"path", "empty"});
}

TEST(File, CopyDoesNotSeeLaterChanges) {
  const std::vector<uint8_t> content = counting(5000);
  const TemporaryFile file(content);
  const Result<Bytes> bytes = read_file(file.path(), FileAccess::kCopy);
  ASSERT_EQ(::ftruncate(file.fd(), 0), 0);
  expect_content(bytes, content);
}

TEST(File, DescriptorKeepsItsPosition) {
  const TemporaryFile file(counting(100));
  ASSERT_EQ(::lseek(file.fd(), 7, SEEK_SET), 7);
  ASSERT_TRUE(read_descriptor(file.fd(), 16, 8, FileAccess::kCopy).ok());
  EXPECT_EQ(::lseek(file.fd(), 0, SEEK_CUR), 7);
}

struct Source {
  std::vector<uint8_t> content;
  size_t missing = 0;  // bytes that a read leaves out
  int released = 0;

  pteron_data_source handle() {
    pteron_data_source source{};
    source.struct_size = sizeof(source);
    source.user = this;
    source.size = content.size();
    source.read = [](void* user, uint64_t offset, void* out, size_t size) {
      auto* self = static_cast<Source*>(user);
      const size_t count = size - std::min(size, self->missing);
      std::memcpy(out, self->content.data() + offset, count);
      return count;
    };
    source.release = [](void* user) { ++static_cast<Source*>(user)->released; };
    return source;
  }
};

TEST(DataSource, ReadsAllAndReleasesOnce) {
  Source source{counting(1000)};
  expect_content(read_source(source.handle()), source.content);
  EXPECT_EQ(source.released, 1);
}

TEST(DataSource, H14_FewerBytesThanPromised) {
  Source source{counting(1000), 1};
  expect_failure(read_source(source.handle()), PTERON_IO, {"gave 999 bytes, expected 1000"});
  EXPECT_EQ(source.released, 1);
}

TEST(DataSource, H12_AbsurdSize) {
  Source source{{}};
  pteron_data_source handle = source.handle();
  handle.size = ~uint64_t{0};
  expect_failure(read_source(handle), PTERON_OUT_OF_MEMORY, {"18446744073709551615 bytes"});
  EXPECT_EQ(source.released, 1);
}

TEST(DataSource, WithoutAReadFunction) {
  Source source{{}};
  pteron_data_source handle = source.handle();
  handle.read = nullptr;
  expect_failure(read_source(handle), PTERON_INVALID_ARGUMENT, {"no read function"});
  EXPECT_EQ(source.released, 1);
}

void count_release(void* user) {
  ++*static_cast<int*>(user);
}

TEST(BorrowedBytes, AreUsedInPlaceUntilTheLastOwnerIsGone) {
  alignas(16) const uint8_t memory[64] = {1, 2, 3};
  int released = 0;
  {
    const Result<Bytes> bytes = borrow_bytes(memory, sizeof(memory), count_release, &released);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(bytes->data(), memory);
    const Bytes rest = bytes->part(16, 8);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(BorrowedBytes, MisalignedOnesAreCopiedAndGivenBack) {
  alignas(16) const uint8_t memory[64] = {1, 2, 3};
  int released = 0;
  const Result<Bytes> bytes = borrow_bytes(memory + 1, 8, count_release, &released);
  expect_content(bytes, std::vector<uint8_t>(memory + 1, memory + 9));
  EXPECT_EQ(released, 1);
}

TEST(BorrowedBytes, WithoutAReleaseFunctionTheyAreCopied) {
  alignas(16) const uint8_t memory[64] = {1, 2, 3};
  const Result<Bytes> bytes = borrow_bytes(memory, sizeof(memory), nullptr, nullptr);
  ASSERT_TRUE(bytes.ok());
  EXPECT_NE(bytes->data(), memory);
}

TEST(BorrowedBytes, NullWithASizeIsRefusedAndGivenBack) {
  int released = 0;
  expect_failure(borrow_bytes(nullptr, 8, count_release, &released), PTERON_INVALID_ARGUMENT,
                 {"8 bytes at a null pointer"});
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace pteron
