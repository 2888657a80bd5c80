#pragma once
// What is wrong with a command line, in the words of the house: what was misspelt, and what was
// probably meant.

#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace headcrash::cli {

/// `words`: without the program's name. `problem` is the parser's, which counts where every word is
/// known.
Error usage_error(const CLI::App& app, const std::vector<std::string>& words,
                  const std::string& problem);

/// --json is among the words.
bool asks_for_json(const std::vector<std::string>& words);

/// The command that `words` name, with its place: {"image", "ufs"} is `headcrash image ufs`.
/// Errors: the word that is no command, and the nearest.
struct NamedCommand {
  const CLI::App* command = nullptr;
  std::string place;  ///< "headcrash image ufs"
};
Result<NamedCommand> find_command(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace headcrash::cli
