#pragma once
// Rebuilds what a device's medium holds at a model instant, from a recording: the "physical" state. It knows
// nothing of promises; it replays MEDIA events, whose bytes lie in the SUBMIT of the write they came from.
//
// Two passes keep memory to the number of runs instead of the number of bytes. The first follows MEDIA events
// and notes for each run of sectors which event wrote it last; the second reads the log again and copies from
// each SUBMIT only the sectors that are still its own.

#include <filesystem>
#include <optional>

#include "plugin/record/recording.h"

namespace headcrash::record {

struct MediaImage {
  model::TimeNs at = 0;               ///< time of the last event that was followed
  std::uint64_t media_events = 0;     ///< MEDIA events of the device that count
  std::uint64_t sectors = 0;          ///< sectors that were written at least once
  std::uint64_t torn_sectors = 0;     ///< of these, torn ones
  std::uint64_t truncated_bytes = 0;  ///< as RecordingReader::truncated_bytes
};

/// Writes onto `into`, which holds what the medium held before the recording began (zeroes for a new drive),
/// every sector as it is after all events with a time of at most `until` (default: all). Refuses a recording
/// without data.
Result<MediaImage> rebuild_medium(const std::filesystem::path& recording, model::DeviceId device,
                                  std::optional<model::TimeNs> until, model::SectorStore& into);

}  // namespace headcrash::record
