// headcrash help: prints a command's --help text.
#include <fmt/format.h>

#include <memory>

#include "harness/cli/app.h"
#include "harness/cli/usage_error.h"

namespace headcrash::cli {

void add_help(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("help", "Shows a command's purpose, options and examples");
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words,
                      "A command, or one of its parts (`help image ufs mkfs`); default: all");
  command->footer(
      "Examples:\n  headcrash help\n  headcrash help campaign\n  headcrash help image ufs mkfs");
  command->callback([words, &exit_code] {
    int unused = 0;
    // Search a new tree. In the tree that was just parsed, the options of `help` already have
    // values.
    const auto fresh = make_app(unused);
    const auto found = find_command(*fresh, *words);
    if (!found) {
      exit_code = report_error(found.error(), false);
      return;
    }
    const std::string before = found->place.substr(0, found->place.rfind(' '));
    fmt::print("{}", found->command->help(words->empty() ? "" : before));
  });
}

}  // namespace headcrash::cli
