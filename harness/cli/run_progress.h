#pragma once
// What `headcrash campaign` and `headcrash bench` share: shards on the command line, progress on
// the terminal, and how to resume.

#include <cstdint>
#include <string>

#include "harness/campaign/campaign.h"
#include "harness/cli/command.h"

namespace headcrash::cli {

/// "2/8" is the second of eight; empty for all.
Result<run::Shard> parse_shard(const std::string& text);

/// "40 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// On a terminal one line that is written over, and a line that stays for each trial that did not
/// go well; elsewhere a line a finished trial. Verbose: a line that stays for each trial, elsewhere
/// one for each step, too.
void show_progress(const campaign::CampaignProgress& progress, Verbosity verbosity);

/// The command that was interrupted, with every option that its resumption must have.
struct ResumedCommand {
  std::string command, name, database, shard;  ///< the shard as it was given
  std::size_t jobs = 1;
  std::vector<std::string> only;       ///< file systems
  std::optional<std::int64_t> trials;  ///< of a cell
  std::vector<std::string> kernels;    ///< as they were given
  std::string guest;                   ///< as it was given
  std::optional<double> charge;        ///< as it was given
  std::string html;                    ///< folder of the report; empty: none
  Verbosity verbosity = Verbosity::normal;
  bool stop_at_first = false, as_json = false;
};
/// On standard error, ready to be pasted into a shell.
void report_interrupted(const ResumedCommand& what);
void report_finished_before(std::int64_t run);

}  // namespace headcrash::cli
