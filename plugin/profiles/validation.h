#pragma once
// How near a profile comes to a real drive: measured requests replayed through the model, and two
// figures.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/disk/disk_profile.h"
#include "plugin/replay/request_source.h"

namespace headcrash::profiles {

/// All of a closed-loop trace (plugin/replay/trace_file.h). Errors name file and line.
Result<std::vector<replay::TraceRequest>> read_closed_trace(const std::string& path);

/// The model's response to each request; the next one comes when its own completion and the think
/// time are over. `profile.write_cache.on_by_default` says whether the drive reports writes at
/// once.
std::vector<model::TimeNs> replay_closed(const model::DiskProfile& profile,
                                         const std::vector<replay::TraceRequest>& trace);

struct Agreement {
  double measured_mean_ms = 0;
  double model_mean_ms = 0;
  double demerit_percent =
      0;  ///< RMS distance between the sorted response times, of the measured mean
  double within_1ms_percent = 0;  ///< requests whose own response is off by at most 1 ms
  std::size_t requests = 0;       ///< with a measured time
};

Agreement compare(std::span<const replay::TraceRequest> trace,
                  std::span<const model::TimeNs> responses);

}  // namespace headcrash::profiles
