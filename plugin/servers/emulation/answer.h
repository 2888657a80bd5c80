#pragma once
// How a request ended, for its client and for the log; and which failures the log names.

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
  const char* cause = "";  ///< why, when there is an error: a constant
};

/// A guest that continues with a disk that has failed sends thousands of requests: the log gets the
/// 1st, 2nd, 4th, 8th, ... failure of each cause on each disk. May be called by several threads.
class FailureLog {
 public:
  /// What the log gets of this failure, if anything: "hd0: read of 8 sectors at 64 failed: cause
  /// (number 4)".
  std::optional<std::string> note(std::string_view disk, const model::Request& request,
                                  std::string_view cause);
  /// The answer's error; what is noted of it goes to `log`.
  int note(std::string_view disk, const model::Request& request, const Answer& answer,
           const std::function<void(const std::string&)>& log);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> failures_;
};

}  // namespace headcrash::emulation
