// Generates manual pages with the man macros (manual_page.h).
#include "harness/cli/manual_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "harness/cli/app.h"
#include "plugin/base/version.h"

namespace headcrash::cli {
namespace {

/// Escapes text that man would parse as a macro.
std::string escaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\')
      out += "\\e";
    else if (text[i] == '-')
      out += "\\-";
    else
      out += text[i];
  }
  return out;
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}
std::string italic(const std::string& text) {
  return "\\fI" + escaped(text) + "\\fR";
}

std::string section(const std::string& title) {
  return fmt::format(".SH \"{}\"\n", title);
}

std::string sentence(std::string text) {
  if (!text.empty() && text.find_last_of(".!?") != text.size() - 1) text += '.';
  return text;
}

/// Returns the placeholder of the option's value, or an empty string for a flag.
std::string value_of(const CLI::Option& option) {
  if (!choices_of(option).empty()) return escaped(placeholder_of(option));
  const std::string placeholder = placeholder_of(option);
  return placeholder.empty() ? placeholder : italic(placeholder);
}

std::string option_entry(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += bold("-" + name) + ", ";
  for (const std::string& name : option.get_lnames()) names += bold("--" + name) + ", ";
  if (names.empty()) {
    names = italic(option.get_name(true));
    if (const auto choices = choices_of(option); !choices.empty())
      names += escaped(fmt::format(": {}", fmt::join(choices, "|")));
  } else {
    names.resize(names.size() - 2);
    if (const std::string value = value_of(option); !value.empty()) names += " " + value;
  }
  std::string text = sentence(option.get_description());
  if (!option.get_default_str().empty() && option.get_items_expected_max() != 0)
    text += fmt::format(" Default: {}.", option.get_default_str());
  if (!option.get_envname().empty())
    text += fmt::format(" ${} also sets it.", option.get_envname());
  return fmt::format(".TP\n{}\n{}\n", names, escaped(text));
}

std::string options_section(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : shown_options(command))
    if (option->get_positional()) text += option_entry(*option);
  for (const CLI::Option* option : shown_options(command))
    if (!option->get_positional()) text += option_entry(*option);
  return text;
}

std::string synopsis(const CLI::App& command, const std::string& place) {
  std::string text = bold(place);
  if (!shown_subcommands(command).empty()) return text + " \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n";
  text += " [\\fIOPTION\\fR...]";
  for (const CLI::Option* option : shown_options(command)) {
    if (!option->get_positional()) continue;
    const std::string name =
        italic(option->get_name(true)) + (option->get_items_expected_max() > 1 ? "..." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

/// Converts the footer of a command to man macros. A footer consists of paragraphs, and of
/// "Examples:" with indented lines after it.
std::string footer_of(const CLI::App& command) {
  std::istringstream lines(command.get_footer());
  std::string examples, exit_status, notes, *paragraph = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Examples:") continue;
    if (line.starts_with("  ")) {
      examples += escaped(line.substr(2)) + "\n";
      continue;
    }
    if (line.empty()) {
      paragraph = nullptr;
      continue;
    }
    if (paragraph == nullptr) {
      paragraph = line.starts_with("Exit code") ? &exit_status : &notes;
      if (!paragraph->empty()) *paragraph += ".PP\n";
    }
    *paragraph += escaped(line) + "\n";
  }
  std::string text;
  if (!exit_status.empty()) text += section("EXIT STATUS") + exit_status;
  if (!notes.empty()) text += section("NOTES") + notes;
  if (!examples.empty()) text += section("EXAMPLES") + ".nf\n" + examples + ".fi\n";
  return text;
}

/// Lists a command's subcommands with their options.
std::string parts_of(const CLI::App& command, const std::string& place) {
  std::string text;
  for (const CLI::App* part : shown_subcommands(command)) {
    const std::string here = place + " " + part->get_name();
    if (shown_subcommands(*part).empty())
      text += fmt::format(".SS \"{}\"\n{}.PP\n{}\n{}", escaped(here), synopsis(*part, here),
                          escaped(sentence(part->get_description())), options_section(*part));
    text += parts_of(*part, here);
  }
  return text;
}

std::string see_also(const CLI::App& app, const CLI::App& command) {
  std::string text = section("SEE ALSO");
  if (&command != &app) {
    text += ".BR headcrash (1),\n";
  } else {
    for (const CLI::App* other : shown_subcommands(app))
      text += fmt::format(".BR {} (1),\n", escaped(page_name(app, *other)));
  }
  text +=
      ".BR headcrash\\-adapters (5),\n.BR headcrash\\-campaigns (5),\n.BR headcrash\\-profiles (5),\n"
      ".BR headcrash\\-faults (7),\n.BR headcrash\\-states (7),\n.BR nbdkit\\-headcrash\\-plugin (1)\n";
  return text;
}

}  // namespace

std::string page_name(const CLI::App& app, const CLI::App& command) {
  return &command == &app ? app.get_name() : app.get_name() + "-" + command.get_name();
}

std::string manual_page(const CLI::App& app, const CLI::App& command) {
  const std::string name = page_name(app, command);
  const bool whole = &command == &app;
  const std::string place = whole ? app.get_name() : app.get_name() + " " + command.get_name();
  std::string description = command.get_description();
  std::string title = whole ? "laboratory for storage and file systems" : description;
  if (!whole) title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
  std::string text = fmt::format(".TH {} 1 \"\" \"{}\" \"headcrash\"\n", escaped(name),
                                 "headcrash " + base::version());
  text +=
      section("NAME") + escaped(name) + " \\- " + escaped(title.substr(0, title.find('\n'))) + "\n";
  text += section("SYNOPSIS") + synopsis(command, place);
  text += section("DESCRIPTION") + escaped(sentence(description)) + "\n";
  if (whole) {
    text += section("COMMANDS");
    for (const CLI::App* other : shown_subcommands(app))
      text += fmt::format(".TP\n.BR {} (1)\n{}\n", escaped(page_name(app, *other)),
                          escaped(sentence(other->get_description())));
  } else if (!shown_subcommands(command).empty()) {
    text += section("COMMANDS") + parts_of(command, place);
  }
  if (const std::string options = options_section(command); !options.empty())
    text += section("OPTIONS") + options;
  text += footer_of(command);
  if (whole)
    text +=
        section("ENVIRONMENT") +
        ".TP\n.B HEADCRASH_CACHE\nGuests' images and saved states; default: ~/.cache/headcrash.\n"
        ".TP\n.B HEADCRASH_DB\nThe default results database, used if \\-\\-db is omitted.\n"
        ".TP\n.B HEADCRASH_PLUGIN\nAn nbdkit plugin to use instead of the installed plugin.\n" +
        section("FILES") +
        ".TP\n.I /usr/share/headcrash/docs\nThe manual, which begins with first\\-crash.md. In a local "
        "installation, it is below /usr/local.\n"
        ".TP\n.I /usr/share/headcrash\nThe built\\-in profiles, file systems, campaigns and examples, to be copied and "
        "changed.\n";
  return text + see_also(app, command);
}

}  // namespace headcrash::cli
