#include "program_edit.h"

#include <algorithm>
#include <cstring>

namespace pteron::damaged {
namespace {

constexpr size_t kPrefix = 8;
constexpr size_t kHeader = 32;  // magic, length, three numbers

template <typename T>
void append(FileBytes* to, T value) {
  const size_t at = to->size();
  to->resize(at + sizeof(T));
  flatbuffers::WriteScalar<T>(to->data() + at, value);
}

bool has_header(const FileBytes& file) {
  return std::memcmp(file.data() + kPrefix, "eh00", 4) == 0;
}

}  // namespace

ProgramEdit::ProgramEdit(const std::string& fixture_name) {
  const FileBytes file = fixture(fixture_name);
  pte::GetProgram(file.data())->UnPackTo(&root_);
  if (!has_header(file)) return;
  const uint64_t begin = stored<uint64_t>(file, 24);
  const uint64_t size = stored<uint64_t>(file, 32);
  const uint8_t* data = file.data() + begin;
  segment_data_.assign(data, data + size);
}

FileBytes ProgramEdit::pack(const HeaderEdit& header) const {
  flatbuffers::FlatBufferBuilder builder;
  builder.DedupVtables(false);  // a field can be taken from one table without others losing it
  builder.Finish(pte::Program::Pack(builder, &root_), "ET12");
  const uint8_t* body = builder.GetBufferPointer();
  const size_t body_size = builder.GetSize();
  if (!header.write) return FileBytes(body, body + body_size);

  // The header goes between the identifier and the rest; offsets are relative, so that only the root's changes.
  const uint64_t new_size = body_size + kHeader;
  const uint64_t begin = (new_size + 127) / 128 * 128;
  FileBytes file(body, body + kPrefix);
  store<uint32_t>(&file, 0, stored<uint32_t>(file, 0) + kHeader);
  for (const char c : {'e', 'h', '0', '0'}) file.push_back(static_cast<uint8_t>(c));
  append<uint32_t>(&file, header.length.value_or(kHeader));
  append<uint64_t>(&file, header.body_size.value_or(new_size));
  append<uint64_t>(&file, header.segments_begin.value_or(begin));
  append<uint64_t>(&file, header.segments_size.value_or(segment_data_.size()));
  file.insert(file.end(), body + kPrefix, body + body_size);
  file.resize(begin);
  file.insert(file.end(), segment_data_.begin(), segment_data_.end());
  return file;
}

size_t ProgramEdit::find(pte::KernelTypes kind) {
  for (size_t i = 0; i < plan().values.size(); ++i) {
    if (value(i).val.type == kind) return i;
  }
  ADD_FAILURE() << "the fixture has no value of kind " << static_cast<int>(kind);
  return 0;
}

size_t ProgramEdit::find(pte::InstructionArguments kind) {
  for (size_t i = 0; i < chain().instructions.size(); ++i) {
    if (instruction(i).type == kind) return i;
  }
  ADD_FAILURE() << "the fixture has no instruction of kind " << static_cast<int>(kind);
  return 0;
}

pte::Program* root_of(FileBytes* file) {
  return flatbuffers::GetMutableRoot<pte::Program>(file->data());
}

}  // namespace pteron::damaged
