// Calls every operator with arguments of the right kinds and arbitrary values: each call gives a result or an error,
// never a crash, an endless loop or a byte written beside a tensor. (Under the sanitizers: no undefined behaviour.)

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <random>

#include "kernels/test_call.h"
#include "runtime/schema.h"

namespace pteron::kernels::testing {
namespace {

class ArbitraryCall {
 public:
  // Outputs get `out_rank` dimensions: which rank is right depends on the operator.
  ArbitraryCall(const pteron_kernel& kernel, const runtime::Schema& schema, unsigned seed, int out_rank)
      : random_(seed), out_rank_(out_rank) {
    shared_rank_ = static_cast<int>(pick(5));
    for (int64_t& size : shared_sizes_) size = static_cast<int64_t>(pick(8) == 0 ? 0 : 1 + pick(4));
    shared_dtype_ = any_dtype(kernel.dtypes == nullptr ? 0 : kernel.dtypes[0]);
    size_t mask = 0;
    for (const runtime::Argument& argument : schema.arguments) {
      uint32_t dtypes = 0;
      const bool tensors = argument.type == runtime::ArgumentType::kTensor ||
                           argument.type == runtime::ArgumentType::kTensorList ||
                           argument.type == runtime::ArgumentType::kOptionalTensorList;
      if (tensors && kernel.dtypes != nullptr && kernel.dtypes[0] != 0) dtypes = kernel.dtypes[mask++];
      add(argument, dtypes);
    }
  }

  const Arguments& arguments() const { return arguments_; }
  bool guards_are_intact() const {
    return std::all_of(boxes_.begin(), boxes_.end(), [](const auto& box) { return box->guards_are_intact(); });
  }

 private:
  uint64_t pick(uint64_t below) { return random_() % below; }

  int any_dtype(uint32_t mask) {
    if (mask == 0) mask = kRealBool;
    int dtype = 0;
    do {
      dtype = static_cast<int>(pick(32));
    } while ((mask & bit(dtype)) == 0);
    return dtype;
  }

  int64_t any_integer() {
    static constexpr int64_t kOdd[] = {std::numeric_limits<int64_t>::max(),
                                       std::numeric_limits<int64_t>::min(),
                                       int64_t{1} << 32,
                                       -(int64_t{1} << 40),
                                       255,
                                       -129,
                                       1000};
    return pick(12) == 0 ? kOdd[pick(std::size(kOdd))] : static_cast<int64_t>(pick(9)) - 3;
  }

  double any_real() {
    static constexpr double kOdd[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                      -1e300, 1e-300, 0};
    return pick(10) == 0 ? kOdd[pick(std::size(kOdd))] : static_cast<double>(pick(33)) / 8 - 2;
  }

  TensorBox& box(uint32_t dtypes, bool written) {
    const bool alike = pick(4) != 0;
    const int dtype = alike && (dtypes == 0 || (dtypes & bit(shared_dtype_)) != 0) ? shared_dtype_ : any_dtype(dtypes);
    std::vector<int64_t> sizes;
    if (written) {
      sizes.assign(static_cast<size_t>(out_rank_), out_rank_ > 2 ? 4 : 12);
    } else {
      const int rank = alike ? shared_rank_ : static_cast<int>(pick(5));
      for (int dim = 0; dim < rank; ++dim) {
        const int64_t size = alike ? shared_sizes_[dim] : static_cast<int64_t>(pick(5));
        sizes.push_back(pick(6) == 0 ? 1 : size);
      }
    }
    std::vector<int64_t> strides = contiguous_strides(sizes);
    if (sizes.size() == 4 && pick(3) == 0) {  // channels-last
      const int64_t c = std::max<int64_t>(1, sizes[1]), h = std::max<int64_t>(1, sizes[2]);
      const int64_t w = std::max<int64_t>(1, sizes[3]);
      strides = {c * h * w, 1, w * c, c};
    }
    boxes_.push_back(std::make_unique<TensorBox>(dtype, sizes, strides));
    TensorBox& made = *boxes_.back();
    if (written) return made;  // what it holds before does not matter
    for (int64_t i = 0; i < made.numel(); ++i) {
      const int64_t value = dtype == PTERON_BOOL ? static_cast<int64_t>(pick(2)) : any_integer();
      write_element(dtype, made.element(i), any_real(), value);
    }
    return made;
  }

  void add(const runtime::Argument& argument, uint32_t dtypes) {
    if (argument.optional && pick(3) == 0) return arguments_.none();
    switch (argument.type) {
      case runtime::ArgumentType::kTensor:
        return arguments_.tensor(box(dtypes, argument.written));
      case runtime::ArgumentType::kScalar:
        if (pick(3) == 0) return arguments_.real(any_real());
        if (pick(4) == 0) return arguments_.boolean(pick(2) == 0);
        return arguments_.integer(any_integer());
      case runtime::ArgumentType::kInt:
        return arguments_.integer(any_integer());
      case runtime::ArgumentType::kDouble:
        return arguments_.real(any_real());
      case runtime::ArgumentType::kBool:
        return arguments_.boolean(pick(2) == 0);
      case runtime::ArgumentType::kString: {
        static const char* const kTexts[] = {"none", "tanh", "floor", "trunc", ""};
        return arguments_.string(kTexts[pick(std::size(kTexts))]);
      }
      case runtime::ArgumentType::kIntList: {
        std::vector<int64_t> items(pick(5));
        for (int64_t& item : items) item = any_integer();
        return arguments_.integers(items);
      }
      case runtime::ArgumentType::kDoubleList: {
        std::vector<double> items(pick(4));
        for (double& item : items) item = any_real();
        return arguments_.reals(items);
      }
      case runtime::ArgumentType::kBoolList: {
        std::vector<uint8_t> items(pick(4));
        for (uint8_t& item : items) item = pick(2) == 0;
        return arguments_.booleans(items);
      }
      case runtime::ArgumentType::kTensorList:
      case runtime::ArgumentType::kOptionalTensorList: {
        const bool optional = argument.type == runtime::ArgumentType::kOptionalTensorList;
        std::vector<pteron_tensor*> items(pick(4));
        for (pteron_tensor*& item : items) {
          item = optional && pick(3) == 0 ? nullptr : box(dtypes, argument.written).raw();
        }
        return arguments_.tensors(items, optional);
      }
    }
  }

  std::mt19937 random_;
  int out_rank_;
  int shared_rank_ = 0, shared_dtype_ = 0;
  int64_t shared_sizes_[5] = {};
  std::vector<std::unique_ptr<TensorBox>> boxes_;
  Arguments arguments_;
};

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (size_t i = 0; i < kRowCount; ++i) names.emplace_back(kRows[i]->name);
  return names;
}

class ArbitraryArguments : public ::testing::TestWithParam<std::string> {};

TEST_P(ArbitraryArguments, GiveAResultOrAnError) {
  const pteron_kernel& kernel = *find_row(GetParam().c_str());
  const auto schema = runtime::parse_schema(kernel.schema);
  ASSERT_TRUE(schema.ok());
  constexpr unsigned kSeeds = 40;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    for (int out_rank = 0; out_rank < 5; ++out_rank) {
      ArbitraryCall arbitrary(kernel, *schema, seed, out_rank);
      const Outcome outcome = call(kernel, arbitrary.arguments());
      ASSERT_TRUE(outcome.code == PTERON_OK || !outcome.failure.empty()) << "seed " << seed;
      ASSERT_TRUE(arbitrary.guards_are_intact()) << "seed " << seed << ", outputs of rank " << out_rank;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, ArbitraryArguments, ::testing::ValuesIn(operator_names()), [](const auto& info) {
  std::string name = info.param;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
});

}  // namespace
}  // namespace pteron::kernels::testing
