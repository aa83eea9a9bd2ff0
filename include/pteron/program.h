// Program: a verified file.
//
//   pteron::Result<pteron::Program> program = pteron::Program::load("model.pte");
//   if (!program) return report(program.status().message());
//   for (pteron::MethodInfo method : program->methods()) puts(method.name());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pteron/c/program.h"
#include "pteron/tensor.h"
#include "pteron/value.h"

namespace pteron {
inline namespace v1_0 {

// How to load a program.
//
//   pteron::LoadOptions options;
//   options.data_paths = {"weights.ptd"};
struct LoadOptions {
  std::vector<std::string> data_paths;  // `.ptd` files; "" entries are ignored
  bool copy_files = false;              // read instead of mapping: for files that may shrink while they are in use
  uint64_t max_memory = 0;              // largest sum of planned buffers of a method, in bytes; 0: 64 GiB
};

// Where bytes come from when they are neither a file nor in memory.
//
//   class Archive : public pteron::DataSource { ... };
//   auto program = pteron::Program::load(std::make_unique<Archive>("models.zip"));
//
// The functions may be called from any thread and must not throw.
class DataSource {
 public:
  DataSource() = default;
  DataSource(const DataSource&) = delete;
  DataSource& operator=(const DataSource&) = delete;
  virtual ~DataSource() = default;
  virtual uint64_t size() const noexcept = 0;
  // Copies `size` bytes at `offset` to `out`; returns how many were copied, fewer being an error.
  virtual size_t read(uint64_t offset, void* out, size_t size) noexcept = 0;
};

namespace detail {

// An option struct of the C interface with pointers into a LoadOptions.
class RawLoadOptions {
 public:
  explicit RawLoadOptions(const LoadOptions& options) {
    for (const std::string& path : options.data_paths) paths_.push_back(path.c_str());
    raw_.struct_size = sizeof(raw_);
    raw_.data_paths = paths_.data();
    raw_.data_path_count = paths_.size();
    raw_.copy_files = options.copy_files ? 1 : 0;
    raw_.max_memory = options.max_memory;
  }
  RawLoadOptions(const RawLoadOptions&) = delete;
  RawLoadOptions& operator=(const RawLoadOptions&) = delete;
  const pteron_load_options* get() const { return &raw_; }

 private:
  std::vector<const char*> paths_;
  pteron_load_options raw_{};
};

}  // namespace detail

// An input or output of a method, as the file describes it.
//
//   pteron::ValueInfo input = method.inputs()[0];
//   if (input.kind() == pteron::Kind::kTensor) puts(input.shape().to_string().c_str());
//
// Lives as long as the program.
class ValueInfo {
 public:
  explicit ValueInfo(const pteron_value_info* raw) : raw_(raw) {}

  const char* name() const { return raw_->name; }  // "" when the file has none
  Kind kind() const { return static_cast<Kind>(raw_->kind); }
  // The rest is for tensors.
  DType dtype() const { return static_cast<DType>(raw_->dtype); }
  // With dynamic shapes: upper bounds.
  Shape shape() const { return Shape(raw_->sizes, static_cast<size_t>(raw_->rank)); }
  bool is_dynamic() const { return raw_->dynamism != PTERON_SHAPE_STATIC; }
  // Dimensions from the outermost to the innermost in memory.
  Span<const uint8_t> dim_order() const { return {raw_->dim_order, static_cast<size_t>(raw_->rank)}; }
  uint64_t bytes() const { return raw_->bytes; }  // at the upper bound
  // Whether the program's memory plan has room for it; such an input is copied in.
  bool is_planned() const { return raw_->planned != 0; }

  // For inputs that are int, bool, double or string: the value the program was exported with.
  ValueView exported_value() const { return ValueView(&raw_->scalar); }

 private:
  const pteron_value_info* raw_;
};

// An operator that a method calls. Lives as long as the program.
//
//   for (pteron::OperatorInfo op : method.operators()) printf("%s %lu\n", op.name(), op.calls());
class OperatorInfo {
 public:
  explicit OperatorInfo(const pteron_operator_info* raw) : raw_(raw) {}
  const char* name() const { return raw_->name; }  // "aten::add.out"
  uint64_t calls() const { return raw_->calls; }   // instructions that call it

 private:
  const pteron_operator_info* raw_;
};

// A delegated part of a method. Lives as long as the program.
//
//   for (pteron::DelegateInfo part : method.delegates()) puts(part.id());
class DelegateInfo {
 public:
  explicit DelegateInfo(const pteron_delegate_info* raw) : raw_(raw) {}
  const char* id() const { return raw_->id; }  // "XnnpackBackend"
  uint64_t payload_bytes() const { return raw_->payload_bytes; }
  size_t spec_count() const { return raw_->spec_count; }
  const char* spec_key(size_t index) const { return raw_->spec_keys[index]; }
  Span<const unsigned char> spec_value(size_t index) const {
    return {static_cast<const unsigned char*>(raw_->spec_values[index]), raw_->spec_sizes[index]};
  }

 private:
  const pteron_delegate_info* raw_;
};

// A method of a program, as the file describes it. Lives as long as the program.
//
//   pteron::MethodInfo method = *program->find_method("forward");
//   printf("%zu inputs, %zu outputs\n", method.inputs().size(), method.outputs().size());
class MethodInfo {
 public:
  explicit MethodInfo(const pteron_method_info* raw) : raw_(raw) {}

  const char* name() const { return raw_->name; }
  std::vector<ValueInfo> inputs() const { return wrap<ValueInfo>(raw_->inputs, raw_->input_count); }
  std::vector<ValueInfo> outputs() const { return wrap<ValueInfo>(raw_->outputs, raw_->output_count); }
  std::vector<OperatorInfo> operators() const { return wrap<OperatorInfo>(raw_->operators, raw_->operator_count); }
  std::vector<DelegateInfo> delegates() const { return wrap<DelegateInfo>(raw_->delegates, raw_->delegate_count); }
  size_t input_count() const { return raw_->input_count; }
  size_t output_count() const { return raw_->output_count; }
  // Bytes of each buffer of the file's memory plan.
  Span<const uint64_t> buffer_bytes() const { return {raw_->buffer_bytes, raw_->buffer_count}; }
  size_t value_count() const { return raw_->value_count; }
  size_t instruction_count() const { return raw_->instruction_count; }
  // The exporter's description of the containers that inputs and outputs came in, or "".
  const char* input_spec() const { return raw_->input_spec; }
  const char* output_spec() const { return raw_->output_spec; }
  // Index of the input called `name`; empty when there is none.
  std::optional<size_t> find_input(const std::string& name) const {
    for (size_t i = 0; i < raw_->input_count; ++i) {
      if (!name.empty() && name == raw_->inputs[i]->name) return i;
    }
    return std::nullopt;
  }

 private:
  template <typename Info, typename Raw>
  static std::vector<Info> wrap(const Raw* const* items, size_t count) {
    std::vector<Info> infos;
    infos.reserve(count);
    for (size_t i = 0; i < count; ++i) infos.emplace_back(items[i]);
    return infos;
  }

  const pteron_method_info* raw_;
};

// One instruction, as text for people.
struct Instruction {
  std::string text;    // "aten::add.out(%0, %1, 1) -> %5"
  std::string source;  // "model.py:12 forward: x + y", or ""
  int32_t chain = 0;
  int32_t index = 0;
};

// A segment of the file.
struct Segment {
  uint64_t offset = 0;  // from the start of the file
  uint64_t bytes = 0;
};

// A tensor that the program takes from a data file, or a blob it holds by key.
struct DataKey {
  std::string key;
  uint64_t bytes = 0;
  bool external = false;  // needed from a `.ptd` file
  bool found = false;     // external: a data file that holds it was given
};

// A verified file: `.pte`, or the program of a `.bpte`.
//
//   auto program = pteron::Program::load("model.pte");
//   auto plan = pteron::Plan::create(*program, "forward");
//
// Ownership: a counted reference to an immutable object; copying is cheap, plans keep it alive. Threads: any number at
// once.
class Program {
 public:
  // Maps and verifies a file. Fails with PTERON_NOT_FOUND, PTERON_IO, PTERON_INVALID_FILE, PTERON_UNSUPPORTED or
  // PTERON_OUT_OF_MEMORY.
  static Result<Program> load(const std::string& path, const LoadOptions& options = {}) {
    const detail::RawLoadOptions raw_options(options);
    pteron_program* raw = nullptr;
    PTERON_TRY(Status::adopt(pteron_program_load_file(path.c_str(), raw_options.get(), &raw)));
    return Program(raw);
  }
  // `size` bytes at `offset` of an open file (0: to its end). The descriptor stays the caller's and may be closed.
  static Result<Program> load_fd(int fd, uint64_t offset, uint64_t size, const LoadOptions& options = {}) {
    const detail::RawLoadOptions raw_options(options);
    pteron_program* raw = nullptr;
    PTERON_TRY(Status::adopt(pteron_program_load_fd(fd, offset, size, raw_options.get(), &raw)));
    return Program(raw);
  }
  // From bytes, which are copied.
  static Result<Program> load_bytes(const void* data, size_t size, const LoadOptions& options = {}) {
    const detail::RawLoadOptions raw_options(options);
    pteron_program* raw = nullptr;
    PTERON_TRY(Status::adopt(pteron_program_load_bytes(data, size, nullptr, nullptr, raw_options.get(), &raw)));
    return Program(raw);
  }
  // From bytes that `owner` keeps alive: it is released when the program no longer needs them.
  static Result<Program> load_bytes(const void* data, size_t size, std::shared_ptr<const void> owner,
                                    const LoadOptions& options = {}) {
    const detail::RawLoadOptions raw_options(options);
    pteron_program* raw = nullptr;
    auto* kept = new std::shared_ptr<const void>(std::move(owner));
    PTERON_TRY(Status::adopt(pteron_program_load_bytes(data, size, &release_owner, kept, raw_options.get(), &raw)));
    return Program(raw);
  }
  // From a source of the caller's, which is read whole, once.
  static Result<Program> load(std::unique_ptr<DataSource> source, const LoadOptions& options = {}) {
    if (source == nullptr) return Status(PTERON_INVALID_ARGUMENT, "the data source is null");
    const detail::RawLoadOptions raw_options(options);
    pteron_data_source raw_source{};
    raw_source.struct_size = sizeof(raw_source);
    raw_source.size = source->size();
    raw_source.read = &read_source;
    raw_source.release = &release_source;
    raw_source.user = source.release();
    pteron_program* raw = nullptr;
    PTERON_TRY(Status::adopt(pteron_program_load_source(&raw_source, raw_options.get(), &raw)));
    return Program(raw);
  }

  // A program of the C interface, of which one more reference is taken.
  static Program from_raw(pteron_program* raw) {
    pteron_program_retain(raw);
    return Program(raw);
  }

  Program(const Program& other) : raw_(other.raw_) { pteron_program_retain(raw_); }
  Program(Program&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Program& operator=(Program other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Program() {
    if (raw_ != nullptr) pteron_program_release(raw_);
  }

  std::vector<MethodInfo> methods() const {
    std::vector<MethodInfo> infos;
    const size_t count = pteron_program_method_count(raw_);
    for (size_t i = 0; i < count; ++i) infos.emplace_back(pteron_program_method(raw_, i));
    return infos;
  }
  // Fails with PTERON_NOT_FOUND; the message lists the methods there are.
  Result<MethodInfo> find_method(const std::string& name) const {
    const pteron_method_info* info = pteron_program_find_method(raw_, name.c_str());
    if (info != nullptr) return MethodInfo(info);
    std::string message = "the program has no method '" + name + "'; it has";
    for (const MethodInfo& method : methods()) message += std::string(" '") + method.name() + "'";
    return Status(PTERON_NOT_FOUND, message.c_str());
  }

  // The instructions of a method, in order. Fails with PTERON_NOT_FOUND.
  Result<std::vector<Instruction>> instructions(const std::string& method) const {
    std::vector<Instruction> list;
    PTERON_TRY(Status::adopt(pteron_program_visit_instructions(raw_, method.c_str(), &keep_instruction, &list)));
    return list;
  }
  Result<std::vector<Segment>> segments() const {
    std::vector<Segment> list;
    const size_t count = pteron_program_segment_count(raw_);
    for (size_t i = 0; i < count; ++i) {
      pteron_segment_info info{};
      info.struct_size = sizeof(info);
      PTERON_TRY(Status::adopt(pteron_program_segment(raw_, i, &info)));
      list.push_back({info.offset, info.bytes});
    }
    return list;
  }
  Result<std::vector<DataKey>> keys() const {
    std::vector<DataKey> list;
    const size_t count = pteron_program_key_count(raw_);
    for (size_t i = 0; i < count; ++i) {
      pteron_key_info info{};
      info.struct_size = sizeof(info);
      PTERON_TRY(Status::adopt(pteron_program_key(raw_, i, &info)));
      list.push_back({info.key, info.bytes, info.external != 0, info.found != 0});
    }
    return list;
  }

  pteron_program* raw() const { return raw_; }  // borrowed

 private:
  explicit Program(pteron_program* raw) : raw_(raw) {}

  static void release_owner(void* user) { delete static_cast<std::shared_ptr<const void>*>(user); }
  static size_t read_source(void* user, uint64_t offset, void* out, size_t size) {
    return static_cast<DataSource*>(user)->read(offset, out, size);
  }
  static void release_source(void* user) { delete static_cast<DataSource*>(user); }
  // Called through C: a failing allocation ends the process rather than crossing it.
  static void keep_instruction(void* user, const pteron_instruction_info* info) noexcept {
    static_cast<std::vector<Instruction>*>(user)->push_back({info->text, info->source, info->chain, info->index});
  }

  pteron_program* raw_;
};

}  // namespace v1_0
}  // namespace pteron
