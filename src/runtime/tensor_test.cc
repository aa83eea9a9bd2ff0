#include "runtime/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace pteron::runtime {
namespace {

using Sizes = std::vector<int64_t>;
using Order = std::vector<uint8_t>;

TensorStorage make(const Sizes& sizes, const Order& order = {}, int32_t dtype = PTERON_FLOAT32) {
  TensorStorage storage;
  storage.set_shape(dtype, static_cast<int32_t>(sizes.size()), sizes.data(), order.empty() ? nullptr : order.data());
  return storage;
}

Sizes strides_of(const TensorStorage& storage) {
  return Sizes(storage.strides, storage.strides + storage.tensor.rank);
}

Order order_of(const TensorStorage& storage) {
  Order order(static_cast<size_t>(storage.tensor.rank));
  EXPECT_TRUE(derive_dim_order(storage.tensor, order.data()));
  return order;
}

TEST(Tensor, StridesFollowDimOrder) {
  EXPECT_EQ(strides_of(make({2, 3, 4})), Sizes({12, 4, 1}));
  EXPECT_EQ(strides_of(make({1, 3, 2, 2}, {0, 2, 3, 1})), Sizes({12, 1, 6, 3}));
  EXPECT_EQ(strides_of(make({})), Sizes({}));
}

TEST(Tensor, SizeZeroCountsAsOneInStrides) {
  EXPECT_EQ(strides_of(make({2, 0, 4})), Sizes({4, 4, 1}));
}

TEST(Tensor, DimOrderIsFoundFromStrides) {
  EXPECT_EQ(order_of(make({2, 3, 4, 5}, {0, 2, 3, 1})), Order({0, 2, 3, 1}));
  EXPECT_EQ(order_of(make({2, 3, 4, 5})), Order({0, 1, 2, 3}));
}

TEST(Tensor, DimsOfSizeOneKeepTheirPlaceInTheDimOrder) {
  EXPECT_EQ(order_of(make({1, 3, 1, 5})), Order({0, 1, 2, 3}));
  // One channel: the strides of channels-last and row-major are the same.
  EXPECT_EQ(order_of(make({2, 1, 4, 5}, {0, 2, 3, 1})), Order({0, 1, 2, 3}));
}

TEST(Tensor, ViewsWithGapsHaveNoDimOrder) {
  TensorStorage view = make({2, 3});
  view.strides[0] = 4;
  Order order(2);
  EXPECT_FALSE(derive_dim_order(view.tensor, order.data()));
  EXPECT_FALSE(is_dense(view.tensor));
}

TEST(Tensor, OverlappingViewsAreNotDense) {
  TensorStorage view = make({2, 3});
  view.strides[0] = 0;
  EXPECT_FALSE(is_dense(view.tensor));
}

TEST(Tensor, LayoutsEqualUpToDimsOfSizeOne) {
  TensorStorage a = make({2, 1, 3});
  TensorStorage b = a;
  b.strides[1] = 77;
  EXPECT_TRUE(same_layout(a.tensor, b.tensor));
  b.strides[0] = 77;
  EXPECT_FALSE(same_layout(a.tensor, b.tensor));
}

TEST(Tensor, EmptyTensorsHaveEveryLayout) {
  const TensorStorage a = make({2, 0, 3});
  const TensorStorage b = make({2, 0, 3}, {2, 1, 0});
  EXPECT_TRUE(same_layout(a.tensor, b.tensor));
  const Order reversed = {2, 1, 0};
  EXPECT_TRUE(has_layout(a.tensor, reversed.data()));
}

TEST(Tensor, LayoutsOfDifferentSizesDiffer) {
  EXPECT_FALSE(same_layout(make({2, 3}).tensor, make({3, 2}).tensor));
  EXPECT_FALSE(same_layout(make({2, 3}).tensor, make({2, 3, 1}).tensor));
}

TEST(Tensor, ChannelsLastIsNotRowMajor) {
  const TensorStorage last = make({1, 3, 2, 2}, {0, 2, 3, 1});
  const Order order = {0, 2, 3, 1};
  EXPECT_FALSE(has_layout(last.tensor, nullptr));
  EXPECT_TRUE(has_layout(last.tensor, order.data()));
}

TEST(Tensor, BytesAreChecked) {
  uint64_t bytes = 0;
  const Sizes good = {2, 3};
  EXPECT_TRUE(checked_tensor_bytes(PTERON_FLOAT64, good.data(), 2, &bytes));
  EXPECT_EQ(bytes, 48u);
  const Sizes huge = {2147483647, 2147483647, 4};
  EXPECT_FALSE(checked_tensor_bytes(PTERON_FLOAT32, huge.data(), 3, &bytes));
  const Sizes hidden = {INT64_MAX, 4, 0};
  EXPECT_FALSE(checked_tensor_bytes(PTERON_FLOAT32, hidden.data(), 3, &bytes));
  const Sizes negative = {2, -3};
  EXPECT_FALSE(checked_tensor_bytes(PTERON_FLOAT32, negative.data(), 2, &bytes));
  EXPECT_FALSE(checked_tensor_bytes(12, good.data(), 2, &bytes));
}

TEST(Tensor, DescriptionsNameDtypeAndShape) {
  EXPECT_EQ(describe(make({2, 3}, {}, PTERON_BFLOAT16).tensor), "bfloat16 [2, 3]");
  EXPECT_EQ(describe(make({}, {}, PTERON_INT64).tensor), "int64 []");
}

TEST(Tensor, CopiesBindToThemselves) {
  const TensorStorage original = make({2, 3});
  const TensorStorage copy = original;
  EXPECT_EQ(copy.tensor.sizes, copy.sizes);
  EXPECT_EQ(copy.tensor.sizes[1], 3);
}

// ---- Resizing

class Resize : public testing::Test {
 protected:
  Resize() : storage_(make({4, 3}, {1, 0})) {
    storage_.tensor.capacity = 48;
    storage_.tensor.flags = PTERON_TENSOR_RESIZABLE;
  }
  Status resize(const Sizes& sizes) {
    return Status::adopt(pteron_tensor_resize(&storage_.tensor, sizes.data(), static_cast<int32_t>(sizes.size())));
  }
  TensorStorage storage_;
};

TEST_F(Resize, KeepsTheDimOrder) {
  ASSERT_TRUE(resize({2, 3}).ok());
  EXPECT_EQ(strides_of(storage_), Sizes({1, 2}));
}

TEST_F(Resize, TakesTheDimOrderFromStridesWhenThereIsNone) {
  storage_.tensor.dim_order = nullptr;
  ASSERT_TRUE(resize({2, 3}).ok());
  EXPECT_EQ(strides_of(storage_), Sizes({1, 2}));
}

TEST_F(Resize, RefusesMoreThanTheCapacity) {
  const Status status = resize({5, 3});
  EXPECT_EQ(status.code(), PTERON_INVALID_INPUT);
  EXPECT_STREQ(status.message(),
               "a tensor float32 [4, 3] cannot become [5, 3]: that takes 60 bytes and it has room for 48");
  EXPECT_EQ(storage_.sizes[0], 4);
}

TEST_F(Resize, RefusesAnotherRank) {
  EXPECT_EQ(resize({12}).code(), PTERON_INVALID_INPUT);
}

TEST_F(Resize, RefusesNegativeSizes) {
  EXPECT_EQ(resize({-1, 3}).code(), PTERON_INVALID_INPUT);
}

TEST_F(Resize, RefusesSizesWhoseProductOverflows) {
  EXPECT_EQ(resize({INT64_MAX, 3}).code(), PTERON_INVALID_INPUT);
}

TEST_F(Resize, FixedTensorsAcceptOnlyTheirSizes) {
  storage_.tensor.flags = 0;
  EXPECT_TRUE(resize({4, 3}).ok());
  EXPECT_EQ(resize({2, 3}).code(), PTERON_INVALID_INPUT);
}

// ---- Copying

// Element (i, j, k, ...) holds its row-major number, wherever the layout puts it.
template <typename T>
std::vector<T> numbered(const TensorStorage& storage) {
  std::vector<T> memory(static_cast<size_t>(pteron_tensor_numel(&storage.tensor)));
  for (size_t n = 0; n < memory.size(); ++n) {
    auto rest = static_cast<int64_t>(n);
    int64_t at = 0;
    for (int32_t i = storage.tensor.rank - 1; i >= 0; --i) {
      at += rest % storage.sizes[i] * storage.strides[i];
      rest /= storage.sizes[i];
    }
    memory[static_cast<size_t>(at)] = static_cast<T>(n);
  }
  return memory;
}

template <typename T>
void expect_copies(int32_t dtype, const Sizes& sizes, const Order& from_order, const Order& to_order) {
  TensorStorage from = make(sizes, from_order, dtype);
  TensorStorage to = make(sizes, to_order, dtype);
  std::vector<T> source = numbered<T>(from);
  std::vector<T> target(source.size());
  from.tensor.data = source.data();
  to.tensor.data = target.data();
  ASSERT_TRUE(copy_tensor(from.tensor, to.tensor).ok());
  EXPECT_EQ(target, numbered<T>(to));
}

TEST(CopyTensor, BetweenLayoutsInEveryElementSize) {
  const Order last = {0, 2, 3, 1};
  expect_copies<uint8_t>(PTERON_UINT8, {2, 3, 4, 5}, last, {});
  expect_copies<uint16_t>(PTERON_FLOAT16, {2, 3, 4, 5}, {}, last);
  expect_copies<float>(PTERON_FLOAT32, {2, 3, 4, 5}, last, {3, 2, 1, 0});
  expect_copies<double>(PTERON_FLOAT64, {2, 3, 4, 5}, last, last);
}

TEST(CopyTensor, ScalarsAndDimsOfSizeOne) {
  expect_copies<float>(PTERON_FLOAT32, {}, {}, {});
  expect_copies<float>(PTERON_FLOAT32, {1, 3, 1}, {}, {2, 1, 0});
}

TEST(CopyTensor, ReadsViewsWithGaps) {
  // Columns 0 and 2 of a 2 x 3 array.
  std::vector<float> source = {0, 1, 2, 3, 4, 5};
  std::vector<float> target(4);
  TensorStorage from = make({2, 2});
  from.strides[0] = 3;
  from.strides[1] = 2;
  from.tensor.data = source.data();
  TensorStorage to = make({2, 2});
  to.tensor.data = target.data();
  ASSERT_TRUE(copy_tensor(from.tensor, to.tensor).ok());
  EXPECT_EQ(target, std::vector<float>({0, 2, 3, 5}));
}

TEST(CopyTensor, EmptyTensorsMayHaveNoData) {
  EXPECT_TRUE(copy_tensor(make({0, 3}).tensor, make({0, 3}).tensor).ok());
}

TEST(CopyTensor, RefusesOtherDtypesAndSizes) {
  EXPECT_EQ(copy_tensor(make({2}).tensor, make({3}).tensor).code(), PTERON_INVALID_INPUT);
  EXPECT_EQ(copy_tensor(make({2}).tensor, make({2}, {}, PTERON_INT32).tensor).code(), PTERON_INVALID_INPUT);
}

}  // namespace
}  // namespace pteron::runtime
