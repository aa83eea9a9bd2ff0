#include "runtime/schema.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace pteron::runtime {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct TypeName {
  std::string_view name;
  ArgumentType type;
};

constexpr TypeName kTypes[] = {
    {"Tensor", ArgumentType::kTensor}, {"Scalar", ArgumentType::kScalar},  {"int", ArgumentType::kInt},
    {"SymInt", ArgumentType::kInt},    {"ScalarType", ArgumentType::kInt}, {"MemoryFormat", ArgumentType::kInt},
    {"Layout", ArgumentType::kInt},    {"Device", ArgumentType::kInt},     {"float", ArgumentType::kDouble},
    {"bool", ArgumentType::kBool},     {"str", ArgumentType::kString},
};

// Reads a schema from left to right. The first thing that does not fit is kept, with its place; after that every read
// fails.
class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : text_(text) {}

  bool parse(Schema* schema) {
    const size_t open = text_.find('(');
    if (open == std::string_view::npos) return fail("'('");
    at_ = open + 1;
    while (!take(')')) {
      if (!schema->arguments.empty() || star_seen_) {
        if (!expect(',')) return false;
      }
      if (!star_seen_ && take('*')) {
        star_seen_ = true;
        continue;
      }
      if (!argument(schema)) return false;
    }
    if (!expect('-') || !expect('>') || !returns(schema)) return false;
    skip_spaces();
    return at_ == text_.size() || fail("the end");
  }

  Status status() const {
    return error(PTERON_INVALID_ARGUMENT, "operator schema \"%s\": expected %s at character %zu",
                 printable(text_.data(), text_.size()).c_str(), expected_, at_ + 1);
  }

 private:
  bool fail(const char* expected) {
    expected_ = expected;
    return false;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool expect(char c) {
    if (take(c)) return true;
    return fail(c == ',' ? "','" : c == ')' ? "')'" : c == ']' ? "']'" : "'->'");
  }

  std::string_view word() {
    skip_spaces();
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // "(a!)", "(a)", "(a -> *)" is not used by out-variants.
  bool alias(Argument* out) {
    if (!take('(')) return true;
    const std::string_view letter = word();
    if (letter.size() != 1) return fail("a letter that names an alias set");
    out->alias = letter[0];
    out->written = take('!');
    out->output = out->written && star_seen_;
    return expect(')');
  }

  // "Tensor(a!)[]?", "SymInt[2]", "Tensor?[]"
  bool type(Argument* out) {
    const std::string_view name = word();
    const auto* found =
        std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.name == name; });
    if (found == std::end(kTypes)) return fail("a type");
    out->type = found->type;
    if (!alias(out)) return false;
    const bool optional_item = take('?');
    if (!take('[')) {
      out->optional = optional_item;
      return true;
    }
    word();  // the length is what a single number is repeated to in Python; files hold the list
    if (!expect(']')) return false;
    switch (out->type) {
      case ArgumentType::kTensor:
        out->type = optional_item ? ArgumentType::kOptionalTensorList : ArgumentType::kTensorList;
        break;
      case ArgumentType::kInt:
        out->type = ArgumentType::kIntList;
        break;
      case ArgumentType::kDouble:
        out->type = ArgumentType::kDoubleList;
        break;
      case ArgumentType::kBool:
        out->type = ArgumentType::kBoolList;
        break;
      default:
        return fail("a list of tensors, ints, floats or bools");
    }
    if (optional_item && out->type != ArgumentType::kOptionalTensorList) return fail("a list without optional items");
    out->optional = take('?');
    return true;
  }

  // "=None", "=[0, 1]", "=\"none\"", "=-1": files always hold the value, so defaults are only skipped.
  bool default_value() {
    if (!take('=')) return true;
    skip_spaces();
    const size_t begin = at_;
    int depth = 0;
    char quote = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[') {
        ++depth;
      } else if (c == ']' && depth > 0) {
        --depth;
      } else if ((c == ',' || c == ')') && depth == 0) {
        break;
      }
    }
    return at_ > begin || fail("a default value");
  }

  bool argument(Schema* schema) {
    Argument out;
    if (!type(&out)) return false;
    out.name = word();
    if (out.name.empty()) return fail("the name of an argument");
    if (!default_value()) return false;
    schema->arguments.push_back(std::move(out));
    return true;
  }

  bool one_return(Schema* schema) {
    Argument out;
    if (!type(&out)) return false;
    word();  // a returned value may have a name
    schema->returns += 1;
    schema->return_aliases.push_back(out.alias != 0 ? out.alias : ' ');
    return true;
  }

  bool returns(Schema* schema) {
    if (!take('(')) return one_return(schema);
    if (take(')')) return true;
    do {
      if (!one_return(schema)) return false;
    } while (take(','));
    return expect(')');
  }

  std::string_view text_;
  size_t at_ = 0;
  bool star_seen_ = false;
  const char* expected_ = "";
};

bool is_scalar_kind(int32_t kind) {
  return kind == PTERON_KIND_INT || kind == PTERON_KIND_DOUBLE || kind == PTERON_KIND_BOOL;
}

const char* type_text(ArgumentType type) {
  switch (type) {
    case ArgumentType::kTensor:
      return "tensor";
    case ArgumentType::kScalar:
      return "int, double or bool";
    case ArgumentType::kInt:
      return "int";
    case ArgumentType::kDouble:
      return "double";
    case ArgumentType::kBool:
      return "bool";
    case ArgumentType::kString:
      return "string";
    case ArgumentType::kIntList:
      return "int list";
    case ArgumentType::kDoubleList:
      return "double list";
    case ArgumentType::kBoolList:
      return "bool list";
    case ArgumentType::kTensorList:
      return "tensor list";
    case ArgumentType::kOptionalTensorList:
      return "optional tensor list";
  }
  return "unknown";
}

// How many values the exporter appended behind the arguments, or -1 when the count fits no form of the call.
int appended_count(const Schema& schema, size_t given) {
  const size_t arity = schema.arguments.size();
  if (given == arity) return 0;
  if (given == arity + 1) return 1;
  if (schema.returns > 0 && given == arity + schema.returns) return static_cast<int>(schema.returns);
  return -1;
}

// Returned value `index` must be the argument it stands for: what follows in the program reads it under that index.
Status check_returned(const Schema& schema, std::span<const CallArgument> arguments, size_t index) {
  const char letter = schema.return_aliases[index];
  const CallArgument& returned = arguments[schema.arguments.size() + index];
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (letter == ' ' || schema.arguments[i].alias != letter || arguments[i].value < 0 || returned.value < 0) continue;
    if (arguments[i].value == returned.value) return {};
    return error(PTERON_INVALID_FILE, "returned value %zu is value %d, expected value %d, which is the argument '%s'",
                 index, returned.value, arguments[i].value, schema.arguments[i].name.c_str());
  }
  return {};
}

}  // namespace

Result<Schema> parse_schema(std::string_view text) {
  Schema schema;
  SchemaParser parser(text);
  if (!parser.parse(&schema)) return parser.status();
  return schema;
}

bool accepts(const Argument& argument, int32_t kind) {
  if (kind == PTERON_KIND_NONE && argument.optional) return true;
  switch (argument.type) {
    case ArgumentType::kTensor:
      return kind == PTERON_KIND_TENSOR;
    case ArgumentType::kScalar:
    case ArgumentType::kInt:
    case ArgumentType::kDouble:
    case ArgumentType::kBool:
      if (kind == kKindComputed) return true;
      if (argument.written) return kind == PTERON_KIND_NONE || is_scalar_kind(kind);
      if (argument.type == ArgumentType::kScalar) return is_scalar_kind(kind);
      if (argument.type == ArgumentType::kInt) return kind == PTERON_KIND_INT || kind == PTERON_KIND_BOOL;
      if (argument.type == ArgumentType::kDouble) return is_scalar_kind(kind);
      return kind == PTERON_KIND_BOOL || kind == PTERON_KIND_INT;
    case ArgumentType::kString:
      return kind == PTERON_KIND_STRING || kind == kKindComputed;
    case ArgumentType::kIntList:
      return kind == PTERON_KIND_INT_LIST;
    case ArgumentType::kDoubleList:
      return kind == PTERON_KIND_DOUBLE_LIST;
    case ArgumentType::kBoolList:
      return kind == PTERON_KIND_BOOL_LIST;
    case ArgumentType::kTensorList:
      return kind == PTERON_KIND_TENSOR_LIST;
    case ArgumentType::kOptionalTensorList:
      return kind == PTERON_KIND_OPTIONAL_TENSOR_LIST || kind == PTERON_KIND_TENSOR_LIST;
  }
  return false;
}

Status check_call(const Schema& schema, std::span<const CallArgument> arguments) {
  const size_t arity = schema.arguments.size();
  const int appended = appended_count(schema, arguments.size());
  if (appended < 0) {
    return error(PTERON_INVALID_FILE, "the call has %zu arguments, expected %zu%s", arguments.size(), arity,
                 schema.returns > 0 ? " and the returned values" : "");
  }
  for (size_t i = 0; i < arity; ++i) {
    const Argument& argument = schema.arguments[i];
    if (accepts(argument, arguments[i].kind)) continue;
    return error(PTERON_INVALID_FILE, "argument %zu '%s' is %s, expected %s", i, argument.name.c_str(),
                 arguments[i].kind == kKindComputed ? "a computed scalar" : pteron_kind_name(arguments[i].kind),
                 describe(argument).c_str());
  }
  // One appended value that is a list holds the returned values of an operator that returns several, or fills a list.
  if (appended == 1 && arguments[arity].kind == PTERON_KIND_TENSOR_LIST) return {};
  if (static_cast<uint32_t>(appended) > schema.returns ||
      (appended > 0 && schema.returns != static_cast<uint32_t>(appended))) {
    return error(PTERON_INVALID_FILE, "the call ends with a %s, expected a tensor list of the %u returned values",
                 pteron_kind_name(arguments[arity].kind), schema.returns);
  }
  for (size_t i = 0; i < static_cast<size_t>(appended); ++i) PTERON_TRY(check_returned(schema, arguments, i));
  return {};
}

std::string describe(const Argument& argument) {
  return std::string(argument.optional ? "optional " : "") + type_text(argument.type);
}

}  // namespace pteron::runtime
