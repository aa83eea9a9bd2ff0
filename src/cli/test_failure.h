// What a test says about a Failure: its exit code and a part of its sentence.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "cli/failure.h"

namespace pteron::cli {

template <typename Call>
void expect_failure(Call&& call, ExitCode code, const std::string& part) {
  try {
    call();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), code) << failure.what();
    EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
    return;
  }
  ADD_FAILURE() << "nothing was refused; expected: " << part;
}

}  // namespace pteron::cli
