#pragma once
// The values that `stats` reports.

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
  model::ArrayCounters counters;  ///< counts during the interval
};
struct NvramStatistics {
  model::BatteryState battery = model::BatteryState::ok;
  model::NvramState state = model::NvramState::up;
  model::NvramCounters counters;  ///< counts during the interval; dirty_sectors is current
};

struct DeviceStatistics {
  std::string name;
  std::string profile;
  std::optional<std::string> parent;  ///< the device above this one; nullopt for a top-level device
  std::uint64_t sectors = 0;
  /// size of the unit that the medium writes atomically
  std::uint32_t physical_sector_bytes = 512;
  /// Maximum number of commands among which the device chooses.
  std::uint32_t queue_depth = 1;
  model::DeviceCounters counters;               ///< counts during the interval
  std::optional<ResponseTimes> response_times;  ///< nullopt for a member, because it has no clients
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
  unsigned threads = 0;           ///< nbdkit threads per connection; 0 if unknown
  std::size_t in_flight_max = 0;  ///< maximum number of requests that were waiting at the same time
  /// Time at which the last device became idle; nullopt if a device is still busy.
  std::optional<model::TimeNs> quiet_since;
  std::optional<std::string> recording_error;
  std::vector<DeviceStatistics> devices;  ///< ordered by id, so a device precedes its members
};

/// Totals of one device at one instant. The values of an interval are the differences between two
/// such totals.
struct DeviceTotals {
  model::DeviceCounters device;
  std::optional<model::ArrayCounters> array;
  std::optional<model::NvramCounters> nvram;
};
DeviceTotals totals_of(const profiles::BuiltDevice& built);
DeviceTotals difference(const DeviceTotals& now, const DeviceTotals& before);

}  // namespace headcrash::emulation
