// Numbers of a flatbuffer's vector.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace pteron::format {

// Item `i`, which must exist. The verifier checks that a vector lies inside the buffer, not that items of eight bytes
// are aligned, so they are never read in place.
template <typename T>
T item_of(const flatbuffers::Vector<T>& vector, uint32_t i) {
  T item;
  std::memcpy(&item, vector.Data() + size_t{i} * sizeof(T), sizeof(T));
  return item;
}

template <typename T>
std::vector<T> items_of(const flatbuffers::Vector<T>& vector) {
  std::vector<T> items(vector.size());
  if (!items.empty()) std::memcpy(items.data(), vector.Data(), items.size() * sizeof(T));
  return items;
}

}  // namespace pteron::format
