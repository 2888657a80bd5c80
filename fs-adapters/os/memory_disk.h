#pragma once
// A disk that is only bytes: each request takes the same time, and is done, store included, at its end. For
// tests and for crash labs that want many disks a second and no mechanism.

#include <deque>

#include "fs-adapters/os/block_device.h"
#include "plugin/model/store.h"

namespace headcrash::os {

class MemoryDisk final : public BlockDevice, private model::EventTarget {
 public:
  /// `latency_ns` 0: complete in the next event. References must outlive the disk, and the disk its requests.
  MemoryDisk(model::Simulation& simulation, model::SectorStore& store, model::TimeNs latency_ns)
      : simulation_(simulation), store_(store), latency_ns_(latency_ns) {}

  std::uint64_t sectors() const override { return store_.sectors(); }
  bool volatile_cache() const override { return false; }
  void start(const BlockRequest& request, BlockDone& done) override;

  /// What is under way is not done, and fails with power_lost in its own event, as does all that comes until
  /// the power is back.
  void power_cut();
  void power_on() { on_ = true; }

 private:
  struct Command {
    BlockRequest request;
    BlockDone* done = nullptr;
    bool lost = false;
  };
  void on_event(std::uint64_t tag) override;
  model::Status serve(const BlockRequest& request);

  model::Simulation& simulation_;
  model::SectorStore& store_;
  model::TimeNs latency_ns_;
  bool on_ = true;
  std::deque<Command> commands_;  ///< equal latencies: completed in order
};

}  // namespace headcrash::os
