#include "format/named_data.h"

#include <string>
#include <unordered_set>

#include "base/error.h"
#include "format/name.h"

namespace pteron::format {

Result<std::vector<NamedData>> read_named_data(const pte::Program& program, const SegmentTable& segments) {
  std::vector<NamedData> result;
  if (program.named_data() == nullptr) return result;
  std::unordered_set<std::string_view> keys;
  for (const pte::NamedData* entry : *program.named_data()) {
    Result<std::string_view> key = read_name(entry->key(), "its key");
    if (!key) return with_place(std::move(key).status(), "named data %zu", result.size());
    const std::string shown = printable(key->data(), key->size());
    if (!keys.insert(*key).second) {
      return error(PTERON_INVALID_FILE, "named data %zu: the key '%s' is there twice", result.size(), shown.c_str());
    }
    Result<ByteView> value = segments.segment(entry->segment_index());
    if (!value) return with_place(std::move(value).status(), "named data '%s'", shown.c_str());
    result.push_back({*key, *value});
  }
  return result;
}

}  // namespace pteron::format
