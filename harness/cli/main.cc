// The `headcrash` command. Each subcommand has its own source file.
#include <cstdio>
#include <exception>

#include "harness/cli/app.h"
#include "harness/cli/run_progress.h"
#include "harness/cli/usage_error.h"

namespace headcrash::cli {
namespace {

int run(int argc, char** argv) {
  int exit_code = kFine;
  const auto app = make_app(exit_code);
  const std::vector<std::string> words(argv + 1, argv + argc);
  keep_command_line(words);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app->exit(error);  // --help, --version
    return report_error(usage_error(*app, words, error), asks_for_json(words));
  }
  return exit_code;
}

}  // namespace
}  // namespace headcrash::cli

int main(int argc, char** argv) {
  using namespace headcrash::cli;
  try {
    return finish_output(run(argc, argv));
  } catch (const std::exception& error) {
    // The exception may come from fmt, which throws if a write to stdout fails.
    if (std::ferror(stdout) != 0) return finish_output(kUsage);
    std::fprintf(
        stderr, "headcrash: internal error: %s; please report it with the command that caused it\n",
        error.what());  // unlike fmt, does not throw if standard error is not writable
    return kUsage;
  }
}
