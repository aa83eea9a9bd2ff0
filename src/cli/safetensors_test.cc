#include "cli/safetensors.h"

#include <gtest/gtest.h>

#include "cli/files.h"
#include "cli/test_failure.h"

namespace pteron::cli {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string out;
  append_u64(&out, header.size());
  return out + header + data;
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets,
                const std::string& data) {
  return file_of(R"({"x":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", data);
}

TEST(Safetensors, ReadsATensor) {
  const NamedTensors tensors = read_safetensors(one("I16", "[2]", "[0,4]", std::string("\1\0\2\0", 4)), "f");
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors[0].first, "x");
  EXPECT_EQ(tensors[0].second.data<int16_t>().value()[1], 2);
}

TEST(Safetensors, SkipsMetadata) {
  const std::string header = R"({"__metadata__":{"format":"pt"},"x":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})";
  EXPECT_EQ(read_safetensors(file_of(header, "7"), "f").size(), 1u);
}

TEST(Safetensors, ReadsWhatItWritesForEveryDtype) {
  for (const DType dtype :
       {DType::kBool, DType::kUInt8, DType::kInt8, DType::kUInt16, DType::kInt16, DType::kUInt32, DType::kInt32,
        DType::kUInt64, DType::kInt64, DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64,
        DType::kFloat8E5M2, DType::kFloat8E4M3FN, DType::kFloat8E5M2FNUZ, DType::kFloat8E4M3FNUZ}) {
    NamedTensors tensors;
    tensors.emplace_back("t", Tensor::create(dtype, {2, 3}).value());
    const NamedTensors back = read_safetensors(write_safetensors(tensors), "f");
    ASSERT_EQ(back.size(), 1u);
    EXPECT_EQ(back[0].second.dtype(), dtype) << dtype_name(dtype);
    EXPECT_EQ(back[0].second.shape(), (Shape{2, 3}));
  }
}

TEST(Safetensors, KeepsElementsAligned) {
  NamedTensors tensors;
  tensors.emplace_back("0", Tensor::create(DType::kFloat64, {1}).value());
  EXPECT_EQ(load_u64(write_safetensors(tensors).data()) % 8, 0u);
}

TEST(Safetensors, RefusesAHeaderLongerThanTheFile) {
  std::string file;
  append_u64(&file, 1000);
  expect_failure([&] { read_safetensors(file + "{}", "f"); }, kInputRefused, "1000 bytes");
}

TEST(Safetensors, RefusesAHeaderOfTerabytes) {
  std::string file;
  append_u64(&file, uint64_t{1} << 62);
  expect_failure([&] { read_safetensors(file + "{}", "f"); }, kInputRefused, "not a .safetensors file");
}

TEST(Safetensors, RefusesABrokenHeader) {
  expect_failure([] { read_safetensors(file_of("{\"x\":", ""), "f"); }, kInputRefused, "not a JSON object");
}

TEST(Safetensors, RefusesAHeaderNestedWithoutEnd) {
  expect_failure([] { read_safetensors(file_of(std::string(1'000'000, '['), ""), "f"); }, kInputRefused, "JSON");
}

TEST(Safetensors, RefusesAnUnknownDtype) {
  expect_failure([] { read_safetensors(one("F4", "[2]", "[0,1]", "1"), "f"); }, kInputRefused, "'F4'");
}

TEST(Safetensors, RefusesOffsetsThatDoNotFitTheShape) {
  expect_failure([] { read_safetensors(one("F32", "[2]", "[0,4]", "1234"), "f"); }, kInputRefused, "needs 8 bytes");
}

TEST(Safetensors, RefusesOffsetsBackwards) {
  expect_failure([] { read_safetensors(one("U8", "[2]", "[2,0]", "12"), "f"); }, kInputRefused, "[2, 0]");
}

TEST(Safetensors, RefusesNegativeOffsets) {
  expect_failure([] { read_safetensors(one("U8", "[2]", "[-1,1]", "12"), "f"); }, kInputRefused, "data_offsets");
}

TEST(Safetensors, RefusesElementsOutsideOfTheFile) {
  expect_failure([] { read_safetensors(one("U8", "[4]", "[0,4]", "12"), "f"); }, kInputRefused, "the file holds 2");
}

TEST(Safetensors, RefusesBytesThatNobodyDescribes) {
  expect_failure([] { read_safetensors(one("U8", "[1]", "[0,1]", "12"), "f"); }, kInputRefused, "describes 1 bytes");
}

TEST(Safetensors, RefusesOverlappingTensors) {
  const std::string header = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                             R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})";
  expect_failure([&] { read_safetensors(file_of(header, "123"), "f"); }, kInputRefused, "'b'");
}

TEST(Safetensors, RefusesAShapeWhoseProductWraps) {
  const std::string shape = "[4294967296,4294967296]";
  expect_failure([&] { read_safetensors(one("U8", shape, "[0,0]", ""), "f"); }, kInputRefused, "too large");
}

TEST(Safetensors, RefusesAFractionalSize) {
  expect_failure([] { read_safetensors(one("U8", "[1.5]", "[0,1]", "1"), "f"); }, kInputRefused, "whole number");
}

TEST(Safetensors, RefusesABoolThatIsTwo) {
  expect_failure([] { read_safetensors(one("BOOL", "[1]", "[0,1]", "\2"), "f"); }, kInputRefused, "only 0 and 1");
}

TEST(Safetensors, RefusesEveryPrefix) {
  const std::string file = one("U8", "[3]", "[0,3]", "123");
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_THROW(read_safetensors(file.substr(0, size), "f"), Failure) << "first " << size << " bytes";
  }
}

}  // namespace
}  // namespace pteron::cli
