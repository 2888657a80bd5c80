#pragma once
// Shell completions, generated from the same command tree as --help. A value whose description
// mentions "headcrash list X" is completed from that list, --db and others by file names.

#include <string>

#include "harness/cli/command.h"

namespace headcrash::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace headcrash::cli
