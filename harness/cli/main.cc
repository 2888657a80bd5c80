// The `headcrash` command: one subcommand a file.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "harness/cli/app.h"
#include "harness/cli/usage_error.h"

int main(int argc, char** argv) {
  using namespace headcrash::cli;
  try {
    int exit_code = kFine;
    const auto app = make_app(exit_code);
    try {
      app->parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app->exit(error);  // --help, --version
      const std::vector<std::string> words(argv + 1, argv + argc);
      return report_error(usage_error(*app, words, error.what()), asks_for_json(words));
    }
    return exit_code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "headcrash: internal error: {}; please report it with the command that led here\n",
               error.what());
    return kUsage;
  }
}
