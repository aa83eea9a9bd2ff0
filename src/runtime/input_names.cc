#include "runtime/input_names.h"

#include <utility>

namespace pteron::runtime {
namespace {

// Just enough of JSON to read a tree description. Numbers and literals keep their text.
struct Json {
  enum class Kind { kText, kString, kList, kObject } kind = Kind::kText;
  std::string text;
  std::vector<Json> items;
  std::vector<std::string> keys;  // of an object, as many as items

  const Json* member(std::string_view key) const {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == key) return &items[i];
    }
    return nullptr;
  }
};

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  // False when the text is not one JSON value, or nests too deeply.
  bool parse(Json* out) {
    if (!parse_value(out, 0)) return false;
    skip_space();
    return at_ == text_.size();
  }

 private:
  static constexpr int kDeepest = 64;

  bool parse_value(Json* out, int depth) {
    skip_space();
    if (depth > kDeepest || at_ == text_.size()) return false;
    switch (text_[at_]) {
      case '"':
        out->kind = Json::Kind::kString;
        return parse_string(&out->text);
      case '[':
        out->kind = Json::Kind::kList;
        return parse_items(out, depth, ']');
      case '{':
        out->kind = Json::Kind::kObject;
        return parse_items(out, depth, '}');
      default:
        return parse_literal(&out->text);
    }
  }

  bool parse_items(Json* out, int depth, char end) {
    ++at_;
    if (accept(end)) return true;
    do {
      if (end == '}') {
        std::string key;
        skip_space();
        if (!parse_string(&key) || !accept(':')) return false;
        out->keys.push_back(std::move(key));
      }
      out->items.emplace_back();
      if (!parse_value(&out->items.back(), depth + 1)) return false;
    } while (accept(','));
    return accept(end);
  }

  bool parse_string(std::string* out) {
    if (at_ == text_.size() || text_[at_] != '"') return false;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      if (text_[at_] == '\\' && ++at_ == text_.size()) return false;
      out->push_back(text_[at_]);
    }
    return false;
  }

  bool parse_literal(std::string* out) {
    const size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) ++at_;
    out->assign(text_.substr(begin, at_ - begin));
    return at_ != begin;
  }

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool is_dictionary(const Json& node) {
  const Json* type = node.member("type");
  return type != nullptr && (type->text == "builtins.dict" || type->text == "collections.OrderedDict");
}

// Keys of a dictionary's children: its context is a JSON list within a JSON string.
std::vector<std::string> dictionary_keys(const Json& node) {
  std::vector<std::string> keys;
  const Json* context = node.member("context");
  Json list;
  if (context == nullptr || !JsonParser(context->text).parse(&list)) return keys;
  for (const Json& key : list.items) keys.push_back(key.text);
  return keys;
}

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

// Appends one name for each leaf below `node`.
void collect(const Json& node, const std::string& prefix, std::vector<std::string>* names) {
  const Json* type = node.member("type");
  const Json* children = node.member("children_spec");
  if (type == nullptr || children == nullptr) return;
  if (type->kind != Json::Kind::kString) {
    names->push_back(prefix);
    return;
  }
  const std::vector<std::string> keys = is_dictionary(node) ? dictionary_keys(node) : std::vector<std::string>();
  for (size_t i = 0; i < children->items.size(); ++i) {
    std::string name = prefix;
    if (i < keys.size()) {
      name = joined(prefix, keys[i]);
    } else if (!prefix.empty()) {
      name = joined(prefix, std::to_string(i));
    }
    collect(children->items[i], name, names);
  }
}

}  // namespace

std::vector<std::string> input_names(std::string_view spec, size_t count) {
  std::vector<std::string> names;
  Json root;
  // [version of the description, tree]
  if (JsonParser(spec).parse(&root) && root.kind == Json::Kind::kList && root.items.size() == 2) {
    collect(root.items[1], "", &names);
  }
  if (names.size() != count) names.assign(count, "");
  return names;
}

}  // namespace pteron::runtime
