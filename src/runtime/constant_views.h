// Weights that a program permutes in every run, before a matrix product: the exporter writes a linear layer so. A
// permuted constant needs no copy: the same bytes read with another dim order are the permuted tensor, and a kernel
// that packs its weight when the plan is made packs it from there.
#pragma once

#include "runtime/graph.h"

namespace pteron::runtime {

// Replaces permute_copy, t_copy and transpose_copy of a constant, whose result only matrix products read, by a constant
// over the same bytes, and takes the step out of the graph.
void view_permuted_constants(Graph& graph);

}  // namespace pteron::runtime
