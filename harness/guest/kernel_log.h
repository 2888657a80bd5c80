#pragma once
// Reads the kernel's log at all levels as it arrives. The console shows only warnings; a replay is
// logged at a lower level.

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin/base/descriptor.h"

namespace headcrash::guest {

class KernelLog {
 public:
  /// Begins at the current end of the log. If /dev/kmsg cannot be opened, for example in a test run
  /// by an ordinary user, the log stays empty.
  KernelLog();

  /// Returns the records logged since the last call, one per line. Returns at most the last 32 KiB.
  std::string take();
  void pass_over();

 private:
  base::Descriptor records_;
};

/// Returns a log's last `count` lines as one line, separated by "; ".
std::string last_lines(std::string_view log, std::size_t count);

}  // namespace headcrash::guest
