#include "cli/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cli/failure.h"
#include "cli/files.h"
#include "cli/session.h"

namespace pteron::cli {
namespace {

constexpr size_t kFirstValues = 8;

struct Statistics {
  double least = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  double mean = 0;
  size_t nans = 0;
  size_t numbers = 0;  // that are not NaN
};

Statistics statistics_of(const TensorView& tensor) {
  Statistics statistics;
  double sum = 0;
  const auto count = static_cast<size_t>(tensor.numel());
  for (size_t i = 0; i < count; ++i) {
    const double value = element_at(tensor.data_pointer(), tensor.dtype(), i).number;
    if (std::isnan(value)) {
      ++statistics.nans;
      continue;
    }
    statistics.least = std::min(statistics.least, value);
    statistics.largest = std::max(statistics.largest, value);
    sum += value;
    ++statistics.numbers;
  }
  if (statistics.numbers != 0) statistics.mean = sum / static_cast<double>(statistics.numbers);
  return statistics;
}

bool has_top(const TensorView& tensor, const SummaryOptions& options) {
  if (options.top == 0 || tensor.rank() == 0 || tensor.numel() < 2) return false;
  if (tensor.size(tensor.rank() - 1) != tensor.numel()) return false;
  return options.labels.empty() || options.labels.size() == static_cast<size_t>(tensor.numel());
}

// Indices of the largest elements; equal ones by index, NaN last.
std::vector<size_t> top_of(const TensorView& tensor, size_t count) {
  std::vector<size_t> order(static_cast<size_t>(tensor.numel()));
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<double> values;
  values.reserve(order.size());
  for (const size_t i : order) {
    const double value = element_at(tensor.data_pointer(), tensor.dtype(), i).number;
    values.push_back(std::isnan(value) ? -std::numeric_limits<double>::infinity() : value);
  }
  const size_t kept = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept), order.end(),
                    [&](size_t a, size_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  order.resize(kept);
  return order;
}

Json element_json(const TensorView& tensor, size_t index) {
  const Element element = element_at(tensor.data_pointer(), tensor.dtype(), index);
  if (tensor.dtype() == DType::kBool) return element.integer != 0;
  if (is_floating(tensor.dtype())) return json_number(element.number);
  if (element.unsigned_integer != 0) return element.unsigned_integer;
  return element.integer;
}

std::string first_values(const TensorView& tensor) {
  const auto count = static_cast<size_t>(tensor.numel());
  std::string text;
  for (size_t i = 0; i < std::min(count, kFirstValues); ++i) {
    text += (i == 0 ? "" : ", ") + element_text(tensor.data_pointer(), tensor.dtype(), i);
  }
  return count > kFirstValues ? text + ", ..." : text;
}

void describe_tensor(const TensorView& given, const SummaryOptions& options, Json* out) {
  Tensor storage;
  const TensorView tensor = contiguous(given, &storage);
  (*out)["dtype"] = dtype_name(tensor.dtype());
  (*out)["shape"] = std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end());
  Json first = Json::array();
  for (size_t i = 0; i < std::min(static_cast<size_t>(tensor.numel()), kFirstValues); ++i) {
    first.push_back(element_json(tensor, i));
  }
  (*out)["first"] = std::move(first);
  const Statistics statistics = statistics_of(tensor);
  if (statistics.numbers != 0) {
    (*out)["min"] = json_number(statistics.least);
    (*out)["max"] = json_number(statistics.largest);
    (*out)["mean"] = json_number(statistics.mean);
  }
  (*out)["nan"] = statistics.nans;
  if (!has_top(tensor, options)) return;
  Json top = Json::array();
  for (const size_t index : top_of(tensor, options.top)) {
    Json entry = {{"index", index}, {"value", element_json(tensor, index)}};
    if (!options.labels.empty()) entry["label"] = options.labels[index];
    top.push_back(std::move(entry));
  }
  (*out)["top"] = std::move(top);
}

std::string tensor_summary(const TensorView& given, const SummaryOptions& options) {
  Tensor storage;
  const TensorView tensor = contiguous(given, &storage);
  std::string text = tensor_text(tensor.dtype(), tensor.shape()) + "\n  values: " + first_values(tensor) + "\n";
  const Statistics statistics = statistics_of(tensor);
  if (statistics.numbers != 0) {
    append_format(&text, "  min %.6g, max %.6g, mean %.6g", statistics.least, statistics.largest, statistics.mean);
    if (statistics.nans != 0) append_format(&text, ", NaN %zu times", statistics.nans);
    text += "\n";
  } else if (statistics.nans != 0) {
    text += "  all NaN\n";
  }
  if (!has_top(tensor, options)) return text;
  text += "  largest:\n";
  for (const size_t index : top_of(tensor, options.top)) {
    const std::string label = options.labels.empty() ? "" : "  " + options.labels[index];
    append_format(&text, "    %6zu  %s%s\n", index, element_text(tensor.data_pointer(), tensor.dtype(), index).c_str(),
                  label.c_str());
  }
  return text;
}

template <typename Items>
Json list_json(const Items& items) {
  Json list = Json::array();
  for (const auto item : items) list.push_back(item);
  return list;
}

Json scalar_json(ValueView value) {
  switch (value.kind()) {
    case Kind::kInt:
      return *value.as_int();
    case Kind::kBool:
      return *value.as_bool();
    case Kind::kDouble:
      return json_number(*value.as_double());
    case Kind::kString:
      return std::string(*value.as_string());
    case Kind::kIntList:
      return list_json(*value.int_list());
    case Kind::kBoolList: {
      const Span<const uint8_t> items = *value.bool_list();
      Json list = Json::array();
      for (const uint8_t item : items) list.push_back(item != 0);
      return list;
    }
    case Kind::kDoubleList: {
      const Span<const double> items = *value.double_list();
      Json list = Json::array();
      for (const double item : items) list.push_back(json_number(item));
      return list;
    }
    default:
      return nullptr;
  }
}

}  // namespace

std::vector<std::string> read_labels(const std::string& path) {
  const std::string bytes = read_file(path);
  std::vector<std::string> labels;
  size_t begin = 0;
  while (begin < bytes.size()) {
    const size_t end = std::min(bytes.find('\n', begin), bytes.size());
    std::string line = bytes.substr(begin, end - begin);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.pop_back();
    labels.push_back(std::move(line));
    begin = end + 1;
  }
  return labels;
}

nlohmann::ordered_json describe_value(ValueView value, const SummaryOptions& options) {
  Json out = {{"kind", kind_name(value.kind())}};
  if (value.is_tensor()) {
    describe_tensor(*value.tensor(), options, &out);
  } else if (value.kind() == Kind::kTensorList || value.kind() == Kind::kOptionalTensorList) {
    Json items = Json::array();
    const auto tensors = take(value.tensor_list(), Stage::kOther);
    for (const auto& tensor : tensors) {
      Json item = nullptr;
      if (tensor.has_value()) {
        item = Json::object();
        describe_tensor(*tensor, options, &item);
      }
      items.push_back(std::move(item));
    }
    out["items"] = std::move(items);
  } else {
    out["value"] = scalar_json(value);
  }
  return out;
}

std::string summary_text(const std::string& title, ValueView value, const SummaryOptions& options) {
  if (value.is_tensor()) return title + ": " + tensor_summary(*value.tensor(), options);
  if (value.kind() == Kind::kTensorList || value.kind() == Kind::kOptionalTensorList) {
    std::string text = title + ": " + kind_name(value.kind()) + "\n";
    const auto tensors = take(value.tensor_list(), Stage::kOther);
    for (size_t i = 0; i < tensors.size(); ++i) {
      text += "  [" + std::to_string(i) + "] " + (tensors[i] ? tensor_summary(*tensors[i], options) : "none\n");
    }
    return text;
  }
  return title + ": " + kind_name(value.kind()) + " " +
         scalar_json(value).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string tensor_text(DType dtype, const Shape& shape) {
  return std::string(dtype_name(dtype)) + " " + shape.to_string();
}

}  // namespace pteron::cli
