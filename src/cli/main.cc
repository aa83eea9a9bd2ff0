// The `pteron` command: results on standard output, messages on standard error, exit codes as in docs/cli.md.
#include <cstdio>
#include <new>

#include "cli/failure.h"
#include "cli/session.h"
#include "pteron/runtime.h"

namespace pteron::cli {
namespace {

constexpr char kFooter[] =
    "Exit codes: 0 done, 1 comparison failed, 2 usage, 3 file refused, 4 operator or backend missing,\n"
    "5 input refused, 6 execution failed, 7 input/output, 130 interrupted.\n\n"
    "  pteron inspect model.pte\n"
    "  pteron run model.pte --input random:1";

int main_with(int argc, char** argv) {
  CLI::App app("Loads and runs exported PyTorch programs (.pte, .ptd, .bpte).", "pteron");
  app.set_version_flag("--version", std::string("pteron ") + version());
  app.footer(kFooter);
  app.require_subcommand(1);
  add_run(&app);
  add_inspect(&app);
  add_check(&app);
  add_bench(&app);
  install_interrupt_handler();
  try {
    app.parse(argc, argv);
    return kSuccess;
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? kSuccess : kUsage;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "pteron: %s\n", failure.what());
    return failure.code();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "pteron: out of memory\n");
    return kExecutionFailed;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "pteron: %s\n", problem.what());
    return kExecutionFailed;
  }
}

}  // namespace
}  // namespace pteron::cli

int main(int argc, char** argv) {
  return pteron::cli::main_with(argc, argv);
}
