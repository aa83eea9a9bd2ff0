#include "cli/npy.h"

#include <gtest/gtest.h>

#include "cli/files.h"
#include "cli/test_failure.h"

namespace pteron::cli {
namespace {

std::string npy(const std::string& header, const std::string& data, char major = 1) {
  std::string out = "\x93NUMPY";
  out += major;
  out += '\0';
  if (major == 1) {
    append_u16(&out, static_cast<uint16_t>(header.size()));
  } else {
    append_u32(&out, static_cast<uint32_t>(header.size()));
  }
  return out + header + data;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <typename T>
std::vector<T> elements(const Tensor& tensor) {
  const Span<const T> data = *tensor.data<T>();
  return {data.begin(), data.end()};
}

TEST(Npy, ReadsFloatsInCOrder) {
  const std::string data("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8);  // 1, -2
  const Tensor tensor = read_npy(npy(header("<f4", "(2, 1)"), data), "x");
  EXPECT_EQ(tensor.shape(), (Shape{2, 1}));
  EXPECT_EQ(elements<float>(tensor), (std::vector<float>{1, -2}));
}

TEST(Npy, ReadsAScalar) {
  const Tensor tensor = read_npy(npy(header("|u1", "()"), "\x07"), "x");
  EXPECT_EQ(tensor.rank(), 0u);
  EXPECT_EQ(elements<uint8_t>(tensor), std::vector<uint8_t>{7});
}

TEST(Npy, ReadsOneDimensionWithPythonsComma) {
  EXPECT_EQ(read_npy(npy(header("|i1", "(3,)"), "\x01\x02\xff"), "x").shape(), Shape{3});
}

TEST(Npy, TurnsFortranOrderIntoCOrder) {
  // [[1, 2, 3], [4, 5, 6]] column by column.
  const Tensor tensor = read_npy(npy(header("|u1", "(2, 3)", "True"), "\x01\x04\x02\x05\x03\x06"), "x");
  EXPECT_EQ(elements<uint8_t>(tensor), (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, SwapsBigEndianElements) {
  const Tensor tensor = read_npy(npy(header(">i4", "(1,)"), std::string("\0\0\1\2", 4)), "x");
  EXPECT_EQ(elements<int32_t>(tensor), std::vector<int32_t>{258});
}

TEST(Npy, ReadsTwoByteVoidsAsBfloat16) {
  const Tensor tensor = read_npy(npy(header("<V2", "(1,)"), "\xc0\x3f"), "x");
  ASSERT_EQ(tensor.dtype(), DType::kBFloat16);
  EXPECT_EQ(tensor.data<BFloat16>().value()[0].to_float(), 1.5f);
}

TEST(Npy, ReadsAFieldNamedAfterADtype) {
  const std::string text = "{'descr': [('float8_e5m2', '|V1')], 'fortran_order': False, 'shape': (1,)}\n";
  EXPECT_EQ(read_npy(npy(text, "\x3c"), "x").dtype(), DType::kFloat8E5M2);
}

TEST(Npy, TakesOneByteVoidsForTheExpectedDtype) {
  const std::string file = npy(header("|V1", "(1,)"), "\x3c");
  EXPECT_EQ(read_npy(file, "x", DType::kFloat8E4M3FN).dtype(), DType::kFloat8E4M3FN);
}

TEST(Npy, RefusesOneByteVoidsWithoutAnExpectation) {
  const std::string file = npy(header("|V1", "(1,)"), "\x3c");
  expect_failure([&] { read_npy(file, "x", DType::kUInt8); }, kInputRefused, "'|V1'");
}

TEST(Npy, ReadsVersion2) {
  EXPECT_EQ(read_npy(npy(header("|b1", "(2,)"), std::string("\0\1", 2), 2), "x").dtype(), DType::kBool);
}

TEST(Npy, RefusesVersion4) {
  expect_failure([] { read_npy(npy(header("|b1", "()"), "\1", 4), "x"); }, kInputRefused, "version 4");
}

TEST(Npy, RefusesABoolThatIsTwo) {
  expect_failure([] { read_npy(npy(header("|b1", "(1,)"), "\x02"), "x"); }, kInputRefused, "only 0 and 1");
}

TEST(Npy, RefusesMissingElements) {
  expect_failure([] { read_npy(npy(header("<f4", "(2,)"), "1234567"), "x"); }, kInputRefused, "needs 8 bytes");
}

TEST(Npy, RefusesExtraElements) {
  expect_failure([] { read_npy(npy(header("|u1", "(2,)"), "123"), "x"); }, kInputRefused, "the file holds 3");
}

TEST(Npy, RefusesAShapeWhoseProductWraps) {
  const std::string shape = "(4294967296, 4294967296)";
  expect_failure([&] { read_npy(npy(header("<f4", shape), ""), "x"); }, kInputRefused, "too large");
}

TEST(Npy, RefusesAHiddenOverflowBehindAZero) {
  const std::string shape = "(0, 4294967296, 4294967296)";
  expect_failure([&] { read_npy(npy(header("<f4", shape), ""), "x"); }, kInputRefused, "too large");
}

TEST(Npy, RefusesANegativeSize) {
  expect_failure([] { read_npy(npy(header("|u1", "(-1,)"), ""), "x"); }, kInputRefused, "bad size");
}

TEST(Npy, RefusesSeventeenDimensions) {
  std::string shape = "(";
  for (int i = 0; i < 17; ++i) shape += "1, ";
  expect_failure([&] { read_npy(npy(header("|u1", shape + ")"), "1"), "x"); }, kInputRefused, "17 dimensions");
}

TEST(Npy, RefusesObjects) {
  expect_failure([] { read_npy(npy(header("|O", "()"), ""), "x"); }, kInputRefused, "'|O'");
}

TEST(Npy, RefusesAStructuredTypeOfTwoFields) {
  const std::string text = "{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, 'shape': ()}\n";
  expect_failure([&] { read_npy(npy(text, "12345678"), "x"); }, kInputRefused, "several fields");
}

TEST(Npy, RefusesAKeyGivenTwice) {
  const std::string text = "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': ()}\n";
  expect_failure([&] { read_npy(npy(text, "1"), "x"); }, kInputRefused, "twice");
}

TEST(Npy, RefusesAMissingKey) {
  expect_failure([] { read_npy(npy("{'descr': '|u1', 'shape': ()}\n", "1"), "x"); }, kInputRefused, "lacks one of");
}

TEST(NpyText, BecomesUtf8) {
  const std::string characters("\x41\0\0\0\xe4\0\0\0\0\0\0\0", 12);  // "A", "a with two dots", padding
  EXPECT_EQ(read_npy_text(npy(header("<U3", "()"), characters), "x"), "A\xc3\xa4");
}

TEST(NpyText, IsNotMadeOfNumbers) {
  EXPECT_FALSE(read_npy_text(npy(header("|u1", "()"), "1"), "x").has_value());
}

TEST(NpyText, RefusesAWrongLength) {
  expect_failure([] { read_npy_text(npy(header("<U3", "()"), "1234"), "x"); }, kInputRefused, "does not fit");
}

TEST(NpyText, RefusesALengthThatWraps) {
  const std::string descr = "<U4611686018427387904";
  expect_failure([&] { read_npy_text(npy(header(descr, "()"), ""), "x"); }, kInputRefused, "does not fit");
}

TEST(NpyText, RefusesSurrogates) {
  const std::string character("\0\xd8\0\0", 4);
  expect_failure([&] { read_npy_text(npy(header("<U1", "()"), character), "x"); }, kInputRefused, "no Unicode");
}

// Every prefix of a good file is refused, none crashes.
TEST(Npy, RefusesEveryPrefix) {
  const std::string file = npy(header("<f4", "(1, 2)"), "12345678");
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_THROW(read_npy(file.substr(0, size), "x"), Failure) << "first " << size << " bytes";
  }
}

// Every byte of the header changed to every value is read or refused, never worse.
TEST(Npy, SurvivesEveryChangedByte) {
  const std::string good = npy(header("<i2", "(1, 2)"), "1234");
  size_t refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string file = good;
      file[at] = static_cast<char>(value);
      try {
        read_npy(file, "x");
      } catch (const Failure&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0u);
}

TEST(Npy, WritesWhatItReads) {
  for (const DType dtype : {DType::kBool, DType::kUInt8, DType::kInt8, DType::kUInt16, DType::kInt16, DType::kUInt32,
                            DType::kInt32, DType::kUInt64, DType::kInt64, DType::kFloat16, DType::kFloat32,
                            DType::kFloat64, DType::kBFloat16, DType::kFloat8E5M2}) {
    const Tensor tensor = Tensor::create(dtype, {2, 3}).value();
    const Tensor back = read_npy(write_npy(tensor), "x", dtype);
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), (Shape{2, 3})) << dtype_name(dtype);
  }
}

TEST(Npy, WritesTheHeaderThatNumPyWrites) {
  const Tensor tensor = Tensor::create(DType::kFloat32, {3}).value();
  const std::string file = write_npy(tensor);
  EXPECT_NE(file.find("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"), std::string::npos);
  EXPECT_EQ((file.size() - 12) % 64, 0u);
}

TEST(Npy, WritesStridedTensorsInCOrder) {
  const std::vector<uint8_t> data = {1, 4, 2, 5, 3, 6};
  const TensorView view = TensorView::of(data.data(), {2, 3}, {1, 2}).value();
  EXPECT_EQ(elements<uint8_t>(read_npy(write_npy(view), "x")), (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace pteron::cli
