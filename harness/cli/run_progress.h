#pragma once
// Helpers for `headcrash campaign` and `headcrash bench`: parse shards, print progress, and print
// the command that resumes the run.

#include <cstdint>
#include <string>

#include "harness/campaign/campaign.h"
#include "harness/cli/command.h"

namespace headcrash::cli {

/// Parses a shard: "2/8" is the second of eight. An empty text selects all trials.
Result<run::Shard> parse_shard(const std::string& text);

/// Formats a duration as "40 s", "12 min" or "3.5 h".
std::string duration_text(double seconds);

/// Shows progress. On a terminal, overwrites a single line, and prints a permanent line for each
/// unsuccessful trial or, if verbose, for each trial. Without a terminal, prints a line for each
/// finished trial and, if verbose, for each step.
void show_progress(const campaign::CampaignProgress& progress, Verbosity verbosity);

/// The command that was interrupted, with all options that are needed to resume it.
struct ResumedCommand {
  std::string command, name, database, shard;  ///< as specified by the user
  std::size_t jobs = 1;
  std::vector<std::string> only;       ///< names of the selected file systems
  std::optional<std::int64_t> trials;  ///< maximum number of trials in each cell
  std::vector<std::string> kernels;
  std::string guest;
  std::optional<double> charge;
  std::string html;  ///< directory of the report; empty if no report is written
  Verbosity verbosity = Verbosity::normal;
  bool stop_at_first = false, as_json = false;
};
/// Prints the command that resumes the run to standard error. The command is quoted for a shell.
void report_interrupted(const ResumedCommand& what);
void report_finished_before(std::int64_t run);

}  // namespace headcrash::cli
