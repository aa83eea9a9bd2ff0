#include "cli/session.h"

#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "cli/failure.h"
#include "cli/tensors.h"
#include "pteron/runtime.h"

namespace pteron::cli {
namespace {

std::atomic<int32_t> interrupted{0};

extern "C" void on_interrupt(int) {
  interrupted.store(1);
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// "OpenvinoBackend" -> "openvino"
std::string short_name(const std::string& id) {
  constexpr char kSuffix[] = "Backend";
  constexpr size_t kSuffixSize = sizeof(kSuffix) - 1;
  const bool has_suffix = id.size() > kSuffixSize && id.compare(id.size() - kSuffixSize, kSuffixSize, kSuffix) == 0;
  return lower(has_suffix ? id.substr(0, id.size() - kSuffixSize) : id);
}

std::string delegate_ids(const MethodInfo& method) {
  std::string text;
  for (const DelegateInfo& delegate : method.delegates()) {
    const std::string id = printable_text(delegate.id());
    if (("," + text + ",").find("," + id + ",") == std::string::npos) text += (text.empty() ? "" : ",") + id;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void add_model_options(CLI::App* command, ModelOptions* options, unsigned set) {
  command->add_option("MODEL", options->model, "A .pte or .bpte file")->required();
  command->add_option("--data", options->data, "A .ptd file with weights; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  if ((set & kWithMethod) != 0) {
    command->add_option("--method", options->method, "The method; default: forward, or the only one")
        ->type_name("NAME");
  }
  if ((set & kWithRunning) != 0) {
    command->add_option("--threads", options->threads, "Threads to compute with; default: physical cores allowed")
        ->type_name("N");
    command
        ->add_option("--backend-option", options->backend_options,
                     "An option for a delegate, such as openvino.num_threads=2; repeatable")
        ->type_name("NAME.KEY=VALUE")
        ->allow_extra_args(false);
  }
  command->add_flag("--json", options->json, "Print the result as JSON");
}

void apply_threads(const ModelOptions& options) {
  if (options.threads != 0) require(set_thread_count(options.threads), Stage::kOther);
}

LoadOptions load_options(const ModelOptions& options) {
  LoadOptions load;
  load.data_paths = options.data;
  return load;
}

PlanOptions plan_options(const ModelOptions& options, const MethodInfo& method) {
  PlanOptions plan;
  for (const std::string& text : options.backend_options) {
    const size_t dot = text.find('.');
    const size_t equals = text.find('=', dot == std::string::npos ? 0 : dot);
    if (dot == std::string::npos || dot == 0 || equals == std::string::npos || equals == dot + 1) {
      fail(kUsage, "--backend-option takes NAME.KEY=VALUE, such as openvino.num_threads=2, not '%s'",
           printable_text(text).c_str());
    }
    const std::string name = text.substr(0, dot);
    std::string id;
    for (const DelegateInfo& delegate : method.delegates()) {
      if (lower(delegate.id()) == lower(name) || short_name(delegate.id()) == lower(name)) id = delegate.id();
    }
    if (id.empty()) {
      fail(kUsage, "--backend-option: method '%s' has no delegate '%s'; its delegates: %s", method.name(),
           printable_text(name).c_str(), delegate_ids(method).c_str());
    }
    plan.backend_options.push_back({id, text.substr(dot + 1, equals - dot - 1), text.substr(equals + 1)});
  }
  return plan;
}

MethodInfo choose_method(const Program& program, const std::string& name) {
  const std::vector<MethodInfo> methods = program.methods();
  if (name.empty() && methods.size() == 1) return methods[0];
  Result<MethodInfo> found = program.find_method(name.empty() ? "forward" : name);
  if (found.ok()) return *found;
  std::string list;
  for (const MethodInfo& method : methods) list += (list.empty() ? "" : ", ") + printable_text(method.name());
  if (name.empty()) fail(kUsage, "the program has several methods; choose one with --method: %s", list.c_str());
  fail(kUsage, "the program has no method '%s'; it has: %s", printable_text(name).c_str(), list.c_str());
}

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

RunOptions interruptible() {
  RunOptions options;
  options.cancel = &interrupted;
  return options;
}

void require_not_interrupted() {
  if (interrupted.load() != 0) throw Failure(kInterrupted, "interrupted");
}

Progress::Progress(std::string what)
    : what_(std::move(what)),
      terminal_(::isatty(STDERR_FILENO) != 0),
      next_(std::chrono::steady_clock::now() + std::chrono::milliseconds(500)) {}

Progress::~Progress() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
}

void Progress::show(size_t done, size_t total) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  shown_ = true;
  if (total != 0) {
    std::fprintf(stderr, "\r%s: %zu of %zu\033[K", what_.c_str(), done, total);
  } else {
    std::fprintf(stderr, "\r%s: %zu\033[K", what_.c_str(), done);
  }
  std::fflush(stderr);
}

double Stopwatch::milliseconds() const {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
}

void print_result(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) != 0 || !written) {
    fail(kInputOutput, "cannot write to standard output: %s", std::strerror(errno));
  }
}

void print_result(const Json& json) {
  // Names from the file may hold bytes that are no UTF-8.
  print_result(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  return double_text(value);
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", value, units[unit]);
  return text;
}

void append_format(std::string* out, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  if (size > 0) {
    const size_t begin = out->size();
    out->resize(begin + static_cast<size_t>(size) + 1);
    std::vsnprintf(out->data() + begin, static_cast<size_t>(size) + 1, format, again);
    out->pop_back();
  }
  va_end(again);
}

}  // namespace pteron::cli
