#pragma once
// The kernel's log as it comes, of every level: the console shows warnings only, and a replay is
// told of below that.

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin/base/descriptor.h"

namespace headcrash::guest {

class KernelLog {
 public:
  /// From now on. Without /dev/kmsg (a test on the host as an ordinary user) the log stays empty.
  KernelLog();

  /// What was logged since the last call, one record a line, at most its last 32 KiB.
  std::string take();
  void pass_over();

 private:
  base::Descriptor records_;
};

/// The last `count` lines of a log as one line, separated by "; ".
std::string last_lines(std::string_view log, std::size_t count);

}  // namespace headcrash::guest
