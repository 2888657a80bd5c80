#pragma once
// Functions for `headcrash campaign` and `headcrash bench`: parsing shards, printing progress, and
// printing the command that resumes.

#include <cstdint>
#include <string>

#include "harness/campaign/campaign.h"
#include "harness/cli/command.h"

namespace headcrash::cli {

/// Parses a shard such as "2/8", the second of eight. Empty text selects all trials.
Result<run::Shard> parse_shard(const std::string& text);

/// Formats a duration as "40 s", "12 min" or "3.5 h".
std::string duration_text(double seconds);

/// Shows progress. On a terminal, overwrites one line, and prints a permanent line for each
/// unsuccessful trial; with verbose output, for each trial. Elsewhere, prints a line for each
/// finished trial; with verbose output, also for each step.
void show_progress(const campaign::CampaignProgress& progress, Verbosity verbosity);

/// The interrupted command, with all options needed to resume it.
struct ResumedCommand {
  std::string command, name, database, shard;  ///< as specified by the user
  std::size_t jobs = 1;
  std::vector<std::string> only;       ///< selected file systems
  std::optional<std::int64_t> trials;  ///< maximum number per cell
  std::vector<std::string> kernels;    ///< as specified by the user
  std::string guest;                   ///< as specified by the user
  std::optional<double> charge;        ///< as specified by the user
  std::string html;                    ///< the report's folder; empty if absent
  Verbosity verbosity = Verbosity::normal;
  bool stop_at_first = false, as_json = false;
};
/// Prints the command that resumes the run to standard error, quoted for a shell.
void report_interrupted(const ResumedCommand& what);
void report_finished_before(std::int64_t run);

}  // namespace headcrash::cli
