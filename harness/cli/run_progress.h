#pragma once
// What `headcrash campaign` and `headcrash bench` share: shards on the command line, and progress on the
// terminal.

#include <string>

#include "harness/campaign/campaign.h"

namespace headcrash::cli {

/// "2/8" is the second of eight; empty for all.
Result<campaign::Shard> parse_shard(const std::string& text);

/// "40 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// One line a finished trial; on a terminal also the step under way.
void show_progress(const campaign::CampaignProgress& progress);

}  // namespace headcrash::cli
