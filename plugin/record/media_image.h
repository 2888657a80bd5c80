#pragma once
// Copies the contents that a device's medium had at one instant of model time into a store (the
// "physical" state). Only the recording's MEDIA events count; acknowledgements and flushes are
// ignored. The events are first applied to an extent index, and then only live bytes are read. The
// memory needed is therefore proportional to the number of runs, not to the number of bytes. For
// many states of one run, see state.h.

#include <filesystem>
#include <optional>

#include "plugin/record/recording.h"

namespace headcrash::record {

/// The point in a recording up to which events are applied.
struct Until {
  std::optional<model::TimeNs> at;  ///< includes events up to this time
  /// Includes at most this many events, counting all kinds and devices.
  std::optional<std::uint64_t> events;
};

struct MediaImage {
  model::TimeNs at = 0;                  ///< time of the last applied event
  std::uint64_t media_events = 0;        ///< applied MEDIA events of the device
  std::uint64_t sectors = 0;             ///< sectors written at least once
  std::uint64_t torn_sectors = 0;        ///< number of written sectors that are torn
  std::uint64_t unreadable_sectors = 0;  ///< number of written sectors that are unreadable
  std::uint64_t truncated_bytes = 0;     ///< as RecordingReader::truncated_bytes
};

/// Writes the medium's contents at the point `until` (default: the end of the recording) to `into`.
/// Before the call, `into` must hold the contents from before the recording (zeroes for a new
/// drive). For unreadable sectors, writes the last known bytes. Fails if the recording has no data
/// or no MEDIA events.
Result<MediaImage> rebuild_medium(const std::filesystem::path& recording, model::DeviceId device,
                                  const Until& until, model::SectorStore& into);
Result<MediaImage> rebuild_medium(const std::filesystem::path& recording, model::DeviceId device,
                                  std::optional<model::TimeNs> until, model::SectorStore& into);

}  // namespace headcrash::record
