#pragma once
// How a request ended, for NBD and for the log; and which failures the log names.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace headcrash::emulation {

struct Answer {
  int error = 0;           ///< 0 or an errno
  const char* cause = "";  ///< why, when there is an error: a constant
};

/// A guest that continues with a disk that has failed sends thousands of requests: the log gets the 1st, 2nd,
/// 4th, 8th, ... failure of each cause on each export. May be called by several threads.
class FailureLog {
 public:
  /// The number of this failure when it is one that the log gets.
  std::optional<std::uint64_t> note(std::string_view export_name, std::string_view cause) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = ++failures_[{std::string(export_name), std::string(cause)}];
    return (number & (number - 1)) == 0 ? std::optional(number) : std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> failures_;
};

}  // namespace headcrash::emulation
