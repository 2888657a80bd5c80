#pragma once
// Generated requests: uniformly random positions, a share of reads, and optionally some sequential
// requests.
//
// Text form: KEY=VALUE,... with these keys (defaults in parentheses; only `count` is required):
//   count=N       number of requests
//   size=BYTES    size of each request (4K)
//   reads=SHARE   share of reads, 0 to 1 (1)
//   seed=N        seed of the random choices (1)
//   depth=N       number of requests in flight in a closed loop (1)
//   sequential=S  share of requests that continue where the previous one ended (0)
//   rate=X        instead of the closed loop: random (Poisson) arrivals, X per second

#include <string_view>

#include "plugin/base/random.h"
#include "plugin/replay/request_source.h"

namespace headcrash::replay {

struct RandomSpec {
  std::uint64_t count = 0;
  std::uint32_t blocks = 8;
  std::uint32_t depth = 1;
  std::uint64_t seed = 1;
  double reads = 1, sequential = 0;
  double rate = 0;  ///< arrivals per second; 0 for a closed loop
};
/// Parses the text form. Errors name the key.
Result<RandomSpec> parse_random(std::string_view text);

class RandomRequests final : public RequestSource {
 public:
  /// `sectors` is the size of the device; at least one request must fit on it.
  RandomRequests(const RandomSpec& spec, std::uint64_t sectors);
  Result<std::span<const TraceRequest>> next() override;
  bool closed_loop() const override { return spec_.rate == 0; }
  std::uint32_t loops() const override { return spec_.depth; }
  std::string subject(const TraceRequest& request) const override;

 private:
  bool chance(double share);

  RandomSpec spec_;
  std::uint64_t places_;  ///< number of positions that a request can have on the device
  Random random_;
  std::uint64_t made_ = 0;
  std::uint64_t next_place_ = 0;
  TimeNs arrival_ns_ = 0;
  std::vector<TraceRequest> chunk_;
};

}  // namespace headcrash::replay
