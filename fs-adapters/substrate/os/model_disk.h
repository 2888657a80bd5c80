#pragma once
// A device of an emulated machine, with the interface that a driver uses. Completions come from the
// machine's simulation, which must be the one that the VirtualClock drives. The machine's power
// cuts and faults appear as statuses. The disk must not be destroyed while a request is pending,
// unless the simulation will not run again.

#include <utility>
#include <vector>

#include "fs-adapters/substrate/os/block_device.h"
#include "plugin/model/core/machine.h"

namespace headcrash::os {

class ModelDisk final : public BlockDevice, private model::Initiator {
 public:
  explicit ModelDisk(model::Machine& machine, std::size_t device_index = 0)
      : machine_(machine), device_index_(device_index) {}

  std::uint64_t sectors() const override;
  bool volatile_cache() const override;
  void start(const BlockRequest& request, BlockDone& done) override;

 private:
  void completed(const model::Completion& completion) override;

  model::Machine& machine_;
  std::size_t device_index_;
  /// Requests in flight. There are only a few, because the driver limits the number of outstanding
  /// requests.
  std::vector<std::pair<model::RequestId, BlockDone*>> under_way_;
};

}  // namespace headcrash::os
