#include "cli/npy.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/checked.h"
#include "cli/failure.h"
#include "cli/files.h"
#include "cli/tensors.h"

namespace pteron::cli {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;

// What the header says: the dictionary that NumPy prints.
struct Header {
  std::string descr;       // "<f4"
  std::string field_name;  // of a structured type with one field
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Parses the literal of a Python dictionary with the three known keys.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header parse() {
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        once(&has_descr_, key);
        descr();
      } else if (key == "fortran_order") {
        once(&has_order_, key);
        header_.fortran_order = boolean();
      } else if (key == "shape") {
        once(&has_shape_, key);
        shape();
      } else {
        refuse("has an unknown key");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (position_ != text_.size()) refuse("continues after the closing brace");
    if (!has_descr_ || !has_order_ || !has_shape_) refuse("lacks one of 'descr', 'fortran_order' and 'shape'");
    return std::move(header_);
  }

 private:
  [[noreturn]] void refuse(const char* what) const {
    fail(kInputRefused, "%s: the header %s (at byte %zu of it)", where_.c_str(), what, position_);
  }
  void once(bool* seen, const std::string& key) {
    if (*seen) refuse(("has '" + key + "' twice").c_str());
    *seen = true;
  }
  void skip_space() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) ++position_;
  }
  bool take(char c) {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse((std::string("lacks '") + c + "'").c_str());
  }
  std::string string() {
    skip_space();
    if (position_ >= text_.size() || (text_[position_] != '\'' && text_[position_] != '"')) refuse("lacks a string");
    const char quote = text_[position_++];
    const size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) refuse("has a string without an end");
    std::string result(text_.substr(position_, end - position_));
    position_ = end + 1;
    return result;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return value;
      }
    }
    refuse("has neither True nor False as 'fortran_order'");
  }
  void descr() {
    if (!take('[')) {
      header_.descr = string();
      return;
    }
    expect('(');
    header_.field_name = string();
    expect(',');
    header_.descr = string();
    take(',');
    expect(')');
    take(',');
    if (!take(']')) refuse("describes a structured type of several fields; save one array per input");
  }
  void shape() {
    expect('(');
    while (!take(')')) {
      skip_space();
      int64_t size = 0;
      const char* begin = text_.data() + position_;
      const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (problem != std::errc() || size < 0) refuse("has a bad size in 'shape'");
      position_ += static_cast<size_t>(end - begin);
      header_.shape.push_back(size);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  const std::string& where_;
  size_t position_ = 0;
  Header header_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

struct Descr {
  const char* text;  // without the byte order
  DType dtype;
};
constexpr Descr kDescrs[] = {{"b1", DType::kBool},    {"u1", DType::kUInt8},   {"i1", DType::kInt8},
                             {"u2", DType::kUInt16},  {"i2", DType::kInt16},   {"u4", DType::kUInt32},
                             {"i4", DType::kInt32},   {"u8", DType::kUInt64},  {"i8", DType::kInt64},
                             {"f2", DType::kFloat16}, {"f4", DType::kFloat32}, {"f8", DType::kFloat64},
                             {"V2", DType::kBFloat16}};

DType dtype_of(const Header& header, const std::string& where, std::optional<DType> expected) {
  const std::string& descr = header.descr;
  const bool sound = descr.size() == 3 && std::strchr("<>|=", descr[0]) != nullptr;
  const std::string kind = sound ? descr.substr(1) : "";
  if (!header.field_name.empty()) {
    const std::optional<DType> named = dtype_from_name(header.field_name);
    if (!named || !sound || static_cast<size_t>(descr[2] - '0') != dtype_size(*named)) {
      fail(kInputRefused,
           "%s: a structured type is read only when its one field is named after a dtype of its size, such as "
           "('bfloat16', '<V2')",
           where.c_str());
    }
    return *named;
  }
  for (const Descr& entry : kDescrs) {
    if (kind == entry.text) return entry.dtype;
  }
  if (kind == "V1" && expected && is_float8(*expected)) return *expected;
  if (kind == "V1") {
    fail(kInputRefused,
         "%s: the type '|V1' is read only for an input of an 8-bit float type; for others save uint8, int8 or "
         "bool",
         where.c_str());
  }
  fail(kInputRefused, "%s: no tensor holds elements of NumPy type '%s'", where.c_str(), printable_text(descr).c_str());
}

void swap_bytes(char* data, size_t count, size_t width) {
  for (size_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

// The dictionary's text and where the elements begin.
std::pair<std::string_view, size_t> split(std::string_view bytes, const std::string& where) {
  if (bytes.size() < kMagicSize + 4 || bytes.substr(0, kMagicSize) != std::string_view(kMagic, kMagicSize)) {
    fail(kInputRefused, "%s is not a .npy file: it does not begin with NumPy's magic bytes", where.c_str());
  }
  const int major = static_cast<unsigned char>(bytes[kMagicSize]);
  if (major < 1 || major > 3) fail(kInputRefused, "%s: .npy version %d is not known; 1 to 3 are", where.c_str(), major);
  const size_t prefix = kMagicSize + 2 + (major == 1 ? 2u : 4u);
  if (bytes.size() < prefix) fail(kInputRefused, "%s: the file ends in its header", where.c_str());
  const char* length_at = bytes.data() + kMagicSize + 2;
  const size_t length = major == 1 ? load_u16(length_at) : load_u32(length_at);
  if (length > bytes.size() - prefix) {
    fail(kInputRefused, "%s: the file ends in its header: %zu bytes announced, %zu there", where.c_str(), length,
         bytes.size() - prefix);
  }
  return {bytes.substr(prefix, length), prefix + length};
}

void append_utf8(uint32_t point, std::string* out) {
  const auto tail = [&](int shift) { out->push_back(static_cast<char>(0x80 | ((point >> shift) & 0x3f))); };
  if (point < 0x80) {
    out->push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out->push_back(static_cast<char>(0xc0 | (point >> 6)));
    tail(0);
  } else if (point < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | (point >> 12)));
    tail(6);
    tail(0);
  } else {
    out->push_back(static_cast<char>(0xf0 | (point >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

const char* descr_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "|b1";
    case DType::kUInt8:
      return "|u1";
    case DType::kInt8:
      return "|i1";
    case DType::kUInt16:
      return "<u2";
    case DType::kInt16:
      return "<i2";
    case DType::kUInt32:
      return "<u4";
    case DType::kInt32:
      return "<i4";
    case DType::kUInt64:
      return "<u8";
    case DType::kInt64:
      return "<i8";
    case DType::kFloat16:
      return "<f2";
    case DType::kFloat32:
      return "<f4";
    case DType::kFloat64:
      return "<f8";
    case DType::kBFloat16:
      return "<V2";
    default:
      return "|V1";
  }
}

}  // namespace

Tensor read_npy(std::string_view bytes, const std::string& where, std::optional<DType> expected) {
  const auto [text, start] = split(bytes, where);
  const Header header = HeaderParser(text, where).parse();
  const DType dtype = dtype_of(header, where, expected);
  const size_t width = dtype_size(dtype);
  const Shape shape(header.shape);
  const size_t need = checked_bytes(header.shape, dtype, where);
  const size_t have = bytes.size() - start;
  if (need != have) {
    fail(kInputRefused, "%s: shape %s of %s needs %zu bytes, the file holds %zu", where.c_str(),
         shape.to_string().c_str(), dtype_name(dtype), need, have);
  }
  Tensor tensor = make_tensor(dtype, header.shape, where);
  auto* data = static_cast<char*>(tensor.raw()->data);
  std::memcpy(data, bytes.data() + start, need);
  if (header.descr[0] == '>' && width > 1) swap_bytes(data, need / width, width);
  if (dtype == DType::kBool) require_bools(data, need, where);
  if (!header.fortran_order || shape.rank() < 2) return tensor;

  // The first dimension is innermost: a strided view of the bytes, copied to C order.
  std::vector<int64_t> strides(shape.rank());
  int64_t step = 1;
  for (size_t i = 0; i < shape.rank(); ++i) {
    strides[i] = step;
    step *= shape[i] == 0 ? 1 : shape[i];
  }
  const TensorView view = take(
      TensorView::of_bytes(tensor.raw()->data, tensor.raw()->capacity, dtype, shape, Shape(strides)), Stage::kInput);
  return take(view.clone(), Stage::kInput);
}

std::optional<std::string> read_npy_text(std::string_view bytes, const std::string& where) {
  const auto [text, start] = split(bytes, where);
  const Header header = HeaderParser(text, where).parse();
  if (header.descr.rfind("<U", 0) != 0 || !header.shape.empty()) return std::nullopt;
  size_t length = 0;
  const char* last = header.descr.data() + header.descr.size();
  const auto [end, problem] = std::from_chars(header.descr.data() + 2, last, length);
  size_t need = 0;
  if (problem != std::errc() || end != last || !checked_multiply(length, 4, &need) || need != bytes.size() - start) {
    fail(kInputRefused, "%s: the type '%s' does not fit the %zu bytes of the file", where.c_str(),
         printable_text(header.descr).c_str(), bytes.size() - start);
  }
  std::string out;
  for (size_t i = 0; i < length; ++i) {
    const uint32_t point = load_u32(bytes.data() + start + 4 * i);
    if (point == 0) break;  // NumPy pads with zeros
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
      fail(kInputRefused, "%s: character %zu is no Unicode character", where.c_str(), i);
    }
    append_utf8(point, &out);
  }
  return out;
}

std::string write_npy(const TensorView& tensor) {
  std::string header = std::string("{'descr': '") + descr_of(tensor.dtype()) + "', 'fortran_order': False, 'shape': (";
  for (const int64_t size : tensor.shape()) header += std::to_string(size) + ", ";
  if (tensor.rank() > 1) header.resize(header.size() - 2);
  if (tensor.rank() == 1) header.resize(header.size() - 1);  // "(3,)"
  header += "), }";
  const size_t prefix = kMagicSize + 4;
  const size_t padded = (prefix + header.size() + 1 + 63) / 64 * 64;
  header.resize(padded - prefix - 1, ' ');
  header += '\n';

  std::string out(kMagic, kMagicSize);
  out += '\1';
  out += '\0';
  append_u16(&out, static_cast<uint16_t>(header.size()));
  out += header;
  append_elements(tensor, &out);
  return out;
}

}  // namespace pteron::cli
