// Program: a verified file with the data files given beside it. Immutable, shared between threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "format/program_file.h"
#include "format/weights_file.h"
#include "pteron/c/program.h"
#include "pteron/result.h"
#include "runtime/method_info.h"

namespace pteron::runtime {

// The bytes of a `.ptd` file, and what to call it in messages.
struct DataFile {
  std::string name;
  Bytes bytes;
};

class Program {
 public:
  // Verifies everything. Without data files a program that needs some loads all the same, to be looked at; with data
  // files every tensor that it takes from outside must be in one of them, in the same type and shape. The order of the
  // data files does not matter: a key that is there twice is refused.
  static Result<std::shared_ptr<const Program>> create(Bytes program, const std::vector<DataFile>& data_files,
                                                       const format::Limits& limits);

  const format::ProgramFile& file() const { return file_; }

  // Null when there is no such method. The info lives as long as the program.
  const format::Method* find_method(std::string_view name) const;
  const pteron_method_info* method_info(std::string_view name) const;
  const pteron_method_info* method_info(size_t index) const;

  // The bytes of a tensor that lives in a data file (kExternalConstant, kPlannedExternalInit), aligned for its dtype
  // and at least `tensor.bytes` of them. PTERON_NOT_FOUND when no data file has its key; PTERON_INVALID_FILE when what
  // is there is of another type or shape.
  Result<format::ByteView> external_data(const format::Tensor& tensor) const;

  // The blob of that key in the program or in a data file; null when there is none.
  const format::ByteView* named_data(std::string_view key) const;

  // Names of tensors in data files, without repetition, in order of first use.
  const std::vector<const format::Tensor*>& external_tensors() const { return external_tensors_; }

 private:
  Program() = default;

  Status add_data_file(const DataFile& from);
  void collect_external_tensors();

  format::ProgramFile file_;
  std::vector<std::unique_ptr<format::WeightsFile>> data_files_;
  std::vector<std::string> data_names_;
  struct Place {
    size_t data_file;
    const format::WeightsEntry* entry;
  };
  std::unordered_map<std::string_view, Place> external_;
  std::unordered_map<std::string_view, format::ByteView> blobs_;
  std::unordered_map<std::string_view, size_t> methods_;
  std::vector<const format::Tensor*> external_tensors_;
  std::vector<std::unique_ptr<MethodInfo>> infos_;
};

}  // namespace pteron::runtime
