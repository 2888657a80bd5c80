#pragma once
// The command-line tree. Help, suggestions, manual pages and completions are generated from it, so
// each option is described in only one place.

#include <memory>

#include "harness/cli/command.h"

namespace headcrash::cli {

/// Builds the tree. When a command line is parsed, its subcommand is executed and stores the exit
/// code in `exit_code`. `exit_code` must outlive the tree.
std::unique_ptr<CLI::App> make_app(int& exit_code);

/// Returns the visible subcommands, in order. Aliases for old names are not visible.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& app);

/// Returns the visible options and positional arguments, in order. Excludes --help.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);

/// Returns the name of an option, such as "--jobs", or its short name if it has no long name. For a
/// positional argument, returns its name.
std::string name_of(const CLI::Option& option);

/// Returns the placeholder for the value in help and manual pages, such as "FILE", "SIZE" or
/// "on|off". Returns an empty string for a flag.
std::string placeholder_of(const CLI::Option& option);

/// Returns the values that accept_only() permits. Returns an empty list if all values are
/// permitted.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace headcrash::cli
