// The C functions of pteron/c/program.h.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/data_source.h"
#include "base/error.h"
#include "base/file.h"
#include "format/bundle_file.h"
#include "pteron/c/program.h"
#include "runtime/bundle_values.h"
#include "runtime/guard.h"
#include "runtime/handles.h"
#include "runtime/instruction_text.h"
#include "runtime/program.h"

// A bundle owns one reference of its program's handle.
struct pteron_bundle {
  explicit pteron_bundle(pteron::format::BundleFile file) : values(std::move(file)) {}
  pteron_bundle(const pteron_bundle&) = delete;
  pteron_bundle& operator=(const pteron_bundle&) = delete;
  ~pteron_bundle() { pteron::runtime::release(program); }

  pteron::runtime::BundleValues values;
  pteron_program* program = nullptr;
};

namespace {

using pteron::Bytes;
using pteron::error;
using pteron::FileAccess;
using pteron::Result;
using pteron::Status;
using pteron::with_place;
using pteron::runtime::DataFile;
using pteron::runtime::guard;
using pteron::runtime::Program;

// A caller compiled against an older header has a shorter struct; what it lacks is zero.
pteron_load_options complete(const pteron_load_options* options) {
  pteron_load_options known{};
  if (options != nullptr) std::memcpy(&known, options, std::min(options->struct_size, sizeof(known)));
  return known;
}

FileAccess access_of(const pteron_load_options& options) {
  return options.copy_files != 0 ? FileAccess::kCopy : FileAccess::kMap;
}

Result<std::vector<DataFile>> read_data_files(const pteron_load_options& options) {
  if (options.data_path_count != 0 && options.data_paths == nullptr) {
    return error(PTERON_INVALID_ARGUMENT, "%zu data files were announced, but the list of paths is null",
                 options.data_path_count);
  }
  std::vector<DataFile> files;
  for (size_t i = 0; i < options.data_path_count; ++i) {
    const char* path = options.data_paths[i];
    if (path == nullptr || path[0] == '\0') continue;
    PTERON_ASSIGN(Bytes bytes, pteron::read_file(path, access_of(options)));
    files.push_back({path, std::move(bytes)});
  }
  return files;
}

Result<std::shared_ptr<const Program>> make_program(Bytes bytes, const pteron_load_options& options) {
  pteron::format::Limits limits;
  if (options.max_memory != 0) limits.max_planned_bytes = options.max_memory;
  PTERON_ASSIGN(const std::vector<DataFile> data_files, read_data_files(options));
  return Program::create(std::move(bytes), data_files, limits);
}

// Puts the file's name, when there is one, before what failed.
Status in_file(Status status, const char* name) {
  return name == nullptr ? std::move(status) : with_place(std::move(status), "'%s'", name);
}

Status load_program(Bytes bytes, const char* name, const pteron_load_options& options, pteron_program** out) {
  auto program = make_program(std::move(bytes), options);
  if (!program) return in_file(std::move(program).status(), name);
  *out = new pteron_program(*std::move(program));
  return Status();
}

// Loads a program, or the one inside a bundle.
Status load(Result<Bytes> bytes, const char* name, const pteron_load_options& options, pteron_program** out) {
  if (!bytes) return std::move(bytes).status();
  if (!pteron::format::looks_like_bundle(*bytes)) return load_program(*std::move(bytes), name, options, out);
  auto bundle = pteron::format::read_bundle_file(*std::move(bytes));
  if (!bundle) return in_file(std::move(bundle).status(), name);
  return load_program(std::move(bundle->program), name, options, out);
}

Status check_out(void* out) {
  if (out == nullptr) return error(PTERON_INVALID_ARGUMENT, "the place for the result is null");
  return Status();
}

// Fills a caller's struct, which may be shorter than ours.
template <typename T>
Status fill(T value, T* out) {
  if (out == nullptr) return error(PTERON_INVALID_ARGUMENT, "the place for the result is null");
  const size_t size = out->struct_size == 0 ? sizeof(T) : std::min(out->struct_size, sizeof(T));
  value.struct_size = size;
  std::memcpy(out, &value, size);
  return Status();
}

}  // namespace

pteron_status* pteron_program_load_file(const char* path, const pteron_load_options* options, pteron_program** out) {
  return guard([&]() -> Status {
    PTERON_TRY(check_out(out));
    const pteron_load_options known = complete(options);
    return load(pteron::read_file(path, access_of(known)), path, known, out);
  });
}

pteron_status* pteron_program_load_fd(int fd, uint64_t offset, uint64_t size, const pteron_load_options* options,
                                      pteron_program** out) {
  return guard([&]() -> Status {
    PTERON_TRY(check_out(out));
    const pteron_load_options known = complete(options);
    return load(pteron::read_descriptor(fd, offset, size, access_of(known)), nullptr, known, out);
  });
}

pteron_status* pteron_program_load_bytes(const void* data, size_t size, void (*release)(void* user), void* user,
                                         const pteron_load_options* options, pteron_program** out) {
  return guard([&]() -> Status {
    // First, so that the bytes are given back whatever fails.
    Result<Bytes> bytes = pteron::borrow_bytes(data, size, release, user);
    PTERON_TRY(check_out(out));
    return load(std::move(bytes), nullptr, complete(options), out);
  });
}

pteron_status* pteron_program_load_source(const pteron_data_source* source, const pteron_load_options* options,
                                          pteron_program** out) {
  return guard([&]() -> Status {
    if (source == nullptr) return error(PTERON_INVALID_ARGUMENT, "the data source is null");
    pteron_data_source known{};
    std::memcpy(&known, source, std::min(source->struct_size, sizeof(known)));
    Result<Bytes> bytes = pteron::read_source(known);
    PTERON_TRY(check_out(out));
    return load(std::move(bytes), nullptr, complete(options), out);
  });
}

void pteron_program_retain(pteron_program* program) {
  pteron::runtime::retain(program);
}

void pteron_program_release(pteron_program* program) {
  pteron::runtime::release(program);
}

size_t pteron_program_method_count(const pteron_program* program) {
  return program->object->file().methods.size();
}

const pteron_method_info* pteron_program_method(const pteron_program* program, size_t index) {
  return program->object->method_info(index);
}

const pteron_method_info* pteron_program_find_method(const pteron_program* program, const char* name) {
  return name == nullptr ? nullptr : program->object->method_info(std::string_view(name));
}

pteron_status* pteron_program_visit_instructions(const pteron_program* program, const char* method,
                                                 void (*visit)(void* user, const pteron_instruction_info* info),
                                                 void* user) {
  return guard([&]() -> Status {
    if (method == nullptr || visit == nullptr) {
      return error(PTERON_INVALID_ARGUMENT, "the method's name or the function to call is null");
    }
    const pteron::format::Method* found = program->object->find_method(method);
    if (found == nullptr) return error(PTERON_NOT_FOUND, "the program has no method '%s'", method);
    const pteron::runtime::InstructionText writer(*found);
    for (size_t c = 0; c < found->chains.size(); ++c) {
      const pteron::format::Chain& chain = found->chains[c];
      for (size_t i = 0; i < chain.instructions.size(); ++i) {
        const std::string text = writer.text(chain.instructions[i]);
        const pteron_instruction_info info = {sizeof(info), text.c_str(),
                                              chain.sources.empty() ? "" : chain.sources[i].c_str(),
                                              static_cast<int32_t>(c), static_cast<int32_t>(i)};
        visit(user, &info);
      }
    }
    return Status();
  });
}

size_t pteron_program_segment_count(const pteron_program* program) {
  return program->object->file().segments.size();
}

pteron_status* pteron_program_segment(const pteron_program* program, size_t index, pteron_segment_info* out) {
  return guard([&]() -> Status {
    const auto& segments = program->object->file().segments;
    if (index >= segments.size()) {
      return error(PTERON_NOT_FOUND, "segment %zu was asked for, the program has %zu", index, segments.size());
    }
    return fill(pteron_segment_info{0, segments[index].offset, segments[index].size}, out);
  });
}

size_t pteron_program_key_count(const pteron_program* program) {
  return program->object->external_tensors().size() + program->object->file().named_data.size();
}

// Tensors from data files first, then the program's own blobs.
pteron_status* pteron_program_key(const pteron_program* program, size_t index, pteron_key_info* out) {
  return guard([&]() -> Status {
    const auto& external = program->object->external_tensors();
    const auto& blobs = program->object->file().named_data;
    if (index < external.size()) {
      const pteron::format::Tensor& tensor = *external[index];
      const int32_t found = program->object->external_data(tensor).ok() ? 1 : 0;
      return fill(pteron_key_info{0, tensor.name.data(), tensor.bytes, 1, found}, out);
    }
    index -= external.size();
    if (index >= blobs.size()) {
      return error(PTERON_NOT_FOUND, "key %zu was asked for, the program has %zu", index + external.size(),
                   external.size() + blobs.size());
    }
    return fill(pteron_key_info{0, blobs[index].key.data(), blobs[index].value.size, 0, 1}, out);
  });
}

pteron_status* pteron_bundle_load_file(const char* path, const pteron_load_options* options, pteron_bundle** out) {
  return guard([&]() -> Status {
    PTERON_TRY(check_out(out));
    const pteron_load_options known = complete(options);
    PTERON_ASSIGN(Bytes bytes, pteron::read_file(path, access_of(known)));
    Result<pteron::format::BundleFile> file = pteron::format::read_bundle_file(std::move(bytes));
    if (!file) return in_file(std::move(file).status(), path);
    Bytes program = file->program;
    auto bundle = std::make_unique<pteron_bundle>(*std::move(file));
    PTERON_TRY(load_program(std::move(program), path, known, &bundle->program));
    *out = bundle.release();
    return Status();
  });
}

void pteron_bundle_release(pteron_bundle* bundle) {
  delete bundle;
}

pteron_program* pteron_bundle_program(const pteron_bundle* bundle) {
  return bundle->program;
}

size_t pteron_bundle_case_count(const pteron_bundle* bundle, const char* method) {
  const auto* cases = method == nullptr ? nullptr : bundle->values.cases(method);
  return cases == nullptr ? 0 : cases->size();
}

pteron_status* pteron_bundle_case(const pteron_bundle* bundle, const char* method, size_t index,
                                  const pteron_value* const** inputs, size_t* input_count,
                                  const pteron_value* const** expected, size_t* expected_count) {
  return guard([&]() -> Status {
    const size_t count = pteron_bundle_case_count(bundle, method);
    if (index >= count) {
      return error(PTERON_NOT_FOUND, "case %zu of method '%s' was asked for, the bundle has %zu", index,
                   method == nullptr ? "" : method, count);
    }
    const auto& one = (*bundle->values.cases(method))[index];
    *inputs = one.inputs.data();
    *input_count = one.inputs.size();
    *expected = one.expected.data();
    *expected_count = one.expected.size();
    return Status();
  });
}
