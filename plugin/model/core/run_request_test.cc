// Tests that run_request() returns when the request is answered, or when no events are left.
#include "plugin/model/core/run_request.h"

#include <gtest/gtest.h>

#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

/// A device that answers each request only when the next request arrives.
class LateDevice final : public Device {
 public:
  explicit LateDevice(Simulation& simulation) : simulation_(simulation) {
    characteristics_.sectors = 8;
  }
  const Characteristics& characteristics() const override { return characteristics_; }
  DeviceCounters counters() const override { return {}; }
  std::optional<TimeNs> quiet_since() const override { return std::nullopt; }  // never called
  void submit(const Request& request, Initiator& initiator) override {
    if (waiting_ != nullptr)
      waiting_->completed({id_, Status::ok, simulation_.now(), simulation_.now(), {}});
    waiting_ = &initiator;
    id_ = request.id;
  }
  void power_cut() override {}
  void power_on() override {}

 private:
  Simulation& simulation_;
  Characteristics characteristics_;
  Initiator* waiting_ = nullptr;
  RequestId id_ = 0;
};

TEST(RunRequest, ReturnsWhenTheRequestCompletes) {
  bench::DiskFixture b(bench::kCacheOff);
  Request read;
  read.sectors = 1;
  EXPECT_EQ(run_request(b.machine, 0, read), Status::ok);
  b.machine.power_cut();
  EXPECT_EQ(run_request(b.machine, 0, read), Status::power_lost);
}

TEST(RunRequest, ReportsAMissingCompletionAndToleratesALateOne) {
  bench::LogObserver observer;
  Machine machine(observer);
  machine.add_device("late", std::make_unique<LateDevice>(machine.simulation()));
  Request flush;
  flush.op = Op::flush;
  EXPECT_FALSE(run_request(machine, 0, flush));
  bench::Host host;
  machine.submit(0, flush, host);  // makes the device answer the earlier request
  EXPECT_TRUE(host.done.empty());
}

}  // namespace
}  // namespace headcrash::model
