#pragma once
// Checks a fio job before a benchmark starts, using fio itself if it is installed on the host.
// Request logs that the job replays are copied to the guest, and two of the job's keys are changed:
//
//   read_iolog=trace.log      the path is relative to the benchmark's file; in the guest it becomes
//                             {iolog0}, {iolog1}, ...
//   replay_redirect=...       set to {root}/replayed if it is not set, because a log contains the
//                             names of its original devices
//
// A job with such a log gets no --directory option, because fio 3.33 crashes with --directory and
// read_iolog.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::bench {

/// Checks a job. `subject` names the job's file or key in errors. Errors contain fio's message
/// about the first invalid line. If the host has no fio, the check succeeds, and the guest's fio
/// reports errors later.
Result<void> check_fio_job(const std::string& job, const std::string& subject);

struct FioExtras {
  std::vector<std::string> iologs;   ///< each log's contents
  std::uint64_t replayed_bytes = 0;  ///< size of the file on which the logs are replayed
  /// The job runs until `runtime` has passed, even if its work is done earlier.
  bool time_based = false;
  double runtime_s = 0;  ///< the longest `runtime`; 0 if no job has one
};

/// Loads the request logs to which a job refers, and replaces their names in `job` with
/// placeholders. Names are relative to `folder`. Fails if a log cannot be read, is too long, or has
/// an invalid line.
Result<FioExtras> parse_fio_extras(std::string& job, const std::filesystem::path& folder);

}  // namespace headcrash::bench
