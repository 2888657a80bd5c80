// Cleans segments (cleaning_simulator.h) in the three steps of section 4.4.2 of Rosenblum 1992. A
// segment is marked clean as soon as it has been read into memory, before its live data is written
// back.
#include <algorithm>
#include <bit>

#include "harness/papers/rosenblum92/cleaning_simulator.h"
#include "plugin/base/invariant.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr std::uint32_t kWordBits = 64;

}  // namespace

/// Obtains space for a log that has no open segment: a clean segment, or a segment with dead slots.
void CleaningSimulator::make_room(std::uint32_t log) {
  find_candidates();
  switch (options_.reuse) {
    case SpaceReuse::cleaning:
      break;
    case SpaceReuse::recycling:
      if (recycle(log)) return;
      break;
    case SpaceReuse::adaptive_recycling: {
      const auto victims = selector_.choose(candidates_);
      const auto segment = segment_to_recycle(log);
      if (segment) {
        const PlugCounts plugged = plug_counts(*segment);
        if (plug_time(plugged) / static_cast<double>(plugged.holes) <
            cleaning_time_a_slot(victims)) {
          open_plugged(log, *segment);
          return;
        }
      }
      break;
    }
    case SpaceReuse::plugging:
    case SpaceReuse::adaptive_plugging: {
      const auto victims = selector_.choose(candidates_);
      const bool plugs = options_.reuse == SpaceReuse::plugging ||
                         plugging_time_a_slot(victims) < cleaning_time_a_slot(victims);
      if (plugs && plug_pass(victims)) return;
      break;
    }
  }
  clean_pass(selector_.choose(candidates_));
}

void CleaningSimulator::clean_while_idle() {
  const SimulatorCounts before = counts_;
  for (std::uint32_t passes = 0; clean_.size() < options_.idle_clean_until && passes < segments();
       ++passes) {
    find_candidates();
    const auto victims = selector_.choose(candidates_);
    if (victims.empty()) break;
    clean_pass(victims);
  }
  const SimulatorCounts done = counts_ - before;
  counts_.idle_segments_read += done.segments_read;
  counts_.idle_files_copied += done.files_copied;
}

void CleaningSimulator::find_candidates() {
  candidates_.clear();
  for (std::uint32_t segment = 0; segment < usage_.size(); ++segment) {
    const Usage& usage = usage_[segment];
    if (usage.state == State::dirty)
      candidates_.push_back({segment, usage.live, now_ - usage.youngest});
  }
  if (options_.histograms) record_utilizations();
}

void CleaningSimulator::clean_pass(std::span<const lfs::Candidate> victims) {
  invariant(!victims.empty(), "the simulated disk must have a segment to clean");
  ++counts_.passes;
  blocks_.clear();
  for (const lfs::Candidate& victim : victims) gather(victim);
  counts_.files_copied += blocks_.size();
  sorter_.sort(options_.order, blocks_);
  write_back(cleaners_log_);
}

/// Reads a segment into memory, and marks it clean.
void CleaningSimulator::gather(const lfs::Candidate& victim) {
  if (options_.histograms) record_victim(victim);
  ++counts_.segments_cleaned;
  if (victim.live > 0) ++counts_.segments_read;
  const std::uint32_t first = first_slot(victim.segment), end = first + options_.files_per_segment;
  for (std::uint32_t slot = first; slot < end;) {
    const std::uint32_t bit = slot % kWordBits, count = std::min(end - slot, kWordBits - bit);
    const std::uint64_t ones =
        count == kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    std::uint64_t& word = live_[slot / kWordBits];
    for (std::uint64_t left = (word >> bit) & ones; left != 0; left &= left - 1) {
      const std::uint32_t at = slot + static_cast<std::uint32_t>(std::countr_zero(left));
      blocks_.push_back({modified_[at], owner_[at]});
      __builtin_prefetch(&where_[owner_[at]], 1);
    }
    word &= ~(ones << bit);
    slot += count;
  }
  usage_[victim.segment] = {};
  clean_.push_back(victim.segment);
}

void CleaningSimulator::write_back(std::uint32_t log) {
  std::size_t done = 0;
  while (done < blocks_.size()) {
    Log& l = logs_[log];
    if (l.next == l.end && !(l.open && l.plugging && next_run(l))) {
      close(l);
      invariant(!clean_.empty(), "the clean segments must have room for the live data");
      open_clean(log);
    }
    put_back(logs_[log], done);
  }
}

/// Writes the files in `blocks_`, starting with index `done`, to the remaining slots of the current
/// run.
void CleaningSimulator::put_back(Log& log, std::size_t& done) {
  const auto count =
      static_cast<std::uint32_t>(std::min<std::size_t>(blocks_.size() - done, log.end - log.next));
  Usage& usage = usage_[log.segment];
  set_live(log.next, log.next + count);
  usage.live += count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const lfs::LiveBlock& block = blocks_[done + i];
    const auto file = static_cast<std::uint32_t>(block.id),
               time = static_cast<std::uint32_t>(block.modified);
    const std::uint32_t slot = log.next + i;
    where_[file] = slot;
    owner_[slot] = file;
    modified_[slot] = time;
    usage.youngest = std::max(usage.youngest, time);
  }
  if (options_.segment_age == SegmentAge::last_write) usage.youngest = now_;
  if (log.plugging) counts_.files_plugged += count;
  log.next += count;
  done += count;
}

void CleaningSimulator::record_utilizations() {
  for (const lfs::Candidate& each : candidates_)
    at_cleaning_.add(each.live, options_.files_per_segment);
}

void CleaningSimulator::record_victim(const lfs::Candidate& victim) {
  const std::uint32_t first = first_slot(victim.segment);
  std::uint32_t hot = 0;
  for (std::uint32_t i = 0; i < options_.files_per_segment; ++i)
    hot += owner_[first + i] < generator_.hot_limit() ? 1 : 0;
  (2 * hot > options_.files_per_segment ? hot_cleaned_ : cold_cleaned_)
      .add(victim.live, options_.files_per_segment);
}

}  // namespace headcrash::experiment::rosenblum92
