#include "cli/image.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "cli/test_failure.h"

namespace pteron::cli {
namespace {

void append_big_endian(uint32_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>((value >> shift) & 0xff));
}

void append_chunk(const std::string& type, const std::string& data, std::string* out) {
  append_big_endian(static_cast<uint32_t>(data.size()), out);
  const std::string body = type + data;
  *out += body;
  append_big_endian(static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()), body.size())), out);
}

// An 8-bit PNG of given rows; `colour_type` 0 gray, 2 RGB.
std::string png(uint32_t width, uint32_t height, char colour_type, const std::string& rows, size_t row_size) {
  std::string header;
  append_big_endian(width, &header);
  append_big_endian(height, &header);
  header += '\x08';
  header += colour_type;
  header.append(3, '\0');
  std::string raw;
  for (size_t at = 0; at < rows.size(); at += row_size) raw += '\0' + rows.substr(at, row_size);
  uLongf size = compressBound(raw.size());
  std::string packed(size, '\0');
  EXPECT_EQ(
      compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()), raw.size()),
      Z_OK);
  packed.resize(size);
  std::string out = "\x89PNG\r\n\x1a\n";
  append_chunk("IHDR", header, &out);
  append_chunk("IDAT", packed, &out);
  append_chunk("IEND", "", &out);
  return out;
}

std::string gray_2x2() {
  return png(2, 2, 0, std::string("\x00\x33\x66\xff", 4), 2);
}  // 0 51 102 255
std::string rgb_2x1() {
  return png(2, 1, 2, std::string("\xff\x00\x33\x00\xff\x66", 6), 6);
}  // two pixels

std::vector<float> floats(const Tensor& tensor) {
  const Span<const float> data = *tensor.data<float>();
  return {data.begin(), data.end()};
}

TEST(Image, PixelsBecomeFractionsOf255) {
  const Tensor tensor = image_tensor(gray_2x2(), DType::kFloat32, {1, 1, 2, 2}, {}, "x");
  EXPECT_EQ(tensor.shape(), (Shape{1, 1, 2, 2}));
  EXPECT_EQ(floats(tensor), (std::vector<float>{0, 0.2f, 0.4f, 1}));
}

TEST(Image, ChannelsFirstByDefault) {
  const Tensor tensor = image_tensor(rgb_2x1(), DType::kUInt8, {1, 3, 1, 2}, {}, "x");
  const Span<const uint8_t> data = *tensor.data<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(data.begin(), data.end()), (std::vector<uint8_t>{255, 0, 0, 255, 51, 102}));
}

TEST(Image, ChannelsLastWhenAsked) {
  ImageOptions options;
  options.channels_last = true;
  const Tensor tensor = image_tensor(rgb_2x1(), DType::kUInt8, {1, 1, 2, 3}, options, "x");
  EXPECT_EQ(tensor.shape(), (Shape{1, 1, 2, 3}));
  const Span<const uint8_t> data = *tensor.data<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(data.begin(), data.end()), (std::vector<uint8_t>{255, 0, 51, 0, 255, 102}));
}

TEST(Image, MeanAndDeviationPerChannel) {
  ImageOptions options;
  options.mean = {1, 0, 0.2};
  options.standard_deviation = {2};
  const Tensor tensor = image_tensor(rgb_2x1(), DType::kFloat32, {3, 1, 2}, options, "x");
  EXPECT_EQ(floats(tensor), (std::vector<float>{0, -0.5f, 0, 0.5f, 0, 0.1f}));
}

TEST(Image, ColoursBecomeGrayForOneChannel) {
  const Tensor tensor = image_tensor(rgb_2x1(), DType::kFloat32, {1, 2}, {}, "x");
  EXPECT_EQ(tensor.shape(), (Shape{1, 2}));
}

TEST(Image, ResizesWithHalfPixelCentres) {
  ImageOptions options;
  options.resize = {2, 4};
  // torch.nn.functional.interpolate([[0, 51], [102, 255]], size=(2, 4), mode="bilinear") / 255
  const Tensor tensor = image_tensor(gray_2x2(), DType::kFloat64, {1, 1, 2, 4}, options, "x");
  const Span<const double> data = *tensor.data<double>();
  const std::vector<double> expected = {0, 12.75, 38.25, 51, 102, 140.25, 216.75, 255};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(data[i] * 255, expected[i]) << i;
}

TEST(Image, ResizesToTheInputsOwnSize) {
  ImageOptions options;
  parse_resize("input", &options);
  EXPECT_EQ(image_tensor(gray_2x2(), DType::kFloat32, {1, 1, 5, 7}, options, "x").shape(), (Shape{1, 1, 5, 7}));
}

TEST(Image, ReadsTheSizeHeightFirst) {
  ImageOptions options;
  parse_resize("32x64", &options);
  EXPECT_EQ(options.resize, (std::pair<int64_t, int64_t>{32, 64}));
}

TEST(Image, RefusesOtherSizes) {
  for (const char* text : {"", "32", "32x", "x32", "0x4", "-1x4", "4x40000", "4x4x4", "99999999999999999999x1"}) {
    ImageOptions options;
    expect_failure([&] { parse_resize(text, &options); }, kUsage, "HEIGHTxWIDTH");
  }
}

TEST(Image, RefusesABatch) {
  expect_failure([] { image_tensor(gray_2x2(), DType::kFloat32, {2, 1, 2, 2}, {}, "x"); }, kInputRefused, "at once");
}

TEST(Image, RefusesOddChannels) {
  expect_failure([] { image_tensor(gray_2x2(), DType::kFloat32, {1, 2, 2, 2}, {}, "x"); }, kInputRefused, "--layout");
}

TEST(Image, RefusesIntegerInputs) {
  expect_failure([] { image_tensor(gray_2x2(), DType::kInt64, {1, 1, 2, 2}, {}, "x"); }, kInputRefused, "int64");
}

TEST(Image, RefusesAMeanForBytes) {
  ImageOptions options;
  options.mean = {0.5};
  expect_failure([&] { image_tensor(gray_2x2(), DType::kUInt8, {1, 1, 2, 2}, options, "x"); }, kUsage, "--mean");
}

TEST(Image, RefusesTwoMeansForThreeChannels) {
  ImageOptions options;
  options.mean = {0.5, 0.5};
  expect_failure([&] { image_tensor(rgb_2x1(), DType::kFloat32, {3, 1, 2}, options, "x"); }, kUsage, "--mean");
}

TEST(Image, RefusesWhatIsNoPicture) {
  expect_failure(
      [] {
        image_tensor("hello", DType::kFloat32, {1, 1, 2, 2}, {}, "x");
      },
      kInputRefused, "cannot be read");
}

TEST(Image, RefusesAGiganticPicture) {
  const std::string file = png(100'000, 100'000, 0, "", 1);
  expect_failure([&] { image_tensor(file, DType::kFloat32, {1, 1, 2, 2}, {}, "x"); }, kInputRefused, "cannot be read");
}

TEST(Image, SurvivesEveryPrefixAndChangedByte) {
  const std::string good = rgb_2x1();
  size_t refused = 0;
  const auto read = [&](const std::string& file) {
    try {
      image_tensor(file, DType::kFloat32, {3, 1, 2}, {}, "x");
    } catch (const Failure&) {
      ++refused;
    }
  };
  for (size_t size = 0; size < good.size(); ++size) read(good.substr(0, size));
  for (size_t at = 0; at < good.size(); ++at) {
    std::string file = good;
    file[at] = static_cast<char>(file[at] ^ 0xff);
    read(file);
  }
  EXPECT_GT(refused, good.size() / 2);
}

}  // namespace
}  // namespace pteron::cli
