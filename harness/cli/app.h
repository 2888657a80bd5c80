#pragma once
// The whole command line. What describes it (help, suggestions, man pages, completions) reads this
// tree, so that an option is described in one place.

#include <memory>

#include "harness/cli/command.h"

namespace headcrash::cli {

/// A subcommand that is parsed runs and leaves its exit code in `exit_code`, which must outlive the
/// tree.
std::unique_ptr<CLI::App> make_app(int& exit_code);

/// Those that are shown, in order: aliases of old names are not.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& app);

/// Likewise, options and positional arguments; without --help.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);

/// Of an option: "--jobs", or its short name where it has no other; of a positional argument its
/// name.
std::string name_of(const CLI::Option& option);

/// What stands for its value in help and manual: "FILE", "SIZE", "on|off"; empty for a flag.
std::string placeholder_of(const CLI::Option& option);

/// What `one_of()` lets it be; empty: anything.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace headcrash::cli
