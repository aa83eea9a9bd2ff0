// Every field of real files set to every kind of bad number, every byte turned over, every length cut: loading and
// looking at what still loads must neither crash nor read out of bounds, which the sanitizers would see.
#include <cstring>

#include "base/file.h"
#include "format/bundle_file.h"
#include "number_finder.h"
#include "program_edit.h"
#include "runtime/program.h"

namespace pteron::damaged {
namespace {

// What a tool would do with a program: metadata, instructions, keys, segments.
void look_at(const pteron_program* program) {
  const auto ignore = [](void*, const pteron_instruction_info* info) {
    EXPECT_NE(info->text, nullptr);
    EXPECT_NE(info->source, nullptr);
  };
  for (size_t i = 0; i < pteron_program_method_count(program); ++i) {
    const pteron_method_info* method = pteron_program_method(program, i);
    pteron_status_free(pteron_program_visit_instructions(program, method->name, ignore, nullptr));
    for (size_t k = 0; k < method->input_count; ++k) {
      uint64_t sum = method->inputs[k]->bytes;
      for (int32_t d = 0; d < method->inputs[k]->rank; ++d) {
        sum += static_cast<uint64_t>(method->inputs[k]->sizes[d]) + method->inputs[k]->dim_order[d];
      }
      EXPECT_GE(sum + std::strlen(method->inputs[k]->name), 0u);
    }
  }
  for (size_t i = 0; i < pteron_program_key_count(program); ++i) {
    pteron_key_info info{};
    pteron_status_free(pteron_program_key(program, i, &info));
    EXPECT_NE(info.key, nullptr);
  }
}

// Loads from a block of exactly the file's size. True when it was accepted.
bool try_load(const FileBytes& file) {
  void* block = ::operator new(file.size(), std::align_val_t{16});
  std::copy(file.begin(), file.end(), static_cast<uint8_t*>(block));
  pteron_program* program = nullptr;
  pteron_status* status = pteron_program_load_bytes(
      block, file.size(), [](void* user) { ::operator delete(user, std::align_val_t{16}); }, block, nullptr, &program);
  const pteron_code code = pteron_status_code(status);
  const bool expected = code == PTERON_OK || code == PTERON_INVALID_FILE || code == PTERON_UNSUPPORTED;
  EXPECT_TRUE(expected) << pteron_code_name(code) << ": " << pteron_status_message(status);
  EXPECT_EQ(code == PTERON_OK, program != nullptr);
  pteron_status_free(status);
  if (program != nullptr) look_at(program);
  pteron_program_release(program);
  return code == PTERON_OK;
}

const uint64_t kBadNumbers[] = {0,
                                1,
                                ~uint64_t{0},
                                0x7f,
                                0x80,
                                0x7fff,
                                0x7fffffff,
                                0x80000000u,
                                0xffffffffu - 1,
                                0x40000000,
                                17,
                                uint64_t{1} << 32,
                                ~uint64_t{0} >> 1,
                                uint64_t{1} << 63,
                                ~uint64_t{0} - 15};

class Sweep : public testing::TestWithParam<const char*> {};

TEST_P(Sweep, EveryNumberOfTheFile) {
  const FileBytes file = fixture(GetParam());
  ASSERT_TRUE(try_load(file));
  size_t tried = 0;
  for (const Number& number : numbers_of(file)) {
    for (const uint64_t bad : kBadNumbers) {
      FileBytes damaged = file;
      std::memcpy(damaged.data() + number.offset, &bad, number.width);
      try_load(damaged);
      ++tried;
    }
  }
  EXPECT_GT(tried, 1000u);
}

TEST_P(Sweep, EveryCut) {
  const FileBytes file = fixture(GetParam());
  for (size_t size = 0; size < file.size(); size += 16) {
    EXPECT_FALSE(try_load(FileBytes(file.begin(), file.begin() + static_cast<long>(size)))) << size;
  }
}

TEST_P(Sweep, EveryByteTurned) {
  const FileBytes file = fixture(GetParam());
  for (size_t at = 0; at < file.size(); ++at) {
    FileBytes damaged = file;
    damaged[at] ^= 0xff;
    try_load(damaged);
    damaged[at] = static_cast<uint8_t>(file[at] + 1);
    try_load(damaged);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Sweep,
                         testing::Values("add.pte", "linear.pte", "cond.pte", "mutable_counter.pte", "stack_trace.pte",
                                         "xnnpack_linear.pte", "null_fail_init.pte"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

// Data files and bundles have few numbers; every byte gets several values.
template <typename Read>
void turn_every_byte(const FileBytes& file, const Read& read) {
  for (size_t at = 0; at < file.size(); ++at) {
    for (const uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      FileBytes damaged = file;
      damaged[at] = value;
      read(damaged);
    }
  }
}

TEST(SweepOthers, DataFile) {
  const FileBytes program = fixture("external_weights.pte");
  turn_every_byte(fixture("external_weights.ptd"), [&](const FileBytes& data) {
    const pteron_code code = load(program, {data}).code;
    EXPECT_TRUE(code == PTERON_OK || code == PTERON_INVALID_FILE || code == PTERON_UNSUPPORTED ||
                code == PTERON_NOT_FOUND)
        << pteron_code_name(code);
  });
}

TEST(SweepOthers, Bundle) {
  turn_every_byte(fixture("add.bpte"), [&](const FileBytes& file) {
    const auto bundle = format::read_bundle_file(*copy_bytes(file.data(), file.size()));
    const pteron_code code = bundle.status().code();
    EXPECT_TRUE(code == PTERON_OK || code == PTERON_INVALID_FILE || code == PTERON_UNSUPPORTED)
        << pteron_code_name(code);
  });
}

}  // namespace
}  // namespace pteron::damaged
