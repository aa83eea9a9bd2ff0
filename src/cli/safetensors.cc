#include "cli/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/checked.h"
#include "cli/failure.h"
#include "cli/files.h"

namespace pteron::cli {
namespace {

using Json = nlohmann::json;

// What other readers allow as well; keeps a false length from asking for gigabytes of JSON.
constexpr uint64_t kLargestHeader = 100'000'000;

struct Name {
  const char* text;
  DType dtype;
};
constexpr Name kNames[] = {{"BOOL", DType::kBool},
                           {"U8", DType::kUInt8},
                           {"I8", DType::kInt8},
                           {"U16", DType::kUInt16},
                           {"I16", DType::kInt16},
                           {"U32", DType::kUInt32},
                           {"I32", DType::kInt32},
                           {"U64", DType::kUInt64},
                           {"I64", DType::kInt64},
                           {"F16", DType::kFloat16},
                           {"BF16", DType::kBFloat16},
                           {"F32", DType::kFloat32},
                           {"F64", DType::kFloat64},
                           {"F8_E4M3", DType::kFloat8E4M3FN},
                           {"F8_E5M2", DType::kFloat8E5M2},
                           {"F8_E4M3FNUZ", DType::kFloat8E4M3FNUZ},
                           {"F8_E5M2FNUZ", DType::kFloat8E5M2FNUZ}};

struct Entry {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

Entry read_entry(const std::string& name, const Json& json, const std::string& place) {
  if (!json.is_object()) fail(kInputRefused, "%s: its description is not an object", place.c_str());
  const auto dtype = json.find("dtype");
  const auto shape = json.find("shape");
  const auto offsets = json.find("data_offsets");
  const bool complete = dtype != json.end() && dtype->is_string() && shape != json.end() && shape->is_array() &&
                        offsets != json.end() && offsets->is_array() && offsets->size() == 2 &&
                        (*offsets)[0].is_number_unsigned() && (*offsets)[1].is_number_unsigned();
  if (!complete)
    fail(kInputRefused, "%s: 'dtype', 'shape' or 'data_offsets' is missing or of a wrong kind", place.c_str());
  Entry entry;
  entry.name = name;
  const auto text = dtype->get<std::string>();
  const auto* known = std::find_if(std::begin(kNames), std::end(kNames), [&](const Name& n) { return text == n.text; });
  if (known == std::end(kNames)) {
    fail(kInputRefused, "%s: dtype '%s' is not known", place.c_str(), printable_text(text).c_str());
  }
  entry.dtype = known->dtype;
  for (const Json& size : *shape) {
    int64_t value = 0;
    if (!size.is_number_unsigned() || !checked_cast(size.get<uint64_t>(), &value)) {
      fail(kInputRefused, "%s: a size in 'shape' is not a whole number of at least 0", place.c_str());
    }
    entry.shape.push_back(value);
  }
  entry.begin = (*offsets)[0].get<uint64_t>();
  entry.end = (*offsets)[1].get<uint64_t>();
  const size_t need = checked_bytes(entry.shape, entry.dtype, place);
  if (entry.end < entry.begin || entry.end - entry.begin != need) {
    fail(kInputRefused, "%s: shape %s of %s needs %zu bytes, 'data_offsets' are [%llu, %llu]", place.c_str(),
         Shape(entry.shape).to_string().c_str(), dtype_name(entry.dtype), need,
         static_cast<unsigned long long>(entry.begin), static_cast<unsigned long long>(entry.end));
  }
  return entry;
}

// Entries by offset, without gaps or overlaps and up to the file's end.
void require_covering(std::vector<Entry>* entries, uint64_t data_size, const std::string& where) {
  std::stable_sort(entries->begin(), entries->end(), [](const Entry& a, const Entry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  uint64_t at = 0;
  for (const Entry& entry : *entries) {
    if (entry.begin != at) {
      fail(kInputRefused, "%s, tensor '%s': its elements begin at %llu, those before it end at %llu", where.c_str(),
           printable_text(entry.name).c_str(), static_cast<unsigned long long>(entry.begin),
           static_cast<unsigned long long>(at));
    }
    at = entry.end;
  }
  if (at != data_size) {
    fail(kInputRefused, "%s: the header describes %llu bytes of elements, the file holds %llu", where.c_str(),
         static_cast<unsigned long long>(at), static_cast<unsigned long long>(data_size));
  }
}

}  // namespace

NamedTensors read_safetensors(std::string_view bytes, const std::string& where) {
  if (bytes.size() < 8) fail(kInputRefused, "%s is too short for a .safetensors file", where.c_str());
  const uint64_t header_size = load_u64(bytes.data());
  if (header_size > kLargestHeader || header_size > bytes.size() - 8) {
    fail(kInputRefused, "%s is not a .safetensors file: its header would have %llu bytes, the file has %zu",
         where.c_str(), static_cast<unsigned long long>(header_size), bytes.size());
  }
  const std::string_view text = bytes.substr(8, header_size);
  const std::string_view data = bytes.substr(8 + header_size);
  // A good header is three levels deep; a hostile one could be millions.
  const auto limit_depth = [&where](int depth, Json::parse_event_t, Json&) {
    if (depth > 8) fail(kInputRefused, "%s: the JSON header is nested too deep", where.c_str());
    return true;
  };
  const Json header = Json::parse(text, limit_depth, /*allow_exceptions=*/false);
  if (!header.is_object()) fail(kInputRefused, "%s: the header is not a JSON object", where.c_str());
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == "__metadata__") continue;
    entries.push_back(read_entry(name, json, where + ", tensor '" + printable_text(name) + "'"));
  }
  require_covering(&entries, data.size(), where);
  NamedTensors tensors;
  for (const Entry& entry : entries) {
    const std::string place = where + ", tensor '" + printable_text(entry.name) + "'";
    Tensor tensor = make_tensor(entry.dtype, entry.shape, place);
    const std::string_view elements = data.substr(entry.begin, entry.end - entry.begin);
    if (!elements.empty()) std::memcpy(tensor.raw()->data, elements.data(), elements.size());
    if (entry.dtype == DType::kBool) require_bools(elements.data(), elements.size(), place);
    tensors.emplace_back(entry.name, std::move(tensor));
  }
  return tensors;
}

std::string write_safetensors(const NamedTensors& tensors) {
  Json header = Json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const size_t begin = data.size();
    append_elements(tensor, &data);
    const char* dtype = "";
    for (const Name& known : kNames) {
      if (known.dtype == tensor.dtype()) dtype = known.text;
    }
    header[name] = {{"dtype", dtype},
                    {"shape", std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end())},
                    {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // elements stay aligned to 8 bytes
  std::string out;
  append_u64(&out, text.size());
  return out + text + data;
}

}  // namespace pteron::cli
