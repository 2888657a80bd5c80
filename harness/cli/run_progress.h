#pragma once
// Helpers for `headcrash campaign`, `bench` and `explore --db`: parse shards, print progress, and
// print the command that resumes the run.

#include <cstdint>
#include <string>
#include <vector>

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

/// Keeps the words after the program's name, for report_interrupted().
void keep_command_line(std::vector<std::string> words);
/// Prints the command that resumes an interrupted run to standard error, quoted for a shell: the
/// command that the user gave, with --resume in place of --redo-errors. Returns kInterrupted.
int report_interrupted();
void report_finished_before(std::int64_t run);

}  // namespace headcrash::cli
