#pragma once
// Replays requests through a machine in virtual time and says how each of them fared.
//
//   RequestSource --> arrival, or end of a think time --> host queue --> Machine --> completion
//                                                                          |
//   ReplayObserver <-- in order of arrival <-- window of requests under way +
//
// Cost is linear in the number of requests; memory is that of one chunk of the source and of the
// requests under way, whose number is bounded: a device that falls further and further behind an
// open trace ends the replay with an error.

#include <array>
#include <cstdint>
#include <functional>

#include "plugin/model/core/machine.h"
#include "plugin/replay/host_queue.h"
#include "plugin/replay/request_source.h"
#include "plugin/replay/response_times.h"

namespace headcrash::replay {

struct ReplayedRequest {
  std::uint64_t index = 0;  ///< from 0, in order of arrival
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
  std::uint32_t device_depth = 0;  ///< requests that the host gives a device together; 0: all
  HostScheduler scheduler = HostScheduler::fcfs;
  ReplayObserver* observer = nullptr;  ///< null: nobody wants single requests
  std::function<bool(std::uint64_t)>
      go_on;  ///< asked now and then, with the requests done; false ends
};

/// The device's answers against what was measured on hardware, over all requests with a measured
/// time.
struct Comparison {
  ResponseTimes measured, modelled;
  std::uint64_t within_1ms = 0;
  double error_sum_ns = 0;  ///< modelled minus measured

  double demerit() const;  ///< share of the measured mean
};

struct ReplayTotals {
  std::uint64_t requests = 0, reads = 0, writes = 0, hits = 0;
  std::uint64_t failed = 0;  ///< with another status than ok
  TimeNs end_ns = 0;         ///< the last completion
  ResponseTimes responses;
  Comparison comparison;
};

/// Errors: those of the source; a request that does not lie on its device; a device that cannot
/// keep up.
Result<ReplayTotals> replay(model::Machine& machine, RequestSource& source,
                            const ReplayOptions& options = {});

}  // namespace headcrash::replay
