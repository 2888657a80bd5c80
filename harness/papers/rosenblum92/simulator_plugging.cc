// Reuses the dead slots of segments with live data (cleaning_simulator.h). In one method, the
// cleaner writes live data to dead slots in order to free whole segments (hole plugging: Matthews,
// Roselli, Costello, Wang and Anderson, "Improving the Performance of Log-Structured File Systems
// with Adaptive Methods", SOSP 1997). In the other method, users write to dead slots (slack-space
// recycling: Lee, Sim, Hwang and Cho, "F2FS: A New File System for Flash Storage", FAST 2015, where
// it is called threaded logging).
#include <algorithm>
#include <bit>
#include <limits>

#include "harness/papers/rosenblum92/cleaning_simulator.h"
#include "plugin/base/invariant.h"

namespace headcrash::experiment::rosenblum92 {

/// Counts the dead slots of a segment, the runs that they form, and the live slots between these
/// runs.
CleaningSimulator::PlugCounts CleaningSimulator::plug_counts(std::uint32_t segment) const {
  PlugCounts counts;
  const std::uint32_t first = first_slot(segment), end = first + options_.files_per_segment;
  std::uint32_t passed = 0;
  bool in_run = false;
  for (std::uint32_t slot = first; slot < end; ++slot) {
    if (is_live(slot)) {
      ++passed;
      in_run = false;
      continue;
    }
    if (!in_run) {
      if (counts.runs > 0) {
        counts.passed += passed;
        if (passed < options_.positioning.request) ++counts.short_passed;
      }
      ++counts.runs;
      in_run = true;
    }
    passed = 0;
    ++counts.holes;
  }
  return counts;
}

/// Returns the duration of one pass over a segment, without the time for the transfers.
double CleaningSimulator::pass_over_time(const PlugCounts& counts) const {
  const Positioning& disk = options_.positioning;
  return disk.access + static_cast<double>(counts.passed) +
         disk.revolution * static_cast<double>(counts.short_passed);
}

/// Returns the time that it takes to write the dead slots of one segment.
double CleaningSimulator::plug_time(const PlugCounts& counts) const {
  const auto holes = static_cast<double>(counts.holes);
  const double accesses = options_.positioning.access * static_cast<double>(counts.runs);
  if (options_.positioning.access_each_run) return holes + accesses;
  return holes + std::min(accesses, pass_over_time(counts));
}

void CleaningSimulator::open_plugged(std::uint32_t log, std::uint32_t segment) {
  const PlugCounts plugged = plug_counts(segment);
  invariant(plugged.holes > 0, "a segment to be plugged must have a dead slot");
  ++counts_.segments_plugged;
  counts_.runs_plugged += plugged.runs;
  if (!options_.positioning.access_each_run &&
      pass_over_time(plugged) < options_.positioning.access * static_cast<double>(plugged.runs)) {
    ++counts_.passes_over;
    counts_.slots_passed += plugged.passed;
    counts_.revolutions_lost += plugged.short_passed;
  } else {
    counts_.accesses_to_runs += plugged.runs;
  }
  const std::uint32_t first = first_slot(segment);
  logs_[log] = {.next = first, .end = first, .segment = segment, .open = true, .plugging = true};
  usage_[segment].state = State::open;
  next_run(logs_[log]);
}

/// Advances to the next run of dead slots. Returns false if there are no more.
bool CleaningSimulator::next_run(Log& log) {
  const std::uint32_t end = first_slot(log.segment) + options_.files_per_segment;
  std::uint32_t slot = log.end;
  while (slot < end && is_live(slot)) ++slot;
  log.next = slot;
  while (slot < end && !is_live(slot)) ++slot;
  log.end = slot;
  return log.next < log.end;
}

/// Returns the best candidate among the segments that this log opened earlier. If none of them has
/// a dead slot, returns the best of all candidates.
std::optional<std::uint32_t> CleaningSimulator::segment_to_recycle(std::uint32_t log) {
  std::vector<lfs::Candidate> own;
  for (const lfs::Candidate& each : candidates_) {
    if (usage_[each.segment].log == log) own.push_back(each);
  }
  for (const auto* choice : {&own, &candidates_}) {
    const auto chosen = recycling_selector_.choose(*choice);
    if (!chosen.empty()) return chosen.front().segment;
  }
  return std::nullopt;
}

bool CleaningSimulator::recycle(std::uint32_t log) {
  const auto segment = segment_to_recycle(log);
  if (!segment) return false;
  open_plugged(log, *segment);
  return true;
}

/// Returns the segments, fullest first, whose dead slots can hold the live data of `victims`.
/// Returns an empty vector if there are too few dead slots.
std::vector<std::uint32_t> CleaningSimulator::plug_targets(
    std::span<const lfs::Candidate> victims) const {
  std::uint64_t wanted = 0;
  std::vector<bool> taken(usage_.size(), false);
  for (const lfs::Candidate& each : victims) {
    wanted += each.live;
    taken[each.segment] = true;
  }
  std::vector<lfs::Candidate> others;
  for (const lfs::Candidate& each : candidates_) {
    if (!taken[each.segment] && each.live < options_.files_per_segment) others.push_back(each);
  }
  std::ranges::sort(others, [](const lfs::Candidate& a, const lfs::Candidate& b) {
    return a.live != b.live ? a.live > b.live : a.segment < b.segment;
  });
  std::vector<std::uint32_t> targets;
  std::uint64_t holes = 0;
  for (const lfs::Candidate& each : others) {
    if (holes >= wanted) break;
    targets.push_back(each.segment);
    holes += options_.files_per_segment - each.live;
  }
  if (holes < wanted) targets.clear();
  return targets;
}

double CleaningSimulator::cleaning_time_a_slot(std::span<const lfs::Candidate> victims) const {
  double time = 0, freed = 0;
  const double size = options_.files_per_segment, access = options_.positioning.access;
  for (const lfs::Candidate& each : victims) {
    if (each.live > 0) time += size + access + each.live * (1 + access / size);
    freed += size - each.live;
  }
  return freed > 0 ? time / freed : std::numeric_limits<double>::infinity();
}

double CleaningSimulator::plugging_time_a_slot(std::span<const lfs::Candidate> victims) const {
  double time = 0, freed = 0;
  const double size = options_.files_per_segment;
  for (const lfs::Candidate& each : victims) {
    if (each.live > 0) time += size + options_.positioning.access;
    freed += size;
  }
  const std::vector<std::uint32_t> targets = plug_targets(victims);
  if (targets.empty()) return std::numeric_limits<double>::infinity();
  for (const std::uint32_t segment : targets) time += plug_time(plug_counts(segment));
  return time / freed;
}

/// Moves the live files of the victims into dead slots of other segments (hole-plugging). If the
/// other segments have too few dead slots, changes nothing and returns false.
bool CleaningSimulator::plug_pass(std::span<const lfs::Candidate> victims) {
  const std::vector<std::uint32_t> targets = plug_targets(victims);
  if (targets.empty()) return false;
  ++counts_.passes;
  blocks_.clear();
  for (const lfs::Candidate& victim : victims) gather(victim);
  counts_.files_copied += blocks_.size();
  sorter_.sort(options_.order, blocks_);
  std::size_t done = 0;
  Log& log = logs_[cleaners_log_];
  const Log before = log;  // the cleaner's open segment; restored after the pass
  for (const std::uint32_t segment : targets) {
    if (done == blocks_.size()) break;
    open_plugged(cleaners_log_, segment);
    do put_back(log, done);
    while (done < blocks_.size() && (log.next < log.end || next_run(log)));
    close(log);
  }
  invariant(done == blocks_.size(), "the dead slots must have room for the live data");
  log = before;
  return true;
}

}  // namespace headcrash::experiment::rosenblum92
