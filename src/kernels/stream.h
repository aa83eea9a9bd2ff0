// An operand as a sequence of elements in an iteration's order: the inside of the elementwise loop and the reductions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "kernels/elementwise.h"

namespace pteron::kernels {

// The dtype whose elements are values of the computing type as they are.
constexpr int native_dtype(Compute compute) {
  switch (compute) {
    case Compute::kInt:
      return PTERON_INT64;
    case Compute::kFloat:
      return PTERON_FLOAT32;
    case Compute::kDouble:
      return PTERON_FLOAT64;
    case Compute::kBool:
      return PTERON_BOOL;
  }
  return PTERON_FLOAT32;
}

// Whether values of `from` change when they are converted to the common dtype, beyond being loaded.
inline bool narrowing_matters(int from, int common) {
  if (common < 0 || from == common) return false;
  if (is_half(common)) return true;
  if (!is_integral(common)) return false;
  return !is_integral(from) || pteron_dtype_size(from) > pteron_dtype_size(common) || common == PTERON_BOOL ||
         pteron_dtype_size(from) == pteron_dtype_size(common);
}

// A position in a strided piece of memory that is walked in a fixed order of dimensions.
struct Stream {
  char* at = nullptr;
  char* base = nullptr;
  int64_t element = 0;  // bytes
  int rank = 0;         // outermost first, neighbours merged where the steps allow
  int64_t sizes[kMaxRank];
  int64_t steps[kMaxRank];  // bytes
  int64_t index[kMaxRank];

  bool is_constant() const { return rank == 0; }

  void append(int64_t size, int64_t step) {
    if (rank > 0 && steps[rank - 1] == step * size) {
      sizes[rank - 1] *= size;
      steps[rank - 1] = step;
      return;
    }
    sizes[rank] = size;
    steps[rank] = step;
    ++rank;
  }

  void finish() {
    // All steps 0: the same element everywhere.
    if (rank == 1 && steps[0] == 0) rank = 0;
    rewind();
  }

  // Starts over from `base`.
  void rewind() {
    at = base;
    for (int dim = 0; dim < rank; ++dim) index[dim] = 0;
  }

  void seek(int64_t position) {
    at = base;
    for (int dim = rank - 1; dim >= 0; --dim) {
      index[dim] = position % sizes[dim];
      position /= sizes[dim];
      at += index[dim] * steps[dim];
    }
  }

  // How many elements lie ahead in the innermost run.
  int64_t run() const { return sizes[rank - 1] - index[rank - 1]; }

  void advance(int64_t count) {  // count <= run()
    int dim = rank - 1;
    index[dim] += count;
    at += count * steps[dim];
    while (index[dim] == sizes[dim] && dim > 0) {
      at -= sizes[dim] * steps[dim];
      index[dim] = 0;
      --dim;
      ++index[dim];
      at += steps[dim];
    }
  }
};

// The order of the dimensions: as they lie in the out tensor's memory, those of size 1 left out.
inline int iteration_order(const View& out, int* order) {
  int count = 0;
  for (int dim = 0; dim < out.rank; ++dim) {
    if (out.sizes[dim] == 1) continue;
    int place = count++;
    const int64_t step = std::abs(out.strides[dim]);
    while (place > 0 && std::abs(out.strides[order[place - 1]]) < step) {
      order[place] = order[place - 1];
      --place;
    }
    order[place] = dim;
  }
  return count;
}

inline Stream make_stream(const View& view, const int* order, int count) {
  Stream stream;
  stream.base = view.data;
  stream.element = static_cast<int64_t>(pteron_dtype_size(view.dtype));
  for (int i = 0; i < count; ++i) stream.append(view.sizes[order[i]], view.strides[order[i]] * stream.element);
  stream.finish();
  return stream;
}

// Reads a stream as chunks of a computing type.
struct Reader {
  Stream stream;
  LoadFn load = nullptr;
  Compute compute = Compute::kFloat;
  int narrowed = -1;  // round to this dtype after loading
  bool direct = false;
  bool filled = false;
  int64_t most = kChunk;  // the longest chunk that will be asked for

  void read(char* buffer, int64_t count) {
    char* const start = buffer;
    const int64_t width = compute_size(compute);
    for (int64_t left = count; left > 0;) {
      const int64_t take = std::min(left, stream.run());
      load(stream.at, stream.steps[stream.rank - 1], take, buffer);
      stream.advance(take);
      buffer += take * width;
      left -= take;
    }
    if (narrowed >= 0) narrow(narrowed, compute, start, count);
  }

  const void* next(char* buffer, int64_t count) {
    if (stream.is_constant()) {
      if (!filled) {
        load(stream.base, 0, most, buffer);
        if (narrowed >= 0) narrow(narrowed, compute, buffer, most);
        filled = true;
      }
      return buffer;
    }
    if (direct && stream.run() >= count) {
      const void* here = stream.at;
      stream.advance(count);
      return here;
    }
    read(buffer, count);
    return buffer;
  }
};

// Writes chunks of a computing type.
struct Writer {
  Stream stream;
  StoreFn store = nullptr;
  Compute compute = Compute::kFloat;
  int narrowed = -1;
  bool direct = false;

  // Where the next `count` results go: the tensor itself or `buffer`.
  void* next(char* buffer, int64_t count) const {
    return direct && (stream.is_constant() || stream.run() >= count) ? static_cast<void*>(stream.at) : buffer;
  }

  void commit(void* values, int64_t count) {
    if (narrowed >= 0) narrow(narrowed, compute, values, count);
    if (stream.is_constant()) {  // a single element
      if (values != stream.at) store(values, stream.at, stream.element, 1);
      return;
    }
    if (values == stream.at) {
      stream.advance(count);
      return;
    }
    const int64_t width = compute_size(compute);
    const char* from = static_cast<const char*>(values);
    while (count > 0) {
      const int64_t take = std::min(count, stream.run());
      store(from, stream.at, stream.steps[stream.rank - 1], take);
      stream.advance(take);
      from += take * width;
      count -= take;
    }
  }
};

}  // namespace pteron::kernels
