#pragma once
// Explains an invalid command line: the misspelt word, and a suggestion.

#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace headcrash::cli {

/// `words` excludes the program's name. `problem` is the parser's text, used if every word is
/// known.
Error usage_error(const CLI::App& app, const std::vector<std::string>& words,
                  const std::string& problem);

/// Returns true if the words include --json.
bool asks_for_json(const std::vector<std::string>& words);

/// The command named by `words`, with its place: {"image", "ufs"} is `headcrash image ufs`. The
/// error names the unknown word and the nearest command.
struct NamedCommand {
  const CLI::App* command = nullptr;
  std::string place;  ///< "headcrash image ufs"
};
Result<NamedCommand> find_command(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace headcrash::cli
