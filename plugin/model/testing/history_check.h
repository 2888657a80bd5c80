#pragma once
// Runs a random history of requests, faults and power cuts on a device or a stack of devices, and
// checks every answer against the rules of device.h. For tests. The check reports violations
// instead of asserting, so a test can also require that a faulty device is detected.
//
//   auto rig = ...;                          // a machine with the device, made from the seed
//   HistoryOptions options;
//   options.seed = seed;
//   const HistoryReport report = check_history(rig.machine, options);
//   EXPECT_TRUE(report.clean()) << report;
//
// The rules, for each sector. A write (write_zeroes, trim) has two instants: its submission and its
// acknowledgement. An unacknowledged write may or may not have happened. W is *overtaken* by V if W
// was acknowledged before V was submitted. If several writes are in flight together, any of them
// may be the last.
//
//   submit   |--W1--|     |--W2--|                 W1 is overtaken by W2
//   a read       |---------R1--------|             R1: base, W1 or W2;  R2: only W2 or W3
//                                   |--R2--|
//                          |------W3----->
//
//   a read returns     a version not overtaken by one acknowledged before the read's submission
//   is durable         a version acknowledged with FUA, or before an acknowledged flush was
//                      submitted, or by a device without a volatile cache
//   after a power cut  there is a version not overtaken by a durable one, or the first part of one
//                      such version and the end of another (torn), or, if the options allow it,
//                      medium_error if a write was in flight in the same physical sector
//   medium_error       only if a sector is known to be bad and no later write was acknowledged
//
// Every sector of every write has distinct contents (a hash of version and LBA, repeated), so
// misplaced data is always detected.

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/base/random.h"
#include "plugin/model/core/machine.h"
#include "plugin/model/testing/history_options.h"
#include "plugin/model/testing/sector_bytes.h"

namespace headcrash::model {

class HistoryCheck final : public Initiator {
 public:
  HistoryCheck(Machine& machine, HistoryOptions options)
      : machine_(machine),
        options_(std::move(options)),
        random_(options_.seed * 0x2545f4914f6cdd1dU + 1),
        traits_(machine.device(options_.device_index).characteristics()),
        sectors_(options_.sectors) {
    for (Sector& s : sectors_) s.versions.push_back({});
  }

  HistoryReport run() {
    for (int i = 0; i < options_.steps && may_continue(); ++i) {
      if (machine_.power() == PowerState::off) recover();
      const std::uint64_t dice = random_.below(1000);
      if (dice < 450 && pending_.size() < options_.in_flight_max) {
        submit();
      } else if (dice < 900) {
        step();
      } else if (dice < 970) {
        const auto pause =
            static_cast<TimeNs>(random_.below(static_cast<std::uint64_t>(options_.pause_ns_max)));
        run_for(pause);
      } else if (dice < 990 && options_.cuts) {
        arm_or_cut();
      } else if (options_.mischief) {
        options_.mischief(*this, random_);
      }
    }
    machine_.disarm();
    answer_all();
    if (machine_.power() == PowerState::on && options_.cuts) machine_.power_cut();
    machine_.power() == PowerState::off ? recover() : read_back();
    if (events_ == kEventsMax) violation("the device never becomes idle");
    return report_;
  }

  /// Notes that a fault has made sectors bad. Reads of these sectors may fail until they are
  /// written.
  void expect_bad(std::uint64_t lba, std::uint64_t count) {
    ++clock_;
    for (std::uint64_t at = lba; at < lba + count; ++at) {
      if (at < options_.first_lba || at - options_.first_lba >= sectors_.size()) continue;
      Sector& s = sectors_[at - options_.first_lba];
      s.bad = true;
      s.bad_since = clock_;
    }
  }

 private:
  using Instant = std::uint64_t;  ///< number of submissions and answers so far
  static constexpr Instant kNotYet = ~Instant{0};
  /// Limit on the events of a history, in case the device never becomes idle. A normal history has
  /// some tens of thousands of events.
  static constexpr int kEventsMax = 500'000;

  struct Version {
    Instant submitted = 0;
    Instant acknowledged = 0;
    RequestId write = 0;
    std::uint64_t stamp = 0;  ///< stamp that identifies the version; 0 for zeroes
    /// Bytes of a version that was found after a cut. The bytes of any other version follow from
    /// its stamp.
    std::vector<std::byte> bytes;
    bool unreadable = false;
    bool durable = true;
  };
  struct Sector {
    std::vector<Version> versions;
    bool bad = false;
    Instant bad_since = 0;
  };
  struct Pending {
    Request request;
    std::vector<std::byte> buffer;
    Instant submitted = 0;
    std::uint64_t cuts_before = 0;
    /// For a read, by sector: the latest submission among the writes that had been acknowledged
    /// before the read was submitted. The read must not return a version that was acknowledged
    /// before that submission.
    std::vector<Instant> barriers;
  };

  bool may_continue() const { return events_ < kEventsMax && report_.violation_count < 100; }

  /// Runs the next event. Returns false if there are no more events or the limit has been reached.
  bool step() {
    if (events_ == kEventsMax || !machine_.simulation().run_next()) return false;
    ++events_;
    return true;
  }
  void run_for(TimeNs ns) {
    Simulation& simulation = machine_.simulation();
    const TimeNs until = simulation.now() + ns;
    while (simulation.next_event().value_or(kNever) <= until)
      if (!step()) return;
    simulation.run_until(until);
  }

  void violation(std::string text) {
    ++report_.violation_count;
    if (report_.violations.size() < HistoryReport::kViolationsKept)
      report_.violations.push_back(
          fmt::format("at {} ns: {}", machine_.simulation().now(), std::move(text)));
  }

  // ---- bytes

  /// Returns the word that fills the sector in this version; 0 for zeroes.
  static std::uint64_t word_of(std::uint64_t stamp, std::uint64_t lba) {
    return stamp == 0 ? 0 : Random(stamp * 0x9e3779b97f4a7c15U ^ lba).next();
  }
  static void fill(std::span<std::byte> sector, std::uint64_t stamp, std::uint64_t lba) {
    bench::fill_with(sector, word_of(stamp, lba));
  }
  std::vector<std::byte> bytes_of(const Version& version, std::uint64_t lba) const {
    if (!version.bytes.empty()) return version.bytes;
    std::vector<std::byte> bytes(kSectorBytes);
    fill(bytes, version.stamp, lba);
    return bytes;
  }
  static bool is(const Version& version, std::uint64_t lba, std::span<const std::byte> seen) {
    if (!version.bytes.empty()) return bench::same_bytes(seen, version.bytes);
    return bench::is_filled_with(seen, word_of(version.stamp, lba));
  }

  // ---- submitting

  void submit() {
    auto pending = std::make_unique<Pending>();
    Request& r = pending->request;
    const std::uint64_t dice = random_.below(100);
    r.op = dice < 35   ? Op::read
           : dice < 77 ? Op::write
           : dice < 85 ? Op::write_zeroes
           : dice < 90 ? Op::trim
                       : Op::flush;
    if (r.op != Op::flush) {
      const bool large = options_.large_request_sectors > 0 && random_.below(20) == 0;
      const std::uint64_t length =
          large ? options_.large_request_sectors : 1 + random_.below(options_.request_sectors_max);
      r.sectors = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, sectors_.size()));
      const std::uint64_t places = sectors_.size() - r.sectors + 1;
      const bool hot = options_.hot_sectors > 0 && random_.below(2) == 0;
      r.lba =
          options_.first_lba + random_.below(hot ? std::min(places, options_.hot_sectors) : places);
    }
    r.fua = (r.op == Op::write || r.op == Op::write_zeroes) && random_.below(6) == 0;
    pending->submitted = ++clock_;
    pending->cuts_before = machine_.power_cuts();
    if (r.op == Op::read) prepare_read(*pending);
    const bool changes =
        r.op == Op::write || r.op == Op::write_zeroes || (r.op == Op::trim && traits_.trim);
    const std::uint64_t stamp = r.op == Op::write ? ++last_stamp_ : 0;
    if (r.op == Op::write) prepare_write(*pending, stamp);

    Pending& kept = *pending;
    const RequestId id = next_id(std::move(pending));
    if (changes) {
      for (std::uint64_t at = r.lba; at < r.lba + kept.request.sectors; ++at) {
        Sector& s = sector(at);
        s.versions.push_back({kept.submitted, kNotYet, id, stamp, {}, false, false});
      }
    }
  }

  /// Submits the request, stores it under its id and returns the id.
  RequestId next_id(std::unique_ptr<Pending> pending) {
    Pending& kept = *pending;
    const RequestId id = machine_.submit(options_.device_index, kept.request, *this);
    pending_.emplace(id, std::move(pending));
    return id;
  }

  void prepare_read(Pending& pending) {
    Request& r = pending.request;
    pending.buffer.resize(std::size_t{r.sectors} * kSectorBytes);
    r.into = pending.buffer;
    for (std::uint64_t at = r.lba; at < r.lba + r.sectors; ++at) {
      Instant barrier = 0;
      for (const Version& v : sector(at).versions)
        if (v.acknowledged != kNotYet) barrier = std::max(barrier, v.submitted);
      pending.barriers.push_back(barrier);
    }
  }

  static void prepare_write(Pending& pending, std::uint64_t stamp) {
    Request& r = pending.request;
    pending.buffer.resize(std::size_t{r.sectors} * kSectorBytes);
    for (std::uint64_t i = 0; i < r.sectors; ++i)
      fill(std::span(pending.buffer).subspan(i * kSectorBytes, kSectorBytes), stamp, r.lba + i);
    r.data = pending.buffer;
  }

  Sector& sector(std::uint64_t lba) { return sectors_[lba - options_.first_lba]; }

  // ---- answers

  void completed(const Completion& completion) override {
    const auto node = pending_.extract(completion.id);
    if (node.empty()) return violation(fmt::format("request {} was answered twice", completion.id));
    const Pending& pending = *node.mapped();
    const Request& r = pending.request;
    ++clock_;
    switch (completion.status) {
      case Status::ok:
        break;
      case Status::power_lost:
        if (machine_.power_cuts() == pending.cuts_before)
          violation("a request was lost without a power cut");
        return;
      case Status::medium_error:
        ++report_.medium_errors;
        if (r.op != Op::read || !may_be_bad(pending))
          violation(
              fmt::format("medium_error for {}+{}, where no sector is bad", r.lba, r.sectors));
        return;
      case Status::device_failed:
        ++report_.failures;
        if (!options_.may_fail) violation("the device failed");
        return;
      default:
        return violation(
            fmt::format("a request ended with status {}", static_cast<int>(completion.status)));
    }
    if (r.op == Op::read) {
      ++report_.reads;
      check_read(pending);
    } else if (r.op == Op::flush) {
      ++report_.flushes;
      flushed(pending.submitted);
    } else {
      ++(r.op == Op::trim ? report_.trims : report_.writes);
      acknowledged(completion.id, r);
    }
  }

  void acknowledged(RequestId id, const Request& r) {
    for (std::uint64_t at = r.lba; at < r.lba + r.sectors; ++at) {
      for (Version& v : sector(at).versions) {
        if (v.write != id) continue;
        v.acknowledged = clock_;
        if (r.fua || is_durable_at_ack(at)) make_durable(sector(at), v);
      }
    }
  }

  bool is_durable_at_ack(std::uint64_t lba) const {
    return options_.durable_at_ack ? options_.durable_at_ack(lba) : !traits_.volatile_cache;
  }

  void flushed(Instant submitted) {
    for (Sector& s : sectors_)
      for (Version& v : s.versions)
        if (v.acknowledged < submitted) make_durable(s, v);
  }

  static void make_durable(Sector& s, Version& v) {
    v.durable = true;
    if (v.submitted > s.bad_since) s.bad = false;
  }

  bool may_be_bad(const Pending& pending) {
    for (std::uint32_t i = 0; i < pending.request.sectors; ++i) {
      const Sector& s = sector(pending.request.lba + i);
      if (s.bad && pending.barriers[i] <= s.bad_since) return true;
      for (const Version& v : s.versions)
        if (v.unreadable && v.acknowledged >= pending.barriers[i]) return true;
    }
    return false;
  }

  void check_read(const Pending& pending) {
    for (std::uint32_t i = 0; i < pending.request.sectors; ++i) {
      const std::uint64_t lba = pending.request.lba + i;
      const auto seen =
          std::span(pending.buffer).subspan(std::size_t{i} * kSectorBytes, kSectorBytes);
      const auto& all = sector(lba).versions;
      const bool allowed = std::any_of(all.begin(), all.end(), [&](const Version& v) {
        return v.acknowledged >= pending.barriers[i] && !v.unreadable && is(v, lba, seen);
      });
      if (!allowed) {
        violation(fmt::format("sector {} read as {}", lba, describe(lba, seen)));
      } else {
        decide(sector(lba).versions, lba, seen, pending);
      }
    }
  }

  /// Fixes the order of writes that were in flight together, if a read shows which of them was the
  /// last. Does nothing if a write is still in flight, or if two versions have the same contents.
  void decide(std::vector<Version>& all, std::uint64_t lba, std::span<const std::byte> seen,
              const Pending& pending) {
    Version* last = nullptr;
    Instant others = 0;
    for (Version& v : all) {
      if (v.acknowledged == kNotYet || v.acknowledged >= pending.submitted || v.unreadable) return;
      if (!is(v, lba, seen)) {
        others = std::max(others, v.acknowledged);
      } else if (last != nullptr) {
        return;
      } else {
        last = &v;
      }
    }
    if (last == nullptr || all.size() == 1) return;
    last->submitted = std::max(last->submitted, others + 1);
    last->acknowledged = std::max(last->acknowledged, last->submitted);
  }

  std::string describe(std::uint64_t lba, std::span<const std::byte> seen) {
    std::string known;
    for (const Version& v : sector(lba).versions) {
      if (v.unreadable || !is(v, lba, seen)) continue;
      known = fmt::format("an older version than it may (write {} of {} versions)", v.write,
                          sector(lba).versions.size());
    }
    return known.empty() ? "something that was never written there" : known;
  }

  // ---- power

  void arm_or_cut() {
    CutTrigger trigger;
    const std::uint64_t kind = random_.below(6);
    trigger.kind = kind == 0   ? CutTrigger::Kind::after_requests
                   : kind == 1 ? CutTrigger::Kind::after_writes
                   : kind == 2 ? CutTrigger::Kind::at_flush
                   : kind == 3 ? CutTrigger::Kind::at_lba
                               : CutTrigger::Kind::after_time;
    trigger.count = 1 + random_.below(4);
    trigger.delay_ns = static_cast<TimeNs>(random_.below(10 * kMillisecondNs));
    trigger.lba = options_.first_lba + random_.below(sectors_.size());
    if (kind == 5 || !machine_.arm(trigger)) machine_.power_cut();
  }

  void answer_all() {
    while (!pending_.empty() && step()) {
    }
    if (pending_.empty()) return;
    violation(fmt::format("{} requests were never answered", pending_.size()));
    pending_.clear();
  }

  void recover() {
    const bool soon = options_.power_returns_soon && random_.below(2) == 0;
    if (!soon) answer_all();
    if (options_.off_ns_max > 0) {
      const auto off =
          static_cast<TimeNs>(random_.below(static_cast<std::uint64_t>(options_.off_ns_max)));
      run_for(off);
    }
    ++report_.cuts;
    machine_.power_on();
    run_for(0);
    if (soon) answer_all();
    read_back();
  }

  /// Reads all sectors. Later reads are checked against the contents that this function has read.
  void read_back() {
    if (options_.before_read_back) options_.before_read_back();
    open_.assign(sectors_.size(), false);
    for (std::size_t i = 0; i < sectors_.size(); ++i)
      open_[i] = std::any_of(sectors_[i].versions.begin(), sectors_[i].versions.end(),
                             [](const Version& v) { return !v.durable; });
    // Number of sectors in each read. Reads of single sectors would use up most of the event limit.
    constexpr std::uint64_t kTogether = 16;
    std::vector<std::byte> bytes(kTogether * kSectorBytes);
    for (std::uint64_t i = 0; i < sectors_.size() && may_continue(); i += kTogether) {
      const auto all = std::span(bytes).first(std::min(kTogether, sectors_.size() - i) *
                                              std::size_t{kSectorBytes});
      const bool readable = read_now(options_.first_lba + i, all) == Status::ok;
      for (std::uint64_t k = 0; k * kSectorBytes < all.size() && may_continue(); ++k)
        inspect(i + k, all.subspan(k * kSectorBytes, kSectorBytes), readable);
    }
  }

  void inspect(std::uint64_t index, std::span<std::byte> bytes, bool is_read) {
    const std::uint64_t lba = options_.first_lba + index;
    const Status status = is_read ? Status::ok : read_now(lba, bytes);
    if (status == Status::ok || status == Status::medium_error)
      judge(sectors_[index], lba, status, bytes);
    else
      violation(fmt::format("sector {} cannot be read after the power came back", lba));
  }

  Status read_now(std::uint64_t lba, std::span<std::byte> into) {
    struct Waiter final : Initiator {
      void completed(const Completion& completion) override { status = completion.status; }
      std::optional<Status> status;
    };
    auto& waiter = waiters_.emplace_back(std::make_unique<Waiter>());
    auto& mine = static_cast<Waiter&>(*waiter);
    Request read;
    read.op = Op::read;
    read.lba = lba;
    read.sectors = static_cast<std::uint32_t>(into.size() / kSectorBytes);
    read.into = into;
    machine_.submit(options_.device_index, read, mine);
    while (!mine.status && step()) {
    }
    const auto status = mine.status;
    if (status) waiters_.pop_back();  // otherwise the waiter is kept for a late answer
    return status.value_or(Status::device_failed);
  }

  void judge(Sector& s, std::uint64_t lba, Status status, std::span<const std::byte> seen) {
    Instant barrier = 0;
    for (const Version& v : s.versions)
      if (v.durable) barrier = std::max(barrier, v.submitted);
    Version left;
    if (status == Status::medium_error) {
      ++report_.unreadable_sectors;
      if (!may_be_left_unreadable(s, lba, barrier))
        violation(fmt::format("sector {} is unreadable", lba));
      left.unreadable = true;
    } else {
      check_left(s, lba, seen, barrier);
      left.bytes.assign(seen.begin(), seen.end());
      s.bad = false;
    }
    s.versions.assign(1, std::move(left));
  }

  bool may_be_left_unreadable(const Sector& s, std::uint64_t lba, Instant barrier) {
    if (s.bad) return true;
    for (const Version& v : s.versions)
      if (v.unreadable && v.acknowledged >= barrier) return true;
    if (!options_.unreadable_after_cut) return false;
    const std::uint64_t physical = traits_.physical_sector_sectors;
    const std::uint64_t begin = lba - lba % physical;
    for (std::uint64_t at = begin; at < begin + physical; ++at) {
      if (at < options_.first_lba || at - options_.first_lba >= sectors_.size()) continue;
      if (open_[at - options_.first_lba]) return true;
    }
    return false;
  }

  void check_left(const Sector& s, std::uint64_t lba, std::span<const std::byte> seen,
                  Instant barrier) {
    const Version& newest = s.versions.back();
    report_.lost_versions += newest.unreadable || is(newest, lba, seen) ? 0 : 1;
    if (std::any_of(s.versions.begin(), s.versions.end(), [&](const Version& v) {
          return v.acknowledged >= barrier && !v.unreadable && is(v, lba, seen);
        }))
      return;
    if (!options_.may_tear) return violation(fmt::format("a cut tore sector {}", lba));
    std::vector<std::vector<std::byte>> allowed;
    // If the sector was unreadable before the write, any bytes may follow the new prefix.
    bool anything = false;
    for (const Version& v : s.versions) {
      if (v.acknowledged < barrier) continue;
      v.unreadable ? void(anything = true) : allowed.push_back(bytes_of(v, lba));
    }
    for (const auto& fresh : allowed) {
      const std::size_t prefix = bench::common_prefix(seen, fresh);
      const bool fits =
          prefix > 0 &&
          (anything || std::any_of(allowed.begin(), allowed.end(), [&](const auto& old) {
             return bench::same_bytes(seen.subspan(prefix), std::span(old).subspan(prefix));
           }));
      if (!fits) continue;
      ++report_.torn_sectors;
      return;
    }
    violation(fmt::format("a cut left sector {} with {}", lba, describe(lba, seen)));
  }

  Machine& machine_;
  HistoryOptions options_;
  Random random_;
  Characteristics traits_;
  std::vector<Sector> sectors_;
  std::map<RequestId, std::unique_ptr<Pending>> pending_;
  std::vector<std::unique_ptr<Initiator>> waiters_;
  /// For each sector: true if the sector had versions that were not durable when the last
  /// read_back() began.
  std::vector<bool> open_;
  Instant clock_ = 0;
  std::uint64_t last_stamp_ = 0;
  int events_ = 0;
  HistoryReport report_;
};

inline HistoryReport check_history(Machine& machine, HistoryOptions options) {
  return HistoryCheck(machine, std::move(options)).run();
}

}  // namespace headcrash::model
