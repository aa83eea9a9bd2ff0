#include "engine/copy.h"

#include <algorithm>
#include <cstring>

#include "engine/elementwise_table.h"

namespace pteron::engine {
namespace {

struct Dim {
  int64_t size;
  int64_t src;  // strides in elements
  int64_t dst;
};

int64_t magnitude(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

// Drops dimensions of size 1, orders the rest by the destination (largest stride first) and joins neighbours that are
// one run in both. Returns the number left.
int simplify(Dim* dims, int rank) {
  int count = 0;
  for (int i = 0; i < rank; ++i) {
    if (dims[i].size != 1) dims[count++] = dims[i];
  }
  std::stable_sort(dims, dims + count, [](const Dim& a, const Dim& b) { return magnitude(a.dst) > magnitude(b.dst); });
  int joined = 0;
  for (int i = 0; i < count; ++i) {
    if (joined > 0) {
      Dim& last = dims[joined - 1];
      if (last.src == dims[i].src * dims[i].size && last.dst == dims[i].dst * dims[i].size) {
        last = {last.size * dims[i].size, dims[i].src, dims[i].dst};
        continue;
      }
    }
    dims[joined++] = dims[i];
  }
  return joined;
}

template <class T>
void copy_line(const char* src, int64_t src_step, char* dst, int64_t dst_step, int64_t count) {
  const T* from = reinterpret_cast<const T*>(src);
  T* to = reinterpret_cast<T*>(dst);
  for (int64_t i = 0; i < count; ++i) to[i * dst_step] = from[i * src_step];
}

void copy_line_of(size_t bytes, const char* src, int64_t src_step, char* dst, int64_t dst_step, int64_t count) {
  switch (bytes) {
    case 1:
      return copy_line<uint8_t>(src, src_step, dst, dst_step, count);
    case 2:
      return copy_line<uint16_t>(src, src_step, dst, dst_step, count);
    case 4:
      return copy_line<uint32_t>(src, src_step, dst, dst_step, count);
    case 8:
      return copy_line<uint64_t>(src, src_step, dst, dst_step, count);
    default: {
      const int64_t size = static_cast<int64_t>(bytes);
      for (int64_t i = 0; i < count; ++i) std::memcpy(dst + i * dst_step * size, src + i * src_step * size, bytes);
    }
  }
}

// What the innermost loops do with the one or two last dimensions.
struct Inner {
  Dim line;    // innermost in the destination
  Dim across;  // with `transpose`: consecutive in the source
  bool transpose;
};

void copy_inner(const Inner& inner, size_t bytes, const char* src, char* dst) {
  if (inner.transpose) {
    if (bytes == 4) {
      // Rows of the source run along `across`, rows of the destination along `line`.
      copy_table(active_isa())
          .transpose(reinterpret_cast<const float*>(src), inner.line.src, reinterpret_cast<float*>(dst),
                     inner.across.dst, inner.line.size, inner.across.size);
      return;
    }
    constexpr int64_t kBlock = 16;
    const int64_t size = static_cast<int64_t>(bytes);
    for (int64_t i = 0; i < inner.line.size; i += kBlock) {
      const int64_t n = std::min(kBlock, inner.line.size - i);
      for (int64_t j = 0; j < inner.across.size; ++j) {
        copy_line_of(bytes, src + (i * inner.line.src + j) * size, inner.line.src,
                     dst + (i + j * inner.across.dst) * size, 1, n);
      }
    }
    return;
  }
  if (inner.line.src == 1 && inner.line.dst == 1) {
    std::memcpy(dst, src, static_cast<size_t>(inner.line.size) * bytes);
    return;
  }
  copy_line_of(bytes, src, inner.line.src, dst, inner.line.dst, inner.line.size);
}

// Takes the dimensions of the innermost loops out of dims.
Inner take_inner(Dim* dims, int* count) {
  Inner inner{{1, 1, 1}, {1, 1, 1}, false};
  if (*count == 0) return inner;
  inner.line = dims[--*count];
  if (inner.line.dst != 1 || inner.line.src == 1) return inner;
  for (int i = 0; i < *count; ++i) {
    if (dims[i].src != 1) continue;
    inner.across = dims[i];
    inner.transpose = true;
    std::copy(dims + i + 1, dims + *count, dims + i);
    --*count;
    break;
  }
  return inner;
}

}  // namespace

void strided_copy(const void* src, const int64_t* src_strides, void* dst, const int64_t* dst_strides,
                  const int64_t* sizes, int rank, size_t element_bytes, const Parallel& parallel) {
  Dim dims[kMaxCopyRank];
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] <= 0) return;
    dims[i] = {sizes[i], src_strides[i], dst_strides[i]};
  }
  int count = simplify(dims, rank);
  // A line that is long is cut, so that there are ranges for several threads: 16 K elements each.
  constexpr int64_t kLine = 16384;
  if (count == 1 && dims[0].size > 2 * kLine) {
    const int64_t lines = dims[0].size / kLine;
    const Dim whole = dims[0];
    const int64_t size = static_cast<int64_t>(element_bytes);
    parallel_for(parallel, lines, 1, [&](int64_t begin, int64_t end) {
      const int64_t last = end == lines ? whole.size : end * kLine;
      const Inner part{{last - begin * kLine, whole.src, whole.dst}, {1, 1, 1}, false};
      copy_inner(part, element_bytes, static_cast<const char*>(src) + begin * kLine * whole.src * size,
                 static_cast<char*>(dst) + begin * kLine * whole.dst * size);
    });
    return;
  }
  Inner inner = take_inner(dims, &count);
  if (inner.transpose && inner.across.size >= 32 && count < kMaxCopyRank) {
    // The same for a transpose: blocks of 16 rows of the destination (a smaller last block is done alone).
    const int64_t blocks = inner.across.size / 16;
    const int64_t rest = inner.across.size % 16;
    if (rest == 0) {
      dims[count++] = {blocks, 16, 16 * inner.across.dst};
      inner.across.size = 16;
    }
  }
  int64_t outer = 1;
  for (int i = 0; i < count; ++i) outer *= dims[i].size;
  const int64_t per_step = inner.line.size * inner.across.size;
  parallel_for(parallel, outer, 1 + kLine / per_step, [&](int64_t begin, int64_t end) {
    int64_t index[kMaxCopyRank];
    int64_t from = 0;
    int64_t to = 0;
    int64_t rest = begin;
    for (int i = count - 1; i >= 0; --i) {
      index[i] = rest % dims[i].size;
      rest /= dims[i].size;
      from += index[i] * dims[i].src;
      to += index[i] * dims[i].dst;
    }
    const int64_t size = static_cast<int64_t>(element_bytes);
    for (int64_t step = begin; step < end; ++step) {
      copy_inner(inner, element_bytes, static_cast<const char*>(src) + from * size,
                 static_cast<char*>(dst) + to * size);
      for (int i = count - 1; i >= 0; --i) {
        from += dims[i].src;
        to += dims[i].dst;
        if (++index[i] < dims[i].size) break;
        from -= dims[i].size * dims[i].src;
        to -= dims[i].size * dims[i].dst;
        index[i] = 0;
      }
    }
  });
}

}  // namespace pteron::engine
