#include "outcome.h"

#include <fstream>
#include <iterator>
#include <new>

namespace pteron::damaged {

FileBytes fixture(const std::string& name) {
  std::ifstream file(std::string(PTERON_TEST_DATA) + "/programs/" + name, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  return FileBytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

Outcome load(const FileBytes& program) {
  // The bytes are borrowed from a block of exactly their size, so that a sanitizer sees a read behind their end.
  const size_t size = program.size();
  void* block = ::operator new(size, std::align_val_t{16});
  std::copy(program.begin(), program.end(), static_cast<uint8_t*>(block));
  pteron_program* loaded = nullptr;
  pteron_status* status = pteron_program_load_bytes(
      block, size, [](void* user) { ::operator delete(user, std::align_val_t{16}); }, block, nullptr, &loaded);
  Outcome outcome{pteron_status_code(status), pteron_status_message(status)};
  pteron_status_free(status);
  pteron_program_release(loaded);
  return outcome;
}

void expect_refused(const Outcome& outcome, pteron_code code, std::initializer_list<const char*> words) {
  EXPECT_STREQ(pteron_code_name(outcome.code), pteron_code_name(code)) << outcome.message;
  for (const char* word : words) {
    EXPECT_NE(outcome.message.find(word), std::string::npos) << "no \"" << word << "\" in: " << outcome.message;
  }
}

void expect_invalid(const Outcome& outcome, std::initializer_list<const char*> words) {
  expect_refused(outcome, PTERON_INVALID_FILE, words);
}

void expect_loads(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, PTERON_OK) << outcome.message;
}

}  // namespace pteron::damaged
