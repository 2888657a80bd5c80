// Generates completion scripts (completions.h). A script determines the current command from the
// words typed so far, and proposes the words that may follow.
#include "harness/cli/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <vector>

#include "harness/cli/app.h"

namespace headcrash::cli {
namespace {

/// Visits every command together with its path in the tree, for example "", "campaign" or "image
/// ufs mkfs".
void each_command(const CLI::App& command, const std::string& place,
                  const std::function<void(const CLI::App&, const std::string&)>& visit) {
  visit(command, place);
  for (const CLI::App* part : shown_subcommands(command))
    each_command(*part, place.empty() ? part->get_name() : place + " " + part->get_name(), visit);
}

/// Returns the name of the list whose items complete the option's value. This is "campaigns", for
/// example, if the option's description mentions "headcrash list campaigns". Returns an empty
/// string if there is no such list.
std::string list_of(const CLI::Option& option) {
  constexpr std::string_view kList = "headcrash list ";
  const std::string& text = option.get_description();
  const std::size_t at = text.find(kList);
  if (at == std::string::npos) return {};
  const std::size_t from = at + kList.size();
  return text.substr(from, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", from) - from);
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() != 0;
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<const CLI::Option*> completed_options(const CLI::App& command) {
  std::vector<const CLI::Option*> options = shown_options(command);
  if (command.get_help_ptr() != nullptr) options.push_back(command.get_help_ptr());
  return options;
}

std::string one_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Escapes text for single quotes in a shell, and for brackets and colons in zsh.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : one_line(text))
    if (c == '\'' || c == '`' || c == '"')
      out += "";
    else if (c == '[')
      out += '(';
    else if (c == ']')
      out += ')';
    else if (c == ':')
      out += ',';
    else
      out += c;
  return out;
}

std::string names_of_parts(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* part : shown_subcommands(command)) names.push_back(part->get_name());
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash_value(const CLI::Option& option) {
  if (const auto choices = choices_of(option); !choices.empty())
    return fmt::format("words=\"{}\"", fmt::join(choices, " "));
  if (const std::string list = list_of(option); !list.empty())
    return fmt::format(
        "words=$(headcrash list {} 2>/dev/null | awk 'NR > 1 {{print $1}}') files=yes", list);
  return "files=yes";
}

std::string underscored(std::string place) {
  for (char& c : place)
    if (c == ' ' || c == '-') c = '_';
  return place.empty() ? "_headcrash" : "_headcrash_" + place;
}

std::string zsh_value(const CLI::Option& option) {
  if (const auto choices = choices_of(option); !choices.empty())
    return fmt::format(":value:({})", fmt::join(choices, " "));
  if (const std::string list = list_of(option); !list.empty())
    return fmt::format(":name:{{_headcrash_list {}}}", list);
  return ":value:_files";
}

std::string zsh_function(const CLI::App& command, const std::string& place) {
  std::string text = underscored(place) + "() {\n";
  std::string arguments;
  for (const CLI::Option* option : completed_options(command))
    for (const std::string& name : spellings(*option))
      arguments += fmt::format(" \\\n    '*{}[{}]{}'", name, plain(option->get_description()),
                               takes_value(*option) ? zsh_value(*option) : "");
  if (shown_subcommands(command).empty()) {
    for (const CLI::Option* option : completed_options(command))
      if (option->get_positional()) arguments += fmt::format(" \\\n    '*{}'", zsh_value(*option));
    return text + "  _arguments -s" + arguments + "\n}\n";
  }
  text += "  local line state\n  local -a parts=(\n";
  for (const CLI::App* part : shown_subcommands(command))
    text += fmt::format("    '{}:{}'\n", part->get_name(), plain(part->get_description()));
  text += "  )\n  _arguments -C" + arguments +
          " \\\n    '1:command:->command' '*::argument:->argument'\n";
  text +=
      "  case $state in\n    command) _describe command parts ;;\n    argument)\n      case $line[1] in\n";
  for (const CLI::App* part : shown_subcommands(command))
    text +=
        fmt::format("        {}) {} ;;\n", part->get_name(),
                    underscored(place.empty() ? part->get_name() : place + " " + part->get_name()));
  return text + "      esac ;;\n  esac\n}\n";
}

std::string fish_value(const CLI::Option& option) {
  if (const auto choices = choices_of(option); !choices.empty())
    return fmt::format(" -x -a '{}'", fmt::join(choices, " "));
  if (const std::string list = list_of(option); !list.empty())
    return fmt::format(" -r -a '(__headcrash_list {})'", list);
  return " -r";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string parts, values, options, positionals;
  each_command(app, "", [&](const CLI::App& command, const std::string& place) {
    const std::string names = names_of_parts(command);
    if (!names.empty()) parts += fmt::format("    '{}') echo '{}' ;;\n", place, names);
    std::vector<std::string> all;
    for (const CLI::Option* option : completed_options(command)) {
      for (const std::string& name : spellings(*option)) {
        all.push_back(name);
        if (takes_value(*option))
          values += fmt::format("    '{}'{}) {} ;;\n", place.empty() ? "" : place + " ", name,
                                bash_value(*option));
      }
      if (option->get_positional() &&
          positionals.find(fmt::format("    '{}')", place)) == std::string::npos)
        positionals += fmt::format("    '{}') {} ;;\n", place, bash_value(*option));
    }
    options += fmt::format("    '{}') words='{}' ;;\n", place, fmt::join(all, " "));
  });
  return fmt::format(
      R"bash(# bash completion of headcrash, generated by the build from the command's options
_headcrash_parts() {{
  case $1 in
{0}    *) echo ;;
  esac
}}
_headcrash() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} place= word i words= files=
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${{COMP_WORDS[i]}}
    [[ " $(_headcrash_parts "$place") " == *" $word "* ]] && place="${{place:+$place }}$word"
  done
  case "${{place:+$place }}$previous" in
{1}    *)
      if [[ $current == -* ]]; then
        case $place in
{2}        esac
      elif [ -n "$(_headcrash_parts "$place")" ]; then
        words=$(_headcrash_parts "$place")
      else
        case $place in
{3}        *) files=yes ;;
        esac
      fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ -z "$files" ] || COMPREPLY+=($(compgen -f -- "$current"))
}}
complete -o filenames -F _headcrash headcrash
)bash",
      parts, values, options, positionals);
}

std::string zsh_completion(const CLI::App& app) {
  std::string text =
      "#compdef headcrash\n# zsh completion for headcrash, generated by the build from the "
      "command-line options\n"
      "_headcrash_list() {\n  local -a names=(${(f)\"$(headcrash list $1 2>/dev/null | awk 'NR > 1 {print "
      "$1}')\"})\n  compadd -a names\n  _files\n}\n";
  each_command(app, "", [&text](const CLI::App& command, const std::string& place) {
    text += zsh_function(command, place);
  });
  return text + "_headcrash \"$@\"\n";
}

std::string fish_completion(const CLI::App& app) {
  std::string text =
      "# fish completion for headcrash, generated by the build from the command-line options\n"
      "function __headcrash_list\n    headcrash list $argv[1] 2>/dev/null | awk 'NR > 1 {print $1}'\nend\n"
      "# True if the words before the cursor, without options, begin with the arguments.\n"
      "function __headcrash_at\n    set -l words (commandline -opc)[2..-1]\n    set -l words (string match -v -- "
      "'-*' $words)\n    test (count $words) -ge (count $argv); or return 1\n    for i in (seq (count $argv))\n"
      "        test \"$words[$i]\" = \"$argv[$i]\"; or return 1\n    end\nend\n"
      "# True if the words before the cursor, without options, are exactly the arguments.\n"
      "function __headcrash_only\n    set -l words (commandline -opc)[2..-1]\n    set -l words (string match -v -- "
      "'-*' $words)\n    test \"$words\" = \"$argv\"\nend\ncomplete -c headcrash -f -n '__headcrash_only'\n";
  each_command(app, "", [&text](const CLI::App& command, const std::string& place) {
    for (const CLI::App* part : shown_subcommands(command))
      text += fmt::format("complete -c headcrash -f -n '__headcrash_only {}' -a {} -d '{}'\n",
                          place, part->get_name(), plain(part->get_description()));
    for (const CLI::Option* option : completed_options(command)) {
      if (option->get_positional()) {
        const bool known = !choices_of(*option).empty() || !list_of(*option).empty();
        if (known)
          text += fmt::format("complete -c headcrash -n '__headcrash_at {}'{}\n", place,
                              fish_value(*option).substr(3));
        continue;
      }
      std::string names;
      for (const std::string& name : option->get_snames()) names += " -s " + name;
      for (const std::string& name : option->get_lnames()) names += " -l " + name;
      text += fmt::format("complete -c headcrash -n '__headcrash_{} {}'{}{} -d '{}'\n",
                          place.empty() ? "only" : "at", place, names,
                          takes_value(*option) ? fish_value(*option) : "",
                          plain(option->get_description()));
    }
  });
  return text;
}

}  // namespace headcrash::cli
