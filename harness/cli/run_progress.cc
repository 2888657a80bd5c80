// Parses shards and shows progress (run_progress.h).
#include "harness/cli/run_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "harness/cli/attach.h"
#include "harness/cli/terminal.h"
#include "harness/oracle/verdict.h"

namespace headcrash::cli {
namespace {

std::vector<std::string>& command_line() {
  static std::vector<std::string> words;
  return words;
}

}  // namespace

Result<run::Shard> parse_shard(const std::string& text) {
  run::Shard shard;
  if (text.empty()) return shard;
  unsigned index = 0, count = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%u/%u%c", &index, &count, &rest) != 2 || index < 1 ||
      index > count || count > 100'000) {
    return fail("--shard", "\"" + text + "\" is not a shard",
                "use i/n with i from 1 to n, for example 2/8");
  }
  return run::Shard{index - 1, count};
}

std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

void show_progress(const campaign::CampaignProgress& progress, Verbosity verbosity) {
  if (verbosity == Verbosity::quiet) return;
  const bool verbose = verbosity == Verbosity::verbose, terminal = can_overwrite();
  const std::string left = progress.left_s ? ", " + duration_text(*progress.left_s) + " left" : "";
  const std::string place =
      fmt::format("[{}/{}{}] {}", progress.done, progress.planned, left, progress.running);
  if (progress.trial == nullptr) {
    if (terminal)
      fmt::print(stderr, "\r\033[K{}: {}", place, progress.phase);
    else if (verbose)
      fmt::print(stderr, "{}: {}\n", place, progress.phase);
    return;
  }
  const db::TrialRecord& trial = *progress.trial;
  const bool measured = trial.verdict == db::kMeasured;
  const oracle::Verdict verdict = oracle::verdict_named(trial.verdict);
  const bool harness_error = !measured && verdict == oracle::Verdict::harness_error;
  // The line shows the times of a benchmark's trial, or the reason why a trial has no result.
  const bool tell = trial.repetition || harness_error;
  const std::string detail = tell ? ": " + trial.summary.substr(0, trial.summary.find('\n')) : "";
  const bool as_planned = measured || oracle::keeps_promises(verdict);
  const bool stays = !terminal || verbose || !as_planned;
  fmt::print(stderr, "{}{}: {} ({:.1f} s){}{}", terminal ? "\r\033[K" : "", place, trial.verdict,
             trial.wall_ms / 1000, detail, stays ? "\n" : "");
}

void keep_command_line(std::vector<std::string> words) {
  command_line() = std::move(words);
}

int report_interrupted() {
  std::vector<std::string> words{"headcrash"};
  std::ranges::remove_copy_if(command_line(), std::back_inserter(words), [](const auto& word) {
    return word == "--resume" || word == "--redo-errors";
  });
  words.emplace_back("--resume");
  fmt::print(stderr, "headcrash: interrupted; resume with: {}\n", shell_line(words));
  return kInterrupted;
}

void report_finished_before(std::int64_t run) {
  fmt::print(stderr, "headcrash: run {} is already finished; omit --resume to start a new run\n",
             run);
}

}  // namespace headcrash::cli
