// The vector functions under elementwise.cc, softmax.cc, norm.cc, reduce.cc, pool.cc and copy.cc, one table for each
// instruction set.
#pragma once

#include <cstdint>

#include "engine/elementwise.h"
#include "engine/isa.h"

namespace pteron::engine {

struct ElementwiseTable {
  const char* isa;
  void (*unary)(Unary op, const float* in, float* out, int64_t count, const UnaryParams& params);
  // b_step 1: element by element; 0: b[0] for all.
  void (*binary)(Binary op, const float* a, const float* b, int b_step, float* out, int64_t count, float alpha,
                 bool swapped);
  // out = a * b[0] + c[0], or element by element (step 1).
  void (*affine)(const float* a, const float* b, const float* c, int step, float* out, int64_t count);
};

struct CopyTable {
  const char* isa;
  // dst[j * dst_stride + i] = src[i * src_stride + j] for i < rows, j < cols; 4-byte elements.
  void (*transpose)(const float* src, int64_t src_stride, float* dst, int64_t dst_stride, int64_t rows, int64_t cols);
  void (*half_to_float)(const uint16_t* src, float* dst, int64_t count);
  void (*float_to_half)(const float* src, uint16_t* dst, int64_t count);
  void (*bfloat16_to_float)(const uint16_t* src, float* dst, int64_t count);
  void (*float_to_bfloat16)(const float* src, uint16_t* dst, int64_t count);
};

struct RowsTable {
  // One contiguous row.
  float (*max)(const float* in, int64_t count);
  float (*min)(const float* in, int64_t count);
  float (*sum)(const float* in, int64_t count);
  // Sum of (x - shift)^2.
  float (*sum_squares)(const float* in, int64_t count, float shift);
  // out = exp(in - shift), returns the sum of out; out may be null.
  float (*exp_sum)(const float* in, float* out, int64_t count, float shift);
  // out = (in - shift) * scale, times weight[i] and plus bias[i] when they are given.
  void (*normalize)(const float* in, float* out, int64_t count, float shift, float scale, const float* weight,
                    const float* bias);
};

const ElementwiseTable& elementwise_table(Isa isa);
const RowsTable& rows_table(Isa isa);
const CopyTable& copy_table(Isa isa);

}  // namespace pteron::engine
