#pragma once
// The command-line tree. Help, suggestions, man pages and completions are generated from this tree,
// so each option is described once.

#include <memory>

#include "harness/cli/command.h"

namespace headcrash::cli {

/// Builds the tree. Parsing a subcommand runs it and stores its exit code in `exit_code`, which
/// must outlive the tree.
std::unique_ptr<CLI::App> make_app(int& exit_code);

/// Returns the visible subcommands in order, without aliases of old names.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& app);

/// Returns the visible options and positional arguments in order, without --help.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);

/// Returns "--jobs", or the short name of an option without a long one; for a positional argument,
/// its name.
std::string name_of(const CLI::Option& option);

/// Returns the placeholder of the value in help and manual: "FILE", "SIZE", "on|off"; empty for a
/// flag.
std::string placeholder_of(const CLI::Option& option);

/// Returns the values that one_of() permits; empty if any value is permitted.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace headcrash::cli
