#pragma once
// A flash device, SATA or NVMe: channels, LUNs, and a write buffer. A diagram in flash.cc shows the
// phases of a command.
//
// The model is simplified. For reads, the mapping is fixed (page p is on LUN p mod LUNs), while
// programs go to any free LUN. Wear is not modelled, and cleaning takes no time, except that each
// program includes a share of an erase. A program is not suspended for a read. There is no
// read-ahead. The host link transfers in one direction at a time.

#include <memory>
#include <optional>

#include "plugin/model/core/device.h"
#include "plugin/model/core/platter.h"
#include "plugin/model/faults/faults.h"
#include "plugin/model/flash/flash_profile.h"

namespace headcrash::model {

/// Options of a flash device. The objects that they refer to must outlive the device.
struct FlashOptions {
  const FlashProfile& profile;  ///< copied; must pass validate()
  Simulation& simulation;
  Observer& observer;
  SectorStore* store = nullptr;  ///< null if only timing matters
  DeviceId device = 0;
  std::uint64_t seed = 0;  ///< determines the state of the interrupted pages after a power cut
  /// If true, a write completes when it is in the buffer. If false, it completes once it has been
  /// programmed or is protected against power loss.
  bool write_cache = true;
  std::uint64_t sectors = 0;  ///< if not 0, the device has only its first `sectors` sectors
  DeviceFaults* faults = nullptr;
  std::optional<Tear> tear = {};  ///< nullopt for the profile's value
};

class Flash final : public Device {
 public:
  explicit Flash(const FlashOptions& options);
  ~Flash() override;

  const Characteristics& characteristics() const override;
  DeviceCounters counters() const override;
  /// Returns the time at which the device became idle. A device that is still programming is not
  /// idle. Returns nullopt while it is busy.
  std::optional<TimeNs> quiet_since() const override;
  void submit(const Request& request, Initiator& initiator) override;
  void power_cut() override;
  void power_on() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::model
