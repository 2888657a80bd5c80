#pragma once
// The data of a RunHistory, for the files that load a history and those that make images of its
// states.

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plugin/record/used_disk.h"
#include "plugin/states/device_writes.h"
#include "plugin/states/recent_map.h"
#include "plugin/states/run_history.h"

namespace headcrash::states {

/// number of power cycles whose WritePrefixes are kept in memory
inline constexpr std::size_t kPowerCyclesKept = 8;

/// The fate of an unflushed write that a state does not keep in full.
struct DeviceChange {
  model::DeviceId device = 0;
  Change change;
};

struct RunHistory::State {
  std::filesystem::path path;
  record::RecordingHeader header;
  std::uint64_t events = 0;
  std::optional<Error> tail_error;
  /// Element n is the fingerprint of the events before event n.
  std::vector<std::uint64_t> fingerprints;
  std::vector<RecordedMark> marks;
  std::vector<DeviceWrites> devices;
  std::vector<std::vector<std::uint64_t>> answers;  ///< by device
  std::vector<model::DeviceId> disks, caches;
  std::vector<std::uint64_t> power_cycles = {0};  ///< first event of each power cycle
  std::shared_ptr<const record::RecordingBytes> bytes;
  /// The image below the recording, for each device; null if it consists of zeroes.
  std::vector<std::shared_ptr<const StateImage>> bases;

  std::mutex mutex;  ///< guards the members that are created on demand
  std::map<model::DeviceId, std::shared_ptr<const record::Timeline>> timelines;
  std::map<std::pair<std::string, model::DeviceId>, std::shared_ptr<const StateImage>>
      shared_images;
  RecentMap<std::pair<model::DeviceId, std::uint64_t>, std::shared_ptr<const WritePrefixes>>
      prefixes{kPowerCyclesKept};

  Result<void> read_events(record::RecordingReader& reader);
  Result<void> open_base(std::shared_ptr<const RunHistory> known_base,
                         std::vector<std::filesystem::path>& chain);
  std::optional<std::string> no_base_of(const RunHistory& below, const CrashState& state,
                                        std::size_t device, bool shared);

  std::string device_name(model::DeviceId device) const { return header.devices[device].name; }
  tl::unexpected<Error> no_media(const char* what) const;
  Result<void> check_device(std::uint64_t device) const;
  Result<std::shared_ptr<const record::Timeline>> timeline(model::DeviceId device);
  Result<StateImage> physical(model::DeviceId device, std::uint64_t event);
  Result<std::shared_ptr<const WritePrefixes>> prefixes_at(model::DeviceId device,
                                                           std::uint64_t event);
  Result<StateImage> by_writes(model::DeviceId device, std::uint64_t event,
                               std::span<const Change> changes);
  std::size_t first_write(model::DeviceId device, std::uint64_t event) const;
  std::uint64_t power_cycle_begin(std::uint64_t event) const {
    return *(std::upper_bound(power_cycles.begin(), power_cycles.end(), event) - 1);
  }
  void find_disks();
  std::vector<model::DeviceId> devices_of(const CrashState& state) const;
  std::vector<UnflushedWrite> unflushed_of(const CrashState& state) const;
  Result<std::vector<DeviceChange>> changes_of(const CrashState& state) const;
  std::string why_not_unflushed(const CrashState& state, model::RequestId request) const;
};

}  // namespace headcrash::states
