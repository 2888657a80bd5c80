// Builds the command tree (app.h).
#include "harness/cli/app.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string_view>

#include "plugin/base/version.h"

namespace headcrash::cli {
namespace {

/// Placeholders of string options.
const std::map<std::string_view, std::string_view> kPlaceholders{
    {"--application", "NAME|FILE"},
    {"--baseline", "FILE"},
    {"--clock", "CLOCK"},
    {"--control", "SOCKET"},
    {"--csv", "FILE"},
    {"--cut", "TRIGGER"},
    {"--db", "FILE"},
    {"--device", "NAME"},
    {"--fault", "FAULT"},
    {"--fault-after-cut", "FAULT"},
    {"--env", "NAME=VALUE"},
    {"--expunge", "FILE"},
    {"--files", "PATH"},
    {"--folder", "FOLDER"},
    {"--from", "EVENT|MARK"},
    {"--fs", "NAME|FILE"},
    {"--group", "GROUP"},
    {"--html", "FILE"},
    {"--junit", "FILE"},
    {"--kernel", "FILE"},
    {"--log", "FILE"},
    {"--log-size", "SIZE"},
    {"--machine", "FILE"},
    {"--markdown", "FILE"},
    {"--memory", "SIZE"},
    {"--modules", "FOLDER|FILE"},
    {"--only", "NAME,..."},
    {"--output", "PLACE"},
    {"--profile", "NAME|FILE"},
    {"--random", "SETTINGS"},
    {"--record", "PLACE"},
    {"--recording", "FILE"},
    {"--set", "NAME=NUMBER"},
    {"--rootfs", "FOLDER|ARCHIVE"},
    {"--sarif", "FILE"},
    {"--shard", "i/n"},
    {"--size", "SIZE"},
    {"--snapshot", "NAME"},
    {"--socket", "SOCKET"},
    {"--state", "STATE"},
    {"--states", "FILE"},
    {"--store", "FOLDER"},
    {"--strategy", "NAME,..."},
    {"--tear", "WORD"},
    {"--test", "TEST"},
    {"--trace", "FILE"},
    {"--verdict", "VERDICT"},
    {"--vhost-user", "SOCKET"},
    {"--workload", "NAME|FILE"},
};

constexpr const char* kDefaultGroup = "Subcommands";  ///< of CLI11
using AddCommand = void (*)(CLI::App&, int&);
/// The commands, grouped by task, in the order in which `help` lists them.
const std::vector<std::pair<const char*, std::vector<AddCommand>>> kTasks{
    {"Crash tests",
     {add_check, add_audit, add_campaign, add_contract, add_explain, add_fstests, add_explore,
      add_replay, add_extract}},
    {"Emulated disks", {add_serve, add_simulate, add_recording}},
    {"Times", {add_bench, add_experiment, add_predict}},
    {"Results", {add_runs, add_trials, add_report, add_query, add_merge, add_gc}},
    {"File systems and files", {add_image, add_init}},
    {"This machine and help", {add_doctor, add_list, add_help}},
};

/// Formats options as CLI11 does, but shows placeholders instead of types, and describes ranges in
/// words.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_items_expected_max() == 0) return {};
    std::string text;
    const bool positional = option->get_positional();
    if (!positional) text += " " + placeholder_of(*option);
    if (!option->get_default_str().empty()) text += " (" + option->get_default_str() + ")";
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size && positional)
      text += " ...";
    if (option->get_required() && !positional) text += " (required)";
    return text;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (const auto range = range_of(*option); !range.empty()) text += "; " + range;
    if (!option->get_envname().empty())
      text += fmt::format("; ${} sets the default", option->get_envname());
    return text;
  }

 private:
  /// Returns the description of the range that an option accepts, or an empty string. between()
  /// creates the description, and CLI11 appends it to the type, as in "INT:1 to 256".
  static std::string range_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t colon = type.find(':');
    if (colon == std::string::npos || type.find(" to ", colon) == std::string::npos) return {};
    return type.substr(colon + 1);
  }
};

}  // namespace

std::unique_ptr<CLI::App> make_app(int& exit_code) {
  auto app = std::make_unique<CLI::App>(
      "headcrash: a laboratory for storage and file systems.\n"
      "Emulated timed disks for QEMU guests, power cuts at an exact instant, recovery, verdicts, reports.");
  app->name("headcrash");
  app->formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  app->set_version_flag("-V,--version", "headcrash " + base::version());
  app->require_subcommand(1);
  app->footer(
      "Exit codes: 0 success, 1 data loss or regression found, 2 usage or configuration error, 77 skipped,\n"
      "130 interrupted.\n"
      "`headcrash help COMMAND` shows a command's options and examples.");
  for (const auto& [task, adds] : kTasks)
    for (const auto add : adds) {
      add(*app, exit_code);
      for (CLI::App* command : app->get_subcommands(
               [](const CLI::App* each) { return each->get_group() == kDefaultGroup; }))
        command->group(task);
    }
  add_write_documents(*app, exit_code);
  return app;
}

std::vector<const CLI::App*> shown_subcommands(const CLI::App& app) {
  std::vector<const CLI::App*> shown;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) shown.push_back(command);
  return shown;
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  std::vector<const CLI::Option*> shown;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty() && option != app.get_help_ptr()) shown.push_back(option);
  return shown;
}

std::string name_of(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) return "-" + option.get_snames().front();
  return option.get_name(true);
}

std::string placeholder_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  if (const auto choices = choices_of(option); !choices.empty())
    return fmt::format("{}", fmt::join(choices, "|"));
  const std::string whole = option.get_type_name(),
                    type = whole.substr(0, whole.find_first_of(": "));
  if (type == "UINT" || type == "INT") return "N";
  if (type == "FLOAT") return "NUMBER";
  const auto known = kPlaceholders.find(name_of(option));
  if (type == "TEXT" && known != kPlaceholders.end()) return std::string(known->second);
  return type;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t from = type.find('{'), to = type.find('}');
  std::vector<std::string> choices;
  if (from == std::string::npos || to == std::string::npos) return choices;
  return CLI::detail::split(type.substr(from + 1, to - from - 1), ',');
}

}  // namespace headcrash::cli
