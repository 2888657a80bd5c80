#pragma once
// Generates shell completions from the same command tree as --help. If the description of an option
// mentions "headcrash list X", its values are completed from that list. The values of --db and of
// other options that name files are completed with file names.

#include <string>

#include "harness/cli/command.h"

namespace headcrash::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace headcrash::cli
