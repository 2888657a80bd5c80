#pragma once
// The load of rule 3: a writer overwrites one file again and again, with or without a reader.

#include <string>

#include "harness/papers/chen96/axp3000_600.h"

namespace headcrash::experiment::chen96 {

struct OverwriteLoad {
  std::uint64_t written_bytes = 60 * kMb;
  double target_mb_s = 10;  ///< rate at which the writer writes; lower if it has to wait
  /// Size of the file that the reader reads at full speed; 0 for no reader.
  std::uint64_t read_bytes = 0;
  /// Times before and during which the rates are measured.
  os::TimeNs warm_ns = 20 * model::kSecondNs, measured_ns = 60 * model::kSecondNs;
};

/// Rates in MB/s. If a call failed, `error` has the reason and the rates are missing.
struct OverwriteRates {
  Figure read, written, written_to_disk;
  std::string error;
};

/// Runs the load. The timed workload chen-r3 cannot be used, because it runs until its reader
/// finishes, and with a short delay the reader does not finish here.
OverwriteRates overwrite(const Result<ModelledMachineOptions>& options, const OverwriteLoad& load);

}  // namespace headcrash::experiment::chen96
