#pragma once
// Generates shell completions from the same command tree as --help. If an option's description
// mentions "headcrash list X", its value is completed from that list. Values of --db and other
// files are completed with file names.

#include <string>

#include "harness/cli/command.h"

namespace headcrash::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace headcrash::cli
