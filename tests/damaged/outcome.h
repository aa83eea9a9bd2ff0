// Loading bytes that may be damaged, and saying what must come of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "pteron/c/program.h"

namespace pteron::damaged {

using FileBytes = std::vector<uint8_t>;

// A file of tests/data/programs.
FileBytes fixture(const std::string& name);

struct Outcome {
  pteron_code code = PTERON_OK;
  std::string message;
};

// Loads a program, or the one inside a bundle, as an application would.
Outcome load(const FileBytes& program);

// Loads a program with data files, which are called "0.ptd", "1.ptd", ...
Outcome load(const FileBytes& program, const std::vector<FileBytes>& data_files);

// The load must fail with `code`, and its message must hold each of `words`.
void expect_refused(const Outcome& outcome, pteron_code code, std::initializer_list<const char*> words);
void expect_invalid(const Outcome& outcome, std::initializer_list<const char*> words);
void expect_loads(const Outcome& outcome);

}  // namespace pteron::damaged
