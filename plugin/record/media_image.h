#pragma once
// Copies what a device's medium holds at a model instant, from a recording, into a store: the
// "physical" state. It knows nothing of promises; it follows MEDIA events. Two steps keep memory to
// the number of runs instead of the number of bytes: the events give an extent index, then only the
// bytes that are still there are read. For many states of one run see state.h.

#include <filesystem>
#include <optional>

#include "plugin/record/recording.h"

namespace headcrash::record {

/// Where in a run.
struct Until {
  std::optional<model::TimeNs> at;      ///< events with a time of at most this
  std::optional<std::uint64_t> events;  ///< at most this many, of all kinds and devices
};

struct MediaImage {
  model::TimeNs at = 0;                  ///< time of the last event that was followed
  std::uint64_t media_events = 0;        ///< MEDIA events of the device that count
  std::uint64_t sectors = 0;             ///< sectors that were written at least once
  std::uint64_t torn_sectors = 0;        ///< of these, torn ones
  std::uint64_t unreadable_sectors = 0;  ///< of these, unreadable ones
  std::uint64_t truncated_bytes = 0;     ///< as RecordingReader::truncated_bytes
};

/// Writes onto `into`, which holds what the medium held before the recording began (zeroes for a
/// new drive), every sector as it is then (default: at the end). Unreadable sectors get what is
/// known of them. Refuses a recording without data, and one without MEDIA events.
Result<MediaImage> rebuild_medium(const std::filesystem::path& recording, model::DeviceId device,
                                  const Until& until, model::SectorStore& into);
Result<MediaImage> rebuild_medium(const std::filesystem::path& recording, model::DeviceId device,
                                  std::optional<model::TimeNs> until, model::SectorStore& into);

}  // namespace headcrash::record
