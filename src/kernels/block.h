// Strided blocks of elements, moved or added from one place to another: the inside of the indexing operators.
#pragma once

#include <cstdint>

#include "kernels/elementwise.h"

namespace pteron::kernels {

// The dimensions of two blocks of equal sizes; steps in bytes. Neighbouring dimensions are merged where both allow it.
struct Block {
  int rank = 0;
  int64_t sizes[kMaxRank];
  int64_t from[kMaxRank];
  int64_t to[kMaxRank];

  // Dimensions come outermost first.
  void append(int64_t size, int64_t from_step, int64_t to_step);
  int64_t numel() const;
  // Where element number `index` lies.
  void locate(int64_t index, int64_t* from_offset, int64_t* to_offset) const;
};

// What is done with each element: moved, by size in bytes, or added to what is there, by computing type.
struct ElementAction {
  bool add = false;
  Compute compute = Compute::kFloat;  // of additions: kInt, kFloat or kDouble
  int64_t bytes = 0;
};
ElementAction moving(int64_t bytes);
ElementAction adding(Compute compute);

// For every b in `before` and i < count, acts on the block `after` at from + b + from_table[i] -> to + b + to_table[i].
struct BlockJob {
  const char* from = nullptr;
  char* to = nullptr;
  Block before, after;
  int64_t count = 0;
  const int64_t* from_table = nullptr;  // bytes
  const int64_t* to_table = nullptr;    // bytes
  // Whether two i may write to the same place: they then come in order, in one thread, so that the result is the same
  // for any number of threads.
  bool ordered = false;
};
void run_blocks(const BlockJob& job, const ElementAction& action);

// For every line l (an element of `lines`) and j < count, with k = index[l * count + j]: gathering acts from
// from + l + k * from_step to to + l + j * to_step, scattering from from + l + j * from_step to to + l + k * to_step.
// `lines` has the steps of both sides; the index is dense, line after line.
struct LineJob {
  const char* from = nullptr;
  char* to = nullptr;
  Block lines;
  int64_t count = 0;
  int64_t from_step = 0, to_step = 0;
  const int64_t* index = nullptr;
  int64_t limit = 0;  // of the index
  bool scatters = false;
};
// False, with one of them in *outside, when an index is below 0 or not below the limit.
bool run_lines(const LineJob& job, const ElementAction& action, int64_t* outside);

}  // namespace pteron::kernels
