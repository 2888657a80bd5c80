#pragma once
// Explains why a command line is invalid: names the misspelt word and suggests a replacement.

#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace headcrash::cli {

/// Returns the error for an invalid command line. `words` excludes the program's name. `problem` is
/// the parser's error, which is used if every word is known.
Error usage_error(const CLI::App& app, const std::vector<std::string>& words,
                  const CLI::ParseError& problem);

/// Returns true if `words` contains --json.
bool asks_for_json(const std::vector<std::string>& words);

/// The command that `words` name, and its full name: {"image", "ufs"} is `headcrash image ufs`. The
/// error names the first unknown word and suggests the nearest command.
struct NamedCommand {
  const CLI::App* command = nullptr;
  std::string place;  ///< "headcrash image ufs"
};
Result<NamedCommand> find_command(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace headcrash::cli
