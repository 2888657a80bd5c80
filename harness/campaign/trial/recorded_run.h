#pragma once
// Reads the recording of a finished trial. Extracts the marks, the cut and a sample of the I/O. For
// the marks and the cut, the recording is authoritative.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "results/db/database.h"

namespace headcrash::campaign {

/// Maximum number of incidents in RecordedRun; the recording contains all of them. A drive may
/// report the same unreadable sector a thousand times.
inline constexpr std::size_t kIncidentsMost = 200;

struct RecordedRun {
  std::optional<std::int64_t> cut_at_ns;
  /// The number N of the last mark "persisted N" before the cut.
  std::optional<std::size_t> persisted_operation;
  std::optional<std::int64_t> persisted_at_ns;
  std::vector<db::DeviceRecord> devices;
  std::vector<db::IncidentRecord> incidents;  ///< at most kIncidentsMost
  /// A sample of the I/O after the mark "phase workload".
  std::vector<db::IoRecord> io;
};

/// Reads a recording. RecordedRun::io has at most `io_most` records. Fails if the recording cannot
/// be read, is damaged, or contains no cut.
Result<RecordedRun> read_recorded_run(const std::filesystem::path& recording, std::size_t io_most);

}  // namespace headcrash::campaign
