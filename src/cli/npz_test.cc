#include "cli/npz.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "cli/files.h"
#include "cli/npy.h"
#include "cli/test_failure.h"

namespace pteron::cli {
namespace {

// How one member of a test archive is written.
struct Member {
  std::string name;
  std::string packed;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint32_t size = 0;
  uint16_t flags = 0;
};

Member stored(const std::string& name, const std::string& data) {
  return {name,
          data,
          0,
          static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(data.data()), data.size())),
          static_cast<uint32_t>(data.size()),
          0};
}

Member deflated(const std::string& name, const std::string& data) {
  Member member = stored(name, data);
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  member.packed.assign(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(member.packed.data());
  stream.avail_out = static_cast<uInt>(member.packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  member.packed.resize(stream.total_out);
  deflateEnd(&stream);
  member.method = 8;
  return member;
}

std::string zip(const std::vector<Member>& members) {
  std::string out;
  std::string directory;
  for (const Member& member : members) {
    append_u32(&directory, 0x02014b50);
    append_u16(&directory, 20);
    append_u16(&directory, 20);
    append_u16(&directory, member.flags);
    append_u16(&directory, member.method);
    append_u32(&directory, 0);
    append_u32(&directory, member.crc);
    append_u32(&directory, static_cast<uint32_t>(member.packed.size()));
    append_u32(&directory, member.size);
    append_u16(&directory, static_cast<uint16_t>(member.name.size()));
    directory.append(12, '\0');
    append_u32(&directory, static_cast<uint32_t>(out.size()));
    directory += member.name;
    append_u32(&out, 0x04034b50);
    out.append(22, '\0');
    append_u16(&out, static_cast<uint16_t>(member.name.size()));
    append_u16(&out, 0);
    out += member.name + member.packed;
  }
  const size_t offset = out.size();
  out += directory;
  append_u32(&out, 0x06054b50);
  append_u32(&out, 0);
  append_u16(&out, static_cast<uint16_t>(members.size()));
  append_u16(&out, static_cast<uint16_t>(members.size()));
  append_u32(&out, static_cast<uint32_t>(directory.size()));
  append_u32(&out, static_cast<uint32_t>(offset));
  append_u16(&out, 0);
  return out;
}

std::string sample_npy() {
  return write_npy(Tensor::copy_of(std::vector<int32_t>(64, 7), {64}).value());
}

TEST(Npz, ReadsStoredMembers) {
  const auto arrays = read_npz(zip({stored("x.npy", sample_npy())}), "x");
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].first, "x");
  EXPECT_EQ(arrays[0].second, sample_npy());
}

TEST(Npz, ReadsDeflatedMembers) {
  EXPECT_EQ(read_npz(zip({deflated("0.npy", sample_npy())}), "x").at(0).second, sample_npy());
}

TEST(Npz, KeepsTheOrderOfMembers) {
  EXPECT_EQ(read_npz(zip({stored("b.npy", "b"), stored("a.npy", "a")}), "x").at(0).first, "b");
}

TEST(Npz, ReadsWhatItWrites) {
  NamedTensors tensors;
  tensors.emplace_back("0", Tensor::copy_of(std::vector<float>{1, 2}, {2, 1}).value());
  tensors.emplace_back("1", Tensor::create(DType::kBFloat16, {0, 3}).value());
  const auto back = read_npz(write_npz(tensors), "x");
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(read_npy(back[0].second, "0").data<float>().value()[1], 2.0f);
  EXPECT_EQ(read_npy(back[1].second, "1").shape(), (Shape{0, 3}));
}

TEST(Npz, RefusesAWrongChecksum) {
  Member member = stored("x.npy", sample_npy());
  member.crc ^= 1;
  expect_failure([&] { read_npz(zip({member}), "x"); }, kInputRefused, "checksum");
}

TEST(Npz, RefusesASizeThatAStreamCannotReach) {
  Member member = deflated("x.npy", sample_npy());
  member.size = 0xfffffffe;
  expect_failure([&] { read_npz(zip({member}), "x"); }, kInputRefused, "announce more bytes");
}

TEST(Npz, RefusesAStreamLongerThanAnnounced) {
  Member member = deflated("x.npy", sample_npy());
  member.size -= 1;
  expect_failure([&] { read_npz(zip({member}), "x"); }, kInputRefused, "unpack");
}

TEST(Npz, RefusesAStreamShorterThanAnnounced) {
  Member member = deflated("x.npy", sample_npy());
  member.size += 1;
  expect_failure([&] { read_npz(zip({member}), "x"); }, kInputRefused, "unpack");
}

TEST(Npz, RefusesTwoSizesOfAStoredMember) {
  Member member = stored("x.npy", sample_npy());
  member.size += 1;
  expect_failure([&] { read_npz(zip({member}), "x"); }, kInputRefused, "two different sizes");
}

TEST(Npz, RefusesEncryption) {
  Member member = stored("x.npy", sample_npy());
  member.flags = 1;
  expect_failure([&] { read_npz(zip({member}), "x"); }, kInputRefused, "encrypted");
}

TEST(Npz, RefusesOtherPackings) {
  Member member = stored("x.npy", sample_npy());
  member.method = 12;
  expect_failure([&] { read_npz(zip({member}), "x"); }, kInputRefused, "method 12");
}

TEST(Npz, RefusesMembersThatAreNoArrays) {
  expect_failure([] { read_npz(zip({stored("readme.txt", "hello")}), "x"); }, kInputRefused, "'readme.txt'");
}

TEST(Npz, RefusesAnythingElse) {
  expect_failure([] { read_npz(std::string(1000, 'x'), "x"); }, kInputRefused, "no zip directory");
}

TEST(Npz, RefusesEveryPrefix) {
  const std::string file = zip({deflated("0.npy", sample_npy())});
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_THROW(read_npz(file.substr(0, size), "x"), Failure) << "first " << size << " bytes";
  }
}

TEST(Npz, SurvivesEveryChangedByte) {
  const std::string good = zip({deflated("0.npy", sample_npy()), stored("1.npy", sample_npy())});
  size_t refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string file = good;
      file[at] = static_cast<char>(file[at] ^ change);
      try {
        read_npz(file, "x");
      } catch (const Failure&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace pteron::cli
