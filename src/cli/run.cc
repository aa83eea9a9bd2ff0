// pteron run: one method on given inputs.
#include <memory>

#include "cli/failure.h"
#include "cli/inputs.h"
#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/summary.h"

namespace pteron::cli {
namespace {

constexpr char kHelp[] =
    "Examples:\n"
    "  pteron run digits.pte --input @three.png --resize input --top 3\n"
    "  pteron run model.pte --method encode --input tokens=[[101,2003,102]] --input 1=random:7\n"
    "  pteron run model.pte --inputs inputs.safetensors --output outputs.npz\n\n"
    "VALUE is @FILE (.npy, .png, .jpg), a number, a list such as [[1.5,2],[3,nan]], true, false, zeros, or "
    "random:SEED.";

struct RunCommandOptions {
  ModelOptions model;
  InputOptions inputs;
  std::string resize;
  std::string layout = "nchw";
  std::string output;
  std::string labels;
  size_t top = 0;
  size_t repeat = 1;
};

struct Times {
  double load = 0;
  double prepare = 0;
  std::vector<double> runs;
};

Json to_json(const RunCommandOptions& options, const MethodInfo& method, const Outputs& outputs,
             const SummaryOptions& summary, const Times& times) {
  Json list = Json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    Json entry = {{"index", i}, {"name", method.outputs()[i].name()}};
    entry.update(describe_value(outputs[i], summary));
    list.push_back(std::move(entry));
  }
  Json json = {{"schema", "pteron.run/1"},
               {"model", options.model.model},
               {"method", method.name()},
               {"outputs", std::move(list)},
               {"time_ms", {{"load", times.load}, {"prepare", times.prepare}, {"runs", times.runs}}}};
  if (!options.output.empty()) json["output_file"] = options.output;
  return json;
}

std::string to_text(const MethodInfo& method, const Outputs& outputs, const SummaryOptions& summary) {
  std::string text;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string title = "output " + std::to_string(i);
    const std::string name = printable_text(method.outputs()[i].name());
    if (!name.empty()) title += " '" + name + "'";
    text += summary_text(title, outputs[i], summary);
  }
  return text;
}

SummaryOptions summary_options(const RunCommandOptions& options) {
  SummaryOptions summary;
  summary.top = options.top;
  if (options.labels.empty()) return summary;
  summary.labels = read_labels(options.labels);
  if (summary.top == 0) summary.top = 5;
  return summary;
}

void warn_unused_labels(const Outputs& outputs, const SummaryOptions& summary) {
  if (summary.labels.empty()) return;
  for (const ValueView output : outputs) {
    if (output.is_tensor() && static_cast<size_t>(output.tensor()->numel()) == summary.labels.size()) return;
  }
  std::fprintf(stderr, "pteron: no output has as many elements as there are labels (%zu)\n", summary.labels.size());
}

void run(RunCommandOptions& options) {
  if (!options.resize.empty()) parse_resize(options.resize, &options.inputs.image);
  options.inputs.image.channels_last = options.layout == "nhwc";
  if (!options.output.empty()) require_output_name(options.output);
  const SummaryOptions summary = summary_options(options);
  apply_threads(options.model);

  Times times;
  const Stopwatch loading;
  const Program program = take(Program::load(options.model.model, load_options(options.model)), Stage::kLoad);
  times.load = loading.milliseconds();
  const MethodInfo info = choose_method(program, options.model.method);
  const Stopwatch preparing;
  const Plan plan = take(Plan::create(program, info.name(), plan_options(options.model, info)), Stage::kPlan);
  Method method = take(Method::create(plan), Stage::kPlan);
  times.prepare = preparing.milliseconds();
  require_not_interrupted();

  std::vector<Value> inputs = make_inputs(info, options.inputs);
  for (size_t i = 0; i < inputs.size(); ++i) require(method.set_input(i, std::move(inputs[i])), Stage::kInput);
  {
    Progress progress("runs");
    for (size_t i = 0; i < options.repeat; ++i) {
      const Stopwatch running;
      require(method.run(interruptible()), Stage::kRun);
      times.runs.push_back(running.milliseconds());
      progress.show(i + 1, options.repeat);
    }
  }

  const Outputs outputs = take(method.outputs(), Stage::kRun);
  if (!options.output.empty()) write_outputs(outputs, options.output);
  if (options.model.json) {
    print_result(to_json(options, info, outputs, summary, times));
    return;
  }
  warn_unused_labels(outputs, summary);
  if (options.output.empty()) {
    print_result(to_text(info, outputs, summary));
  } else {
    std::fprintf(stderr, "wrote %zu outputs to '%s'\n", outputs.size(), options.output.c_str());
  }
  if (options.repeat > 1) {
    std::fprintf(stderr, "first run %.3f ms, last run %.3f ms\n", times.runs.front(), times.runs.back());
  }
}

}  // namespace

void add_run(CLI::App* app) {
  auto options = std::make_shared<RunCommandOptions>();
  CLI::App* command = app->add_subcommand("run", "Run a method on inputs and show or write its outputs.");
  command->footer(kHelp);
  add_model_options(command, &options->model, kWithMethod | kWithRunning);
  command->add_option("--input", options->inputs.values, "An input; without a name they count from 0; repeatable")
      ->type_name("[NAME|INDEX=]VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--inputs", options->inputs.file,
                   "A .npz or .safetensors file whose keys are indices or names of inputs")
      ->type_name("FILE");
  command->add_option("--output", options->output, "Write the outputs to a .npz or .safetensors file")
      ->type_name("FILE");
  command
      ->add_option("--resize", options->resize,
                   "Resize pictures (bilinear): HEIGHTxWIDTH, or 'input' for the input's own")
      ->type_name("SIZE");
  command
      ->add_option("--mean", options->inputs.image.mean, "Subtracted from pixels / 255, one number or one per channel")
      ->type_name("R[,G,B]")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--std", options->inputs.image.standard_deviation, "Divides what --mean leaves, in the same way")
      ->type_name("R[,G,B]")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--layout", options->layout, "Where the input has the channels of a picture")
      ->check(CLI::IsMember({"nchw", "nhwc"}))
      ->capture_default_str();
  command->add_option("--labels", options->labels, "A text file with a label a line, for the largest elements")
      ->type_name("FILE");
  command->add_option("--top", options->top, "How many of the largest elements to name; with --labels: 5")
      ->type_name("K")
      ->check(CLI::Range(size_t{0}, size_t{1} << 32));
  command->add_option("--repeat", options->repeat, "Run so many times; the last run's outputs count")
      ->type_name("N")
      ->check(CLI::Range(size_t{1}, size_t{1} << 32));
  command->callback([options] { run(*options); });
}

}  // namespace pteron::cli
