#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "kernels/test_call.h"
#include "pteron/c/runtime.h"

namespace pteron::kernels::testing {
namespace {

struct Sum3 {
  template <class T>
  static T apply(T a, T b, T c, const Params&) {
    return a + b + c;
  }
};

// A tensor of random layout: the dimensions in random memory order, now and then with gaps.
std::unique_ptr<TensorBox> random_box(std::mt19937& random, int dtype, const std::vector<int64_t>& sizes, bool gaps) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = gaps && random() % 4 == 0 ? 2 : 1;
  for (size_t dim : order) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(1, sizes[dim]);
    if (gaps && random() % 4 == 0) stride += 1;
  }
  auto box = std::make_unique<TensorBox>(dtype, sizes, strides);
  for (int64_t i = 0; i < box->numel(); ++i) {
    const int64_t value = static_cast<int64_t>(random() % 21) - 10;
    write_element(dtype, box->element(i), static_cast<double>(value), value);
  }
  return box;
}

// The element of `box` that broadcasts to a place of a result of `sizes`.
char* broadcast_element(TensorBox& box, const std::vector<int64_t>& sizes, int64_t place) {
  int64_t own_place = 0, factor = 1;
  const size_t missing = sizes.size() - box.sizes().size();
  for (size_t dim = sizes.size(); dim-- > 0;) {
    const int64_t index = place % sizes[dim];
    place /= sizes[dim];
    if (dim < missing) continue;
    const int64_t own = box.sizes()[dim - missing];
    own_place += (own == 1 ? 0 : index) * factor;
    factor *= own;
  }
  return box.element(own_place);
}

class RandomLayouts : public ::testing::TestWithParam<unsigned> {};

// To run one seed: kernels_test --gtest_filter='Seeds/RandomLayouts.*/SEED'
TEST_P(RandomLayouts, BroadcastSumsAgreeWithOneElementAtATime) {
  std::mt19937 random(GetParam());
  const int dtypes[] = {PTERON_FLOAT32, PTERON_FLOAT64, PTERON_INT32, PTERON_FLOAT16, PTERON_INT64, PTERON_INT8};
  for (int round = 0; round < 60; ++round) {
    const int dtype = dtypes[random() % 6];
    std::vector<int64_t> sizes(random() % 6);
    for (int64_t& size : sizes)
      size = static_cast<int64_t>(random() % (round % 10 == 0 ? 12 : 5)) + (random() % 9 != 0);
    std::unique_ptr<TensorBox> inputs[3];
    for (auto& input : inputs) {
      std::vector<int64_t> own = sizes;
      for (int64_t& size : own) size = random() % 4 == 0 ? 1 : size;
      if (&input != &inputs[0]) own.erase(own.begin(), own.begin() + static_cast<int64_t>(random() % (own.size() + 1)));
      if (&input == &inputs[0]) own = sizes;
      input = random_box(random, dtype, own, true);
    }
    auto out = random_box(random, dtype, sizes, true);
    pteron_kernel_context raw(0);
    KernelContext context(&raw, nullptr);
    Tensor target(out->raw());
    ASSERT_EQ(elementwise(context, arithmetic<Sum3, 3>(dtype), target,
                          {Tensor(inputs[0]->raw()), Tensor(inputs[1]->raw()), Tensor(inputs[2]->raw())}),
              PTERON_OK)
        << "seed " << GetParam() << ": " << raw.failure;
    for (int64_t i = 0; i < out->numel(); ++i) {
      double real = 0;
      int64_t integer = 0;
      for (auto& input : inputs) {
        const char* element = broadcast_element(*input, sizes, i);
        if (is_floating(dtype)) real += read_real(dtype, element);
        if (!is_floating(dtype)) integer += read_integer(dtype, element);
      }
      if (is_floating(dtype)) {
        ASSERT_EQ(read_real(dtype, out->element(i)), real) << "seed " << GetParam() << " round " << round;
      } else {
        ASSERT_EQ(read_integer(dtype, out->element(i)), integer) << "seed " << GetParam() << " round " << round;
      }
    }
    ASSERT_TRUE(out->guards_are_intact());
  }
}

TEST_P(RandomLayouts, CopiesAgreeWithOneElementAtATime) {
  std::mt19937 random(GetParam());
  const int dtypes[] = {PTERON_FLOAT32, PTERON_INT64, PTERON_INT16, PTERON_BFLOAT16, PTERON_INT8, PTERON_FLOAT64};
  for (int round = 0; round < 60; ++round) {
    const int from = dtypes[random() % 6], to = random() % 2 == 0 ? from : dtypes[random() % 6];
    std::vector<int64_t> sizes(random() % 6);
    for (int64_t& size : sizes) size = static_cast<int64_t>(random() % 7) + (random() % 9 != 0);
    auto source = random_box(random, from, sizes, true), target = random_box(random, to, sizes, true);
    copy_view(view_of(Tensor(target->raw())), view_of(Tensor(source->raw())));
    for (int64_t i = 0; i < source->numel(); ++i) {
      const double expected = is_floating(from) ? read_real(from, source->element(i))
                                                : static_cast<double>(read_integer(from, source->element(i)));
      const double found = is_floating(to) ? read_real(to, target->element(i))
                                           : static_cast<double>(read_integer(to, target->element(i)));
      ASSERT_EQ(found, expected) << "seed " << GetParam() << " round " << round;
    }
    ASSERT_TRUE(target->guards_are_intact());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLayouts, ::testing::Range(0u, 20u),
                         [](const auto& info) { return std::to_string(info.param); });

class ThreadCount : public ::testing::Test {
 protected:
  void TearDown() override { pteron_status_free(pteron_set_thread_count(0)); }
};

std::vector<char> run_with_threads(int threads, const char* name, const std::vector<int64_t>& sizes,
                                   const std::vector<int64_t>& out_sizes, const std::vector<int64_t>* dims) {
  pteron_status_free(pteron_set_thread_count(threads));
  std::mt19937 random(7);
  TensorBox in(PTERON_FLOAT32, sizes, contiguous_strides(sizes)),
      out(PTERON_FLOAT32, out_sizes, contiguous_strides(out_sizes));
  for (int64_t i = 0; i < in.numel(); ++i) {
    write_element(PTERON_FLOAT32, in.element(i), static_cast<double>(random()) / 1e9, 0);
  }
  Arguments arguments;
  arguments.tensor(in);
  if (dims != nullptr) {
    arguments.integers(*dims);
    arguments.boolean(false);
    arguments.none();
  }
  arguments.tensor(out);
  const Outcome outcome = call(*find_row(name), arguments);
  EXPECT_EQ(outcome.code, PTERON_OK) << outcome.failure;
  const char* bytes = static_cast<const char*>(out.raw()->data);
  return std::vector<char>(bytes, bytes + out.raw()->capacity);
}

TEST_F(ThreadCount, DoesNotChangeTheBitsOfAFunction) {
  EXPECT_EQ(run_with_threads(1, "aten::tanh.out", {100001}, {100001}, nullptr),
            run_with_threads(4, "aten::tanh.out", {100001}, {100001}, nullptr));
}

TEST_F(ThreadCount, DoesNotChangeTheBitsOfASum) {
  const std::vector<int64_t> rows = {1}, columns = {0};
  EXPECT_EQ(run_with_threads(1, "aten::sum.IntList_out", {5, 40003}, {5}, &rows),
            run_with_threads(4, "aten::sum.IntList_out", {5, 40003}, {5}, &rows));
  EXPECT_EQ(run_with_threads(1, "aten::sum.IntList_out", {901, 100}, {100}, &columns),
            run_with_threads(4, "aten::sum.IntList_out", {901, 100}, {100}, &columns));
}

}  // namespace
}  // namespace pteron::kernels::testing
