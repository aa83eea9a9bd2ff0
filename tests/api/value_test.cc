#include "pteron/value.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using pteron::Kind;
using pteron::Tensor;
using pteron::TensorView;
using pteron::Value;
using pteron::ValueView;

// The kind of a value made of `T`.
template <typename T>
Kind kind_of(T&& content) {
  Value value(std::forward<T>(content));
  const pteron_value raw = value.raw();
  return ValueView(&raw).kind();
}

TEST(Value, KindsFollowTypes) {
  EXPECT_EQ(kind_of(3), Kind::kInt);
  EXPECT_EQ(kind_of(uint8_t{3}), Kind::kInt);
  EXPECT_EQ(kind_of(true), Kind::kBool);
  EXPECT_EQ(kind_of(1.5f), Kind::kDouble);
  EXPECT_EQ(kind_of("text"), Kind::kString);
  EXPECT_EQ(kind_of(std::vector<int64_t>{1}), Kind::kIntList);
  EXPECT_EQ(kind_of(std::vector<double>{1}), Kind::kDoubleList);
  EXPECT_EQ(kind_of(std::vector<bool>{true}), Kind::kBoolList);
  EXPECT_EQ(kind_of(Tensor()), Kind::kTensor);
  EXPECT_EQ(kind_of(std::vector<TensorView>(2)), Kind::kTensorList);
  EXPECT_EQ(kind_of(std::vector<std::optional<TensorView>>(2)), Kind::kOptionalTensorList);
}

TEST(Value, OwnsAMovedTensor) {
  Value value(Tensor::copy_of(std::vector<float>{1, 2}, {2}).value());
  const pteron_value raw = value.raw();
  EXPECT_EQ(ValueView(&raw).tensor().value().at<float>({1}).value(), 2.0f);
}

TEST(Value, OwnsMovedTensors) {
  std::vector<Tensor> tensors;
  tensors.push_back(Tensor::copy_of(std::vector<float>{1, 2}, {2}).value());
  Value value(std::move(tensors));
  Value moved = std::move(value);
  const pteron_value raw = moved.raw();
  EXPECT_EQ(ValueView(&raw).tensor_list().value()[0]->at<float>({1}).value(), 2.0f);
}

TEST(Value, KeepsAbsentTensorsOfAList) {
  Value value(std::vector<std::optional<TensorView>>(1));
  const pteron_value raw = value.raw();
  EXPECT_FALSE(ValueView(&raw).tensor_list().value()[0].has_value());
}

TEST(ValueView, RefusesAnotherKind) {
  Value value(3);
  const pteron_value raw = value.raw();
  const pteron::Result<double> wrong = ValueView(&raw).as_double();
  ASSERT_FALSE(wrong.ok());
  EXPECT_STREQ(wrong.status().message(), "asked for a value of kind double, this one is int");
}

TEST(ValueView, ClonesStringsWithZeros) {
  Value value(std::string("a\0b", 3));
  const pteron_value raw = value.raw();
  Value copy = ValueView(&raw).clone().value();
  const pteron_value raw_copy = copy.raw();
  EXPECT_EQ(ValueView(&raw_copy).as_string().value().size(), 3u);
}

TEST(ValueView, ClonesTensorLists) {
  std::vector<float> data = {1, 2};
  Value value(std::vector<TensorView>{TensorView::of(data).value()});
  const pteron_value raw = value.raw();
  Value copy = ValueView(&raw).clone().value();
  data[1] = 9;
  const pteron_value raw_copy = copy.raw();
  EXPECT_EQ(ValueView(&raw_copy).tensor_list().value()[0]->at<float>({1}).value(), 2.0f);
}

}  // namespace
