// Throughput of the engine: run with PTERON_ISA=scalar|avx2|avx512 to compare; --benchmark_filter=<regex> selects.
#include <benchmark/benchmark.h>

#include <vector>

#include "engine/conv.h"
#include "engine/gemm.h"
#include "engine/isa.h"

namespace pteron::engine {
namespace {

std::vector<float> ramp(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count + 16));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97) / 97.0f - 0.5f;
  return values;
}

void* aligned(std::vector<float>& memory) {
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  return reinterpret_cast<void*>((address + 63) / 64 * 64);
}

void report(benchmark::State& state, double operations) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

// Arguments: m, n, k, B transposed, B packed before.
void gemm_f32(benchmark::State& state) {
  Gemm<float> g;
  g.m = state.range(0);
  g.n = state.range(1);
  g.k = state.range(2);
  std::vector<float> a = ramp(g.m * g.k), b = ramp(g.k * g.n), c = ramp(g.m * g.n);
  g.a = {a.data(), g.k, 1};
  g.b = state.range(3) != 0 ? MatrixView<float>{b.data(), 1, g.k} : MatrixView<float>{b.data(), g.n, 1};
  g.c = c.data();
  g.c_row_stride = g.n;
  std::vector<float> packed = ramp(static_cast<int64_t>(packed_b_bytes<float>(g.k, g.n) / 4));
  if (state.range(4) != 0) {
    pack_b<float>(g.b, g.k, g.n, static_cast<float*>(aligned(packed)), Parallel{});
    g.packed_b = static_cast<float*>(aligned(packed));
  }
  std::vector<float> scratch = ramp(static_cast<int64_t>(gemm_scratch_bytes(g) / 4));
  for (auto _ : state) {
    gemm(g, aligned(scratch), Parallel{});
    benchmark::DoNotOptimize(c.data());
  }
  report(state, 2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k));
}
BENCHMARK(gemm_f32)
    ->Args({512, 512, 512, 0, 0})
    ->Args({512, 512, 512, 1, 0})
    ->Args({512, 512, 512, 0, 1})
    ->Args({1024, 1024, 1024, 0, 0})
    ->Args({128, 3072, 768, 1, 1})
    ->Args({128, 768, 3072, 1, 1})
    ->Args({128, 128, 64, 1, 0})
    ->Args({12544, 96, 16, 0, 1})
    ->Args({49, 320, 960, 0, 1})
    ->Args({1, 1000, 1280, 1, 0})
    ->Args({1, 1000, 1280, 0, 0})
    ->Args({1, 1000, 1280, 1, 1})
    ->Args({1, 4096, 4096, 1, 0});

// Arguments: layout (0 NCHW, 1 NHWC), in channels, out channels, groups, size, kernel, stride, padding.
void conv_f32(benchmark::State& state) {
  ConvShape shape;
  shape.in_channels = state.range(1);
  shape.out_channels = state.range(2);
  shape.groups = state.range(3);
  shape.in = {1, state.range(4), state.range(4)};
  shape.kernel = {1, state.range(5), state.range(5)};
  shape.stride = {1, state.range(6), state.range(6)};
  shape.padding = {0, state.range(7), state.range(7)};
  const ConvPlan plan = conv_plan(shape, state.range(0) == 0 ? ConvLayout::kNchw : ConvLayout::kNhwc);
  const int64_t weight_count = shape.out_channels * shape.in_channels / shape.groups * state.range(5) * state.range(5);
  const int64_t out_count = shape.out_channels * plan.out[1] * plan.out[2];
  std::vector<float> in = ramp(shape.in_channels * state.range(4) * state.range(4));
  std::vector<float> weights = ramp(weight_count), bias = ramp(shape.out_channels), out = ramp(out_count);
  std::vector<float> packed = ramp(static_cast<int64_t>(conv_packed_bytes(plan) / 4));
  std::vector<float> scratch = ramp(static_cast<int64_t>(conv_scratch_bytes(plan, Parallel{}) / 4));
  conv_pack_weights(plan, weights.data(), aligned(packed));
  const void* ready = conv_packed_bytes(plan) == 0 ? weights.data() : aligned(packed);
  for (auto _ : state) {
    conv_run(plan, in.data(), ready, bias.data(), 0.0f, 6.0f, out.data(), aligned(scratch), Parallel{});
    benchmark::DoNotOptimize(out.data());
  }
  report(state, 2.0 * static_cast<double>(weight_count) * static_cast<double>(plan.out[1] * plan.out[2]));
}
void conv_shapes(benchmark::internal::Benchmark* bench) {
  for (int64_t layout : {0, 1}) {
    // ResNet-18
    bench->Args({layout, 3, 64, 1, 224, 7, 2, 3});
    bench->Args({layout, 64, 64, 1, 56, 3, 1, 1});
    bench->Args({layout, 64, 128, 1, 56, 3, 2, 1});
    bench->Args({layout, 64, 128, 1, 56, 1, 2, 0});
    bench->Args({layout, 128, 128, 1, 28, 3, 1, 1});
    bench->Args({layout, 256, 256, 1, 14, 3, 1, 1});
    bench->Args({layout, 512, 512, 1, 7, 3, 1, 1});
    // MobileNetV2
    bench->Args({layout, 3, 32, 1, 224, 3, 2, 1});
    bench->Args({layout, 16, 96, 1, 112, 1, 1, 0});
    bench->Args({layout, 96, 96, 96, 112, 3, 2, 1});
    bench->Args({layout, 144, 24, 1, 56, 1, 1, 0});
    bench->Args({layout, 144, 144, 144, 56, 3, 1, 1});
    bench->Args({layout, 384, 384, 384, 14, 3, 1, 1});
    bench->Args({layout, 64, 384, 1, 14, 1, 1, 0});
    bench->Args({layout, 960, 960, 960, 7, 3, 1, 1});
    bench->Args({layout, 960, 320, 1, 7, 1, 1, 0});
  }
}
BENCHMARK(conv_f32)->Apply(conv_shapes);

}  // namespace
}  // namespace pteron::engine

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("isa", pteron::engine::isa_name(pteron::engine::active_isa()));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
