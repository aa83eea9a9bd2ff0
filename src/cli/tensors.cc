#include "cli/tensors.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "cli/failure.h"

namespace pteron::cli {
namespace {

constexpr DType kDTypes[] = {DType::kUInt8,          DType::kInt8,           DType::kInt16,      DType::kInt32,
                             DType::kInt64,          DType::kFloat16,        DType::kFloat32,    DType::kFloat64,
                             DType::kBool,           DType::kBFloat16,       DType::kFloat8E5M2, DType::kFloat8E4M3FN,
                             DType::kFloat8E5M2FNUZ, DType::kFloat8E4M3FNUZ, DType::kUInt16,     DType::kUInt32,
                             DType::kUInt64};

struct Float8Format {
  int significand_bits;
  int bias;
  bool has_infinity;  // all-ones exponent as in IEEE 754
  bool only_nan;      // FNUZ: 0x80 is the only NaN; otherwise (FN) 0x7f and 0xff are
};

double decode_float8(uint8_t bits, const Float8Format& format) {
  const int exponent_bits = 7 - format.significand_bits;
  const int exponent_ones = (1 << exponent_bits) - 1;
  const int significand_ones = (1 << format.significand_bits) - 1;
  const int exponent = (bits >> format.significand_bits) & exponent_ones;
  const int significand = bits & significand_ones;
  const double sign = (bits & 0x80) != 0 ? -1.0 : 1.0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (format.only_nan) {
    if (bits == 0x80) return nan;
  } else if (format.has_infinity) {
    if (exponent == exponent_ones) return significand == 0 ? sign * std::numeric_limits<double>::infinity() : nan;
  } else if (exponent == exponent_ones && significand == significand_ones) {
    return nan;
  }
  if (exponent == 0) return sign * std::ldexp(significand, 1 - format.bias - format.significand_bits);
  return sign *
         std::ldexp((1 << format.significand_bits) + significand, exponent - format.bias - format.significand_bits);
}

template <typename T>
T load(const void* data, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * sizeof(T), sizeof(T));
  return value;
}

Element from_double(double value) {
  Element element;
  element.number = value;
  return element;
}
Element from_signed(int64_t value) {
  Element element;
  element.number = static_cast<double>(value);
  element.integer = value;
  return element;
}
Element from_unsigned(uint64_t value) {
  Element element;
  element.number = static_cast<double>(value);
  element.unsigned_integer = value;
  return element;
}

template <typename T>
std::string shortest(T value) {
  char text[64];
  const auto [end, problem] = std::to_chars(text, text + sizeof(text), value);
  return problem == std::errc() ? std::string(text, end) : std::string("?");
}

}  // namespace

std::optional<DType> dtype_from_name(const std::string& name) {
  for (const DType dtype : kDTypes) {
    if (name == dtype_name(dtype)) return dtype;
  }
  return std::nullopt;
}

bool is_float8(DType dtype) {
  return dtype == DType::kFloat8E5M2 || dtype == DType::kFloat8E4M3FN || dtype == DType::kFloat8E5M2FNUZ ||
         dtype == DType::kFloat8E4M3FNUZ;
}

bool is_floating(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
         dtype == DType::kBFloat16 || is_float8(dtype);
}

size_t checked_bytes(const std::vector<int64_t>& shape, DType dtype, const std::string& where) {
  if (shape.size() > PTERON_MAX_RANK) {
    fail(kInputRefused, "%s: %zu dimensions; a tensor has at most %d", where.c_str(), shape.size(),
         static_cast<int>(PTERON_MAX_RANK));
  }
  int64_t numel = 0;
  size_t bytes = 0;
  if (!checked_numel(shape.data(), shape.size(), &numel) ||
      !checked_multiply(static_cast<size_t>(numel), dtype_size(dtype), &bytes) ||
      bytes > static_cast<size_t>(PTRDIFF_MAX)) {
    fail(kInputRefused, "%s: shape %s is too large or has a negative size", where.c_str(),
         Shape(shape).to_string().c_str());
  }
  return bytes;
}

Tensor make_tensor(DType dtype, const std::vector<int64_t>& shape, const std::string& where) {
  checked_bytes(shape, dtype, where);
  Result<Tensor> tensor = Tensor::create(dtype, Shape(shape));
  if (!tensor.ok()) fail(kInputRefused, "%s: %s", where.c_str(), tensor.status().message());
  return std::move(tensor).value();
}

void require_bools(const char* data, size_t size, const std::string& where) {
  for (size_t i = 0; i < size; ++i) {
    if (data[i] != 0 && data[i] != 1) {
      fail(kInputRefused, "%s: element %zu of a bool tensor is %d; only 0 and 1 are bools", where.c_str(), i,
           static_cast<unsigned char>(data[i]));
    }
  }
}

void append_elements(const TensorView& tensor, std::string* out) {
  Tensor storage;
  const TensorView view = contiguous(tensor, &storage);
  if (view.bytes() != 0) out->append(static_cast<const char*>(view.data_pointer()), view.bytes());
}

Element element_at(const void* data, DType dtype, size_t index) {
  switch (dtype) {
    case DType::kUInt8:
      return from_unsigned(load<uint8_t>(data, index));
    case DType::kUInt16:
      return from_unsigned(load<uint16_t>(data, index));
    case DType::kUInt32:
      return from_unsigned(load<uint32_t>(data, index));
    case DType::kUInt64:
      return from_unsigned(load<uint64_t>(data, index));
    case DType::kInt8:
      return from_signed(load<int8_t>(data, index));
    case DType::kInt16:
      return from_signed(load<int16_t>(data, index));
    case DType::kInt32:
      return from_signed(load<int32_t>(data, index));
    case DType::kInt64:
      return from_signed(load<int64_t>(data, index));
    case DType::kBool:
      return from_signed(load<uint8_t>(data, index) != 0 ? 1 : 0);
    case DType::kFloat16:
      return from_double(static_cast<double>(load<Half>(data, index).to_float()));
    case DType::kBFloat16:
      return from_double(static_cast<double>(load<BFloat16>(data, index).to_float()));
    case DType::kFloat32:
      return from_double(static_cast<double>(load<float>(data, index)));
    case DType::kFloat64:
      return from_double(load<double>(data, index));
    case DType::kFloat8E5M2:
      return from_double(decode_float8(load<uint8_t>(data, index), {2, 15, true, false}));
    case DType::kFloat8E4M3FN:
      return from_double(decode_float8(load<uint8_t>(data, index), {3, 7, false, false}));
    case DType::kFloat8E5M2FNUZ:
      return from_double(decode_float8(load<uint8_t>(data, index), {2, 16, false, true}));
    case DType::kFloat8E4M3FNUZ:
      return from_double(decode_float8(load<uint8_t>(data, index), {3, 8, false, true}));
  }
  return Element();
}

std::string element_text(const void* data, DType dtype, size_t index) {
  const Element element = element_at(data, dtype, index);
  switch (dtype) {
    case DType::kBool:
      return element.integer != 0 ? "true" : "false";
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
      return shortest(static_cast<float>(element.number));
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
      return std::to_string(element.unsigned_integer);
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
      return std::to_string(element.integer);
    default:
      return shortest(element.number);
  }
}

std::string double_text(double value) {
  return shortest(value);
}

TensorView contiguous(const TensorView& tensor, Tensor* storage) {
  if (tensor.is_contiguous()) return tensor;
  *storage = take(tensor.clone(), Stage::kOther);
  return *storage;
}

std::string printable_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= 80) return out + "...";
    out += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return out;
}

}  // namespace pteron::cli
