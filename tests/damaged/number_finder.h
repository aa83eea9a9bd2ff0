// Where a packed program keeps its numbers.
#pragma once

#include <set>

#include "outcome.h"

namespace pteron::damaged {

// A stretch of a file that holds one number: a field, an item of a vector, a length, an offset.
struct Number {
  size_t offset;
  size_t width;
  bool operator<(const Number& other) const { return offset < other.offset; }
};

// All numbers of a sound `.pte`, those of its headers included.
std::set<Number> numbers_of(const FileBytes& file);

}  // namespace pteron::damaged
