#pragma once
// Validates drive profiles: replays measured requests through the model and computes two measures
// of the error in their response times.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/disk/disk_profile.h"
#include "plugin/replay/request_source.h"

namespace headcrash::profiles {

/// Reads a whole closed-loop trace (plugin/replay/trace_file.h). Errors name the file and the line.
Result<std::vector<replay::TraceRequest>> read_closed_trace(const std::string& path);

/// Returns the model's response time for each request. A request is submitted when the previous
/// request has completed and the think time has passed. `profile.write_cache.on_by_default`
/// determines whether writes complete in the cache.
std::vector<model::TimeNs> replay_closed(const model::DiskProfile& profile,
                                         const std::vector<replay::TraceRequest>& trace);

struct Agreement {
  double measured_mean_ms = 0;
  double model_mean_ms = 0;
  /// RMS distance between the sorted measured and modelled response times, relative to the measured
  /// mean.
  double demerit_percent = 0;
  /// Percentage of requests whose modelled and measured response times differ by at most 1 ms.
  double within_1ms_percent = 0;
  std::size_t requests = 0;  ///< requests without a measured time are not counted
};

Agreement compare(std::span<const replay::TraceRequest> trace,
                  std::span<const model::TimeNs> responses);

}  // namespace headcrash::profiles
