// Simulates the writes of users until the cost is stable (cleaning_simulator.h).
#include "harness/papers/rosenblum92/cleaning_simulator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "plugin/base/invariant.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr double kBlockKb = 4;
constexpr double kWrenIvKbPerMs = 1.3 * 1024 / 1000;
constexpr double kIntervalStep = 4;  ///< threshold of a log, divided by that of the previous log

lfs::CleaningOptions cleaning_options(const SimulatorOptions& options) {
  return {.selection = options.selection,
          .order = options.order,
          .segment_size = options.files_per_segment,
          .live_at_once = options.files_cleaned_at_once,
          .start_below = options.reserved_segments + 1,
          .stop_at = options.reserved_segments + 1};
}

lfs::CleaningOptions recycling_options(const SimulatorOptions& options) {
  lfs::CleaningOptions recycling = cleaning_options(options);
  recycling.segments_at_once = 1;
  return recycling;
}

}  // namespace

Positioning wren_iv() {
  constexpr double kBlocksPerMs = kWrenIvKbPerMs / kBlockKb;
  return {.access = 29.5 * kBlocksPerMs,
          .revolution = 60'000.0 / 3600 * kBlocksPerMs,
          .request = 5 * kBlocksPerMs};
}

SimulatorCounts SimulatorCounts::operator-(const SimulatorCounts& earlier) const {
  return {written - earlier.written,
          passes - earlier.passes,
          segments_cleaned - earlier.segments_cleaned,
          segments_read - earlier.segments_read,
          files_copied - earlier.files_copied,
          segments_opened - earlier.segments_opened,
          segments_plugged - earlier.segments_plugged,
          files_plugged - earlier.files_plugged,
          runs_plugged - earlier.runs_plugged,
          passes_over - earlier.passes_over,
          accesses_to_runs - earlier.accesses_to_runs,
          slots_passed - earlier.slots_passed,
          revolutions_lost - earlier.revolutions_lost,
          idle_segments_read - earlier.idle_segments_read,
          idle_files_copied - earlier.idle_files_copied};
}

double write_cost(const SimulatorCounts& counts, std::uint32_t files_per_segment) {
  const auto moved = static_cast<double>(counts.segments_read * files_per_segment +
                                         counts.files_copied + counts.written);
  return moved / static_cast<double>(counts.written);
}

double write_cost(const SimulatorCounts& counts, std::uint32_t files_per_segment,
                  const Positioning& positioning) {
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  double time = number(counts.written) * write_cost(counts, files_per_segment);
  time += positioning.access * number(counts.segments_read + counts.segments_opened +
                                      counts.passes_over + counts.accesses_to_runs);
  time += number(counts.slots_passed) + positioning.revolution * number(counts.revolutions_lost);
  return time / number(counts.written);
}

double foreground_cost(const SimulatorCounts& counts, std::uint32_t files_per_segment) {
  SimulatorCounts foreground = counts;
  foreground.segments_read -= counts.idle_segments_read;
  foreground.files_copied -= counts.idle_files_copied;
  return write_cost(foreground, files_per_segment);
}

double utilization_cleaned(const SimulatorCounts& counts, std::uint32_t files_per_segment) {
  if (counts.segments_cleaned == 0) return 0;
  return static_cast<double>(counts.files_copied) /
         static_cast<double>(counts.segments_cleaned * files_per_segment);
}

void UtilizationHistogram::add(std::uint32_t live, std::uint32_t files_per_segment) {
  ++segments[std::min<std::size_t>(kBins - 1, live * kBins / files_per_segment)];
}

std::uint64_t UtilizationHistogram::total() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : segments) sum += each;
  return sum;
}

double UtilizationHistogram::share(std::size_t bin) const {
  const std::uint64_t all = total();
  return all == 0 ? 0 : static_cast<double>(segments[bin]) / static_cast<double>(all);
}

double UtilizationHistogram::mean() const {
  double sum = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin)
    sum += share(bin) * (static_cast<double>(bin) + .5) / static_cast<double>(kBins);
  return sum;
}

CleaningSimulator::CleaningSimulator(const SimulatorOptions& options)
    : options_(options),
      generator_(options.pattern, options.files, options.seed),
      selector_(cleaning_options(options)),
      recycling_selector_(recycling_options(options)) {
  invariant(options.utilization > 0 && options.utilization < 1,
            "the utilization must be between 0 and 1");
  invariant(options.files_per_segment > 0 && options.logs > 0,
            "a segment must hold files, and there must be at least one log");
  invariant(options.separation != WriteSeparation::none || options.logs == 1,
            "if there are several logs, they must have a write separation");
  shift_ = static_cast<std::uint32_t>(std::bit_width(options.files_per_segment - 1));
  const double per_segment = options.files_per_segment;
  const auto segments =
      static_cast<std::uint32_t>(std::ceil(options.files / options.utilization / per_segment));
  const std::uint64_t slots = std::uint64_t{segments} << shift_;
  invariant(slots < (std::uint64_t{1} << 32), "there must be fewer than 2^32 slots");
  where_.resize(options.files);
  owner_.resize(slots);
  modified_.resize(slots);
  live_.resize((slots + 63) / 64);
  usage_.resize(segments);
  for (std::uint32_t file = 0; file < options.files; ++file) {
    const std::uint32_t segment = file / options.files_per_segment,
                        slot = first_slot(segment) + file % options.files_per_segment;
    where_[file] = slot;
    owner_[slot] = file;
    set_live(slot);
    ++usage_[segment].live;
    usage_[segment].state = State::dirty;
  }
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    if (usage_[segment].state == State::clean) clean_.push_back(segment);
  }
  const bool own_log = options.cleaned_data == CleanedData::own_log;
  logs_.resize(options.logs + (own_log ? 1 : 0));
  cleaners_log_ = own_log ? options.logs : options.logs - 1;
  invariant(clean_.size() > logs_.size() + options.reserved_segments,
            "there must be a free segment for every log");
  keeps_times_ = options.selection != lfs::Selection::greedy ||
                 options.order == lfs::WriteBackOrder::by_age ||
                 options.separation != WriteSeparation::none;
  until_idle_ = options.writes_between_idle_times.value_or(0);
  generator_.next(batch_after_);
}

void CleaningSimulator::write(std::uint64_t files) {
  invariant(now_ + files < (std::uint64_t{1} << 32),
            "a simulation must have fewer than 2^32 writes");
  while (files > 0) {
    const std::span<const std::uint32_t> next =
        next_files(options_.writes_between_idle_times ? std::min(files, until_idle_) : files);
    if (options_.separation == WriteSeparation::none)
      write_batch(next);
    else
      write_separated(next);
    files -= next.size();
    counts_.written += next.size();
    if (options_.writes_between_idle_times && (until_idle_ -= next.size()) == 0) {
      clean_while_idle();
      until_idle_ = *options_.writes_between_idle_times;
    }
  }
}

/// Returns the files to write next, at least one and at most `most`.
std::span<const std::uint32_t> CleaningSimulator::next_files(std::uint64_t most) {
  if (drawn_used_ == kBatch) {
    batch_ = batch_after_;
    generator_.next(batch_after_);
    for (const std::uint32_t file : batch_after_) __builtin_prefetch(&where_[file], 1);
    drawn_used_ = 0;
  }
  const auto count = std::min<std::size_t>(most, kBatch - drawn_used_);
  const std::span<const std::uint32_t> next(batch_.data() + drawn_used_, count);
  drawn_used_ += count;
  return next;
}

void CleaningSimulator::write_batch(std::span<const std::uint32_t> files) {
  while (!files.empty()) {
    ensure_room(0);
    Log& log = logs_[0];
    const std::size_t count = std::min<std::size_t>(files.size(), log.end - log.next);
    store_run(log, files.first(count));
    files = files.subspan(count);
  }
}

void CleaningSimulator::write_separated(std::span<const std::uint32_t> files) {
  for (const std::uint32_t& file : files) {
    const std::uint32_t log = log_of(file);
    ensure_room(log);
    store_run(logs_[log], {&file, 1});
  }
}

/// Writes `files` to consecutive slots, starting with `log.next`. REQUIRES: there are enough slots
/// before `log.end`.
void CleaningSimulator::store_run(Log& log, std::span<const std::uint32_t> files) {
  const auto count = static_cast<std::uint32_t>(files.size());
  const std::uint32_t first = log.next;
  // Mark the new slots live before any old slot is cleared. If a file occurs twice in `files`, its
  // second occurrence clears the slot that the first one has filled.
  set_live(first, first + count);
  usage_[log.segment].live += count;
  std::uint32_t slot = first;
  for (const std::uint32_t file : files) {
    bury(where_[file]);
    where_[file] = slot;
    owner_[slot++] = file;
  }
  if (keeps_times_) {
    for (std::uint32_t i = 0; i < count; ++i) modified_[first + i] = now_ + i + 1;
    usage_[log.segment].youngest = now_ + count;
  }
  now_ += count;
  log.next += count;
}

inline void CleaningSimulator::bury(std::uint32_t slot) {
  live_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
  --usage_[slot >> shift_].live;
}

void CleaningSimulator::set_live(std::uint32_t first, std::uint32_t end) {
  while (first < end) {
    const std::uint32_t bit = first & 63, count = std::min(end - first, 64 - bit);
    const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    live_[first >> 6] |= ones << bit;
    first += count;
  }
}

/// Returns the log for a file. Log 0 contains the hottest files. With `by_interval`, the last log
/// contains files whose last write was at least options_.files writes ago, the mean interval of all
/// files. Each earlier log has a threshold kIntervalStep times lower than that of the log after it.
std::uint32_t CleaningSimulator::log_of(std::uint32_t file) const {
  if (options_.logs == 1) return 0;
  if (options_.separation == WriteSeparation::known) {
    if (options_.pattern.kind == AccessPattern::Kind::exponential) {
      const double mean_files = options_.pattern.mean * options_.files;
      return std::min(options_.logs - 1, static_cast<std::uint32_t>(file / mean_files));
    }
    return file < generator_.hot_limit() ? 0 : options_.logs - 1;
  }
  const std::uint32_t interval = now_ - modified_[where_[file]];
  double threshold = options_.files;
  std::uint32_t log = options_.logs - 1;
  while (log > 0 && interval < threshold) {
    threshold /= kIntervalStep;
    --log;
  }
  return log;
}

void CleaningSimulator::ensure_room(std::uint32_t log) {
  Log& l = logs_[log];
  for (std::uint32_t tries = 0; l.next == l.end; ++tries) {
    invariant(tries <= 2 * segments(), "cleaning must free space");
    if (l.open && l.plugging && next_run(l)) return;
    close(l);
    if (lfs::must_start(selector_.options(), clean_segments()))
      make_room(log);
    else
      open_clean(log);
  }
}

void CleaningSimulator::close(Log& log) {
  if (!log.open) return;
  usage_[log.segment].state = State::dirty;
  log = {};
}

void CleaningSimulator::open_clean(std::uint32_t log) {
  const std::uint32_t segment = clean_.front();
  clean_.pop_front();
  const std::uint32_t first = first_slot(segment);
  logs_[log] = {
      .next = first, .end = first + options_.files_per_segment, .segment = segment, .open = true};
  usage_[segment] = {.state = State::open, .log = static_cast<std::uint8_t>(log)};
  ++counts_.segments_opened;
}

void CleaningSimulator::forget_histograms() {
  at_cleaning_ = {};
  hot_cleaned_ = {};
  cold_cleaned_ = {};
}

void CleaningSimulator::verify() const {
  std::vector<std::uint32_t> live(segments(), 0);
  std::uint64_t all = 0;
  for (std::uint32_t segment = 0; segment < segments(); ++segment) {
    for (std::uint32_t i = 0; i < options_.files_per_segment; ++i) {
      const std::uint32_t slot = first_slot(segment) + i;
      if (!is_live(slot)) continue;
      invariant(where_[owner_[slot]] == slot,
                "the slot of a live file must be the recorded place of the file");
      ++live[segment];
      ++all;
    }
    invariant(live[segment] == usage_[segment].live,
              "the count of live slots of a segment must be correct");
    invariant(usage_[segment].state != State::clean || live[segment] == 0,
              "a clean segment must not have live files");
  }
  invariant(all == options_.files, "every file must have one live slot");
  for (const std::uint32_t segment : clean_)
    invariant(usage_[segment].state == State::clean,
              "the list of clean segments must not contain other segments");
}

StableCost run_until_stable(CleaningSimulator& simulator, const StabilityOptions& stability) {
  const std::uint32_t per_segment = simulator.options().files_per_segment;
  const std::uint64_t disk = std::uint64_t{simulator.segments()} * per_segment;
  const auto window = std::max(
      disk, static_cast<std::uint64_t>(stability.window_turnovers * simulator.options().files));
  std::vector<SimulatorCounts> at{simulator.counts()};
  StableCost result;
  const auto cost = [&](std::size_t from, std::size_t to) {
    return write_cost(at[to] - at[from], per_segment);
  };
  std::size_t windows = 0, quarter = 1;
  while (windows < stability.windows_max && !result.stable) {
    simulator.write(window);
    at.push_back(simulator.counts());
    ++windows;
    quarter = std::max<std::size_t>(1, windows / 4);
    if (windows < stability.windows_min) continue;
    const double last = cost(windows - quarter, windows),
                 before = cost(windows - 2 * quarter, windows - quarter);
    result.stable = std::abs(last - before) < stability.tolerance * last;
  }
  const std::size_t from = windows - quarter;
  result.counts = at[windows] - at[from];
  result.cost = cost(from, windows);
  result.u = utilization_cleaned(result.counts, per_segment);
  result.written = simulator.counts().written;
  double lowest = result.cost, highest = result.cost;
  for (std::size_t i = from; i < windows; ++i) {
    lowest = std::min(lowest, cost(i, i + 1));
    highest = std::max(highest, cost(i, i + 1));
  }
  result.spread = (highest - lowest) / result.cost;
  return result;
}

}  // namespace headcrash::experiment::rosenblum92
