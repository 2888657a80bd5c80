#pragma once
// The processor time of a guest: of its main process, and of the child processes that run its
// programs (user-mode Linux has one child per address space). The values come from the host's
// clocks and differ from run to run.

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "plugin/base/result.h"

namespace headcrash::timetravel {

class ProcessorTime {
 public:
  /// Starts measuring a process. Processor time that it used earlier is ignored. Fails if the
  /// process's clock cannot be read.
  static Result<ProcessorTime> of(pid_t process);

  /// Returns the nanoseconds used since the last call. If a child has exited since then, the time
  /// that it used between the last call and its exit is lost.
  std::int64_t take_ns();

 private:
  explicit ProcessorTime(pid_t process) : process_(process) {}

  pid_t process_;
  std::map<pid_t, std::int64_t> used_ns_;  ///< processor time of each process that currently exists
};

}  // namespace headcrash::timetravel
