// Loading by every way there is, and what C callers see of a program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "pteron/c/program.h"
#include "pteron/result.h"

namespace pteron {
namespace {

using Owner = std::unique_ptr<pteron_program, void (*)(pteron_program*)>;

std::string path_of(const std::string& name) {
  return std::string(PTERON_TEST_DATA) + "/programs/" + name;
}

std::string content_of(const std::string& name) {
  std::ifstream file(path_of(name), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

Owner adopt(pteron_status* raw, pteron_program* program) {
  const Status status = Status::adopt(raw);
  EXPECT_TRUE(status.ok()) << status.message();
  return Owner(program, pteron_program_release);
}

Owner load(const std::string& name, const pteron_load_options* options = nullptr) {
  pteron_program* program = nullptr;
  pteron_status* status = pteron_program_load_file(path_of(name).c_str(), options, &program);
  return adopt(status, program);
}

void expect_add(const Owner& program) {
  ASSERT_NE(program, nullptr);
  ASSERT_EQ(pteron_program_method_count(program.get()), 1u);
  EXPECT_STREQ(pteron_program_method(program.get(), 0)->name, "forward");
}

TEST(Load, FromAFile) {
  expect_add(load("add.pte"));
}

TEST(Load, TheProgramInsideABundle) {
  expect_add(load("add.bpte"));
}

TEST(Load, FromAFileThatIsCopied) {
  pteron_load_options options{};
  options.struct_size = sizeof(options);
  options.copy_files = 1;
  expect_add(load("add.pte", &options));
}

// The program in the middle of another file.
class Descriptor : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "pteron_fd_XXXXXX";
    fd_ = ::mkstemp(path.data());
    ASSERT_GE(fd_, 0);
    ::unlink(path.c_str());
    const std::string content = std::string(kOffset, 'x') + content_of("add.pte") + "behind";
    ASSERT_EQ(::write(fd_, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  }
  void TearDown() override { ::close(fd_); }

  static constexpr size_t kOffset = 5;
  int fd_ = -1;
};

TEST_F(Descriptor, PartOfAnOpenFile) {
  pteron_program* program = nullptr;
  pteron_status* status = pteron_program_load_fd(fd_, kOffset, content_of("add.pte").size(), nullptr, &program);
  expect_add(adopt(status, program));
}

TEST_F(Descriptor, ToTheEndOfTheFile) {
  pteron_program* program = nullptr;
  pteron_status* status = pteron_program_load_fd(fd_, kOffset, 0, nullptr, &program);
  expect_add(adopt(status, program));
}

TEST(Load, FromASource) {
  struct Source {
    std::string content = content_of("add.pte");
    int released = 0;
  } state;
  pteron_data_source source{};
  source.struct_size = sizeof(source);
  source.user = &state;
  source.size = state.content.size();
  source.read = [](void* user, uint64_t offset, void* out, size_t size) {
    std::memcpy(out, static_cast<Source*>(user)->content.data() + offset, size);
    return size;
  };
  source.release = [](void* user) { ++static_cast<Source*>(user)->released; };
  pteron_program* program = nullptr;
  pteron_status* status = pteron_program_load_source(&source, nullptr, &program);
  expect_add(adopt(status, program));
  EXPECT_EQ(state.released, 1);
}

TEST(Load, BorrowedBytesAreGivenBackWhenLoadingFails) {
  int released = 0;
  const std::string content = "no program, but long enough";
  pteron_program* program = nullptr;
  const Status status = Status::adopt(pteron_program_load_bytes(
      content.data(), content.size(), [](void* user) { ++*static_cast<int*>(user); }, &released, nullptr, &program));
  EXPECT_EQ(status.code(), PTERON_INVALID_FILE);
  EXPECT_EQ(released, 1);
  EXPECT_EQ(program, nullptr);
}

TEST(Load, FailuresNameTheFile) {
  pteron_program* program = nullptr;
  const Status status =
      Status::adopt(pteron_program_load_file(path_of("external_weights.ptd").c_str(), nullptr, &program));
  EXPECT_NE(std::strstr(status.message(), "external_weights.ptd'"), nullptr) << status.message();
}

TEST(Load, FailuresNameAMissingDataFile) {
  const std::string missing = path_of("no_such.ptd");
  const char* paths[] = {missing.c_str()};
  pteron_load_options options{};
  options.struct_size = sizeof(options);
  options.data_paths = paths;
  options.data_path_count = 1;
  pteron_program* program = nullptr;
  const Status status =
      Status::adopt(pteron_program_load_file(path_of("external_weights.pte").c_str(), &options, &program));
  EXPECT_EQ(status.code(), PTERON_NOT_FOUND);
  EXPECT_NE(std::strstr(status.message(), "no_such.ptd"), nullptr) << status.message();
}

TEST(Load, MemoryLimitIsTheCallers) {
  pteron_load_options options{};
  options.struct_size = sizeof(options);
  options.max_memory = 16;
  pteron_program* program = nullptr;
  const Status status = Status::adopt(pteron_program_load_file(path_of("add.pte").c_str(), &options, &program));
  EXPECT_EQ(status.code(), PTERON_INVALID_FILE);
  EXPECT_NE(std::strstr(status.message(), "16 bytes"), nullptr) << status.message();
}

TEST(MethodInfo, DescribesInputsAndOutputs) {
  const Owner program = load("dynamic.pte");
  const pteron_method_info* method = pteron_program_find_method(program.get(), "forward");
  ASSERT_NE(method, nullptr);
  ASSERT_EQ(method->input_count, 1u);
  const pteron_value_info& input = *method->inputs[0];
  EXPECT_EQ(input.kind, PTERON_KIND_TENSOR);
  EXPECT_EQ(input.dtype, PTERON_FLOAT32);
  EXPECT_EQ(input.dynamism, PTERON_SHAPE_BOUNDED);
  EXPECT_EQ(std::vector<int64_t>(input.sizes, input.sizes + input.rank), (std::vector<int64_t>{5, 8, 4}));
  EXPECT_EQ(std::vector<uint8_t>(input.dim_order, input.dim_order + input.rank), (std::vector<uint8_t>{0, 1, 2}));
  EXPECT_EQ(input.bytes, 640u);
  EXPECT_EQ(input.planned, 1);
  EXPECT_EQ(method->output_count, 2u);
  EXPECT_EQ(method->instruction_count, 11u);
}

TEST(MethodInfo, CountsCallsOfOperators) {
  const Owner program = load("cond.pte");
  const pteron_method_info* method = pteron_program_method(program.get(), 0);
  std::vector<std::string> found;
  for (size_t i = 0; i < method->operator_count; ++i) {
    found.push_back(std::string(method->operators[i]->name) + " " + std::to_string(method->operators[i]->calls));
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found,
            (std::vector<std::string>{"aten::add.out 1", "aten::gt.Scalar_out 1", "aten::mul.out 1", "aten::neg.out 1",
                                      "aten::sum.IntList_out 1", "dim_order_ops::_to_dim_order_copy.out 2"}));
}

TEST(MethodInfo, HoldsScalarsOfTheSignature) {
  const Owner program = load("constants_in_signature.pte");
  const pteron_method_info* method = pteron_program_method(program.get(), 0);
  ASSERT_EQ(method->input_count, 4u);
  EXPECT_EQ(method->inputs[1]->kind, PTERON_KIND_DOUBLE);
  EXPECT_EQ(method->inputs[1]->scalar.as.as_double, 2.5);
  EXPECT_EQ(method->inputs[2]->kind, PTERON_KIND_BOOL);
  EXPECT_EQ(method->inputs[2]->scalar.as.as_bool, 1);
  EXPECT_EQ(method->inputs[3]->kind, PTERON_KIND_NONE);
}

TEST(MethodInfo, DescribesDelegates) {
  const Owner program = load("null_fail_init.pte");
  const pteron_method_info* method = pteron_program_method(program.get(), 0);
  ASSERT_EQ(method->delegate_count, 1u);
  const pteron_delegate_info& delegate = *method->delegates[0];
  EXPECT_STREQ(delegate.id, "PteronNull");
  EXPECT_EQ(delegate.payload_bytes, 34u);
  ASSERT_EQ(delegate.spec_count, 1u);
  EXPECT_STREQ(delegate.spec_keys[0], "fail_init");
  EXPECT_EQ(std::string(static_cast<const char*>(delegate.spec_values[0]), delegate.spec_sizes[0]),
            "ordered to fail at init");
}

std::vector<std::string> instructions_of(const std::string& name, bool sources = false) {
  struct Lines {
    std::vector<std::string> texts;
    bool sources;
  } lines{{}, sources};
  const Owner program = load(name);
  const Status status = Status::adopt(pteron_program_visit_instructions(
      program.get(), "forward",
      [](void* user, const pteron_instruction_info* info) {
        auto* out = static_cast<Lines*>(user);
        EXPECT_EQ(info->index, static_cast<int32_t>(out->texts.size()));
        out->texts.emplace_back(out->sources ? info->source : info->text);
      },
      &lines));
  EXPECT_TRUE(status.ok()) << status.message();
  return lines.texts;
}

using Lines = std::vector<std::string>;

TEST(InstructionText, CallsWithConstants) {
  EXPECT_EQ(instructions_of("linear.pte"),
            (Lines{"aten::permute_copy.out(%0, [1, 0]) -> %3", "aten::addmm.out(%1, %2, %3, 1, 1) -> %7"}));
}

TEST(InstructionText, SeveralResults) {
  EXPECT_EQ(instructions_of("conv.pte").back(),
            "aten::max_pool2d_with_indices.out(%18, [2, 2], [2, 2], [0, 0], [1, 1], false) -> [%19, %20]");
}

TEST(InstructionText, JumpsAndMoves) {
  const Lines lines = instructions_of("cond.pte");
  EXPECT_EQ(lines.at(2), "if not %5, jump to 9");
  EXPECT_EQ(lines.at(7), "move %17 -> %7");
  EXPECT_EQ(lines.at(8), "if not false, jump to 11");
}

TEST(InstructionText, CopyIntoASlot) {
  const Lines lines = instructions_of("scan_recurrent.pte");
  EXPECT_EQ(lines.at(9), "executorch_prim::et_copy_index.tensor(%5, %24, %6) -> %5");
}

TEST(InstructionText, Delegates) {
  EXPECT_EQ(instructions_of("null_fail_init.pte").at(3), "delegate 0 (PteronNull)(%9, %11)");
}

TEST(InstructionText, SourceLines) {
  EXPECT_EQ(instructions_of("stack_trace.pte", true),
            (Lines{"traced_source.py:7 forward: z = x * y", "traced_source.py:8 forward: return z + 1",
                   "traced_source.py:8 forward: return z + 1"}));
}

TEST(InstructionText, NoSourceLinesInOtherFiles) {
  EXPECT_EQ(instructions_of("add.pte", true), Lines{""});
}

TEST(InstructionText, UnknownMethod) {
  const Owner program = load("add.pte");
  const Status status = Status::adopt(pteron_program_visit_instructions(
      program.get(), "backward", [](void*, const pteron_instruction_info*) {}, nullptr));
  EXPECT_EQ(status.code(), PTERON_NOT_FOUND);
}

TEST(Segments, AreListed) {
  const Owner program = load("mutable_counter.pte");
  ASSERT_EQ(pteron_program_segment_count(program.get()), 2u);
  pteron_segment_info info{};
  info.struct_size = sizeof(info);
  ASSERT_EQ(pteron_program_segment(program.get(), 1, &info), nullptr);
  EXPECT_EQ(info.bytes, 16u);
  EXPECT_EQ(info.offset % 128, 0u);
}

TEST(Segments, BeyondTheLast) {
  const Owner program = load("mutable_counter.pte");
  pteron_segment_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(Status::adopt(pteron_program_segment(program.get(), 2, &info)).code(), PTERON_NOT_FOUND);
}

pteron_key_info key_of(const Owner& program, size_t index) {
  pteron_key_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(pteron_program_key(program.get(), index, &info), nullptr);
  return info;
}

TEST(Keys, OfExternalTensorsWithoutADataFile) {
  const Owner program = load("external_weights.pte");
  ASSERT_EQ(pteron_program_key_count(program.get()), 2u);
  const pteron_key_info info = key_of(program, 0);
  EXPECT_STREQ(info.key, "weight");
  EXPECT_EQ(info.bytes, 48u);
  EXPECT_EQ(info.external, 1);
  EXPECT_EQ(info.found, 0);
}

TEST(Keys, OfExternalTensorsWithTheirDataFile) {
  const std::string data = path_of("external_weights.ptd");
  const char* paths[] = {"", data.c_str()};
  pteron_load_options options{};
  options.struct_size = sizeof(options);
  options.data_paths = paths;
  options.data_path_count = 2;
  EXPECT_EQ(key_of(load("external_weights.pte", &options), 0).found, 1);
}

TEST(Keys, OfBlobsInTheProgram) {
  const Owner program = load("xnnpack_linear.pte");
  ASSERT_EQ(pteron_program_key_count(program.get()), 2u);
  const pteron_key_info info = key_of(program, 1);
  EXPECT_EQ(std::strlen(info.key), 64u);
  EXPECT_EQ(info.external, 0);
  EXPECT_EQ(info.found, 1);
}

TEST(Bundle, HoldsCases) {
  pteron_bundle* raw = nullptr;
  const Status status = Status::adopt(pteron_bundle_load_file(path_of("linear.bpte").c_str(), nullptr, &raw));
  ASSERT_TRUE(status.ok()) << status.message();
  const std::unique_ptr<pteron_bundle, void (*)(pteron_bundle*)> bundle(raw, pteron_bundle_release);
  ASSERT_GE(pteron_bundle_case_count(raw, "forward"), 1u);
  EXPECT_EQ(pteron_bundle_case_count(raw, "backward"), 0u);
  const pteron_value* const* inputs = nullptr;
  const pteron_value* const* expected = nullptr;
  size_t input_count = 0;
  size_t expected_count = 0;
  ASSERT_EQ(pteron_bundle_case(raw, "forward", 0, &inputs, &input_count, &expected, &expected_count), nullptr);
  ASSERT_EQ(input_count, 1u);
  ASSERT_EQ(expected_count, 1u);
  const pteron_tensor& input = *inputs[0]->as.tensor;
  EXPECT_EQ(std::vector<int64_t>(input.sizes, input.sizes + input.rank), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(std::vector<int64_t>(input.strides, input.strides + input.rank), (std::vector<int64_t>{4, 1}));
  EXPECT_NE(input.flags & PTERON_TENSOR_READ_ONLY, 0u);
}

TEST(Bundle, AProgramIsNone) {
  pteron_bundle* raw = nullptr;
  const Status status = Status::adopt(pteron_bundle_load_file(path_of("linear.pte").c_str(), nullptr, &raw));
  EXPECT_EQ(status.code(), PTERON_INVALID_FILE);
  EXPECT_EQ(raw, nullptr);
}

TEST(Bundle, KeepsItsProgramWhileSomebodyHoldsIt) {
  pteron_bundle* raw = nullptr;
  ASSERT_EQ(pteron_bundle_load_file(path_of("add.bpte").c_str(), nullptr, &raw), nullptr);
  pteron_program* program = pteron_bundle_program(raw);
  pteron_program_retain(program);
  pteron_bundle_release(raw);
  expect_add(Owner(program, pteron_program_release));
}

}  // namespace
}  // namespace pteron
