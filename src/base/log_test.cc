#include "base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace pteron {
namespace {

class Log : public testing::Test {
 protected:
  void SetUp() override {
    set_log_level(PTERON_LOG_WARNING);
    set_log_callback(
        [](void* user, int level, const char* component, const char* message) {
          static_cast<std::vector<std::string>*>(user)->push_back(std::to_string(level) + " " + component + " " +
                                                                  message);
        },
        &lines_);
  }
  void TearDown() override {
    set_log_callback(nullptr, nullptr);
    set_log_level(PTERON_LOG_WARNING);
  }
  std::vector<std::string> lines_;
};

TEST_F(Log, LinesReachTheReceiver) {
  log(PTERON_LOG_ERROR, "test", "%s %d", "number", 7);
  EXPECT_EQ(lines_, std::vector<std::string>({"3 test number 7"}));
}

TEST_F(Log, LowerLevelsAreDropped) {
  log(PTERON_LOG_INFO, "test", "quiet");
  EXPECT_TRUE(lines_.empty());
  set_log_level(PTERON_LOG_DEBUG);
  log(PTERON_LOG_DEBUG, "test", "loud");
  EXPECT_EQ(lines_.size(), 1u);
}

TEST_F(Log, OffDropsEverything) {
  set_log_level(PTERON_LOG_OFF);
  log(PTERON_LOG_ERROR, "test", "quiet");
  log(PTERON_LOG_OFF, "test", "no level of a line");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(Log, LongLinesArriveWhole) {
  const std::string text(5000, 'x');
  log(PTERON_LOG_ERROR, "test", "%s", text.c_str());
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].size(), text.size() + 7);
}

TEST_F(Log, LevelsOutsideTheRangeAreClamped) {
  set_log_level(99);
  EXPECT_EQ(log_level(), PTERON_LOG_OFF);
  set_log_level(-3);
  EXPECT_EQ(log_level(), PTERON_LOG_DEBUG);
}

TEST_F(Log, TheDefaultReceiverWritesALine) {
  set_log_callback(nullptr, nullptr);
  testing::internal::CaptureStderr();
  log(PTERON_LOG_WARNING, "test", "hello");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "pteron: warning: test: hello\n");
}

}  // namespace
}  // namespace pteron
