// Explains misspelt command lines (usage_error.h).
#include "harness/cli/usage_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harness/cli/app.h"
#include "plugin/base/nearest.h"

namespace headcrash::cli {
namespace {

constexpr const char* kHelp = "--help";

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == name) return command;
  return nullptr;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-';
}

/// Returns the command's full name without "headcrash", such as "image ufs". Every message already
/// begins with "headcrash".
std::string subject_of(const NamedCommand& at) {
  const std::size_t blank = at.place.find(' ');
  return blank == std::string::npos ? "" : at.place.substr(blank + 1);
}

std::string help_with(const NamedCommand& at) {
  const std::string subject = subject_of(at);
  return fmt::format("`headcrash help{}{}`", subject.empty() ? "" : " ", subject);
}

std::string remedy_for(const std::string& word, const std::vector<std::string>& known,
                       const NamedCommand& at) {
  const std::string near = base::nearest(word, known);
  if (!near.empty()) return fmt::format("did you mean \"{}\"?", near);
  return help_with(at) + " lists them";
}

Error no_command(const std::string& word, const NamedCommand& at) {
  return {subject_of(at), fmt::format("unknown command \"{}\"", word),
          remedy_for(word, names_of(shown_subcommands(*at.command)), at)};
}

/// Returns "--jobs" for "--jobs=3". Does not split short options with a value, such as "-ofile".
std::string option_of(const std::string& word) {
  return word.substr(0, word.find('='));
}

std::vector<std::string> option_names_of(const CLI::App& command) {
  std::vector<std::string> known{kHelp};
  for (const CLI::Option* option : shown_options(command)) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  return known;
}

}  // namespace

bool asks_for_json(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

Result<NamedCommand> find_command(const CLI::App& app, const std::vector<std::string>& words) {
  NamedCommand at{&app, app.get_name()};
  for (const std::string& word : words) {
    const CLI::App* const next = subcommand(*at.command, word);
    if (next == nullptr) return tl::unexpected(no_command(word, at));
    at = {next, at.place + " " + word};
  }
  return at;
}

Error usage_error(const CLI::App& app, const std::vector<std::string>& words,
                  const CLI::ParseError& problem) {
  NamedCommand at{&app, app.get_name()};
  for (const std::string& word : words) {
    if (word == "--") break;
    if (is_option(word)) {
      const std::vector<std::string> known = option_names_of(*at.command);
      const std::string option = option_of(word);
      const bool is_long = option.starts_with("--");
      const bool one_letter = !is_long && option.size() == 2 &&
                              std::isalpha(static_cast<unsigned char>(option[1])) != 0;
      if ((is_long || one_letter) && std::find(known.begin(), known.end(), option) == known.end())
        return {subject_of(at), fmt::format("unknown option {}", option),
                remedy_for(option, known, at)};
      continue;
    }
    if (shown_subcommands(*at.command).empty()) continue;
    const CLI::App* const next = subcommand(*at.command, word);
    if (next == nullptr) return no_command(word, at);
    at = {next, at.place + " " + word};
  }
  if (!shown_subcommands(*at.command).empty())
    return {subject_of(at), "a command is required", remedy_for("", {}, at)};
  if (const auto* unknown = dynamic_cast<const UnknownValue*>(&problem))
    return base::within(subject_of(at), unknown->error());
  std::string line = problem.what();
  for (const std::string_view many :
       {"The following arguments were not expected: ", "The following argument was not expected: "})
    if (line.starts_with(many)) line = "unexpected: " + line.substr(many.size());
  std::replace(line.begin(), line.end(), '\n', ' ');
  return {subject_of(at), line, help_with(at) + " shows its options"};
}

}  // namespace headcrash::cli
