// Bytes that a caller provides: borrowed memory, or a source with a read function.
#pragma once

#include <cstddef>

#include "base/bytes.h"
#include "pteron/c/program.h"
#include "pteron/result.h"

namespace pteron {

// Borrows `size` bytes until the last user of the result is gone, then calls `release(user)`, once; also when this
// fails. A null `release` means that the bytes are copied now. Bytes aligned to less than 16 are copied too.
Result<Bytes> borrow_bytes(const void* data, size_t size, void (*release)(void* user), void* user);

// Reads a source whole into memory. `source.release` is called once before this returns, whatever happens.
// PTERON_IO when the source gives fewer bytes than it promised.
Result<Bytes> read_source(const pteron_data_source& source);

}  // namespace pteron
