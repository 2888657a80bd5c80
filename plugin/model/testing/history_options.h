#pragma once
// The options of a random history and the report on it (history_check.h).

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
  std::size_t device_index = 0;
  std::uint64_t first_lba = 0;  ///< the history uses only [first_lba, first_lba + sectors)
  std::uint64_t sectors = 160;
  std::uint32_t in_flight_max = 4;
  std::uint32_t request_sectors_max = 12;
  std::uint32_t large_request_sectors = 0;  ///< occasional large requests of this size; 0 for none
  /// If not 0, half of the requests begin in the first `hot_sectors` sectors.
  std::uint64_t hot_sectors = 0;
  TimeNs pause_ns_max = 30 * kMillisecondNs;
  bool cuts = true;
  TimeNs off_ns_max = 0;  ///< maximum time from a cut to the power-on
  /// If true, after half of the cuts the power returns before the lost requests are answered.
  bool power_returns_soon = false;
  bool may_tear = true;  ///< if false, a torn sector after a power cut is a violation
  /// Returns true if a write to the sector is durable once it has been acknowledged, without a
  /// flush. If this function is empty, that holds only for devices without a volatile cache.
  std::function<bool(std::uint64_t lba)> durable_at_ack;
  bool unreadable_after_cut = false;  ///< a cut may leave unreadable sectors, as with Tear::any
  /// If true, requests may complete with device_failed, whether or not they were executed.
  bool may_fail = false;
  /// Called every few steps, for example to add faults or to make members fail.
  std::function<void(HistoryCheck&, Random&)> mischief;
  /// Called before the history reads all sectors back, that is, after each power_on() and at the
  /// end. The function must remove everything that would make these reads fail, such as faults.
  std::function<void()> before_read_back;
};

struct HistoryReport {
  static constexpr std::size_t kViolationsKept = 20;
  std::vector<std::string> violations;  ///< the first kViolationsKept violations
  std::uint64_t violation_count = 0;
  std::uint64_t reads = 0, writes = 0, flushes = 0, trims = 0, cuts = 0;
  std::uint64_t torn_sectors = 0, unreadable_sectors = 0;
  /// Number of sectors that lacked their newest version after a cut.
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
