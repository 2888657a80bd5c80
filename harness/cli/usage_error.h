#pragma once
// Explains why a command line is invalid. Names the misspelt word and suggests a replacement.

#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace headcrash::cli {

/// Returns the error for an invalid command line. `words` does not include the program's name. If
/// `words` contains an unknown command or option, the error names that word; otherwise, the error
/// is `problem`, which comes from the parser.
Error usage_error(const CLI::App& app, const std::vector<std::string>& words,
                  const CLI::ParseError& problem);

bool asks_for_json(const std::vector<std::string>& words);

/// Finds the command that `words` name, and its full name: {"image", "ufs"} names `headcrash image
/// ufs`. If a word is unknown, the error names the first such word and suggests the most similar
/// command.
struct NamedCommand {
  const CLI::App* command = nullptr;
  std::string place;  ///< full name, such as "headcrash image ufs"
};
Result<NamedCommand> find_command(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace headcrash::cli
