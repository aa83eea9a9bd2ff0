// pteron inspect: what is in a program, and what of it cannot run here.
#include <memory>
#include <optional>

#include "cli/failure.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "cli/tensors.h"

namespace pteron::cli {
namespace {

constexpr char kHelp[] =
    "Examples:\n"
    "  pteron inspect model.pte\n"
    "  pteron inspect model.pte --method forward     with every instruction\n"
    "  pteron inspect model.pte --data weights.ptd --json";

Json value_json(size_t index, const ValueInfo& info, bool is_input) {
  Json json = {{"index", index}, {"name", info.name()}, {"kind", kind_name(info.kind())}};
  if (info.kind() == Kind::kTensor) {
    const Shape shape = info.shape();
    json["dtype"] = dtype_name(info.dtype());
    json["shape"] = std::vector<int64_t>(shape.begin(), shape.end());
    json["dynamic"] = info.is_dynamic();
    json["dim_order"] = std::vector<int>(info.dim_order().begin(), info.dim_order().end());
    json["bytes"] = info.bytes();
    json["planned"] = info.is_planned();
  } else if (is_input && info.kind() != Kind::kNone) {
    json["exported_value"] = describe_value(info.exported_value(), {})["value"];
  }
  return json;
}

Json values_json(const std::vector<ValueInfo>& infos, bool are_inputs) {
  Json list = Json::array();
  for (size_t i = 0; i < infos.size(); ++i) list.push_back(value_json(i, infos[i], are_inputs));
  return list;
}

const char* missing_kind(pteron_code code) {
  switch (code) {
    case PTERON_MISSING_OPERATOR:
      return "operator";
    case PTERON_MISSING_BACKEND:
      return "backend";
    default:
      return "data";
  }
}

std::string spec_text(Span<const unsigned char> value) {
  std::string text;
  for (const unsigned char c : value) text += static_cast<char>(c);
  return printable_text(text);
}

Json delegates_json(const MethodInfo& method) {
  Json list = Json::array();
  for (const DelegateInfo& delegate : method.delegates()) {
    Json specs = Json::array();
    for (size_t i = 0; i < delegate.spec_count(); ++i) {
      specs.push_back({{"key", delegate.spec_key(i)},
                       {"bytes", delegate.spec_value(i).size()},
                       {"text", spec_text(delegate.spec_value(i))}});
    }
    list.push_back(
        {{"id", delegate.id()}, {"payload_bytes", delegate.payload_bytes()}, {"compile_specs", std::move(specs)}});
  }
  return list;
}

Json method_json(const Program& program, const MethodInfo& method, const std::vector<Missing>& missing,
                 bool with_instructions) {
  Json operators = Json::array();
  for (const OperatorInfo& op : method.operators()) operators.push_back({{"name", op.name()}, {"calls", op.calls()}});
  Json absent = Json::array();
  for (const Missing& entry : missing) {
    absent.push_back({{"what", missing_kind(entry.code)}, {"name", entry.name}, {"reason", entry.sentence}});
  }
  Json json = {{"name", method.name()},
               {"inputs", values_json(method.inputs(), true)},
               {"outputs", values_json(method.outputs(), false)},
               {"operators", std::move(operators)},
               {"delegates", delegates_json(method)},
               {"buffer_bytes", std::vector<uint64_t>(method.buffer_bytes().begin(), method.buffer_bytes().end())},
               {"values", method.value_count()},
               {"instruction_count", method.instruction_count()},
               {"input_spec", method.input_spec()},
               {"output_spec", method.output_spec()},
               {"runnable", missing.empty()},
               {"missing", std::move(absent)}};
  if (!with_instructions) return json;
  Json instructions = Json::array();
  for (const Instruction& instruction : take(program.instructions(method.name()), Stage::kOther)) {
    instructions.push_back({{"chain", instruction.chain},
                            {"index", instruction.index},
                            {"text", instruction.text},
                            {"source", instruction.source}});
  }
  json["instructions"] = std::move(instructions);
  return json;
}

Json file_json(const Program& program) {
  Json segments = Json::array();
  for (const Segment& segment : take(program.segments(), Stage::kOther)) {
    segments.push_back({{"offset", segment.offset}, {"bytes", segment.bytes}});
  }
  Json external = Json::array();
  Json named = Json::array();
  for (const DataKey& key : take(program.keys(), Stage::kOther)) {
    if (key.external) {
      external.push_back({{"key", key.key}, {"bytes", key.bytes}, {"found", key.found}});
    } else {
      named.push_back({{"key", key.key}, {"bytes", key.bytes}});
    }
  }
  return {{"segments", std::move(segments)}, {"external_keys", std::move(external)}, {"named_data", std::move(named)}};
}

void append_values(const std::vector<ValueInfo>& infos, const char* what, bool are_inputs, std::string* out) {
  for (size_t i = 0; i < infos.size(); ++i) {
    const ValueInfo& info = infos[i];
    append_format(out, "  %s %zu", what, i);
    if (*info.name() != '\0') append_format(out, " '%s'", printable_text(info.name()).c_str());
    if (info.kind() != Kind::kTensor) {
      append_format(out, ": %s", kind_name(info.kind()));
      if (are_inputs && info.kind() != Kind::kNone) {
        *out += ", exported with " +
                describe_value(info.exported_value(), {})["value"].dump(-1, ' ', false, Json::error_handler_t::replace);
      }
      *out += "\n";
      continue;
    }
    append_format(out, ": %s%s", info.is_dynamic() ? "up to " : "", tensor_text(info.dtype(), info.shape()).c_str());
    bool plain_order = true;
    std::string order;
    for (size_t d = 0; d < info.dim_order().size(); ++d) {
      plain_order = plain_order && info.dim_order()[d] == d;
      order += (d == 0 ? "" : ", ") + std::to_string(info.dim_order()[d]);
    }
    if (!plain_order) append_format(out, ", dim order [%s]", order.c_str());
    *out += "\n";
  }
}

void append_method(const Json& json, const MethodInfo& method, std::string* out) {
  append_format(out, "method %s: %zu instructions, %zu values\n", printable_text(method.name()).c_str(),
                method.instruction_count(), method.value_count());
  append_values(method.inputs(), "input", true, out);
  append_values(method.outputs(), "output", false, out);
  uint64_t planned = 0;
  for (const uint64_t bytes : method.buffer_bytes()) planned += bytes;
  append_format(out, "  memory: %s in %zu planned buffers\n", bytes_text(planned).c_str(),
                method.buffer_bytes().size());
  if (!method.operators().empty()) *out += "  operators:\n";
  for (const OperatorInfo& op : method.operators()) {
    append_format(out, "    %6llu  %s\n", static_cast<unsigned long long>(op.calls()),
                  printable_text(op.name()).c_str());
  }
  if (!method.delegates().empty()) *out += "  delegates:\n";
  for (const DelegateInfo& delegate : method.delegates()) {
    append_format(out, "    %s, payload %s\n", printable_text(delegate.id()).c_str(),
                  bytes_text(delegate.payload_bytes()).c_str());
    for (size_t i = 0; i < delegate.spec_count(); ++i) {
      append_format(out, "      %s = %s\n", printable_text(delegate.spec_key(i)).c_str(),
                    spec_text(delegate.spec_value(i)).c_str());
    }
  }
  if (json["missing"].empty()) {
    *out += "  runs here: yes\n";
  } else {
    *out += "  runs here: no\n";
    for (const Json& entry : json["missing"]) {
      append_format(out, "    %s %s: %s\n", entry["what"].get<std::string>().c_str(),
                    printable_text(entry["name"].get<std::string>()).c_str(),
                    entry["reason"].get<std::string>().c_str());
    }
  }
  if (!json.contains("instructions")) return;
  *out += "  instructions:\n";
  for (const Json& entry : json["instructions"]) {
    append_format(out, "    %d.%d  %s\n", entry["chain"].get<int>(), entry["index"].get<int>(),
                  entry["text"].get<std::string>().c_str());
    const auto source = entry["source"].get<std::string>();
    if (!source.empty()) append_format(out, "          %s\n", source.c_str());
  }
}

void append_file(const Json& json, std::string* out) {
  if (!json["segments"].empty()) *out += "segments:\n";
  for (const Json& entry : json["segments"]) {
    append_format(out, "  at %llu: %s\n", static_cast<unsigned long long>(entry["offset"].get<uint64_t>()),
                  bytes_text(entry["bytes"].get<uint64_t>()).c_str());
  }
  if (!json["external_keys"].empty()) *out += "external keys:\n";
  for (const Json& entry : json["external_keys"]) {
    append_format(out, "  %s: %s, %s\n", printable_text(entry["key"].get<std::string>()).c_str(),
                  bytes_text(entry["bytes"].get<uint64_t>()).c_str(),
                  entry["found"].get<bool>() ? "found" : "not found; give the .ptd file with --data");
  }
  if (!json["named_data"].empty()) *out += "named data:\n";
  for (const Json& entry : json["named_data"]) {
    append_format(out, "  %s: %s\n", printable_text(entry["key"].get<std::string>()).c_str(),
                  bytes_text(entry["bytes"].get<uint64_t>()).c_str());
  }
}

void inspect(const ModelOptions& options) {
  const Program program = take(Program::load(options.model, load_options(options)), Stage::kLoad);
  std::vector<MethodInfo> methods = program.methods();
  const bool chosen = !options.method.empty();
  if (chosen) methods = {choose_method(program, options.method)};

  Json json = {{"schema", "pteron.inspect/1"}, {"model", options.model}};
  Json list = Json::array();
  std::string text = options.model + "\n";
  for (const MethodInfo& method : methods) {
    const std::vector<Missing> missing = take(Plan::missing(program, method.name()), Stage::kOther);
    Json entry = method_json(program, method, missing, chosen);
    append_method(entry, method, &text);
    list.push_back(std::move(entry));
  }
  json["methods"] = std::move(list);
  const Json file = file_json(program);
  append_file(file, &text);
  json.update(file);
  if (options.json) {
    print_result(json);
  } else {
    print_result(text);
  }
}

}  // namespace

void add_inspect(CLI::App* app) {
  auto options = std::make_shared<ModelOptions>();
  CLI::App* command =
      app->add_subcommand("inspect", "Show what a program holds, and what of it cannot run here and why.");
  command->footer(kHelp);
  add_model_options(command, options.get(), kWithMethod);
  command->callback([options] { inspect(*options); });
}

}  // namespace pteron::cli
