#include "kernels/block.h"

#include <atomic>
#include <cstring>
#include <type_traits>

#include "kernels/parallel.h"

namespace pteron::kernels {
namespace {

// Elements that are worth a second thread.
constexpr int64_t kGrain = 8192;

template <class T>
struct Move {
  using Element = T;
  static void one(const char* from, char* to) { std::memcpy(to, from, sizeof(T)); }
  static void run(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t count) {
    if (from_step == sizeof(T) && to_step == sizeof(T)) {
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < count; ++i) one(from + i * from_step, to + i * to_step);
  }
};

template <class T>
struct Add {
  using Element = T;
  static void one(const char* from, char* to) {
    T value, sum;
    std::memcpy(&value, from, sizeof(T));
    std::memcpy(&sum, to, sizeof(T));
    if constexpr (std::is_integral_v<T>) {
      sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
    } else {
      sum += value;
    }
    std::memcpy(to, &sum, sizeof(T));
  }
  static void run(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t count) {
    for (int64_t i = 0; i < count; ++i) one(from + i * from_step, to + i * to_step);
  }
};

template <class Action>
void act_on_block(const char* from, char* to, const Block& block, int dim) {
  if (block.rank == 0) return Action::one(from, to);
  if (dim == block.rank - 1) return Action::run(from, block.from[dim], to, block.to[dim], block.sizes[dim]);
  for (int64_t i = 0; i < block.sizes[dim]; ++i) {
    act_on_block<Action>(from + i * block.from[dim], to + i * block.to[dim], block, dim + 1);
  }
}

// Pairs (b, i) in [begin, end), counted with i fastest.
template <class Action>
void act_on_pairs(const BlockJob& job, int64_t begin, int64_t end) {
  int64_t i = begin % job.count, b = begin / job.count;
  int64_t from = 0, to = 0;
  job.before.locate(b, &from, &to);
  for (int64_t pair = begin; pair < end; ++pair) {
    act_on_block<Action>(job.from + from + job.from_table[i], job.to + to + job.to_table[i], job.after, 0);
    if (++i == job.count) {
      i = 0;
      if (pair + 1 < end) job.before.locate(++b, &from, &to);
    }
  }
}

template <class Action>
void run_blocks_as(const BlockJob& job) {
  const int64_t before = job.before.numel(), after = job.after.numel();
  if (before == 0 || after == 0 || job.count == 0) return;
  if (job.ordered) {
    parallel_for(before, 1 + kGrain / (after * job.count),
                 [&](int64_t begin, int64_t end) { act_on_pairs<Action>(job, begin * job.count, end * job.count); });
  } else {
    parallel_for(before * job.count, 1 + kGrain / after,
                 [&](int64_t begin, int64_t end) { act_on_pairs<Action>(job, begin, end); });
  }
}

template <class Action>
bool run_lines_as(const LineJob& job, int64_t* outside) {
  std::atomic<bool> failed{false};
  std::atomic<int64_t> culprit{0};
  const int64_t lines = job.lines.numel();
  if (lines == 0 || job.count == 0) return true;
  parallel_for(lines, 1 + kGrain / job.count, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t from_offset = 0, to_offset = 0;
      job.lines.locate(line, &from_offset, &to_offset);
      const char* from = job.from + from_offset;
      char* to = job.to + to_offset;
      const int64_t* index = job.index + line * job.count;
      for (int64_t j = 0; j < job.count; ++j) {
        const int64_t k = index[j];
        if (k < 0 || k >= job.limit) {
          culprit.store(k, std::memory_order_relaxed);
          failed.store(true, std::memory_order_relaxed);
          return;
        }
        const int64_t from_index = job.scatters ? j : k, to_index = job.scatters ? k : j;
        Action::one(from + from_index * job.from_step, to + to_index * job.to_step);
      }
    }
  });
  *outside = culprit.load();
  return !failed.load();
}

// Calls body(type) with the action's type.
template <class Body>
auto with_action(const ElementAction& action, Body&& body) {
  if (action.add) {
    switch (action.compute) {
      case Compute::kFloat:
        return body(std::type_identity<Add<float>>());
      case Compute::kDouble:
        return body(std::type_identity<Add<double>>());
      default:
        return body(std::type_identity<Add<int64_t>>());
    }
  }
  switch (action.bytes) {
    case 1:
      return body(std::type_identity<Move<uint8_t>>());
    case 2:
      return body(std::type_identity<Move<uint16_t>>());
    case 4:
      return body(std::type_identity<Move<uint32_t>>());
    default:
      return body(std::type_identity<Move<uint64_t>>());
  }
}

}  // namespace

void Block::append(int64_t size, int64_t from_step, int64_t to_step) {
  if (size == 1) return;
  if (rank > 0 && from[rank - 1] == from_step * size && to[rank - 1] == to_step * size) {
    sizes[rank - 1] *= size;
    from[rank - 1] = from_step;
    to[rank - 1] = to_step;
    return;
  }
  sizes[rank] = size;
  from[rank] = from_step;
  to[rank] = to_step;
  ++rank;
}

int64_t Block::numel() const {
  int64_t count = 1;
  for (int dim = 0; dim < rank; ++dim) count *= sizes[dim];
  return count;
}

void Block::locate(int64_t index, int64_t* from_offset, int64_t* to_offset) const {
  *from_offset = *to_offset = 0;
  for (int dim = rank - 1; dim >= 0; --dim) {
    const int64_t position = index % sizes[dim];
    index /= sizes[dim];
    *from_offset += position * from[dim];
    *to_offset += position * to[dim];
  }
}

ElementAction moving(int64_t bytes) {
  return {false, Compute::kFloat, bytes};
}

ElementAction adding(Compute compute) {
  return {true, compute, compute_size(compute)};
}

void run_blocks(const BlockJob& job, const ElementAction& action) {
  with_action(action, [&](auto type) { run_blocks_as<typename decltype(type)::type>(job); });
}

bool run_lines(const LineJob& job, const ElementAction& action, int64_t* outside) {
  return with_action(action, [&](auto type) { return run_lines_as<typename decltype(type)::type>(job, outside); });
}

}  // namespace pteron::kernels
