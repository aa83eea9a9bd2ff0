#include "base/file.h"
#include "outcome.h"
#include "runtime/program.h"

namespace pteron::damaged {

Outcome load(const FileBytes& program, const std::vector<FileBytes>& data_files) {
  Result<Bytes> bytes = copy_bytes(program.data(), program.size());
  std::vector<runtime::DataFile> files;
  for (const FileBytes& data : data_files) {
    files.push_back({std::to_string(files.size()) + ".ptd", *copy_bytes(data.data(), data.size())});
  }
  auto loaded = runtime::Program::create(*bytes, files, format::Limits());
  return {loaded.status().code(), loaded.status().message()};
}

}  // namespace pteron::damaged
