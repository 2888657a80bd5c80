#pragma once
// What `headcrash campaign` and `headcrash bench` share: shards on the command line, progress on the
// terminal, and how to resume.

#include <cstdint>
#include <string>

#include "harness/campaign/campaign.h"

namespace headcrash::cli {

/// "2/8" is the second of eight; empty for all.
Result<run::Shard> parse_shard(const std::string& text);

/// "40 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// One line a finished trial; on a terminal also the step under way.
void show_progress(const campaign::CampaignProgress& progress);

/// The command that was interrupted, with every option that its resumption must have.
struct ResumedCommand {
  std::string command, name, database, shard;  ///< the shard as it was given
  std::size_t jobs = 1;
  bool stop_at_first = false, as_json = false;
};
/// On standard error, ready to be pasted into a shell.
void report_interrupted(const ResumedCommand& what);
void report_finished_before(std::int64_t run);

}  // namespace headcrash::cli
