#pragma once
// Reads the kernel's log at all levels as records arrive. The console shows only warnings and
// worse, and kernels log a replay at a lower level.

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin/base/descriptor.h"

namespace headcrash::guest {

class KernelLog {
 public:
  /// Starts at the current end of the log. If /dev/kmsg cannot be opened, for example because an
  /// ordinary user runs a test, the log stays empty.
  KernelLog();

  /// Returns the records that were logged since the last call, one on each line. If the records
  /// exceed 32 KiB, returns only the end.
  std::string take();
  void pass_over();

 private:
  base::Descriptor records_;
};

/// Returns the last `count` lines of a log, joined by "; ".
std::string last_lines(std::string_view log, std::size_t count);

}  // namespace headcrash::guest
