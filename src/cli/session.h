// What all subcommands share: options about the model, interruption, progress, the result's destination.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pteron/method.h"
#include "pteron/plan.h"
#include "pteron/program.h"

namespace pteron::cli {

using Json = nlohmann::ordered_json;

// Options that several subcommands take.
struct ModelOptions {
  std::string model;
  std::string method;
  std::vector<std::string> data;             // --data W.ptd
  int threads = 0;                           // --threads N; 0: the runtime's default
  std::vector<std::string> backend_options;  // --backend-option NAME.KEY=VALUE
  bool json = false;
};

enum ModelOptionSet : unsigned { kModelOnly = 0, kWithMethod = 1, kWithRunning = 2 };

// Adds MODEL, --data and --json; with kWithMethod --method; with kWithRunning --threads and --backend-option.
void add_model_options(CLI::App* command, ModelOptions* options, unsigned set);

// Applies --threads. Failure kUsage.
void apply_threads(const ModelOptions& options);

LoadOptions load_options(const ModelOptions& options);

// --backend-option resolved against the delegates of `method`: NAME is a delegate's id or the id without "Backend", in
// any case. Failure kUsage when no delegate is meant.
PlanOptions plan_options(const ModelOptions& options, const MethodInfo& method);

// The method asked for; without --method "forward", or the only one. Failure kUsage that lists them.
MethodInfo choose_method(const Program& program, const std::string& name);

// Ctrl-C sets a flag that runs look at; a second one ends the process.
void install_interrupt_handler();
RunOptions interruptible();
// Failure kInterrupted once Ctrl-C was pressed.
void require_not_interrupted();

// A line on standard error that says how far a long job is; only on a terminal, and only after half a second.
class Progress {
 public:
  explicit Progress(std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // wipes the line
  void show(size_t done, size_t total);

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

// Milliseconds since construction.
class Stopwatch {
 public:
  double milliseconds() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Writes to standard output and makes sure it arrived. Failure kInputOutput.
void print_result(const std::string& text);
void print_result(const Json& json);

// A number that JSON can hold; "nan", "inf" or "-inf" as text otherwise.
Json json_number(double value);

// "1.5 MiB"
std::string bytes_text(uint64_t bytes);

// Appends text formatted as by printf.
void append_format(std::string* out, const char* format, ...) PTERON_PRINTF(2, 3);

// The subcommands; each adds itself to the command line with its help.
void add_run(CLI::App* app);
void add_inspect(CLI::App* app);
void add_check(CLI::App* app);
void add_bench(CLI::App* app);

}  // namespace pteron::cli
