// The runtime as a backend sees it: the table of services and the context of one call.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pteron/c/backend.h"

namespace pteron::runtime {

class DelegateData;
struct BackendOption;

// Blocks of memory that go together. Aligned to 64 bytes. One thread at a time.
class BlockList {
 public:
  BlockList() = default;
  ~BlockList() { clear(); }
  BlockList(const BlockList&) = delete;
  BlockList& operator=(const BlockList&) = delete;

  void* allocate(size_t bytes);  // null when memory is short; never null for 0
  void clear();

 private:
  std::vector<void*> blocks_;
};

// The services, for every backend.
extern const pteron_host kHost;

}  // namespace pteron::runtime

// One call of a backend.
struct pteron_backend_context {
  int code = PTERON_OK;  // what fail() recorded
  std::string message;
  pteron::runtime::BlockList* lasting = nullptr;    // for the handle's life
  pteron::runtime::BlockList* temporary = nullptr;  // until the call returns
  const pteron::runtime::DelegateData* data = nullptr;
  const std::vector<pteron::runtime::BackendOption>* options = nullptr;
  const int32_t* cancel = nullptr;
  bool payload_released = false;
};
