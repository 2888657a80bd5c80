#include "plugin/profiles/stream_rates.h"

#include <algorithm>

#include "plugin/model/core/null_observer.h"
#include "plugin/profiles/build.h"
#include "plugin/replay/random_requests.h"
#include "plugin/replay/replay.h"

namespace headcrash::profiles {
namespace {

constexpr std::uint64_t kStreamSectors = 1U << 19;

/// Measures the last quarter of the requests: records the arrival time of its first request and the
/// completion time of its last.
class LastQuarter final : public replay::ReplayObserver {
 public:
  LastQuarter(std::uint64_t requests, std::uint32_t request_sectors)
      : first_(requests - requests / 4), request_sectors_(request_sectors) {}
  void replayed(const replay::ReplayedRequest& request) override {
    if (request.index == first_) begin_ns_ = request.arrive_ns;
    if (request.index >= first_) ++counted_;
    end_ns_ = request.complete_ns;
  }
  double bytes_per_second() const {
    const double seconds =
        static_cast<double>(end_ns_ - begin_ns_) / static_cast<double>(model::kSecondNs);
    return static_cast<double>(counted_ * request_sectors_ * model::kSectorBytes) / seconds;
  }

 private:
  std::uint64_t first_;
  std::uint32_t request_sectors_;
  std::uint64_t counted_ = 0;
  model::TimeNs begin_ns_ = 0, end_ns_ = 0;
};

Result<double> rate(const std::shared_ptr<const Stack>& stack, double reads,
                    std::uint32_t request_sectors) {
  TRY(const auto planned, plan({{"hd0", stack, std::nullopt, {}}}));
  model::NullObserver nobody;
  TRY(auto built, build(planned, nobody, {}));
  const std::uint64_t sectors = planned.all[0].sectors;
  replay::RandomSpec spec;
  spec.count = std::max<std::uint64_t>(std::min(sectors / 2, kStreamSectors) / request_sectors, 4);
  spec.blocks = request_sectors;
  spec.reads = reads;
  spec.sequential = 1;
  replay::RandomRequests source(spec, sectors);
  LastQuarter counted(spec.count, request_sectors);
  TRY(replay::replay(*built.machine, source, {.observer = &counted}));
  return counted.bytes_per_second();
}

}  // namespace

Result<StreamRates> stream_rates(const std::shared_ptr<const Stack>& stack,
                                 std::uint32_t request_sectors) {
  TRY(const auto read, rate(stack, 1, request_sectors));
  TRY(const auto write, rate(stack, 0, request_sectors));
  return StreamRates{read, write};
}

}  // namespace headcrash::profiles
