#pragma once
// A flash device, SATA or NVMe: channels, LUNs, a write buffer.

#include <memory>

#include "plugin/model/device.h"
#include "plugin/model/faults.h"
#include "plugin/model/flash_profile.h"

namespace headcrash::model {

/// References must outlive the device.
struct FlashOptions {
  const FlashProfile& profile;  ///< copied
  Simulation& simulation;
  Witness& witness;
  SectorStore* store = nullptr;  ///< null: no bytes, only times
  DeviceId device = 0;
  std::uint64_t seed = 0;
  bool write_cache = true;
  std::uint64_t sectors = 0;  ///< expose only the first so many; 0: all
  DeviceFaults* faults = nullptr;
};

class Flash final : public Device {
 public:
  explicit Flash(const FlashOptions& options);
  ~Flash() override;

  const Characteristics& characteristics() const override;
  DeviceCounters counters() const override;
  void submit(const Request& request, Initiator& initiator) override;
  void power_cut() override;
  void power_on() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::model
