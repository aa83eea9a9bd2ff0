#include "cli/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "cli/failure.h"

namespace pteron::cli {
namespace {

class Files : public testing::Test {
 protected:
  Files() {
    std::string pattern = testing::TempDir() + "/pteron-files-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Files() override {
    for (const char* name : {"a", "link", "pipe"}) ::unlink(path(name).c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path(const char* name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(Files, ReplacesAFile) {
  write_file(path("a"), "a longer text");
  write_file(path("a"), "short");
  EXPECT_EQ(read_file(path("a")), "short");
}

TEST_F(Files, WritesThroughALink) {
  write_file(path("a"), "old");
  ASSERT_EQ(::symlink("a", path("link").c_str()), 0);
  write_file(path("link"), "new");
  struct stat info {};
  ASSERT_EQ(::lstat(path("link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_EQ(read_file(path("a")), "new");
}

TEST_F(Files, LeavesAPipeInItsPlace) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  write_file(path("pipe"), "text");
  char found[8] = {};
  EXPECT_EQ(::read(reader, found, sizeof found), 4);
  ::close(reader);
  EXPECT_STREQ(found, "text");
}

TEST_F(Files, RefusesToReadAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(read_file(path("pipe")), Failure);
}

TEST_F(Files, RefusesToWriteAFolder) {
  EXPECT_THROW(write_file(testing::TempDir(), "text"), Failure);
}

}  // namespace
}  // namespace pteron::cli
