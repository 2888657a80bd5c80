#pragma once
// A command's manual page, out of the tree that --help is printed from.

#include <string>

#include "harness/cli/command.h"

namespace headcrash::cli {

/// For man(1): headcrash(1), which lists the commands, or headcrash-COMMAND(1), which has the parts
/// of the command, too.
std::string manual_page(const CLI::App& app, const CLI::App& command);

/// "headcrash-campaign".
std::string page_name(const CLI::App& app, const CLI::App& command);

}  // namespace headcrash::cli
