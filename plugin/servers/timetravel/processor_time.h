#pragma once
// The processor time of a guest: of its process, and of the child processes that run its programs
// (user-mode Linux has one per address space). The values come from the host's clocks and differ
// from run to run.

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "plugin/base/result.h"

namespace headcrash::timetravel {

class ProcessorTime {
 public:
  /// Starts measuring a process; earlier time does not count. Fails if its clock cannot be read.
  static Result<ProcessorTime> of(pid_t process);

  /// Returns the nanoseconds since the last call. For a child that has ended since, the time after
  /// that call is lost.
  std::int64_t take_ns();

 private:
  explicit ProcessorTime(pid_t process) : process_(process) {}

  pid_t process_;
  std::map<pid_t, std::int64_t> used_ns_;  ///< of all current processes
};

}  // namespace headcrash::timetravel
