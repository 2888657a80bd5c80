#pragma once
// Shared by `headcrash campaign` and `headcrash bench`: shards, progress output, and the command to
// resume.

#include <cstdint>
#include <string>

#include "harness/campaign/campaign.h"
#include "harness/cli/command.h"

namespace headcrash::cli {

/// Parses "2/8", the second of eight; an empty text means all.
Result<run::Shard> parse_shard(const std::string& text);

/// Formats a duration as "40 s", "12 min" or "3.5 h".
std::string duration_text(double seconds);

/// Shows progress. On a terminal this is one line that is overwritten, and a permanent line for
/// each unsuccessful trial. Elsewhere it is a line per finished trial. Verbose output has a
/// permanent line for each trial on a terminal, and elsewhere also one for each step.
void show_progress(const campaign::CampaignProgress& progress, Verbosity verbosity);

/// The interrupted command, with all options needed to resume it.
struct ResumedCommand {
  std::string command, name, database, shard;  ///< shard: as given
  std::size_t jobs = 1;
  std::vector<std::string> only;       ///< selected file systems
  std::optional<std::int64_t> trials;  ///< maximum per cell
  std::vector<std::string> kernels;    ///< as given
  std::string guest;                   ///< as given
  std::optional<double> charge;        ///< as given
  std::string html;                    ///< folder of the report; empty for none
  Verbosity verbosity = Verbosity::normal;
  bool stop_at_first = false, as_json = false;
};
/// Prints the command to standard error, quoted for a shell.
void report_interrupted(const ResumedCommand& what);
void report_finished_before(std::int64_t run);

}  // namespace headcrash::cli
