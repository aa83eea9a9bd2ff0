#include "cli/npz.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "cli/failure.h"
#include "cli/files.h"
#include "cli/npy.h"

namespace pteron::cli {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kCentralEntry = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr size_t kLocalHeaderSize = 30;
constexpr size_t kCentralEntrySize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kEnd64Size = 56;
constexpr size_t kEnd64LocatorSize = 20;
constexpr uint16_t kZip64Extra = 1;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
// A deflate stream cannot make more than 1032 bytes out of one, so a larger ratio is announced falsely.
constexpr uint64_t kLargestRatio = 1032;

struct Member {
  std::string name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t packed_size = 0;
  uint64_t size = 0;
  uint64_t header_offset = 0;
};

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
};

class Archive {
 public:
  Archive(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  std::vector<Member> members() const {
    const Directory directory = find_directory();
    if (!range_fits(directory.offset, directory.size, bytes_.size())) refuse("its directory lies outside of the file");
    std::string_view rest = bytes_.substr(directory.offset, directory.size);
    std::vector<Member> list;
    uint64_t total = 0;
    for (uint64_t i = 0; i < directory.entries; ++i) {
      list.push_back(next_member(&rest));
      if (!checked_add(total, list.back().size, &total) || total / kLargestRatio > bytes_.size()) {
        refuse("its members announce more bytes than the file can hold");
      }
    }
    return list;
  }

  std::string contents(const Member& member) const {
    const std::string name = printable_text(member.name);
    if ((member.flags & 1) != 0) refuse(("member '" + name + "' is encrypted").c_str());
    if (!range_fits(member.header_offset, kLocalHeaderSize, bytes_.size()) ||
        load_u32(bytes_.data() + member.header_offset) != kLocalHeader) {
      refuse(("member '" + name + "' has no header where the directory says").c_str());
    }
    const char* header = bytes_.data() + member.header_offset;
    const uint64_t begin = member.header_offset + kLocalHeaderSize + load_u16(header + 26) + load_u16(header + 28);
    if (!range_fits(begin, member.packed_size, bytes_.size())) {
      refuse(("member '" + name + "' lies outside of the file").c_str());
    }
    const std::string_view packed = bytes_.substr(begin, member.packed_size);
    std::string data = member.method == kStored ? stored(member, packed, name) : inflated(member, packed, name);
    if (checksum(data) != member.crc) refuse(("member '" + name + "' is damaged: its checksum differs").c_str());
    return data;
  }

  static uint32_t checksum(std::string_view data) {
    uLong crc = crc32_z(0, nullptr, 0);
    return static_cast<uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(data.data()), data.size()));
  }

 private:
  [[noreturn]] void refuse(const char* why) const {
    fail(kInputRefused, "%s is not a readable .npz file: %s", where_.c_str(), why);
  }

  Directory find_directory() const {
    if (bytes_.size() < kEndSize) refuse("it is too short for a zip archive");
    // The end record is followed by a comment of up to 65535 bytes.
    const size_t lowest = bytes_.size() - std::min(bytes_.size(), kEndSize + 65535);
    for (size_t at = bytes_.size() - kEndSize;; --at) {
      if (load_u32(bytes_.data() + at) == kEnd) return read_end(at);
      if (at == lowest) break;
    }
    refuse("it has no zip directory (is it complete?)");
  }

  Directory read_end(size_t at) const {
    const char* end = bytes_.data() + at;
    Directory directory{load_u32(end + 16), load_u32(end + 12), load_u16(end + 10)};
    const bool zip64 = directory.offset == 0xffffffff || directory.size == 0xffffffff || directory.entries == 0xffff;
    if (!zip64 || at < kEnd64LocatorSize) return directory;
    const char* locator = end - kEnd64LocatorSize;
    if (load_u32(locator) != kEnd64Locator) return directory;
    const uint64_t end64_at = load_u64(locator + 8);
    if (!range_fits(end64_at, kEnd64Size, bytes_.size()) || load_u32(bytes_.data() + end64_at) != kEnd64) {
      refuse("its zip64 directory lies outside of the file");
    }
    const char* end64 = bytes_.data() + end64_at;
    return {load_u64(end64 + 48), load_u64(end64 + 40), load_u64(end64 + 32)};
  }

  Member next_member(std::string_view* rest) const {
    if (rest->size() < kCentralEntrySize || load_u32(rest->data()) != kCentralEntry) refuse("its directory is damaged");
    const char* entry = rest->data();
    const size_t name_size = load_u16(entry + 28);
    const size_t extra_size = load_u16(entry + 30);
    const size_t comment_size = load_u16(entry + 32);
    if (rest->size() - kCentralEntrySize < name_size + extra_size + comment_size) refuse("its directory is damaged");
    Member member;
    member.flags = load_u16(entry + 8);
    member.method = load_u16(entry + 10);
    member.crc = load_u32(entry + 16);
    member.packed_size = load_u32(entry + 20);
    member.size = load_u32(entry + 24);
    member.header_offset = load_u32(entry + 42);
    member.name = std::string(rest->substr(kCentralEntrySize, name_size));
    read_zip64(rest->substr(kCentralEntrySize + name_size, extra_size), &member);
    rest->remove_prefix(kCentralEntrySize + name_size + extra_size + comment_size);
    return member;
  }

  // Sizes and offsets that do not fit 32 bits stand in an extra field, in this order, only those that are needed.
  void read_zip64(std::string_view extra, Member* member) const {
    while (extra.size() >= 4) {
      const uint16_t id = load_u16(extra.data());
      const size_t size = load_u16(extra.data() + 2);
      if (size > extra.size() - 4) refuse("its directory is damaged");
      std::string_view field = extra.substr(4, size);
      extra.remove_prefix(4 + size);
      if (id != kZip64Extra) continue;
      for (uint64_t* value : {&member->size, &member->packed_size, &member->header_offset}) {
        if (*value != 0xffffffff) continue;
        if (field.size() < 8) refuse("its directory is damaged");
        *value = load_u64(field.data());
        field.remove_prefix(8);
      }
    }
  }

  std::string stored(const Member& member, std::string_view packed, const std::string& name) const {
    if (member.size != packed.size()) refuse(("member '" + name + "' is stored with two different sizes").c_str());
    return std::string(packed);
  }

  std::string inflated(const Member& member, std::string_view packed, const std::string& name) const {
    if (member.method != kDeflated) {
      refuse(("member '" + name + "' is packed by method " + std::to_string(member.method) +
              "; stored and deflated members can be read")
                 .c_str());
    }
    uint64_t largest = 0;
    if (!checked_multiply<uint64_t>(packed.size(), kLargestRatio, &largest)) largest = UINT64_MAX;
    if (member.size > largest) refuse(("member '" + name + "' announces more bytes than it can hold").c_str());
    std::string data(member.size, '\0');
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) fail(kExecutionFailed, "zlib could not be started");
    const bool complete = inflate_all(&stream, packed, &data);
    inflateEnd(&stream);
    if (!complete) refuse(("member '" + name + "' is damaged: it does not unpack to its announced size").c_str());
    return data;
  }

  // zlib counts in 32 bits: pieces of at most 1 GiB.
  static bool inflate_all(z_stream* stream, std::string_view packed, std::string* data) {
    constexpr size_t kPiece = size_t{1} << 30;
    size_t taken = 0;
    size_t made = 0;
    unsigned char spare = 0;  // somewhere to write when the announced size is reached
    while (true) {
      const size_t in = std::min(kPiece, packed.size() - taken);
      const bool full = made == data->size();
      const size_t out = full ? 1 : std::min(kPiece, data->size() - made);
      stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
      stream->avail_in = static_cast<uInt>(in);
      stream->next_out = full ? &spare : reinterpret_cast<Bytef*>(data->data() + made);
      stream->avail_out = static_cast<uInt>(out);
      const int result = inflate(stream, Z_NO_FLUSH);
      const size_t used = in - stream->avail_in;
      const size_t written = out - stream->avail_out;
      taken += used;
      if (full && written != 0) return false;
      made += written;
      if (result == Z_STREAM_END) return made == data->size();
      if (result != Z_OK || (used == 0 && written == 0)) return false;
    }
  }

  std::string_view bytes_;
  const std::string& where_;
};

void append_local_header(const std::string& name, uint32_t crc, uint32_t size, std::string* out) {
  append_u32(out, kLocalHeader);
  append_u16(out, 20);  // version needed
  append_u16(out, 0);   // flags
  append_u16(out, kStored);
  append_u16(out, 0);       // time
  append_u16(out, 0x0021);  // 1980-01-01, so that equal results give equal files
  append_u32(out, crc);
  append_u32(out, size);
  append_u32(out, size);
  append_u16(out, static_cast<uint16_t>(name.size()));
  append_u16(out, 0);
  *out += name;
}

void append_central_entry(const std::string& name, uint32_t crc, uint32_t size, uint32_t offset, std::string* out) {
  append_u32(out, kCentralEntry);
  append_u16(out, 20);  // version made by
  append_u16(out, 20);  // version needed
  append_u16(out, 0);
  append_u16(out, kStored);
  append_u16(out, 0);
  append_u16(out, 0x0021);
  append_u32(out, crc);
  append_u32(out, size);
  append_u32(out, size);
  append_u16(out, static_cast<uint16_t>(name.size()));
  append_u16(out, 0);  // extra
  append_u16(out, 0);  // comment
  append_u16(out, 0);  // disk
  append_u16(out, 0);  // internal attributes
  append_u32(out, 0);  // external attributes
  append_u32(out, offset);
  *out += name;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> read_npz(std::string_view bytes, const std::string& where) {
  const Archive archive(bytes, where);
  std::vector<std::pair<std::string, std::string>> arrays;
  for (const Member& member : archive.members()) {
    if (!ends_with(member.name, ".npy")) {
      fail(kInputRefused, "%s: member '%s' is not a .npy array", where.c_str(), printable_text(member.name).c_str());
    }
    arrays.emplace_back(member.name.substr(0, member.name.size() - 4), archive.contents(member));
  }
  return arrays;
}

std::string write_npz(const NamedTensors& tensors) {
  constexpr size_t kLimit = std::numeric_limits<uint32_t>::max() - (size_t{1} << 20);
  std::string out;
  std::string directory;
  for (const auto& [key, tensor] : tensors) {
    const std::string name = key + ".npy";
    const std::string data = write_npy(tensor);
    if (data.size() > kLimit || out.size() > kLimit - data.size()) {
      fail(kInputOutput, "the outputs need over 4 GiB, more than .npz holds here; write a .safetensors file");
    }
    const uint32_t crc = Archive::checksum(data);
    append_central_entry(name, crc, static_cast<uint32_t>(data.size()), static_cast<uint32_t>(out.size()), &directory);
    append_local_header(name, crc, static_cast<uint32_t>(data.size()), &out);
    out += data;
  }
  const size_t offset = out.size();
  out += directory;
  append_u32(&out, kEnd);
  append_u16(&out, 0);
  append_u16(&out, 0);
  append_u16(&out, static_cast<uint16_t>(tensors.size()));
  append_u16(&out, static_cast<uint16_t>(tensors.size()));
  append_u32(&out, static_cast<uint32_t>(directory.size()));
  append_u32(&out, static_cast<uint32_t>(offset));
  append_u16(&out, 0);
  return out;
}

}  // namespace pteron::cli
