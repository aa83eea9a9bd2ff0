// Reading whole files, or parts of them, as bytes: mapped or copied.
//
//   Result<Bytes> model = read_file("model.pte", FileAccess::kMap);
//
// All results start on a 16-byte boundary or a stricter one. Failures name the file and carry the operating system's
// words: PTERON_NOT_FOUND when there is no such file, PTERON_OUT_OF_MEMORY, PTERON_IO for everything else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "pteron/result.h"

namespace pteron {

enum class FileAccess {
  kMap,   // pages come from the file as they are touched; the file must not shrink meanwhile
  kCopy,  // read into memory; later changes of the file do not matter
};

// What every reader here guarantees about the address of its bytes.
constexpr size_t kBytesAlignment = 16;

// The whole file at `path`. Directories, pipes and devices are refused; an empty file gives no bytes.
Result<Bytes> read_file(const char* path, FileAccess access);

// `size` bytes at `offset` of an open file; size 0: up to its end. The descriptor stays the caller's and its position
// does not move. A mapped part that does not start on a 16-byte boundary of the file is copied.
Result<Bytes> read_descriptor(int fd, uint64_t offset, uint64_t size, FileAccess access);

// A copy of `size` bytes of memory.
Result<Bytes> copy_bytes(const void* data, size_t size);

}  // namespace pteron
