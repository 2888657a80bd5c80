#pragma once
// Generates manual pages from the same command tree as --help.

#include <string>

#include "harness/cli/command.h"

namespace headcrash::cli {

/// Returns the manual page headcrash(1), which lists the commands, or headcrash-COMMAND(1), which
/// describes one command with its subcommands.
std::string manual_page(const CLI::App& app, const CLI::App& command);

/// Returns the name of the page, for example "headcrash-campaign".
std::string page_name(const CLI::App& app, const CLI::App& command);

}  // namespace headcrash::cli
