// headcrash gc: removes old artefacts of a results database.
#include "results/db/gc.h"

#include <fmt/format.h>

#include <memory>

#include "harness/cli/command.h"
#include "plugin/base/wall_clock.h"

namespace headcrash::cli {
namespace {

struct GcArguments {
  std::string database = kDefaultDatabase;
  db::GcOptions options;
  bool as_json = false;
};

int run_gc(GcArguments arguments) {
  const bool dry = arguments.options.dry_run;
  // If the database does not exist, open it for reading, which fails. Opening it for writing would
  // create it.
  const bool reading = dry || !std::filesystem::exists(arguments.database);
  Result<db::Database> database =
      db::Database::open(arguments.database, reading ? db::Database::Access::read_only
                                                     : db::Database::Access::read_write);
  if (!database) return report_error(database.error(), arguments.as_json);
  arguments.options.now = base::now_utc();
  const auto outcome = db::collect_garbage(*database, arguments.options);
  if (!outcome) return report_error(outcome.error(), arguments.as_json);
  if (arguments.as_json) {
    nlohmann::json refused = nlohmann::json::array();
    for (const auto& each : outcome->refused)
      refused.push_back({{"path", each.path}, {"why", each.why}});
    print({{"removed", outcome->removed},
           {"missing", outcome->missing},
           {"kept", outcome->kept},
           {"bytes", outcome->bytes},
           {"dry_run", dry},
           {"refused", refused}});
  } else {
    fmt::print("{}{} artefacts, {:.1f} MiB; {} kept\n", dry ? "would remove " : "removed ",
               outcome->removed, static_cast<double>(outcome->bytes) / (1 << 20), outcome->kept);
    if (outcome->missing > 0)
      fmt::print("the files of {} of these artefacts no longer existed\n", outcome->missing);
    for (const auto& each : outcome->refused)
      fmt::print(stderr, "headcrash gc: \"{}\" {}; not removed\n", each.path, each.why);
  }
  return outcome->refused.empty() ? kFine : kUsage;
}

}  // namespace

void add_gc(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "gc", "Removes old artefacts (recordings, consoles) of a results database");
  const auto arguments = std::make_shared<GcArguments>();
  add_database_option(*command, arguments->database);
  command
      ->add_option("--older-than", arguments->options.older_than_days,
                   "Minimum age in days since the trial began; 0 for all artefacts")
      ->check(between(std::int64_t{0}, std::int64_t{100'000}))
      ->capture_default_str();
  command->add_flag(
      "--keep-failures", arguments->options.keep_failures,
      "Keep the artefacts of trials that are not clean, so that those trials can be replayed");
  command->add_flag("--dry-run", arguments->options.dry_run, "Only print what would be removed");
  command->add_flag("--json", arguments->as_json, "Print what was removed as JSON");
  command->footer(
      "Examples:\n  headcrash gc --db demo.db --dry-run\n  headcrash gc --db demo.db --older-than 7 "
      "--keep-failures\n\n"
      "Verdicts and timings are kept. Only files in the *.artefacts folders next to the database "
      "are removed; their\ntrials can no longer be replayed. Exit code 2: an artefact was not removed, "
      "because its path is invalid.");
  command->callback([arguments, &exit_code] { exit_code = run_gc(*arguments); });
}

}  // namespace headcrash::cli
