#pragma once
// A flash device, SATA or NVMe: channels, LUNs, a write buffer. How a command goes through it is
// drawn in flash.cc.
//
// What it leaves out, so that nobody looks for it: the mapping is fixed (page p lies on LUN p mod
// LUNs) for reads, while programs go to whatever LUN is free; cleaning and wear cost nothing beyond
// the share of an erase that each program pays; a program is not suspended for a read; reads ahead
// of time do not happen; the link to the host carries one direction at a time.

#include <memory>
#include <optional>

#include "plugin/model/core/device.h"
#include "plugin/model/core/platter.h"
#include "plugin/model/faults/faults.h"
#include "plugin/model/flash/flash_profile.h"

namespace headcrash::model {

/// References must outlive the device.
struct FlashOptions {
  const FlashProfile& profile;  ///< copied; validate() holds
  Simulation& simulation;
  Observer& observer;
  SectorStore* store = nullptr;  ///< null: no bytes, only times
  DeviceId device = 0;
  std::uint64_t seed = 0;     ///< decides what a power cut leaves of pages being programmed
  bool write_cache = true;    ///< false: a write is complete when it is programmed (or protected)
  std::uint64_t sectors = 0;  ///< expose only the first N; 0: all
  DeviceFaults* faults = nullptr;
  std::optional<Tear> tear = {};  ///< none: as the profile says
};

class Flash final : public Device {
 public:
  explicit Flash(const FlashOptions& options);
  ~Flash() override;

  const Characteristics& characteristics() const override;
  DeviceCounters counters() const override;
  /// Since when there has been nothing left to do, programming included; nothing while there is.
  std::optional<TimeNs> quiet_since() const override;
  void submit(const Request& request, Initiator& initiator) override;
  void power_cut() override;
  void power_on() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::model
