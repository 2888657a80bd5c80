// Checks the requests of a stack's disks against the rules (stack_rules.h).
#include "harness/explorer/guests/stack_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "harness/explorer/guests/md_bitmap.h"
#include "harness/explorer/guests/md_journal.h"
#include "plugin/model/core/sector_range.h"
#include "plugin/states/crash_state.h"

namespace headcrash::explorer {
namespace {

using adapters::StackRules;
using model::DeviceId;
using states::RecordedMark;
using states::RecordedWrite;
using states::RunHistory;

constexpr std::uint64_t kComparedSectors = 256;  ///< number of sectors to read at once
/// First bytes of a jbd2 commit record: the magic number and the type, both big-endian.
constexpr std::array<unsigned char, 8> kCommitRecord{0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 2};

class RuleCheck {
 public:
  RuleCheck(const RunHistory& run, const StackRules& rules)
      : run_(run), data_from_(rules.data_offset_bytes / model::kSectorBytes), rules_(rules) {
    for (std::size_t i = 0; i < run.header().devices.size(); ++i)
      if (run.header().devices[i].medium) disks_.push_back(static_cast<DeviceId>(i));
  }

  Result<std::vector<BrokenRule>> check() {
    for (const RecordedMark& mark : run_.marks()) {
      if (rules_.answered_after_all && mark.text.starts_with(kStackAnswered)) check_answered(mark);
      if (rules_.flushed_on_all && mark.text.starts_with(kStackFlushed)) check_flushed(mark);
      if (rules_.preflushed_on_all && mark.text == kStackPreflushes) TRY(check_preflushes(mark));
      if (mark.text.starts_with(kStackLostZeroes)) report_lost_zeroes(mark);
    }
    if (rules_.bitmap_marks_writes) TRY(check_bitmaps());
    if (rules_.journal_forgets_flushed) TRY(check_journal());
    if (rules_.mirror_width != 0 || rules_.xor_is_zero) TRY(check_equality());
    return std::move(broken_);
  }

 private:
  using Ranges = std::vector<model::SectorRange>;
  /// Disks that must hold equal data or, with `exclusive_or`, data whose exclusive or is zero.
  struct Group {
    const char* rule;
    std::vector<DeviceId> disks;
    bool exclusive_or;
  };
  struct Difference {
    std::size_t group = 0;
    std::uint64_t lba = 0, event = 0;
    /// Number of moments at which this difference was seen while no write was in flight.
    std::size_t moments = 1;
  };

  const std::string& name(DeviceId disk) const { return run_.header().devices[disk].name; }
  bool is_data(const RecordedWrite& write) const { return write.lba + write.sectors > data_from_; }
  void report(BrokenRule broken) {
    const auto same = std::ranges::count(broken_, broken.rule, &BrokenRule::rule);
    if (static_cast<std::size_t>(same) < kBrokenRulesMost) broken_.push_back(std::move(broken));
  }

  void check_answered(const RecordedMark& mark);
  void check_flushed(const RecordedMark& mark);
  Result<bool> is_commit_record(const RecordedWrite& write) const;
  Result<void> check_preflushes(const RecordedMark& begin);
  void check_preflush(DeviceId on, const RecordedWrite& record);
  void report_lost_zeroes(const RecordedMark& mark);
  Result<void> check_bitmaps();
  Result<void> check_bitmap(DeviceId disk);
  Result<void> check_journal();
  void check_forgotten(const RecordedWrite& record, const model::SectorRange& stripe);
  std::vector<Group> groups() const;
  std::vector<std::uint64_t> quiet_moments() const;
  Ranges written_between(std::uint64_t from, std::uint64_t to) const;
  Result<std::optional<std::uint64_t>> first_difference(const Group& group,
                                                        const model::SectorRange& range,
                                                        std::uint64_t event) const;
  Result<void> check_equality();
  void report(const Group& group, const Difference& difference);

  const RunHistory& run_;
  const std::uint64_t data_from_;
  const StackRules& rules_;
  std::vector<DeviceId> disks_;
  std::vector<BrokenRule> broken_;
};

void RuleCheck::check_answered(const RecordedMark& mark) {
  for (const DeviceId disk : disks_) {
    std::vector<model::RequestId> pending;
    for (const RecordedWrite& write : run_.writes(disk)) {
      if (write.submitted_event >= mark.event) break;
      const bool in_flight = !write.acked_event || *write.acked_event > mark.event;
      if (in_flight && is_data(write)) pending.push_back(write.request);
    }
    if (pending.empty()) continue;
    report({"answered-after-all", name(disk), mark.event, pending,
            fmt::format("at event {} (\"{}\"), a write to the stack has completed, but {} has not "
                        "completed request{} {}",
                        mark.event, mark.text, name(disk), pending.size() == 1 ? "" : "s",
                        fmt::join(pending, ", "))});
  }
}

void RuleCheck::check_flushed(const RecordedMark& mark) {
  for (const DeviceId disk : disks_) {
    const auto& writes = run_.writes(disk);
    std::vector<model::RequestId> unflushed;
    for (const std::size_t i : run_.unflushed_at(disk, mark.event))
      if (is_data(writes[i])) unflushed.push_back(writes[i].request);
    if (unflushed.empty()) continue;
    report({"flushed-on-all", name(disk), mark.event, unflushed,
            fmt::format("at event {} (\"{}\"), a flush of the stack has completed, but no flush of "
                        "{} covers request{} {}",
                        mark.event, mark.text, name(disk), unflushed.size() == 1 ? "" : "s",
                        fmt::join(unflushed, ", "))});
  }
}

Result<bool> RuleCheck::is_commit_record(const RecordedWrite& write) const {
  if (write.op != model::Op::write || write.bytes_at == 0 || !is_data(write)) return false;
  std::array<std::byte, model::kSectorBytes> first;
  TRY(run_.read_payload(write, 0, first));
  return std::memcmp(first.data(), kCommitRecord.data(), kCommitRecord.size()) == 0;
}

Result<void> RuleCheck::check_preflushes(const RecordedMark& begin) {
  std::size_t records = 0;
  for (const DeviceId disk : disks_)
    for (const RecordedWrite& write : run_.writes(disk)) {
      if (write.submitted_event < begin.event) continue;
      TRY(const bool is_record, is_commit_record(write));
      if (!is_record) continue;
      ++records;
      check_preflush(disk, write);
    }
  if (records != 0) return {};
  return fail(
      run_.path().string(), "the probe's commit records were not found on the disks",
      "set preflushed-on-all = false if the stack changes the data, for example by encryption");
}

/// Checks that every write that completed before the commit record `record` was submitted is
/// durable when the record reaches the disk `on`. Exempts writes to the sectors of the record on
/// any disk, because these may be other copies of the record, or its parity.
void RuleCheck::check_preflush(DeviceId on, const RecordedWrite& record) {
  const model::SectorRange place{record.lba, record.sectors};
  for (const DeviceId disk : disks_) {
    const auto& writes = run_.writes(disk);
    std::vector<model::RequestId> uncovered;
    for (const std::size_t i : run_.unflushed_at(disk, record.submitted_event)) {
      const RecordedWrite& write = writes[i];
      const bool completed = write.acked_event && *write.acked_event < record.submitted_event;
      const bool same_place = place.overlaps({write.lba, write.sectors});
      if (completed && !same_place && is_data(write)) uncovered.push_back(write.request);
    }
    if (uncovered.empty()) continue;
    report({"preflushed-on-all", name(disk), record.submitted_event, uncovered,
            fmt::format("at event {}, request {} (a write with a preflush) reaches {}, but no "
                        "completed flush of {} covers request{} {}",
                        record.submitted_event, record.request, name(on), name(disk),
                        uncovered.size() == 1 ? "" : "s", fmt::join(uncovered, ", "))});
  }
}

void RuleCheck::report_lost_zeroes(const RecordedMark& mark) {
  report({"zeroed-is-zero",
          name(disks_.front()),
          mark.event,
          {},
          fmt::format("at event {} (\"{}\"), the stack has zeroed a range, but a part of it "
                      "does not read as zeroes",
                      mark.event, mark.text)});
}

Result<void> RuleCheck::check_bitmaps() {
  for (const DeviceId disk : disks_) TRY(check_bitmap(disk));
  return {};
}

/// Checks that the bitmap of a disk marks the region of each write when the write is submitted.
Result<void> RuleCheck::check_bitmap(DeviceId disk) {
  TRY(const auto last, run_.image({.device = disk, .event = run_.events()}, disk));
  TRY(const auto bitmap, MdBitmap::find(last, run_.path().string() + ": " + name(disk)));
  for (const RecordedWrite& write : run_.writes(disk)) {
    if (!is_data(write)) continue;
    TRY(const auto durable,
        run_.image({.device = disk, .event = write.submitted_event, .keep_others = false}, disk));
    TRY(const auto unmarked, bitmap.first_unmarked(durable, {write.lba, write.sectors}));
    if (!unmarked) continue;
    report({"bitmap-marks-writes",
            name(disk),
            write.submitted_event,
            {write.request},
            fmt::format("at event {}, request {} reaches {}, but in its durable "
                        "write-intent bitmap, sector {} is not marked",
                        write.submitted_event, write.request, name(disk), *unmarked)});
  }
  return {};
}

Result<void> RuleCheck::check_journal() {
  std::array<std::byte, kMdPageBytes> block;
  for (const RecordedWrite& write : run_.writes(disks_.back())) {
    if (write.op != model::Op::write || write.bytes_at == 0 || !is_data(write)) continue;
    constexpr std::uint64_t kBlockSectors = kMdPageBytes / model::kSectorBytes;
    for (std::uint64_t at = 0; at + kBlockSectors <= write.sectors; at += kBlockSectors) {
      TRY(run_.read_payload(write, at, block));
      for (const std::uint64_t stripe : stripes_on_disks(block))
        check_forgotten(write, {data_from_ + stripe, kBlockSectors});
    }
  }
  return {};
}

/// Checks that the writes to `stripe` that completed before `record` was submitted to the journal
/// are durable.
void RuleCheck::check_forgotten(const RecordedWrite& record, const model::SectorRange& stripe) {
  for (const DeviceId disk : disks_) {
    if (disk == disks_.back()) continue;
    std::vector<model::RequestId> uncovered;
    for (const std::size_t i : run_.unflushed_at(disk, record.submitted_event)) {
      const RecordedWrite& write = run_.writes(disk)[i];
      if (stripe.overlaps({write.lba, write.sectors})) uncovered.push_back(write.request);
    }
    if (uncovered.empty()) continue;
    report({"journal-forgets-flushed", name(disk), record.submitted_event, uncovered,
            fmt::format("at event {}, request {} to the journal {} says that the stripe at sector "
                        "{} is on the disks, but no flush of {} covers request{} {}",
                        record.submitted_event, record.request, name(disks_.back()), stripe.lba,
                        name(disk), uncovered.size() == 1 ? "" : "s", fmt::join(uncovered, ", "))});
  }
}

std::vector<RuleCheck::Group> RuleCheck::groups() const {
  std::vector<Group> all;
  if (rules_.xor_is_zero) all.push_back({"xor-is-zero", disks_, true});
  if (rules_.mirror_width == 0) return all;
  for (std::size_t first = 0; first + rules_.mirror_width <= disks_.size();
       first += rules_.mirror_width) {
    const auto from = disks_.begin() + static_cast<std::ptrdiff_t>(first);
    all.push_back(
        {"mirror-width", {from, from + static_cast<std::ptrdiff_t>(rules_.mirror_width)}, false});
  }
  return all;
}

/// For each period in which no write is in flight on any disk, returns the event number of its end.
/// The last period may end with the recording.
std::vector<std::uint64_t> RuleCheck::quiet_moments() const {
  std::vector<std::pair<std::uint64_t, std::int64_t>> changes;
  for (const DeviceId disk : disks_)
    for (const RecordedWrite& write : run_.writes(disk)) {
      changes.emplace_back(write.submitted_event, 1);
      if (write.acked_event) changes.emplace_back(*write.acked_event, -1);
    }
  std::ranges::sort(changes);
  std::vector<std::uint64_t> moments;
  std::int64_t in_flight = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (in_flight == 0 && i > 0) moments.push_back(changes[i].first);
    in_flight += changes[i].second;
  }
  if (in_flight == 0) moments.push_back(run_.events());
  return moments;
}

/// Returns the data sectors that were written on any disk by the events [from, to), as disjoint
/// ranges.
RuleCheck::Ranges RuleCheck::written_between(std::uint64_t from, std::uint64_t to) const {
  Ranges ranges;
  for (const DeviceId disk : disks_) {
    const auto& writes = run_.writes(disk);
    for (auto write = std::ranges::lower_bound(writes, from, {}, &RecordedWrite::submitted_event);
         write != writes.end() && write->submitted_event < to; ++write) {
      const std::uint64_t first = std::max(write->lba, data_from_);
      if (is_data(*write)) ranges.push_back({first, write->lba + write->sectors - first});
    }
  }
  std::ranges::sort(ranges, {}, &model::SectorRange::lba);
  Ranges merged;
  for (const model::SectorRange& range : ranges) {
    if (!merged.empty() && range.lba <= merged.back().end()) {
      const std::uint64_t end = std::max(merged.back().end(), range.end());
      merged.back().sectors = end - merged.back().lba;
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

/// The disks of a group must hold related data, for example equal data. Returns the first sector of
/// `range` in which the data violates this rule after event number `event`; nullopt if the rule
/// holds.
Result<std::optional<std::uint64_t>> RuleCheck::first_difference(const Group& group,
                                                                 const model::SectorRange& range,
                                                                 std::uint64_t event) const {
  std::vector<states::StateImage> images;
  for (const DeviceId disk : group.disks) {
    TRY(auto image, run_.image({.device = disk, .event = event}, disk));
    images.push_back(std::move(image));
  }
  std::vector<std::byte> sum, one;
  for (std::uint64_t at = range.lba; at < range.end(); at += kComparedSectors) {
    const std::uint64_t sectors = std::min(kComparedSectors, range.end() - at);
    sum.assign(sectors * model::kSectorBytes, std::byte{0});
    one.resize(sum.size());
    bool differs = false;
    for (std::size_t i = 0; i < images.size(); ++i) {
      TRY(images[i].read(at, one));
      if (group.exclusive_or || i == 0) {
        std::ranges::transform(sum, one, sum.begin(), std::bit_xor<std::byte>());
      } else {
        differs |= one != sum;
      }
      if (!group.exclusive_or && differs) {
        const auto [ours, theirs] = std::ranges::mismatch(sum, one);
        return at + static_cast<std::uint64_t>(ours - sum.begin()) / model::kSectorBytes;
      }
    }
    const auto nonzero =
        std::ranges::find_if(sum, [](std::byte each) { return each != std::byte{0}; });
    if (group.exclusive_or && nonzero != sum.end())
      return at + static_cast<std::uint64_t>(nonzero - sum.begin()) / model::kSectorBytes;
  }
  return std::nullopt;
}

void RuleCheck::report(const Group& group, const Difference& difference) {
  BrokenRule broken{group.rule, name(group.disks.back()), difference.event, {}, {}};
  std::string last;
  for (const DeviceId disk : group.disks) {
    const RecordedWrite* newest = nullptr;
    for (const RecordedWrite& write : run_.writes(disk))
      if (write.submitted_event < difference.event && write.lba <= difference.lba &&
          difference.lba < write.lba + write.sectors)
        newest = &write;
    last += fmt::format("{}{} {}", last.empty() ? "" : ", ", name(disk),
                        newest == nullptr ? "none" : fmt::format("request {}", newest->request));
    if (newest == nullptr) broken.disk = name(disk);
    if (newest != nullptr) broken.requests.push_back(newest->request);
  }
  broken.text =
      fmt::format("at event {}, no write is in flight, but sector {} {}; last writes there: {}",
                  difference.event, difference.lba,
                  group.exclusive_or ? "has wrong parity: the XOR of all disks is not zero"
                                     : "differs between the copies",
                  last);
  report(std::move(broken));
}

Result<void> RuleCheck::check_equality() {
  const std::vector<Group> all = groups();
  std::vector<Difference> before;
  std::uint64_t from = 0;
  for (const std::uint64_t moment : quiet_moments()) {
    for (Difference known : std::exchange(before, {})) {
      TRY(const auto still, first_difference(all[known.group], {known.lba, 1}, moment));
      if (!still) continue;
      known.event = moment;
      if (++known.moments > all[known.group].disks.size()) {
        report(all[known.group], known);
      } else {
        before.push_back(known);
      }
    }
    for (const model::SectorRange& range : written_between(from, moment))
      for (std::size_t group = 0; group < all.size(); ++group) {
        TRY(const auto differs, first_difference(all[group], range, moment));
        if (differs) before.push_back({group, *differs, moment});
      }
    from = moment;
  }
  // At the end of the recording, the guest has submitted all writes. If the disks of a group still
  // differ, the rule is broken.
  for (const Difference& last : before)
    if (last.event == run_.events()) report(all[last.group], last);
  return {};
}

}  // namespace

Result<std::vector<BrokenRule>> check_stack_rules(const RunHistory& run, const StackRules& rules) {
  return RuleCheck(run, rules).check();
}

Result<std::vector<BrokenRule>> check_stack_rules(const std::filesystem::path& recording,
                                                  const StackRules& rules) {
  TRY(const auto run, RunHistory::load(recording));
  return check_stack_rules(*run, rules);
}

}  // namespace headcrash::explorer
