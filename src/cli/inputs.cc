#include "cli/inputs.h"

#include <charconv>
#include <limits>
#include <optional>

#include "cli/failure.h"
#include "cli/files.h"
#include "cli/literal.h"
#include "cli/npy.h"
#include "cli/npz.h"
#include "cli/safetensors.h"
#include "cli/tensors.h"

namespace pteron::cli {
namespace {

std::vector<int64_t> sizes_of(const ValueInfo& info) {
  const Shape shape = info.shape();
  return {shape.begin(), shape.end()};
}

std::optional<size_t> index_from(std::string_view key) {
  size_t index = 0;
  const auto [end, problem] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (problem != std::errc() || end != key.data() + key.size()) return std::nullopt;
  return index;
}

// An input by index or name; empty when there is none.
std::optional<size_t> find_input(const MethodInfo& method, const std::string& key) {
  if (const auto index = index_from(key)) {
    if (*index < method.input_count()) return index;
    return std::nullopt;
  }
  return method.find_input(key);
}

std::string known_inputs(const MethodInfo& method) {
  std::string text = std::to_string(method.input_count()) + (method.input_count() == 1 ? " input" : " inputs");
  std::string names;
  for (const ValueInfo& input : method.inputs()) {
    if (*input.name() == '\0') continue;
    names += (names.empty() ? "" : ", ") + std::string("'") + printable_text(input.name()) + "'";
  }
  return names.empty() ? text : text + ": " + names;
}

bool is_list(Kind kind) {
  return kind == Kind::kIntList || kind == Kind::kDoubleList || kind == Kind::kBoolList;
}

int64_t as_int(const LiteralNumber& number, const std::string& where) {
  if (number.kind == LiteralNumber::Kind::kInteger || number.kind == LiteralNumber::Kind::kBool) return number.integer;
  fail(kInputRefused, "%s: an integer from -2^63 to 2^63-1 is needed", where.c_str());
}

bool as_bool(const LiteralNumber& number, const std::string& where) {
  const bool whole = number.kind == LiteralNumber::Kind::kInteger || number.kind == LiteralNumber::Kind::kBool;
  if (whole && (number.integer == 0 || number.integer == 1)) return number.integer != 0;
  fail(kInputRefused, "%s: true or false is needed", where.c_str());
}

// A literal for an input that is no tensor.
Value scalar_value(const Literal& literal, Kind kind, const std::string& where) {
  const size_t rank = literal.shape.size();
  if (rank != (is_list(kind) ? 1u : 0u)) {
    fail(kInputRefused, "%s: %s is needed, %zu levels of lists were given", where.c_str(), kind_name(kind), rank);
  }
  switch (kind) {
    case Kind::kInt:
      return Value(as_int(literal.numbers[0], where));
    case Kind::kBool:
      return Value(as_bool(literal.numbers[0], where));
    case Kind::kDouble:
      return Value(literal.numbers[0].number);
    case Kind::kIntList: {
      std::vector<int64_t> values;
      for (const LiteralNumber& number : literal.numbers) values.push_back(as_int(number, where));
      return Value(std::move(values));
    }
    case Kind::kDoubleList: {
      std::vector<double> values;
      for (const LiteralNumber& number : literal.numbers) values.push_back(number.number);
      return Value(std::move(values));
    }
    case Kind::kBoolList: {
      std::vector<bool> values;
      for (const LiteralNumber& number : literal.numbers) values.push_back(as_bool(number, where));
      return Value(values);
    }
    default:
      fail(kInputRefused, "%s: an input of kind %s cannot be given on the command line", where.c_str(),
           kind_name(kind));
  }
}

// The numbers of a tensor, to become a scalar or a list.
Literal literal_of(const TensorView& tensor, const std::string& where) {
  Literal literal;
  literal.shape.assign(tensor.shape().begin(), tensor.shape().end());
  const DType dtype = tensor.dtype();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const Element element = element_at(tensor.data_pointer(), dtype, static_cast<size_t>(i));
    LiteralNumber number;
    number.number = element.number;
    number.integer = element.integer;
    if (is_floating(dtype)) {
      number.kind = LiteralNumber::Kind::kDouble;
    } else if (element.unsigned_integer > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      fail(kInputRefused, "%s: %llu is above 2^63-1", where.c_str(),
           static_cast<unsigned long long>(element.unsigned_integer));
    } else if (element.unsigned_integer != 0) {
      number.integer = static_cast<int64_t>(element.unsigned_integer);
    }
    literal.numbers.push_back(number);
  }
  return literal;
}

// Kind "none": the program leaves the kind to the caller.
Kind kind_of(const LiteralNumber& number) {
  if (number.kind == LiteralNumber::Kind::kBool) return Kind::kBool;
  return number.kind == LiteralNumber::Kind::kDouble ? Kind::kDouble : Kind::kInt;
}

Value open_value(const std::string& text, const std::string& where) {
  if (text == "none") return Value();
  try {
    const Literal literal = parse_literal(text, where);
    if (literal.shape.empty()) return scalar_value(literal, kind_of(literal.numbers[0]), where);
  } catch (const Failure&) {
    // Anything that is no number is text.
  }
  return Value(text);
}

Value tensor_value(Tensor tensor, const ValueInfo& info, const std::string& where) {
  if (info.kind() == Kind::kTensor) return Value(std::move(tensor));
  const Literal literal = literal_of(tensor, where);
  if (info.kind() != Kind::kNone) return scalar_value(literal, info.kind(), where);
  if (!literal.shape.empty()) fail(kInputRefused, "%s: a number, a bool or a text is needed", where.c_str());
  return scalar_value(literal, kind_of(literal.numbers[0]), where);
}

Value npy_value(const std::string& bytes, const ValueInfo& info, const std::string& where) {
  if (info.kind() == Kind::kTensor) return Value(read_npy(bytes, where, info.dtype()));
  if (info.kind() == Kind::kString || info.kind() == Kind::kNone) {
    if (std::optional<std::string> text = read_npy_text(bytes, where)) return Value(std::move(*text));
  }
  return tensor_value(read_npy(bytes, where), info, where);
}

bool is_picture(const std::string& path) {
  return ends_with(path, ".png") || ends_with(path, ".jpg") || ends_with(path, ".jpeg") || ends_with(path, ".PNG") ||
         ends_with(path, ".JPG") || ends_with(path, ".JPEG");
}

Value file_value(const std::string& path, const ValueInfo& info, const ImageOptions& image, const std::string& where) {
  const std::string place = where + ", file '" + path + "'";
  if (ends_with(path, ".npy")) return npy_value(read_file(path), info, place);
  if (!is_picture(path)) {
    fail(kInputRefused, "%s: the name must end in .npy, .png, .jpg or .jpeg (for .npz and .safetensors use --inputs)",
         place.c_str());
  }
  if (info.kind() != Kind::kTensor) {
    fail(kInputRefused, "%s: the input is of kind %s, a picture is a tensor", place.c_str(), kind_name(info.kind()));
  }
  std::vector<int64_t> sizes = sizes_of(info);
  // Sizes are upper bounds then: a batch of up to so many pictures may be one.
  if (info.is_dynamic() && sizes.size() == 4 && sizes[0] > 1) sizes[0] = 1;
  return Value(image_tensor(read_file(path), info.dtype(), sizes, image, place));
}

Value text_value(const std::string& text, const ValueInfo& info, const ImageOptions& image, const std::string& where) {
  if (info.kind() == Kind::kString) return Value(text);
  if (!text.empty() && text[0] == '@') return file_value(text.substr(1), info, image, where);
  if (info.kind() == Kind::kNone) return open_value(text, where);
  const bool tensor = info.kind() == Kind::kTensor;
  if (tensor && text == "zeros") return Value(make_tensor(info.dtype(), sizes_of(info), where));
  if (tensor && text.rfind("random:", 0) == 0) {
    return Value(random_tensor(info.dtype(), sizes_of(info), parse_seed(text, where), where));
  }
  const Literal literal = parse_literal(text, where);
  return tensor ? Value(literal_tensor(literal, info.dtype(), sizes_of(info), where))
                : scalar_value(literal, info.kind(), where);
}

// "NAME=VALUE", "INDEX=VALUE" or "VALUE".
struct Assignment {
  std::string key;  // "" when there is none
  std::string value;
};

Assignment split_assignment(const std::string& text) {
  const size_t equals = text.find('=');
  const size_t value_begins = text.find_first_of("@[");
  if (equals == std::string::npos || equals == 0 || value_begins < equals) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::optional<Value> exported_value(const ValueInfo& info) {
  switch (info.kind()) {
    case Kind::kInt:
    case Kind::kBool:
    case Kind::kDouble:
    case Kind::kString:
      return take(info.exported_value().clone(), Stage::kInput);
    case Kind::kNone:
      return Value();
    default:
      return std::nullopt;
  }
}

class InputTable {
 public:
  explicit InputTable(const MethodInfo& method) : method_(method), infos_(method.inputs()), values_(infos_.size()) {}

  const ValueInfo& info(size_t index) const { return infos_[index]; }

  void set(size_t index, Value value) {
    if (values_[index]) fail(kUsage, "%s is given twice", input_place(method_, index).c_str());
    values_[index] = std::move(value);
  }

  std::vector<Value> finish() {
    std::string absent;
    std::vector<Value> list;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i]) values_[i] = exported_value(infos_[i]);
      if (values_[i]) {
        list.push_back(std::move(*values_[i]));
        continue;
      }
      absent += absent.empty() ? "" : ", ";
      absent += std::to_string(i);
      if (*infos_[i].name() != '\0') absent += " '" + printable_text(infos_[i].name()) + "'";
    }
    if (absent.empty()) return list;
    fail(kInputRefused, "method '%s': no value was given for input %s; use --input or --inputs", method_.name(),
         absent.c_str());
  }

 private:
  const MethodInfo& method_;
  std::vector<ValueInfo> infos_;
  std::vector<std::optional<Value>> values_;
};

size_t require_input(const MethodInfo& method, const std::string& key, const std::string& where) {
  const std::optional<size_t> index = find_input(method, key);
  if (!index) {
    fail(kUsage, "%s: method '%s' has no input '%s'; it has %s", where.c_str(), method.name(),
         printable_text(key).c_str(), known_inputs(method).c_str());
  }
  return *index;
}

void set_from_file(const MethodInfo& method, const std::string& path, InputTable* table) {
  const std::string where = "'" + path + "'";
  const auto set = [&](const std::string& key, const auto& make_value) {
    const size_t index = require_input(method, key, where);
    table->set(index, make_value(table->info(index), input_place(method, index) + ", from " + where));
  };
  if (ends_with(path, ".npz")) {
    const std::string bytes = read_file(path);
    for (const auto& [key, array] : read_npz(bytes, where)) {
      set(key,
          [&array = array](const ValueInfo& info, const std::string& place) { return npy_value(array, info, place); });
    }
  } else if (ends_with(path, ".safetensors")) {
    const std::string bytes = read_file(path);
    for (auto& [key, tensor] : read_safetensors(bytes, where)) {
      set(key, [&tensor = tensor](const ValueInfo& info, const std::string& place) {
        return tensor_value(std::move(tensor), info, place);
      });
    }
  } else {
    fail(kInputRefused, "%s: --inputs takes a .npz or a .safetensors file", where.c_str());
  }
}

}  // namespace

std::string input_place(const MethodInfo& method, size_t index) {
  const char* name = method.inputs()[index].name();
  std::string text = "input " + std::to_string(index);
  if (*name != '\0') text += " '" + printable_text(name) + "'";
  return text + " of method '" + method.name() + "'";
}

std::vector<Value> make_inputs(const MethodInfo& method, const InputOptions& options) {
  InputTable table(method);
  if (!options.file.empty()) set_from_file(method, options.file, &table);
  size_t unnamed = 0;
  for (const std::string& text : options.values) {
    const Assignment assignment = split_assignment(text);
    size_t index = 0;
    if (!assignment.key.empty()) {
      index = require_input(method, assignment.key, "--input");
    } else {
      index = unnamed++;
      if (index >= method.input_count()) {
        fail(kUsage, "--input is given %zu times without a name; method '%s' has %s", unnamed, method.name(),
             known_inputs(method).c_str());
      }
    }
    table.set(index, text_value(assignment.value, table.info(index), options.image, input_place(method, index)));
  }
  return table.finish();
}

std::vector<Value> made_up_inputs(const MethodInfo& method, std::string* note) {
  std::vector<Value> values;
  const std::vector<ValueInfo> infos = method.inputs();
  bool floats = false;
  bool zeros = false;
  for (size_t i = 0; i < infos.size(); ++i) {
    const std::string where = input_place(method, i);
    if (infos[i].kind() == Kind::kNone) {
      zeros = true;
      values.emplace_back(0);
    } else if (std::optional<Value> exported = exported_value(infos[i])) {
      values.push_back(std::move(*exported));
    } else if (infos[i].kind() != Kind::kTensor) {
      fail(kInputRefused, "%s is of kind %s; give a value with --input", where.c_str(), kind_name(infos[i].kind()));
    } else if (is_floating(infos[i].dtype())) {
      floats = true;
      values.emplace_back(random_tensor(infos[i].dtype(), sizes_of(infos[i]), i, where));
    } else {
      zeros = true;
      values.emplace_back(make_tensor(infos[i].dtype(), sizes_of(infos[i]), where));
    }
  }
  *note = floats && zeros ? "random floats in [0, 1) and zero integers"
          : floats        ? "random floats in [0, 1)"
          : zeros         ? "zero integers"
                          : "the values the program was exported with";
  return values;
}

}  // namespace pteron::cli
