#include "pteron/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using pteron::DType;
using pteron::Shape;
using pteron::Tensor;
using pteron::TensorView;

template <typename T>
std::vector<T> list(const TensorView& tensor) {
  const pteron::Span<const T> data = tensor.data<T>().value();
  return {data.begin(), data.end()};
}

template <typename T>
void expect_refused(const pteron::Result<T>& result, const std::string& part) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), PTERON_INVALID_ARGUMENT);
  EXPECT_NE(std::string(result.status().message()).find(part), std::string::npos) << result.status().message();
}

TEST(TensorView, SharesTheCallersMemory) {
  std::vector<float> data = {1, 2, 3, 4};
  TensorView view = TensorView::of(data, {2, 2}).value();
  data[3] = 9;
  EXPECT_EQ(view.at<float>({1, 1}).value(), 9.0f);
  view.mutable_data<float>().value()[0] = 7;
  EXPECT_EQ(data[0], 7.0f);
}

TEST(TensorView, TakesAVectorsLengthAsItsShape) {
  const std::vector<int64_t> data = {1, 2, 3};
  EXPECT_EQ(TensorView::of(data).value().shape(), Shape{3});
}

TEST(TensorView, TakesArraysAndPointers) {
  std::array<uint8_t, 4> array = {1, 2, 3, 4};
  EXPECT_EQ(TensorView::of(array, {2, 2}).value().dtype(), DType::kUInt8);
  EXPECT_EQ(list<uint8_t>(TensorView::of(array.data(), {4}).value()), (std::vector<uint8_t>{1, 2, 3, 4}));
}

TEST(TensorView, OfConstantsIsReadOnly) {
  const std::vector<float> data(2);
  TensorView view = TensorView::of(data).value();
  EXPECT_TRUE(view.is_read_only());
  expect_refused(view.mutable_data<float>(), "read-only");
}

TEST(TensorView, ACopyPointsToItsOwnShape) {
  std::vector<float> data(6);
  TensorView copy;
  {
    const TensorView view = TensorView::of(data, {2, 3}).value();
    copy = view;
  }
  EXPECT_EQ(copy.raw()->sizes[1], 3);
  EXPECT_EQ(copy.raw()->sizes, copy.shape().data());
}

TEST(TensorView, StridesAreRespected) {
  const std::vector<int32_t> columns = {1, 4, 2, 5, 3, 6};
  const TensorView view = TensorView::of(columns.data(), {2, 3}, {1, 2}).value();
  EXPECT_FALSE(view.is_contiguous());
  EXPECT_EQ(view.at<int32_t>({0, 2}).value(), 3);
  expect_refused(view.data<int32_t>(), "not contiguous");
  EXPECT_EQ(list<int32_t>(view.clone().value()), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(TensorView, StridesOfSingleElementsDoNotMatter) {
  const std::vector<float> data(3);
  EXPECT_TRUE(TensorView::of(data.data(), {1, 3}, {77, 1}).value().is_contiguous());
}

TEST(TensorView, RefusesAnotherType) {
  const std::vector<float> data(2);
  expect_refused(TensorView::of(data).value().data<double>(), "float64");
}

TEST(TensorView, RefusesAShapeOfOtherSize) {
  const std::vector<float> data(5);
  expect_refused(TensorView::of(data, {2, 3}), "needs 24 bytes, there are 20");
  expect_refused(TensorView::of(data, {2, 2}), "the memory holds 5");
}

TEST(TensorView, RefusesANullPointer) {
  expect_refused(TensorView::of(static_cast<float*>(nullptr), {1}), "null");
  EXPECT_TRUE(TensorView::of(static_cast<float*>(nullptr), {0}).ok());
}

TEST(TensorView, RefusesNegativeSizesAndStrides) {
  float value = 0;
  expect_refused(TensorView::of(&value, {-1}), "negative");
  expect_refused(TensorView::of(&value, {2}, {-1}), "negative");
}

TEST(TensorView, RefusesShapesThatWrap) {
  float value = 0;
  const int64_t large = int64_t{1} << 32;
  expect_refused(TensorView::of(&value, {large, large}), "too large");
  expect_refused(TensorView::of(&value, {large}, {large}), "too large");
  expect_refused(TensorView::of(&value, {int64_t{1} << 62}), "too large");
}

TEST(TensorView, RefusesSeventeenDimensions) {
  float value = 0;
  expect_refused(TensorView::of(&value, Shape(std::vector<int64_t>(17, 1))), "17");
}

TEST(TensorView, RefusesIndicesOutside) {
  const std::vector<float> data(6);
  const TensorView view = TensorView::of(data, {2, 3}).value();
  expect_refused(view.at<float>({0, 3}), "outside");
  expect_refused(view.at<float>({-1, 0}), "outside");
  expect_refused(view.at<float>({0}), "does not fit");
}

TEST(Tensor, BeginsWithZerosAtAnAlignedPlace) {
  const Tensor tensor = Tensor::create(DType::kInt16, {3}).value();
  EXPECT_EQ(list<int16_t>(tensor), (std::vector<int16_t>{0, 0, 0}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data_pointer()) % 64, 0u);
}

TEST(Tensor, MovesItsElements) {
  Tensor from = Tensor::copy_of(std::vector<float>{1, 2}, {2}).value();
  const void* place = from.data_pointer();
  const Tensor to = std::move(from);
  EXPECT_EQ(to.data_pointer(), place);
  EXPECT_EQ(list<float>(to), (std::vector<float>{1, 2}));
}

TEST(Tensor, ACloneIsItsOwn) {
  Tensor tensor = Tensor::copy_of(std::vector<float>{1, 2}, {2}).value();
  const Tensor copy = tensor.clone().value();
  tensor.mutable_data<float>().value()[0] = 5;
  EXPECT_EQ(list<float>(copy), (std::vector<float>{1, 2}));
}

TEST(Tensor, MayBeEmpty) {
  const Tensor tensor = Tensor::create(DType::kFloat32, {0, 3}).value();
  EXPECT_EQ(tensor.numel(), 0);
  EXPECT_EQ(tensor.clone().value().shape(), (Shape{0, 3}));
}

TEST(Tensor, RefusesWhatMemoryCannotHold) {
  const pteron::Result<Tensor> tensor = Tensor::create(DType::kFloat32, {int64_t{1} << 59});
  ASSERT_FALSE(tensor.ok());
  EXPECT_EQ(tensor.status().code(), PTERON_OUT_OF_MEMORY);
}

TEST(Shape, ComparesAndPrints) {
  EXPECT_EQ((Shape{1, 2}), Shape(std::vector<int64_t>{1, 2}));
  EXPECT_NE((Shape{1, 2}), (Shape{1, 2, 1}));
  EXPECT_EQ((Shape{1, 2}).to_string(), "[1, 2]");
}

}  // namespace
