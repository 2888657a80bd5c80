#pragma once
// A job of fio's is examined before anything is started: by fio itself, where this machine has it.
// What it needs in the guest goes there with it: the logs of requests that it replays.
//
//   read_iolog=trace.log      read beside the benchmark's file; in the guest it is {iolog0}, {iolog1}, ..
//   replay_redirect=...       {root}/replayed unless the job says it: a log names the devices it was made on
//
// Without a directory: fio 3.33 dies of --directory with read_iolog.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::bench {

/// `subject`: the job's file or key. Errors: what fio says of the first line that it does not take.
/// A machine without fio takes everything: the guest's error says the same, later.
Result<void> check_fio_job(const std::string& job, const std::string& subject);

struct FioExtras {
  std::vector<std::string> iologs;   ///< their texts
  std::uint64_t replayed_bytes = 0;  ///< the file that they are replayed on is as long
  bool time_based = false;           ///< the job takes as long as it says
  double runtime_s = 0;              ///< the longest `runtime`; 0: none
};

/// Takes what a job refers to and puts placeholders in its place. Logs are looked for in the folder
/// `beside`. Errors: a log that cannot be read, is too long, or has a wrong line.
Result<FioExtras> take_fio_extras(std::string& job, const std::filesystem::path& beside);

}  // namespace headcrash::bench
