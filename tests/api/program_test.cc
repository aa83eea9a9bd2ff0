#include "pteron/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pteron/bundle.h"
#include "pteron/plan.h"

namespace {

using pteron::Program;

std::string path_of(const char* name) {
  return std::string(PTERON_TEST_DATA) + "/programs/" + name;
}

std::vector<unsigned char> bytes_of(const char* name) {
  std::vector<unsigned char> bytes;
  std::FILE* file = std::fopen(path_of(name).c_str(), "rb");
  EXPECT_NE(file, nullptr);
  if (file == nullptr) return bytes;
  int c;
  while ((c = std::fgetc(file)) != EOF) bytes.push_back(static_cast<unsigned char>(c));
  std::fclose(file);
  return bytes;
}

TEST(Program, TellsItsMethods) {
  const Program program = Program::load(path_of("two_methods.pte")).value();
  ASSERT_EQ(program.methods().size(), 2u);
  EXPECT_STREQ(program.methods()[0].name(), "forward");
}

TEST(Program, DescribesInputsAndOutputs) {
  const Program program = Program::load(path_of("linear.pte")).value();
  const pteron::MethodInfo method = program.find_method("forward").value();
  ASSERT_EQ(method.inputs().size(), 1u);
  EXPECT_EQ(method.inputs()[0].dtype(), pteron::DType::kFloat32);
  EXPECT_EQ(method.inputs()[0].shape().rank(), 2u);
  EXPECT_FALSE(method.operators().empty());
}

TEST(Program, NamesTheMethodsThereAre) {
  const Program program = Program::load(path_of("two_methods.pte")).value();
  const pteron::Result<pteron::MethodInfo> method = program.find_method("backward");
  ASSERT_FALSE(method.ok());
  EXPECT_EQ(method.status().code(), PTERON_NOT_FOUND);
  EXPECT_NE(std::string(method.status().message()).find("'negated'"), std::string::npos);
}

TEST(Program, SaysThatAFileIsNotThere) {
  const pteron::Result<Program> program = Program::load("no/such/file.pte");
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), PTERON_NOT_FOUND);
}

TEST(Program, LoadsFromADescriptor) {
  const int fd = ::open(path_of("add.pte").c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);
  const pteron::Result<Program> program = Program::load_fd(fd, 0, 0);
  ::close(fd);
  EXPECT_TRUE(program.ok()) << program.status().message();
}

TEST(Program, KeepsTheOwnerOfItsBytes) {
  auto bytes = std::make_shared<std::vector<unsigned char>>(bytes_of("add.pte"));
  const std::weak_ptr<std::vector<unsigned char>> watched = bytes;
  {
    const Program program = Program::load_bytes(bytes->data(), bytes->size(), bytes).value();
    bytes.reset();
    EXPECT_EQ(program.methods().size(), 1u);
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Program, ReleasesTheOwnerOfBytesItRefuses) {
  auto bytes = std::make_shared<std::vector<unsigned char>>(100);
  EXPECT_FALSE(Program::load_bytes(bytes->data(), bytes->size(), bytes).ok());
  EXPECT_EQ(bytes.use_count(), 1);
}

class MemorySource : public pteron::DataSource {
 public:
  MemorySource(std::vector<unsigned char> bytes, bool* released) : bytes_(std::move(bytes)), released_(released) {}
  ~MemorySource() override { *released_ = true; }
  uint64_t size() const noexcept override { return bytes_.size(); }
  size_t read(uint64_t offset, void* out, size_t size) noexcept override {
    std::memcpy(out, bytes_.data() + offset, size);
    return size;
  }

 private:
  std::vector<unsigned char> bytes_;
  bool* released_;
};

TEST(Program, LoadsFromASourceAndReleasesIt) {
  bool released = false;
  {
    const pteron::Result<Program> program =
        Program::load(std::make_unique<MemorySource>(bytes_of("add.pte"), &released));
    EXPECT_TRUE(program.ok()) << program.status().message();
  }
  EXPECT_TRUE(released);
}

TEST(Program, TellsExternalKeys) {
  const Program alone = Program::load(path_of("external_weights.pte")).value();
  const std::vector<pteron::DataKey> keys = alone.keys().value();
  ASSERT_FALSE(keys.empty());
  EXPECT_TRUE(keys[0].external);
  EXPECT_FALSE(keys[0].found);
}

TEST(Program, FindsExternalKeysInADataFile) {
  pteron::LoadOptions options;
  options.data_paths = {"", path_of("external_weights.ptd")};
  const Program program = Program::load(path_of("external_weights.pte"), options).value();
  const std::vector<pteron::DataKey> keys = program.keys().value();
  ASSERT_FALSE(keys.empty());
  EXPECT_TRUE(keys[0].found);
}

TEST(Program, ListsInstructionsWithTheirSource) {
  const Program program = Program::load(path_of("stack_trace.pte")).value();
  const std::vector<pteron::Instruction> list = program.instructions("forward").value();
  ASSERT_FALSE(list.empty());
  EXPECT_NE(list[0].text.find("aten::mul.out"), std::string::npos);
  EXPECT_FALSE(list[0].source.empty());
}

TEST(Plan, SaysWhatIsMissing) {
  const Program program = Program::load(path_of("xnnpack_linear.pte")).value();
  const std::vector<pteron::Missing> missing = pteron::Plan::missing(program, "forward").value();
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].code, PTERON_MISSING_BACKEND);
  EXPECT_EQ(missing[0].name, "XnnpackBackend");
}

TEST(Bundle, HoldsCases) {
  const pteron::Bundle bundle = pteron::Bundle::load(path_of("add.bpte")).value();
  ASSERT_EQ(bundle.case_count("forward"), 1u);
  const pteron::TestCase test = bundle.test_case("forward", 0).value();
  EXPECT_EQ(test.inputs.size(), 2u);
  EXPECT_TRUE(test.expected.at(0).is_tensor());
}

TEST(Bundle, RefusesACaseThatIsNotThere) {
  const pteron::Bundle bundle = pteron::Bundle::load(path_of("add.bpte")).value();
  const pteron::Result<pteron::TestCase> test = bundle.test_case("forward", 1);
  ASSERT_FALSE(test.ok());
  EXPECT_EQ(test.status().code(), PTERON_NOT_FOUND);
}

}  // namespace
