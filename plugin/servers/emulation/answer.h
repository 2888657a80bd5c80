#pragma once
// The result of a request. It is sent to the client and, if the request failed, also written to the
// log.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/model/core/device.h"

namespace headcrash::emulation {

struct Answer {
  int error = 0;           ///< 0 or an errno
  const char* cause = "";  ///< a string literal; empty if there is no error
};

/// Limits the number of log lines, because a guest that continues on a failed disk sends thousands
/// of requests. For each cause and disk, only the 1st, 2nd, 4th, 8th, ... failure is logged.
/// Thread-safe.
class FailureLog {
 public:
  /// Counts a failure. Returns its log line, such as "hd0: read of 8 sectors at 64 failed: cause
  /// (failure 4)". Returns nullopt if this failure is not to be logged.
  std::optional<std::string> note(std::string_view disk, const model::Request& request,
                                  std::string_view cause);
  /// Returns `answer.error`. If the error is not 0, counts the failure and passes the log line, if
  /// there is one, to `log`.
  int note(std::string_view disk, const model::Request& request, const Answer& answer,
           const std::function<void(const std::string&)>& log);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> failures_;
};

}  // namespace headcrash::emulation
