#pragma once
// Generates manual pages from the same command tree as --help.

#include <string>

#include "harness/cli/command.h"

namespace headcrash::cli {

/// Returns the page for man(1): headcrash(1), which lists the commands, or headcrash-COMMAND(1),
/// which includes the command's parts.
std::string manual_page(const CLI::App& app, const CLI::App& command);

/// Returns, for example, "headcrash-campaign".
std::string page_name(const CLI::App& app, const CLI::App& command);

}  // namespace headcrash::cli
