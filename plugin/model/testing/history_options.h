#pragma once
// Options for, and report of, a random history (history_check.h).

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "plugin/base/random.h"
#include "plugin/model/core/simulation.h"

namespace headcrash::model {

class HistoryCheck;

struct HistoryOptions {
  std::uint64_t seed = 1;
  int steps = 1500;
  std::size_t device_index = 0;  ///< index in the machine
  std::uint64_t first_lba = 0;   ///< the history stays in [first_lba, first_lba + sectors)
  std::uint64_t sectors = 160;
  std::uint32_t in_flight_max = 4;
  std::uint32_t request_sectors_max = 12;
  std::uint32_t large_request_sectors = 0;  ///< occasional large requests of this size; 0 for none
  std::uint64_t hot_sectors = 0;  ///< half of the requests begin in the first N sectors; 0 for none
  TimeNs pause_ns_max = 30 * kMillisecondNs;
  bool cuts = true;
  TimeNs off_ns_max = 0;  ///< from a cut to power-on
  /// in half of the cuts, the power returns before the losses are reported
  bool power_returns_soon = false;
  bool may_tear = true;  ///< false if a cut leaves whole versions only
  /// Returns true if an acknowledged write of the sector is durable without a flush. If empty, this
  /// is so only if the device has no volatile cache.
  std::function<bool(std::uint64_t lba)> durable_at_ack;
  bool unreadable_after_cut = false;  ///< for Tear::any or Tear::unreadable
  /// requests may complete with device_failed, whether executed or not
  bool may_fail = false;
  /// Called every few steps to add faults, fail members, ...
  std::function<void(HistoryCheck&, Random&)> mischief;
  /// Called before the history reads all sectors back, that is, after each power_on() and at the
  /// end. The read must succeed.
  std::function<void()> before_read_back;
};

struct HistoryReport {
  static constexpr std::size_t kViolationsKept = 20;
  std::vector<std::string> violations;  ///< the first few
  std::uint64_t violation_count = 0;
  std::uint64_t reads = 0, writes = 0, flushes = 0, trims = 0, cuts = 0;
  std::uint64_t torn_sectors = 0, unreadable_sectors = 0;
  /// number of sectors that lack their newest version after a cut
  std::uint64_t lost_versions = 0;
  std::uint64_t medium_errors = 0, failures = 0;

  bool clean() const { return violation_count == 0; }
  friend std::ostream& operator<<(std::ostream& out, const HistoryReport& r) {
    out << r.violation_count << " violations, " << r.reads << " reads, " << r.writes << " writes, "
        << r.cuts << " cuts";
    for (const std::string& v : r.violations) out << "\n  " << v;
    return out;
  }
};

}  // namespace headcrash::model
