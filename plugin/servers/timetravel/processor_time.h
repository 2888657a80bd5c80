#pragma once
// The processor time of a guest: of its process, and of the children that it runs its programs as
// (user-mode Linux has one for each address space). From the host's clocks: what is read depends on
// the host, and differs from run to run.

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "plugin/base/result.h"

namespace headcrash::timetravel {

class ProcessorTime {
 public:
  /// What the process has used before does not count. Error: its clock cannot be read.
  static Result<ProcessorTime> of(pid_t process);

  /// Nanoseconds since the last call. A child that has ended since then has used what it had used
  /// at that call.
  std::int64_t take_ns();

 private:
  explicit ProcessorTime(pid_t process) : process_(process) {}

  pid_t process_;
  std::map<pid_t, std::int64_t> used_ns_;  ///< of all that are there
};

}  // namespace headcrash::timetravel
