#include "number_finder.h"

#include <flatbuffers/minireflect.h>
#include <program_generated.h>

#include <cstring>

namespace pteron::damaged {
namespace {

// Collects the numbers of a flatbuffer from its type table.
class NumberFinder : public flatbuffers::IterationVisitor {
 public:
  NumberFinder(const FileBytes& file, std::set<Number>* found) : file_(file), found_(found) {}

  void Field(size_t, size_t, flatbuffers::ElementaryType type, bool is_vector, const flatbuffers::TypeTable*,
             const char*, const uint8_t* value) override {
    if (value == nullptr) return;
    if (!is_vector && is_scalar(type)) {
      add(value, flatbuffers::InlineSize(type, nullptr));
      return;
    }
    add(value, sizeof(uint32_t));  // the offset
    if (is_vector || type == flatbuffers::ET_STRING) add(value + flatbuffers::ReadScalar<uint32_t>(value), 4);
  }
  void Element(size_t, flatbuffers::ElementaryType type, const flatbuffers::TypeTable*, const uint8_t* value) override {
    add(value, is_scalar(type) ? flatbuffers::InlineSize(type, nullptr) : sizeof(uint32_t));
  }

 private:
  static bool is_scalar(flatbuffers::ElementaryType type) {
    return type != flatbuffers::ET_STRING && type != flatbuffers::ET_SEQUENCE;
  }
  void add(const uint8_t* at, size_t width) {
    const auto offset = static_cast<size_t>(at - file_.data());
    if (offset + width <= file_.size()) found_->insert({offset, width});
  }

  const FileBytes& file_;
  std::set<Number>* found_;
};

}  // namespace

std::set<Number> numbers_of(const FileBytes& file) {
  std::set<Number> numbers;
  NumberFinder finder(file, &numbers);
  flatbuffers::IterateFlatBuffer(file.data(), format::pte::ProgramTypeTable(), &finder);
  if (std::memcmp(file.data() + 8, "eh00", 4) == 0) {
    numbers.insert({12, 4});
    for (const size_t offset : {16, 24, 32}) numbers.insert({offset, 8});
  }
  numbers.insert({0, 4});
  return numbers;
}

}  // namespace pteron::damaged
