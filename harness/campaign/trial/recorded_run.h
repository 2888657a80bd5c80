#pragma once
// What a trial reads out of its recording once the server has written it: the truth about marks and
// the cut, and a sample of the I/O.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "results/db/database.h"

namespace headcrash::campaign {

/// A drive with a latent error may be asked for it a thousand times; the recording has them all.
inline constexpr std::size_t kIncidentsMost = 200;

struct RecordedRun {
  std::optional<std::int64_t> cut_at_ns;
  std::optional<std::size_t>
      persisted_operation;  ///< of the last mark "persisted N" before the cut
  std::optional<std::int64_t> persisted_at_ns;
  std::vector<db::DeviceRecord> devices;
  std::vector<db::IncidentRecord> incidents;  ///< at most kIncidentsMost
  std::vector<db::IoRecord> io;               ///< from the mark "phase workload" on
};

/// Errors: a recording that cannot be read, is damaged, or lacks the cut.
Result<RecordedRun> read_recorded_run(const std::filesystem::path& recording, std::size_t io_most);

}  // namespace headcrash::campaign
