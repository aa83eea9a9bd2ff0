#include "format/bundle_file.h"

#include <cinttypes>
#include <cstring>
#include <unordered_set>

#include <bundled_program_generated.h>
#include "base/error.h"
#include "base/file.h"
#include "format/constant_copies.h"
#include "format/decode_budget.h"
#include "format/flatbuffer_check.h"
#include "format/identifier.h"
#include "format/name.h"

namespace pteron::format {
namespace {

// What exporters write today; older versions have the same tables.
constexpr uint32_t kNewestVersion = 2;

class CaseReader {
 public:
  explicit CaseReader(const Bytes& bytes) : copies_(bytes.size()), budget_(bytes.size()) {}

  Result<BundleSuite> read_suite(const bpte::BundledMethodTestSuite& from) {
    BundleSuite suite;
    PTERON_ASSIGN(suite.method, read_name(from.method_name(), "its method's name"));
    if (from.test_cases() == nullptr) return error(PTERON_INVALID_FILE, "its list of cases is absent");
    for (const bpte::BundledMethodTestCase* entry : *from.test_cases()) {
      Result<BundleCase> one = read_case(*entry);
      if (!one) return with_place(std::move(one).status(), "case %zu", suite.cases.size());
      suite.cases.push_back(*std::move(one));
    }
    return suite;
  }

  std::vector<std::shared_ptr<const void>> take_copies() { return copies_.take(); }

 private:
  using Values = flatbuffers::Vector<flatbuffers::Offset<bpte::Value>>;

  Result<BundleCase> read_case(const bpte::BundledMethodTestCase& from) {
    BundleCase result;
    PTERON_TRY(read_values(from.inputs(), "input", &result.inputs));
    PTERON_TRY(read_values(from.expected_outputs(), "expected output", &result.expected));
    return result;
  }

  // A method without inputs, or a case without expectations, has no list.
  Status read_values(const Values* from, const char* what, std::vector<BundleValue>* to) {
    if (from == nullptr) return {};
    PTERON_TRY(budget_.take(uint64_t{from->size()} * 4));
    for (const bpte::Value* entry : *from) {
      Result<BundleValue> value = read_value(*entry);
      if (!value) return with_place(std::move(value).status(), "%s %zu", what, to->size());
      to->push_back(*std::move(value));
    }
    return {};
  }

  Result<BundleValue> read_value(const bpte::Value& from) {
    BundleValue value;
    if (from.val_type() < bpte::ValueUnion::Tensor || from.val_type() > bpte::ValueUnion::Double) {
      return error(PTERON_INVALID_FILE, "its kind is %d, expected 1 (tensor) to 4 (double)",
                   static_cast<int>(from.val_type()));
    }
    if (from.val() == nullptr) return error(PTERON_INVALID_FILE, "it has a kind but no content");
    switch (from.val_type()) {
      case bpte::ValueUnion::Int:
        value.kind = PTERON_KIND_INT;
        value.as_int = from.val_as_Int()->value();
        break;
      case bpte::ValueUnion::Bool:
        value.kind = PTERON_KIND_BOOL;
        value.as_bool = from.val_as_Bool()->value();
        break;
      case bpte::ValueUnion::Double:
        value.kind = PTERON_KIND_DOUBLE;
        value.as_double = from.val_as_Double()->value();
        break;
      default:
        PTERON_TRY(read_tensor(*from.val_as_Tensor(), &value));
    }
    return value;
  }

  Status read_tensor(const bpte::Tensor& from, BundleValue* to) {
    to->kind = PTERON_KIND_TENSOR;
    PTERON_ASSIGN(to->shape, read_shape(from.scalar_type(), from.sizes(), from.dim_order()));
    PTERON_TRY(budget_.take(to->shape.sizes.size() * sizeof(int32_t)));
    const uint64_t stored = from.data() == nullptr ? 0 : from.data()->size();
    if (stored != to->shape.bytes) {
      return error(PTERON_INVALID_FILE, "%s needs %" PRIu64 " bytes, the file stores %" PRIu64,
                   shape_text(to->shape.dtype, to->shape.sizes).c_str(), to->shape.bytes, stored);
    }
    if (stored == 0) return {};
    PTERON_ASSIGN(to->data, copies_.aligned({from.data()->data(), stored}, pteron_dtype_size(to->shape.dtype)));
    return {};
  }

  ConstantCopies copies_;
  DecodeBudget budget_;
};

Result<Bytes> nested_program(const Bytes& bytes, const bpte::BundledProgram& root) {
  if (root.program() == nullptr) return error(PTERON_INVALID_FILE, "the program inside is absent");
  const uint8_t* data = root.program()->data();
  const size_t size = root.program()->size();
  if (reinterpret_cast<uintptr_t>(data) % kBytesAlignment != 0) return copy_bytes(data, size);
  return bytes.part(static_cast<size_t>(data - bytes.data()), size);
}

}  // namespace

bool looks_like_bundle(const Bytes& bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "BP", 2) == 0;
}

Result<BundleFile> read_bundle_file(Bytes bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kBytesAlignment != 0) {
    return error(PTERON_INVALID_ARGUMENT, "the bytes of a bundle must be aligned to %zu", kBytesAlignment);
  }
  PTERON_TRY(check_identifier(bytes, "BP08", "a program with test cases (.bpte)"));
  PTERON_ASSIGN(const bpte::BundledProgram* root,
                check_flatbuffer<bpte::BundledProgram>(bytes.data(), bytes.size(), "the bundle"));
  if (root->version() > kNewestVersion) {
    return error(PTERON_UNSUPPORTED, "the bundle has format version %u, expected at most %u; it needs a newer Pteron",
                 root->version(), kNewestVersion);
  }
  BundleFile file;
  PTERON_ASSIGN(file.program, nested_program(bytes, *root));
  CaseReader reader(bytes);
  std::unordered_set<std::string_view> methods;
  if (root->method_test_suites() != nullptr) {
    for (const bpte::BundledMethodTestSuite* entry : *root->method_test_suites()) {
      Result<BundleSuite> suite = reader.read_suite(*entry);
      if (!suite) return with_place(std::move(suite).status(), "test suite %zu", file.suites.size());
      if (!methods.insert(suite->method).second) {
        return error(PTERON_INVALID_FILE, "test suite %zu: method '%s' has another one", file.suites.size(),
                     printable(suite->method.data(), suite->method.size()).c_str());
      }
      file.suites.push_back(*std::move(suite));
    }
  }
  file.copies = reader.take_copies();
  file.bytes = std::move(bytes);
  return file;
}

}  // namespace pteron::format
