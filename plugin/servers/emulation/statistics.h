#pragma once
// What `stats` tells, as values.

#include <optional>
#include <string>
#include <vector>

#include "plugin/base/latency_histogram.h"
#include "plugin/model/array/array.h"
#include "plugin/model/core/machine.h"
#include "plugin/model/nvram/nvram.h"
#include "plugin/profiles/build.h"
#include "plugin/servers/emulation/clock.h"
#include "plugin/servers/emulation/load_series.h"

namespace headcrash::emulation {

struct ResponseTimes {
  LatencySummary target, achieved, lateness, flush;
};
struct ArrayStatistics {
  model::ArrayStatus status;
  model::ArrayCounters counters;  ///< of the interval
};
struct NvramStatistics {
  model::BatteryState battery = model::BatteryState::ok;
  model::NvramState state = model::NvramState::up;
  model::NvramCounters counters;  ///< of the interval; dirty_sectors: now
};

struct DeviceStatistics {
  std::string name;
  std::string profile;
  std::optional<std::string> parent;  ///< a member of this one; none: a device of the machine
  std::uint64_t sectors = 0;
  std::uint32_t physical_sector_bytes = 512;    ///< what it writes as a whole
  std::uint32_t queue_depth = 1;                ///< requests that it looks at together
  model::DeviceCounters counters;               ///< of the interval
  std::optional<ResponseTimes> response_times;  ///< none: a member, no client talks to it
  std::optional<LoadSeries> load;               ///< likewise
  std::optional<ArrayStatistics> array;
  std::optional<NvramStatistics> nvram;
};

struct Statistics {
  std::string instance;
  Clock clock;
  WallNs lead_ns = 0;
  model::PowerState power = model::PowerState::on;
  model::TimeNs model_now = 0;
  model::TimeNs interval_model_ns = 0;
  WallNs interval_wall_ns = 0;
  unsigned threads = 0;           ///< of nbdkit for each connection; 0: not known
  std::size_t in_flight_max = 0;  ///< requests that waited together in the interval
  std::optional<model::TimeNs>
      quiet_since;  ///< of all devices; none: one of them has something to do
  std::optional<std::string> recording_error;
  std::vector<DeviceStatistics> devices;  ///< by id: a device before its members
};

/// Totals of one device at one moment: what an interval is the difference of.
struct DeviceTotals {
  model::DeviceCounters device;
  std::optional<model::ArrayCounters> array;
  std::optional<model::NvramCounters> nvram;
};
DeviceTotals totals_of(const profiles::BuiltDevice& built);
DeviceTotals difference(const DeviceTotals& now, const DeviceTotals& before);

}  // namespace headcrash::emulation
