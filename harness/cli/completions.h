#pragma once
// Completions for shells, out of the tree that --help is printed from. A value of which the
// description says "headcrash list X" is completed by that list; --db and others by files.

#include <string>

#include "harness/cli/command.h"

namespace headcrash::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace headcrash::cli
