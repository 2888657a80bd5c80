#pragma once
// A battery-backed write cache over a device or a range of one (Prestoserve's kind).

#include <memory>

#include "plugin/model/device.h"
#include "plugin/model/faults.h"
#include "plugin/model/nvram_profile.h"

namespace headcrash::model {

/// References must outlive the cache.
struct NvramOptions {
  const NvramProfile& profile;  ///< copied
  Simulation& simulation;
  Witness& witness;
  std::unique_ptr<Device> below;
  bool bytes = true;  ///< false: only times matter
  DeviceId device = 0;
  DeviceFaults* battery = nullptr;  ///< battery_low and battery_dead; null: always ok
};

enum class BatteryState : std::uint8_t { ok, low, dead };

struct NvramCounters {
  std::uint64_t write_hits = 0;  ///< writes that found their block in the cache
  std::uint64_t dirty_hits = 0;  ///< ... and dirty: absorbed, one media write less
  std::uint64_t read_hits = 0;
  std::uint64_t absorbed_sectors = 0;
  std::uint64_t destages = 0, destaged_sectors = 0;
  std::uint64_t write_throughs = 0;    ///< battery not ok, cache full, or outside the range
  std::uint64_t replayed_sectors = 0;  ///< written back at power-on
  std::uint64_t dirty_sectors = 0;     ///< now
};

class Nvram final : public Device {
 public:
  explicit Nvram(NvramOptions options);
  ~Nvram() override;

  const Characteristics& characteristics() const override;
  DeviceCounters counters() const override;
  void submit(const Request& request, Initiator& initiator) override;
  void power_cut() override;
  void power_on() override;

  NvramCounters nvram_counters() const;
  BatteryState battery() const;
  Device& below();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::model
