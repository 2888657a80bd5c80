// headcrash merge: merges the databases of shards.
#include "results/db/merge.h"

#include <fmt/format.h>

#include <memory>

#include "harness/cli/command.h"

namespace headcrash::cli {
namespace {

struct MergeArguments {
  std::vector<std::string> databases;
  std::string output;
  bool as_json = false;
};

int run_merge(const MergeArguments& arguments) {
  const std::vector<std::filesystem::path> inputs(arguments.databases.begin(),
                                                  arguments.databases.end());
  const auto outcome = db::merge_databases(inputs, arguments.output);
  if (!outcome) return report_error(outcome.error(), arguments.as_json);
  if (arguments.as_json) {
    print({{"databases", outcome->databases},
           {"runs", outcome->runs},
           {"trials", outcome->trials},
           {"doubled_runs", outcome->doubled_runs},
           {"doubled", outcome->doubled},
           {"artefacts_missing", outcome->artefacts_missing},
           {"remarks", outcome->remarks}});
    return kFine;
  }
  fmt::print("{}: {} trials in {} runs, from {} databases\n", arguments.output, outcome->trials,
             outcome->runs, outcome->databases);
  if (outcome->doubled_runs > 0)
    fmt::print("{} runs were also in an earlier database; each was copied once\n",
               outcome->doubled_runs);
  if (outcome->doubled > 0)
    fmt::print(
        "{} trials were in more than one database, with the same verdict; each was copied once\n",
        outcome->doubled);
  if (outcome->artefacts_missing > 0) {
    fmt::print(
        "{} artefacts are not next to their databases: copy each DATABASE.artefacts folder to replay their "
        "trials\n",
        outcome->artefacts_missing);
  }
  for (const std::string& remark : outcome->remarks) fmt::print("{}\n", remark);
  return kFine;
}

}  // namespace

void add_merge(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("merge", "Merges the results databases of several machines into one");
  const auto arguments = std::make_shared<MergeArguments>();
  command
      ->add_option("DATABASE", arguments->databases,
                   "Results databases of one or more campaigns, or of the shards of one")
      ->required();
  command->add_option("-o,--output", arguments->output, "The new database; must not exist")
      ->required();
  command->add_flag("--json", arguments->as_json, "Print what was merged as JSON");
  command->footer(
      "Examples:\n  headcrash merge host1/seq2.db host2/seq2.db -o seq2.db\n  headcrash report "
      "--db seq2.db\n\n"
      "Combines runs of one campaign that differ only in their shard into one run. If a shard is "
      "missing or unfinished,\n"
      "finish the run with headcrash campaign NAME --db MERGED --resume. Artefacts are not moved.");
  command->callback([arguments, &exit_code] { exit_code = run_merge(*arguments); });
}

}  // namespace headcrash::cli
