#pragma once
// Replays requests through a machine in virtual time and reports the result of each.
//
//   RequestSource --> arrival, or end of a think time --> host queue --> Machine --> completion
//                                                                          |
//   ReplayObserver <-- in order of arrival <-- window of requests in flight+
//
// The time is linear in the number of requests. The memory is one chunk of the source plus the
// requests in flight, which are limited: a device that falls too far behind an open trace ends the
// replay with an error.

#include <array>
#include <cstdint>
#include <functional>

#include "plugin/model/core/machine.h"
#include "plugin/replay/request_source.h"
#include "plugin/replay/response_times.h"

namespace headcrash::replay {

struct ReplayedRequest {
  std::uint64_t index = 0;  ///< position in arrival order, from 0
  TraceRequest request;
  TimeNs arrive_ns = 0, complete_ns = 0;
  model::Status status = model::Status::ok;
  model::Breakdown breakdown;
  TimeNs response_ns() const { return complete_ns - arrive_ns; }
};

class ReplayObserver {
 public:
  virtual ~ReplayObserver() = default;
  virtual void replayed(const ReplayedRequest& request) = 0;
};

struct ReplayOptions {
  std::uint32_t device_depth = 0;      ///< maximum number of requests at the device; 0 for no limit
  ReplayObserver* observer = nullptr;  ///< null if individual requests are not reported
  /// Called at intervals with the number of completed requests. The replay ends if it returns
  /// false.
  std::function<bool(std::uint64_t)> go_on;
};

/// Compares modelled response times with times measured on hardware. Covers all requests that have
/// a measured time.
struct Comparison {
  ResponseTimes measured, modelled;
  std::uint64_t within_1ms = 0;
  double error_sum_ns = 0;  ///< sum of (modelled - measured)

  double demerit() const;  ///< as a fraction of the mean of the measured times
};

struct ReplayTotals {
  std::uint64_t requests = 0, reads = 0, writes = 0, hits = 0;
  std::uint64_t failed = 0;  ///< number of requests whose status is not ok
  TimeNs end_ns = 0;         ///< time of the last completion
  ResponseTimes responses;
  Comparison comparison;
};

/// Replays all requests. Fails if the source fails, if a request is outside its device, or if a
/// device falls too far behind.
Result<ReplayTotals> replay(model::Machine& machine, RequestSource& source,
                            const ReplayOptions& options = {});

}  // namespace headcrash::replay
