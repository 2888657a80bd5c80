#pragma once
// A disk that is only bytes: each request takes the same time, and is done, store included, at its
// end. For tests and for crash labs that want many disks a second and no mechanism. Where its store
// has several devices (device_stores.h) it is all of them behind one latency: disk_window.h shows a
// driver one each.

#include <array>
#include <deque>
#include <map>

#include "fs-adapters/substrate/os/block_device.h"
#include "fs-adapters/substrate/os/device_address.h"
#include "plugin/model/core/store.h"

namespace headcrash::os {

class MemoryDisk final : public BlockDevice, private model::EventTarget {
 public:
  /// `latency_ns` 0: complete in the next event. References must outlive the disk, and the disk its
  /// requests.
  MemoryDisk(model::Simulation& simulation, model::SectorStore& store, model::TimeNs latency_ns)
      : simulation_(simulation), store_(store), latency_ns_(latency_ns) {}

  /// A volatile write cache: what is written is in the store when a flush after it is complete, and
  /// lost with the power before. Off at first; it may not be switched off while it holds anything.
  void write_cache(bool on);
  std::size_t cached_sectors() const { return cached_.size(); }

  std::uint64_t sectors() const override { return store_.sectors(); }
  bool volatile_cache() const override { return has_cache_; }
  void start(const BlockRequest& request, BlockDone& done) override;

  /// What is under way is not done, and fails with power_lost in its own event, as does all that
  /// comes until the power is back.
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
  Result<void> write_through(const BlockRequest& request);
  Result<void> read(const BlockRequest& request) const;
  Result<void> flush(std::size_t device);

  model::Simulation& simulation_;
  model::SectorStore& store_;
  model::TimeNs latency_ns_;
  bool on_ = true;
  bool has_cache_ = false;
  std::map<std::uint64_t, std::array<std::byte, model::kSectorBytes>>
      cached_;                    ///< at most the whole disk
  std::deque<Command> commands_;  ///< equal latencies: completed in order
};

}  // namespace headcrash::os
