#pragma once
// A disk of plain bytes. Each request has the same latency and changes the store when it completes.
// Tests and crash exploration use this disk, because they create many disks per second and need no
// mechanical model. If the store has several devices (device_stores.h), the disk serves all of them
// with the same latency; DiskWindow (memory_machine.h) presents each device to a driver separately.

#include <array>
#include <deque>
#include <map>

#include "fs-adapters/substrate/os/block_device.h"
#include "fs-adapters/substrate/os/device_address.h"
#include "plugin/model/core/store.h"

namespace headcrash::os {

class MemoryDisk final : public BlockDevice, private model::EventTarget {
 public:
  /// Each request completes after `latency_ns` (0: in the next event). The referenced objects must
  /// outlive the disk, and the disk must outlive its requests.
  MemoryDisk(model::Simulation& simulation, model::SectorStore& store, model::TimeNs latency_ns)
      : simulation_(simulation), store_(store), latency_ns_(latency_ns) {}

  /// Switches the volatile write cache on or off; initially it is off. Cached writes reach the
  /// store with the next flush, and are lost if the power is cut before then. The cache must be
  /// empty when it is switched off.
  void write_cache(bool on);
  std::size_t cached_sectors() const { return cached_.size(); }

  std::uint64_t sectors() const override { return store_.sectors(); }
  bool volatile_cache() const override { return has_cache_; }
  void start(const BlockRequest& request, BlockDone& done) override;

  /// Drops the requests in flight. Each of them fails with power_lost, in a separate event.
  /// Requests that are started before power_on() fail in the same way.
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
  /// The write cache: written sectors that have not been flushed.
  std::map<std::uint64_t, std::array<std::byte, model::kSectorBytes>> cached_;
  /// Requests in flight; all have the same latency, so they complete in FIFO order.
  std::deque<Command> commands_;
};

}  // namespace headcrash::os
