// Delegated parts: checks D1 to D4 as far as they are the file's, cases A10 and A12.
#include "base/file.h"
#include "format/program_file.h"
#include "program_edit.h"

namespace pteron::damaged {
namespace {

const pte::BackendDelegate* first_delegate(FileBytes* file) {
  return root_of(file)->execution_plan()->Get(0)->delegates()->Get(0);
}

TEST(Delegate, D1_IdAbsent) {
  FileBytes file = ProgramEdit("null_copy.pte").pack();
  drop_field(first_delegate(&file), pte::BackendDelegate::VT_ID);
  expect_invalid(load(file), {"method 'forward'", "delegate 0", "id is absent"});
}

TEST(Delegate, D2_A10_ProcessedAbsent) {
  FileBytes file = ProgramEdit("null_copy.pte").pack();
  drop_field(first_delegate(&file), pte::BackendDelegate::VT_PROCESSED);
  expect_invalid(load(file), {"delegate 0", "'processed'", "absent"});
}

TEST(Delegate, D2_UnknownLocation) {
  ProgramEdit edit("null_copy.pte");
  edit.plan().delegates.at(0)->processed->location = 2;
  expect_invalid(load(edit.pack()), {"delegate 0", "location of its payload is 2"});
}

TEST(Delegate, D2_InlineIndexOutOfRange) {
  ProgramEdit edit("null_copy.pte");
  edit.plan().delegates.at(0)->processed->index = 1;
  expect_invalid(load(edit.pack()), {"delegate 0", "inline entry 1", "the program has 1"});
}

TEST(Delegate, D3_InlineListAbsent) {
  FileBytes file = ProgramEdit("null_copy.pte").pack();
  drop_field(root_of(&file), pte::Program::VT_BACKEND_DELEGATE_DATA);
  expect_invalid(load(file), {"delegate 0", "inline entry 0", "the program has 0"});
}

TEST(Delegate, D3_A10_InlineDataAbsent) {
  FileBytes file = ProgramEdit("null_copy.pte").pack();
  drop_field(root_of(&file)->backend_delegate_data()->Get(0), pte::BackendDelegateInlineData::VT_DATA);
  expect_invalid(load(file), {"delegate 0", "inline entry 0, has no data"});
}

TEST(Delegate, D3_A12_LengthBeyondTheFile) {
  FileBytes file = ProgramEdit("null_copy.pte").pack();
  const auto* data = root_of(&file)->backend_delegate_data()->Get(0)->data();
  const auto at = reinterpret_cast<const uint8_t*>(data) - file.data();
  store<uint32_t>(&file, static_cast<size_t>(at), 0x7fffffff);
  expect_invalid(load(file), {"damaged"});
}

TEST(Delegate, D4_CompileSpecsAbsentAreNone) {
  FileBytes file = ProgramEdit("null_fail_init.pte").pack();
  drop_field(first_delegate(&file), pte::BackendDelegate::VT_COMPILE_SPECS);
  const auto read = format::read_program_file(*copy_bytes(file.data(), file.size()), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->methods[0].delegates[0].specs.empty());
}

TEST(Delegate, D4_A10_KeyAbsent) {
  FileBytes file = ProgramEdit("null_fail_init.pte").pack();
  drop_field(first_delegate(&file)->compile_specs()->Get(0), pte::CompileSpec::VT_KEY);
  expect_invalid(load(file), {"delegate 0", "compile spec 0", "key is absent"});
}

TEST(Delegate, D4_ValueAbsent) {
  FileBytes file = ProgramEdit("null_fail_init.pte").pack();
  drop_field(first_delegate(&file)->compile_specs()->Get(0), pte::CompileSpec::VT_VALUE);
  expect_invalid(load(file), {"delegate 0", "compile spec 0", "value is absent"});
}

TEST(Delegate, NamedDataKeyAbsent) {
  FileBytes file = ProgramEdit("xnnpack_linear.pte").pack();
  drop_field(root_of(&file)->named_data()->Get(0), pte::NamedData::VT_KEY);
  expect_invalid(load(file), {"named data 0", "key is absent"});
}

TEST(Delegate, X10_NamedDataKeyTwice) {
  ProgramEdit edit("xnnpack_linear.pte");
  edit.root().named_data.at(1)->key = edit.root().named_data.at(0)->key;
  expect_invalid(load(edit.pack()), {"named data 1", "is there twice"});
}

}  // namespace
}  // namespace pteron::damaged
