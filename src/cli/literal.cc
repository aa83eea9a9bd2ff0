#include "cli/literal.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "cli/failure.h"

namespace pteron::cli {
namespace {

LiteralNumber from_integer(int64_t value) {
  LiteralNumber number;
  number.integer = value;
  number.number = static_cast<double>(value);
  return number;
}
LiteralNumber from_double(double value) {
  LiteralNumber number;
  number.kind = LiteralNumber::Kind::kDouble;
  number.number = value;
  return number;
}
LiteralNumber from_bool(bool value) {
  LiteralNumber number = from_integer(value ? 1 : 0);
  number.kind = LiteralNumber::Kind::kBool;
  return number;
}

class LiteralParser {
 public:
  LiteralParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Literal parse() {
    item(0);
    skip_space();
    if (position_ != text_.size()) refuse("there is text after the value");
    return std::move(literal_);
  }

 private:
  [[noreturn]] void refuse(const char* why) const {
    fail(kInputRefused, "%s: '%s' is no value: %s (at character %zu)", where_.c_str(),
         printable_text(std::string(text_)).c_str(), why, position_ + 1);
  }
  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
  }
  bool take(char c) {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void item(size_t depth) {
    if (!take('[')) {
      if (leaf_depth_ != kUnknown && leaf_depth_ != depth) refuse("lists and numbers are mixed");
      leaf_depth_ = depth;
      literal_.numbers.push_back(number());
      return;
    }
    if (depth >= PTERON_MAX_RANK) refuse("lists are nested too deep");
    int64_t count = 0;
    while (!take(']')) {
      if (count != 0 && !take(',')) refuse("a ',' or ']' is missing");
      if (count == 0 || !take(']')) {
        item(depth + 1);
        ++count;
        continue;
      }
      break;
    }
    if (count == 0) {
      if (leaf_depth_ != kUnknown && leaf_depth_ != depth + 1) refuse("lists and numbers are mixed");
      leaf_depth_ = depth + 1;
    }
    set_size(depth, count);
  }

  // Sizes are known from the inside out.
  void set_size(size_t depth, int64_t count) {
    if (literal_.shape.size() <= depth) literal_.shape.resize(depth + 1, kUnset);
    int64_t& size = literal_.shape[depth];
    if (size != kUnset && size != count) refuse("lists of one depth have different lengths");
    size = count;
  }

  LiteralNumber number() {
    skip_space();
    const size_t begin = position_;
    while (position_ < text_.size() && std::strchr(",[] \n", text_[position_]) == nullptr) ++position_;
    const std::string_view word = text_.substr(begin, position_ - begin);
    if (word == "true" || word == "True") return from_bool(true);
    if (word == "false" || word == "False") return from_bool(false);
    if (word == "nan") return from_double(std::numeric_limits<double>::quiet_NaN());
    if (word == "inf") return from_double(std::numeric_limits<double>::infinity());
    if (word == "-inf") return from_double(-std::numeric_limits<double>::infinity());
    const char* first = word.data();
    const char* last = first + word.size();
    if (!word.empty() && *first == '+') ++first;
    int64_t integer = 0;
    if (const auto [end, problem] = std::from_chars(first, last, integer); problem == std::errc() && end == last) {
      return from_integer(integer);
    }
    uint64_t large = 0;
    if (const auto [end, problem] = std::from_chars(first, last, large); problem == std::errc() && end == last) {
      LiteralNumber result;
      result.kind = LiteralNumber::Kind::kUnsigned;
      result.unsigned_integer = large;
      result.number = static_cast<double>(large);
      return result;
    }
    double value = 0;
    if (const auto [end, problem] = std::from_chars(first, last, value); problem == std::errc() && end == last) {
      return from_double(value);
    }
    position_ = begin;
    refuse("a number, true, false, nan, inf or a list is expected");
  }

  static constexpr size_t kUnknown = SIZE_MAX;
  static constexpr int64_t kUnset = -1;

  std::string_view text_;
  const std::string& where_;
  size_t position_ = 0;
  size_t leaf_depth_ = kUnknown;
  Literal literal_;
};

template <typename T>
bool integer_fits(const LiteralNumber& number) {
  if (number.kind == LiteralNumber::Kind::kUnsigned)
    return number.unsigned_integer <= static_cast<uint64_t>(std::numeric_limits<T>::max());
  if (number.kind == LiteralNumber::Kind::kDouble) return false;
  if constexpr (std::is_unsigned_v<T>) {
    return number.integer >= 0 && static_cast<uint64_t>(number.integer) <= std::numeric_limits<T>::max();
  } else {
    return number.integer >= std::numeric_limits<T>::min() && number.integer <= std::numeric_limits<T>::max();
  }
}

bool fits(const LiteralNumber& number, DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return integer_fits<uint8_t>(number);
    case DType::kUInt16:
      return integer_fits<uint16_t>(number);
    case DType::kUInt32:
      return integer_fits<uint32_t>(number);
    case DType::kUInt64:
      return integer_fits<uint64_t>(number);
    case DType::kInt8:
      return integer_fits<int8_t>(number);
    case DType::kInt16:
      return integer_fits<int16_t>(number);
    case DType::kInt32:
      return integer_fits<int32_t>(number);
    case DType::kInt64:
      return integer_fits<int64_t>(number);
    case DType::kBool:
      return number.kind == LiteralNumber::Kind::kBool ||
             (number.kind == LiteralNumber::Kind::kInteger && (number.integer == 0 || number.integer == 1));
    default:
      return true;
  }
}

template <typename T>
void store(void* data, size_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * sizeof(T), &value, sizeof(T));
}

template <typename T>
void store_integer(void* data, size_t index, const LiteralNumber& number) {
  const uint64_t bits =
      number.kind == LiteralNumber::Kind::kUnsigned ? number.unsigned_integer : static_cast<uint64_t>(number.integer);
  store(data, index, static_cast<T>(bits));
}

// The 8-bit float nearest to `value`, found among all 256: literals are short. Ties go to the even code.
uint8_t nearest_float8(double value, DType dtype) {
  int best = 0;
  double best_distance = std::numeric_limits<double>::infinity();
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<uint8_t>(code);
    const double candidate = element_at(&byte, dtype, 0).number;
    if (std::isnan(value) && std::isnan(candidate)) return byte;
    if (candidate == value && std::signbit(candidate) == std::signbit(value)) return byte;
    const double distance = std::fabs(candidate - value);
    if (std::signbit(candidate) == std::signbit(value) &&
        (distance < best_distance || (distance == best_distance && (code & 1) == 0))) {
      best = code;
      best_distance = distance;
    }
  }
  return static_cast<uint8_t>(best);
}

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace

Literal parse_literal(std::string_view text, const std::string& where) {
  return LiteralParser(text, where).parse();
}

void store_element(void* data, DType dtype, size_t index, const LiteralNumber& number) {
  switch (dtype) {
    case DType::kUInt8:
      return store_integer<uint8_t>(data, index, number);
    case DType::kUInt16:
      return store_integer<uint16_t>(data, index, number);
    case DType::kUInt32:
      return store_integer<uint32_t>(data, index, number);
    case DType::kUInt64:
      return store_integer<uint64_t>(data, index, number);
    case DType::kInt8:
      return store_integer<int8_t>(data, index, number);
    case DType::kInt16:
      return store_integer<int16_t>(data, index, number);
    case DType::kInt32:
      return store_integer<int32_t>(data, index, number);
    case DType::kInt64:
      return store_integer<int64_t>(data, index, number);
    case DType::kBool:
      return store_integer<uint8_t>(data, index, number);
    case DType::kFloat32:
      return store(data, index, static_cast<float>(number.number));
    case DType::kFloat64:
      return store(data, index, number.number);
    case DType::kFloat16:
      return store(data, index, Half::from_float(static_cast<float>(number.number)));
    case DType::kBFloat16:
      return store(data, index, BFloat16::from_float(static_cast<float>(number.number)));
    default:
      return store(data, index, nearest_float8(number.number, dtype));
  }
}

Tensor literal_tensor(const Literal& literal, DType dtype, const std::vector<int64_t>& shape,
                      const std::string& where) {
  for (const LiteralNumber& number : literal.numbers) {
    if (!fits(number, dtype)) {
      const std::string text = number.kind == LiteralNumber::Kind::kDouble     ? double_text(number.number)
                               : number.kind == LiteralNumber::Kind::kUnsigned ? std::to_string(number.unsigned_integer)
                                                                               : std::to_string(number.integer);
      fail(kInputRefused, "%s: %s is not a value of dtype %s", where.c_str(), text.c_str(), dtype_name(dtype));
    }
  }
  std::vector<int64_t> sizes = literal.shape;
  if (sizes.empty()) {
    for (const int64_t size : shape) {
      if (size != 1) {
        fail(kInputRefused, "%s: a single number does not fill a tensor of shape %s; write a list", where.c_str(),
             Shape(shape).to_string().c_str());
      }
    }
    sizes = shape;
  }
  Tensor tensor = make_tensor(dtype, sizes, where);
  for (size_t i = 0; i < literal.numbers.size(); ++i) {
    store_element(tensor.raw()->data, dtype, i, literal.numbers[i]);
  }
  return tensor;
}

Tensor random_tensor(DType dtype, const std::vector<int64_t>& shape, uint64_t seed, const std::string& where) {
  Tensor tensor = make_tensor(dtype, shape, where);
  SplitMix64 generator(seed);
  const auto count = static_cast<size_t>(tensor.numel());
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = generator.next();
    LiteralNumber number;
    if (is_floating(dtype)) {
      number = from_double(std::ldexp(static_cast<double>(bits >> 40), -24));
    } else {
      number = from_integer(static_cast<int64_t>((bits >> 32) % (dtype == DType::kBool ? 2 : 10)));
    }
    store_element(tensor.raw()->data, dtype, i, number);
  }
  return tensor;
}

uint64_t parse_seed(std::string_view text, const std::string& where) {
  const std::string_view digits = text.substr(text.find(':') + 1);
  uint64_t seed = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (problem != std::errc() || end != digits.data() + digits.size()) {
    fail(kInputRefused, "%s: '%s' is no seed; write random:SEED with a whole number of at least 0", where.c_str(),
         printable_text(std::string(digits)).c_str());
  }
  return seed;
}

}  // namespace pteron::cli
