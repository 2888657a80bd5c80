#pragma once
// A device for pacer tests. It serves requests concurrently. The first sector of a request
// determines how long the request takes: sector N takes N microseconds.

#include <map>

#include "plugin/model/core/machine.h"

namespace headcrash::emulation {

class FixedDelayDevice : public model::Device, public model::EventTarget {
 public:
  explicit FixedDelayDevice(model::Machine& machine) : machine_(machine) {
    characteristics_.profile = "fixed-delay";
    characteristics_.sectors = 1ULL << 40;
  }
  const model::Characteristics& characteristics() const override { return characteristics_; }
  model::DeviceCounters counters() const override { return {}; }
  // Never called.
  std::optional<model::TimeNs> quiet_since() const override { return std::nullopt; }
  void submit(const model::Request& request, model::Initiator& initiator) override {
    inside_[request.id] = {&initiator, machine_.simulation().now()};
    const auto delay = off_ ? 0 : static_cast<model::TimeNs>(request.lba) * model::kMicrosecondNs;
    machine_.simulation().schedule(machine_.simulation().now() + delay, *this, request.id);
  }
  void power_cut() override {
    off_ = true;
    for (const auto& [id, request] : inside_)
      machine_.simulation().schedule(machine_.simulation().now(), *this, id);
  }
  void power_on() override { off_ = false; }
  void on_event(std::uint64_t tag) override {
    const auto found = inside_.find(tag);
    if (found == inside_.end()) return;  // a cut has already aborted the request
    const PendingRequest request = found->second;
    inside_.erase(found);
    model::Completion completion;
    completion.id = tag;
    completion.status = off_ ? model::Status::power_lost : model::Status::ok;
    completion.submitted_at = request.submitted_at;
    completion.completed_at = machine_.simulation().now();
    request.initiator->completed(completion);
  }

 private:
  struct PendingRequest {
    model::Initiator* initiator;
    model::TimeNs submitted_at;
  };
  model::Machine& machine_;
  model::Characteristics characteristics_;
  std::map<std::uint64_t, PendingRequest> inside_;
  bool off_ = false;
};

}  // namespace headcrash::emulation
