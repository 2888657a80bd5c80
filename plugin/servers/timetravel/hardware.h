#pragma once
// The hardware of a guest in virtual time: its disks, and the events of its machine.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "plugin/model/core/simulation.h"
#include "plugin/servers/timetravel/guest_disk.h"

namespace headcrash::timetravel {

/// All functions must be called on the calendar's thread.
class Hardware {
 public:
  virtual ~Hardware() = default;

  virtual std::size_t disk_count() const = 0;
  /// Returns the function that opens a disk for a client. REQUIRES: index < disk_count().
  virtual GuestDisk::Connect disk(std::size_t index) = 0;
  virtual GuestDisk::Connect marks() = 0;

  virtual model::TimeNs now() const = 0;
  virtual std::optional<model::TimeNs> next_event() const = 0;
  /// Runs the next event if it is due by `until`; otherwise advances time to `until`. Returns true
  /// if an event ran.
  virtual bool step(model::TimeNs until) = 0;

  virtual bool has_power() const = 0;
  virtual std::uint64_t power_cuts() const = 0;
};

}  // namespace headcrash::timetravel
