// Taking a real `.pte` apart, changing one thing in it, and putting it together again.
//
//   ProgramEdit edit("linear.pte");
//   edit.tensor(3).storage_offset = 4;
//   expect_invalid(load(edit.pack()), {"value 3", "storage offset"});
#pragma once

#include <program_generated.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "outcome.h"

namespace pteron::damaged {

namespace pte = format::pte;

// Numbers of the extended header that differ from what fits the file.
struct HeaderEdit {
  std::optional<uint32_t> length;
  std::optional<uint64_t> body_size;
  std::optional<uint64_t> segments_begin;
  std::optional<uint64_t> segments_size;
  bool write = true;  // false: no extended header, so no segments either
};

class ProgramEdit {
 public:
  explicit ProgramEdit(const std::string& fixture_name);

  // Flatbuffer, header and segments as a file; `header` overrides what fits.
  FileBytes pack(const HeaderEdit& header = {}) const;

  pte::ProgramT& root() { return root_; }
  pte::ExecutionPlanT& plan(size_t index = 0) { return *root_.execution_plan.at(index); }
  pte::EValueT& value(size_t index) { return *plan().values.at(index); }
  pte::TensorT& tensor(size_t index) { return *value(index).val.AsTensor(); }
  pte::ChainT& chain() { return *plan().chains.at(0); }
  pte::InstructionArgumentsUnion& instruction(size_t index) { return chain().instructions.at(index)->instr_args; }
  FileBytes& segment_data() { return segment_data_; }

  // Index of the first value of a kind, of the first instruction of a kind, of the first tensor that `fits`.
  size_t find(pte::KernelTypes kind);
  size_t find(pte::InstructionArguments kind);
  template <typename Fits>
  size_t find_tensor(const Fits& fits) {
    for (size_t i = 0; i < plan().values.size(); ++i) {
      const pte::TensorT* tensor = value(i).val.AsTensor();
      if (tensor != nullptr && fits(*tensor)) return i;
    }
    ADD_FAILURE() << "the fixture has no such tensor";
    return 0;
  }
  size_t constant() {
    return find_tensor([](const pte::TensorT& t) { return t.data_buffer_idx != 0 && t.allocation_info == nullptr; });
  }
  size_t planned() {
    return find_tensor([](const pte::TensorT& t) { return t.data_buffer_idx == 0 && t.allocation_info != nullptr; });
  }
  size_t initialised() {
    return find_tensor([](const pte::TensorT& t) { return t.data_buffer_idx != 0 && t.allocation_info != nullptr; });
  }

  // Appends a value that nothing uses; returns its index.
  template <typename Content>
  size_t add_value(Content content) {
    auto value = std::make_unique<pte::EValueT>();
    value->val.Set(std::move(content));
    plan().values.push_back(std::move(value));
    return plan().values.size() - 1;
  }
  // Appends an instruction.
  template <typename Content>
  size_t add_instruction(Content content) {
    auto instruction = std::make_unique<pte::InstructionT>();
    instruction->instr_args.Set(std::move(content));
    chain().instructions.push_back(std::move(instruction));
    return chain().instructions.size() - 1;
  }

 private:
  pte::ProgramT root_;
  FileBytes segment_data_;
};

// The root table of a packed file.
pte::Program* root_of(FileBytes* file);

// Makes the field at `vtable_offset` (pte::Tensor::VT_SIZES, ...) of a table inside a packed file absent.
template <typename Table>
void drop_field(const Table* table, flatbuffers::voffset_t vtable_offset) {
  auto* bytes = reinterpret_cast<uint8_t*>(const_cast<Table*>(table));
  uint8_t* vtable = bytes - flatbuffers::ReadScalar<flatbuffers::soffset_t>(bytes);
  ASSERT_LT(vtable_offset, flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable));
  flatbuffers::WriteScalar<flatbuffers::voffset_t>(vtable + vtable_offset, 0);
}

template <typename T>
void store(FileBytes* file, size_t offset, T value) {
  ASSERT_LE(offset + sizeof(T), file->size());
  flatbuffers::WriteScalar<T>(file->data() + offset, value);
}

template <typename T>
T stored(const FileBytes& file, size_t offset) {
  return flatbuffers::ReadScalar<T>(file.data() + offset);
}

}  // namespace pteron::damaged
