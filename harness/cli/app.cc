// The tree of commands (app.h).
#include "harness/cli/app.h"

#include "plugin/base/version.h"

namespace headcrash::cli {

std::unique_ptr<CLI::App> make_app(int& exit_code) {
  auto app = std::make_unique<CLI::App>(
      "headcrash: a laboratory for storage and file systems.\n"
      "Emulated timed disks for QEMU guests, power cuts at an exact instant, recovery, verdicts, reports.");
  app->name("headcrash");
  app->set_version_flag("-V,--version", "headcrash " + base::version());
  app->require_subcommand(1);
  app->footer(
      "Exit codes: 0 fine, 1 a data loss or regression was found, 2 usage or configuration error, 77 "
      "skipped,\n"
      "130 interrupted.\n"
      "`headcrash help COMMAND` shows a command's options and examples.");
  add_doctor(*app, exit_code);
  add_list(*app, exit_code);
  add_serve(*app, exit_code);
  add_simulate(*app, exit_code);
  add_campaign(*app, exit_code);
  add_bench(*app, exit_code);
  add_experiment(*app, exit_code);
  add_runs(*app, exit_code);
  add_trials(*app, exit_code);
  add_report(*app, exit_code);
  add_query(*app, exit_code);
  add_merge(*app, exit_code);
  add_gc(*app, exit_code);
  add_recording(*app, exit_code);
  add_explore(*app, exit_code);
  add_replay(*app, exit_code);
  add_extract(*app, exit_code);
  add_predict(*app, exit_code);
  add_image(*app, exit_code);
  add_init(*app, exit_code);
  add_help(*app, exit_code);
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

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t from = type.find('{'), to = type.find('}');
  std::vector<std::string> choices;
  if (from == std::string::npos || to == std::string::npos) return choices;
  return CLI::detail::split(type.substr(from + 1, to - from - 1), ',');
}

}  // namespace headcrash::cli
