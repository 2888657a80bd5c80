#pragma once
// Data that a trial reads from its recording after the server has written it: the authoritative
// marks and cut, and a sample of the I/O.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "results/db/database.h"

namespace headcrash::campaign {

/// Maximum number of stored incidents. A drive may report a latent error a thousand times; the
/// recording has all of them.
inline constexpr std::size_t kIncidentsMost = 200;

struct RecordedRun {
  std::optional<std::int64_t> cut_at_ns;
  /// N in the last mark "persisted N" before the cut.
  std::optional<std::size_t> persisted_operation;
  std::optional<std::int64_t> persisted_at_ns;
  std::vector<db::DeviceRecord> devices;
  std::vector<db::IncidentRecord> incidents;  ///< at most kIncidentsMost
  std::vector<db::IoRecord> io;               ///< starts at the mark "phase workload"
};

/// Fails if the recording cannot be read, is damaged, or lacks the cut.
Result<RecordedRun> read_recorded_run(const std::filesystem::path& recording, std::size_t io_most);

}  // namespace headcrash::campaign
