// pteron bench: how long a method takes to load and to run, and where the time goes.
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>

#include "cli/failure.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "cli/tensors.h"
#include "pteron/bundle.h"
#include "pteron/runtime.h"

namespace pteron::cli {
namespace {

constexpr char kHelp[] =
    "Examples:\n"
    "  pteron bench model.bpte\n"
    "  pteron bench model.pte --threads 1 --seconds 5 --profile\n"
    "  pteron bench model.pte --trace-file trace.json     for chrome://tracing or ui.perfetto.dev\n\n"
    "Inputs are those of the bundle's first case, else random floats and zero integers.";

constexpr size_t kLargestRunCount = 1'000'000;
constexpr size_t kProfileRuns = 5;

struct BenchOptions {
  ModelOptions model;
  size_t warmup = 3;
  std::optional<size_t> runs;
  double seconds = 2;
  bool profile = false;
  std::string trace_file;
};

struct Steady {
  std::vector<double> sorted;  // milliseconds
  double percentile(double p) const {
    const double position = p / 100 * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(position);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
  }
  double mean() const {
    return std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  }
  double deviation() const {
    const double middle = mean();
    double sum = 0;
    for (const double value : sorted) sum += (value - middle) * (value - middle);
    return std::sqrt(sum / static_cast<double>(sorted.size()));
  }
};

struct OperatorTime {
  std::string name;
  size_t calls = 0;         // in one run
  double milliseconds = 0;  // in one run, the mean of the traced runs
  uint64_t bytes = 0;       // in one run
};

struct Measurements {
  double load = 0;
  double prepare = 0;
  double first = 0;
  Steady steady;
  uint64_t arena = 0;
  uint64_t shared = 0;
  uint64_t peak = 0;
  std::string inputs;
  std::vector<OperatorTime> operators;
};

// A bundle's identifier stands where any FlatBuffer has it.
bool is_bundle(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;  // a pipe would wait for its writer
  char head[8] = {};
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;  // loading it will say why
  const size_t count = std::fread(head, 1, sizeof(head), file);
  std::fclose(file);
  return count == sizeof(head) && std::string_view(head + 4, 4) == "BP08";
}

// What is measured, with everything its inputs need to stay alive.
struct Subject {
  std::optional<Bundle> bundle;
  std::optional<Program> program;
};

Subject load_subject(const ModelOptions& options) {
  Subject subject;
  if (is_bundle(options.model)) {
    subject.bundle.emplace(take(Bundle::load(options.model, load_options(options)), Stage::kLoad));
    subject.program.emplace(subject.bundle->program());
  } else {
    subject.program.emplace(take(Program::load(options.model, load_options(options)), Stage::kLoad));
  }
  return subject;
}

std::string set_inputs(const Subject& subject, const MethodInfo& info, Method* method) {
  if (subject.bundle && subject.bundle->case_count(info.name()) != 0) {
    const TestCase test = take(subject.bundle->test_case(info.name(), 0), Stage::kOther);
    for (size_t i = 0; i < test.inputs.size(); ++i) require(method->set_input(i, test.inputs[i]), Stage::kInput);
    return "the bundle's first case";
  }
  std::string note;
  std::vector<Value> values = made_up_inputs(info, &note);
  for (size_t i = 0; i < values.size(); ++i) require(method->set_input(i, std::move(values[i])), Stage::kInput);
  return note;
}

double timed_run(Method* method) {
  const Stopwatch running;
  require(method->run(interruptible()), Stage::kRun);
  return running.milliseconds();
}

Steady measure_steady(const BenchOptions& options, Method* method) {
  Progress progress("runs");
  for (size_t i = 0; i < options.warmup; ++i) timed_run(method);
  Steady steady;
  const Stopwatch total;
  const size_t limit = options.runs.value_or(kLargestRunCount);
  while (steady.sorted.size() < limit) {
    steady.sorted.push_back(timed_run(method));
    progress.show(steady.sorted.size(), options.runs.value_or(0));
    if (!options.runs && total.milliseconds() >= options.seconds * 1000) break;
  }
  std::sort(steady.sorted.begin(), steady.sorted.end());
  return steady;
}

struct TracedStep {
  std::string name;
  int32_t chain = 0;
  int32_t instruction = 0;
  uint64_t start_ns = 0;
  uint64_t duration_ns = 0;
  uint64_t bytes = 0;
  std::string arguments;
};

std::string argument_text(const TraceEvent& event) {
  std::string text;
  for (size_t i = 0; i < event.argument_count(); ++i) {
    const ValueView value = event.argument(i);
    if (i != 0) text += ", ";
    if (value.is_tensor()) {
      const TensorView tensor = *value.tensor();
      text += tensor_text(tensor.dtype(), tensor.shape());
    } else {
      text += kind_name(value.kind());
    }
  }
  return text;
}

// The steps of one run.
std::vector<TracedStep> trace_run(Method* method) {
  std::vector<TracedStep> steps;
  method->set_trace([&steps](const TraceEvent& event) {
    steps.push_back({event.name(), event.chain(), event.instruction(), event.start_ns(), event.duration_ns(),
                     event.bytes(), argument_text(event)});
  });
  timed_run(method);
  method->set_trace(nullptr);
  return steps;
}

std::vector<OperatorTime> by_operator(const std::vector<std::vector<TracedStep>>& runs) {
  std::map<std::string, OperatorTime> table;
  for (const auto& steps : runs) {
    for (const TracedStep& step : steps) {
      OperatorTime& entry = table[step.name];
      entry.name = step.name;
      ++entry.calls;
      entry.bytes += step.bytes;
      entry.milliseconds += static_cast<double>(step.duration_ns) / 1e6;
    }
  }
  std::vector<OperatorTime> list;
  for (auto& [name, entry] : table) {
    entry.calls /= runs.size();
    entry.bytes /= runs.size();
    entry.milliseconds /= static_cast<double>(runs.size());
    list.push_back(entry);
  }
  std::sort(list.begin(), list.end(),
            [](const OperatorTime& a, const OperatorTime& b) { return a.milliseconds > b.milliseconds; });
  return list;
}

// The format that chrome://tracing and Perfetto read: complete events, times in microseconds.
std::string chrome_trace(const std::vector<std::vector<TracedStep>>& runs) {
  Json events = Json::array();
  const uint64_t begin = runs.front().empty() ? 0 : runs.front().front().start_ns;
  for (const auto& steps : runs) {
    for (const TracedStep& step : steps) {
      events.push_back({{"name", step.name},
                        {"cat", "operator"},
                        {"ph", "X"},
                        {"ts", static_cast<double>(step.start_ns - begin) / 1e3},
                        {"dur", static_cast<double>(step.duration_ns) / 1e3},
                        {"pid", 1},
                        {"tid", 1},
                        {"args",
                         {{"chain", step.chain},
                          {"instruction", step.instruction},
                          {"arguments", step.arguments},
                          {"bytes", step.bytes}}}});
    }
  }
  const Json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return trace.dump(1, ' ', false, Json::error_handler_t::replace);
}

uint64_t peak_resident_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

Json to_json(const BenchOptions& options, const MethodInfo& info, const Measurements& m) {
  const Steady& s = m.steady;
  Json json = {{"schema", "pteron.bench/1"},
               {"model", options.model.model},
               {"method", info.name()},
               {"inputs", m.inputs},
               {"threads", thread_count()},
               {"time_ms",
                {{"load", m.load},
                 {"prepare", m.prepare},
                 {"first", m.first},
                 {"steady",
                  {{"runs", s.sorted.size()},
                   {"min", s.sorted.front()},
                   {"p50", s.percentile(50)},
                   {"p90", s.percentile(90)},
                   {"p99", s.percentile(99)},
                   {"max", s.sorted.back()},
                   {"mean", s.mean()},
                   {"stddev", s.deviation()}}}}},
               {"memory_bytes", {{"arena", m.arena}, {"shared", m.shared}, {"peak_resident", m.peak}}}};
  if (!options.profile) return json;
  Json operators = Json::array();
  for (const OperatorTime& entry : m.operators) {
    operators.push_back(
        {{"name", entry.name}, {"calls", entry.calls}, {"time_ms", entry.milliseconds}, {"bytes", entry.bytes}});
  }
  json["operators"] = std::move(operators);
  return json;
}

std::string to_text(const BenchOptions& options, const MethodInfo& info, const Measurements& m) {
  const Steady& s = m.steady;
  std::string text;
  append_format(&text, "%s, method %s, %d threads\n", options.model.model.c_str(), printable_text(info.name()).c_str(),
                thread_count());
  append_format(&text, "inputs:  %s\n", m.inputs.c_str());
  append_format(&text, "load     %.3f ms, prepare %.3f ms\nfirst    %.3f ms\n", m.load, m.prepare, m.first);
  append_format(&text, "steady   p50 %.3f ms, p90 %.3f, p99 %.3f, min %.3f, max %.3f, mean %.3f +- %.3f (%zu runs)\n",
                s.percentile(50), s.percentile(90), s.percentile(99), s.sorted.front(), s.sorted.back(), s.mean(),
                s.deviation(), s.sorted.size());
  append_format(&text, "memory   arena %s, shared %s, peak resident %s\n", bytes_text(m.arena).c_str(),
                bytes_text(m.shared).c_str(), bytes_text(m.peak).c_str());
  if (!options.profile) return text;
  double total = 0;
  for (const OperatorTime& entry : m.operators) total += entry.milliseconds;
  append_format(&text, "\n%10s %7s %8s %12s  %s\n", "ms", "share", "calls", "us per call", "operator");
  for (const OperatorTime& entry : m.operators) {
    append_format(&text, "%10.3f %6.1f%% %8zu %12.2f  %s\n", entry.milliseconds,
                  total > 0 ? entry.milliseconds / total * 100 : 0, entry.calls,
                  entry.milliseconds * 1000 / static_cast<double>(std::max<size_t>(entry.calls, 1)),
                  printable_text(entry.name).c_str());
  }
  return text;
}

void bench(const BenchOptions& options) {
  if (std::isnan(options.seconds)) fail(kUsage, "--seconds takes a number of seconds, not 'nan'");
  apply_threads(options.model);
  Measurements m;
  const Stopwatch loading;
  const Subject subject = load_subject(options.model);
  m.load = loading.milliseconds();
  const MethodInfo info = choose_method(*subject.program, options.model.method);
  const Stopwatch preparing;
  const Plan plan = take(Plan::create(*subject.program, info.name(), plan_options(options.model, info)), Stage::kPlan);
  Method method = take(Method::create(plan), Stage::kPlan);
  m.prepare = preparing.milliseconds();
  m.arena = plan.arena_bytes();
  m.shared = plan.shared_bytes();
  m.inputs = set_inputs(subject, info, &method);
  m.first = timed_run(&method);
  m.steady = measure_steady(options, &method);
  m.peak = peak_resident_bytes();
  if (options.profile || !options.trace_file.empty()) {
    std::vector<std::vector<TracedStep>> runs;
    for (size_t i = 0; i < kProfileRuns; ++i) runs.push_back(trace_run(&method));
    m.operators = by_operator(runs);
    if (!options.trace_file.empty()) {
      write_file(options.trace_file, chrome_trace(runs));
      std::fprintf(stderr, "wrote %zu runs to '%s'\n", runs.size(), options.trace_file.c_str());
    }
  }
  if (options.model.json) {
    print_result(to_json(options, info, m));
  } else {
    print_result(to_text(options, info, m));
  }
}

}  // namespace

void add_bench(CLI::App* app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command =
      app->add_subcommand("bench", "Measure a method: load, first and steady times, memory, and time per operator.");
  command->footer(kHelp);
  add_model_options(command, &options->model, kWithMethod | kWithRunning);
  command->add_option("--warmup", options->warmup, "Runs before those that count")
      ->type_name("N")
      ->check(CLI::Range(size_t{0}, kLargestRunCount))
      ->capture_default_str();
  command->add_option("--runs", options->runs, "Runs that count; default: as many as --seconds allows")
      ->type_name("N")
      ->check(CLI::Range(size_t{1}, kLargestRunCount));
  command->add_option("--seconds", options->seconds, "How long to run")
      ->type_name("S")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  command->add_flag("--profile", options->profile, "Time per operator, from runs of their own");
  command->add_option("--trace-file", options->trace_file, "Write the profiled runs as Chrome trace JSON")
      ->type_name("FILE");
  command->callback([options] { bench(*options); });
}

}  // namespace pteron::cli
