#include "runtime/program.h"

#include <unordered_set>

#include "base/error.h"
#include "format/shape.h"

namespace pteron::runtime {
namespace {

std::string shown(std::string_view text) {
  return printable(text.data(), text.size());
}

bool is_external(const format::Tensor& tensor) {
  return tensor.storage == format::Storage::kExternalConstant ||
         tensor.storage == format::Storage::kPlannedExternalInit;
}

// Dim orders of the dims that matter: a dim of size 1 may stand anywhere.
bool same_order(const std::vector<int64_t>& sizes, const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  size_t j = 0;
  for (const uint8_t dim : a) {
    if (sizes[dim] == 1) continue;
    while (j < b.size() && sizes[b[j]] == 1) ++j;
    if (j == b.size() || b[j++] != dim) return false;
  }
  return true;
}

std::string dim_order_text(const std::vector<uint8_t>& order) {
  return format::sizes_text(std::vector<int64_t>(order.begin(), order.end()));
}

}  // namespace

Result<std::shared_ptr<const Program>> Program::create(Bytes bytes, const std::vector<DataFile>& data_files,
                                                       const format::Limits& limits) {
  std::shared_ptr<Program> program(new Program());
  PTERON_ASSIGN(program->file_, format::read_program_file(std::move(bytes), limits));
  for (const format::NamedData& blob : program->file_.named_data) program->blobs_.emplace(blob.key, blob.value);
  for (const format::Method& method : program->file_.methods) {
    program->methods_.emplace(method.name, program->infos_.size());
    program->infos_.push_back(std::make_unique<MethodInfo>(method));
  }
  program->collect_external_tensors();
  for (const DataFile& data_file : data_files) {
    PTERON_TRY(with_place(program->add_data_file(data_file), "data file '%s'", shown(data_file.name).c_str()));
  }
  if (!data_files.empty()) {
    for (const format::Method& method : program->file_.methods) {
      for (const format::Tensor& tensor : method.tensors) {
        if (!is_external(tensor)) continue;
        PTERON_ASSIGN([[maybe_unused]] const format::ByteView data, program->external_data(tensor));
      }
    }
  }
  return std::shared_ptr<const Program>(std::move(program));
}

Status Program::add_data_file(const DataFile& from) {
  PTERON_ASSIGN(format::WeightsFile read, format::read_weights_file(from.bytes));
  data_files_.push_back(std::make_unique<format::WeightsFile>(std::move(read)));
  data_names_.push_back(from.name);
  for (const format::WeightsEntry& entry : data_files_.back()->entries) {
    if (blobs_.count(entry.key) != 0) {
      const auto other = external_.find(entry.key);
      const std::string holder =
          other == external_.end() ? "the program itself" : "'" + shown(data_names_[other->second.data_file]) + "'";
      return error(PTERON_INVALID_FILE, "key '%s' is also in %s; expected each key once", shown(entry.key).c_str(),
                   holder.c_str());
    }
    external_.emplace(entry.key, Place{data_files_.size() - 1, &entry});
    blobs_.emplace(entry.key, entry.data);
  }
  return {};
}

void Program::collect_external_tensors() {
  std::unordered_set<std::string_view> seen;
  for (const format::Method& method : file_.methods) {
    for (const format::Tensor& tensor : method.tensors) {
      if (is_external(tensor) && seen.insert(tensor.name).second) external_tensors_.push_back(&tensor);
    }
  }
}

const format::Method* Program::find_method(std::string_view name) const {
  const auto found = methods_.find(name);
  return found == methods_.end() ? nullptr : &file_.methods[found->second];
}

const pteron_method_info* Program::method_info(std::string_view name) const {
  const auto found = methods_.find(name);
  return found == methods_.end() ? nullptr : infos_[found->second]->get();
}

const pteron_method_info* Program::method_info(size_t index) const {
  return index < infos_.size() ? infos_[index]->get() : nullptr;
}

Result<format::ByteView> Program::external_data(const format::Tensor& tensor) const {
  const std::string name = shown(tensor.name);
  const std::string wanted = format::shape_text(tensor.dtype, tensor.sizes);
  const auto found = external_.find(tensor.name);
  if (found == external_.end()) {
    if (data_files_.empty()) {
      return error(PTERON_NOT_FOUND,
                   "the program needs external data '%s' (%s), but no data file was given; give the "
                   ".ptd file that was exported with it",
                   name.c_str(), wanted.c_str());
    }
    return error(PTERON_NOT_FOUND, "the program needs external data '%s' (%s), which none of the %zu data files has",
                 name.c_str(), wanted.c_str(), data_files_.size());
  }
  const format::WeightsEntry& entry = *found->second.entry;
  const std::string place = shown(data_names_[found->second.data_file]);
  if (!entry.has_layout) {
    return error(PTERON_INVALID_FILE, "external data '%s': expected %s, found a blob without a type in '%s'",
                 name.c_str(), wanted.c_str(), place.c_str());
  }
  const format::Shape& shape = entry.shape;
  if (shape.dtype != tensor.dtype || shape.sizes != tensor.sizes ||
      !same_order(tensor.sizes, tensor.dim_order, shape.dim_order)) {
    return error(PTERON_INVALID_FILE,
                 "external data '%s': expected %s in dim order %s, found %s in dim order %s in "
                 "'%s'; does the data file belong to this program?",
                 name.c_str(), wanted.c_str(), dim_order_text(tensor.dim_order).c_str(),
                 format::shape_text(shape.dtype, shape.sizes).c_str(), dim_order_text(shape.dim_order).c_str(),
                 place.c_str());
  }
  return entry.data;
}

const format::ByteView* Program::named_data(std::string_view key) const {
  const auto found = blobs_.find(key);
  return found == blobs_.end() ? nullptr : &found->second;
}

}  // namespace pteron::runtime
