#pragma once
// Confirms failures. The workload is recorded again on another disk, and a fresh checker checks
// each failed state in full. A failure is confirmed if the new recording has the same state, byte
// for byte, and the check has the same outcome. For the first confirmed failure, also searches for
// the smallest set of lost writes that the driver's rules permit and that causes the same failure.

#include "harness/explorer/in_process/exploration.h"

namespace headcrash::in_process {

enum class Minimise : std::uint8_t { first, none };
/// Confirms the failures in a result of DiskExplorer::explore(). The other arguments must equal
/// those of explore(). Replaces `recording`. Fails for the same reasons as explore().
Result<void> confirm_failures(const FormattedDisk& formatted,
                              const adapters::SystemUnderTest& system,
                              std::span<const workload::Operation> operations,
                              const ExplorationOptions& options,
                              const std::filesystem::path& recording, Minimise minimise,
                              ExplorationResult& result);

}  // namespace headcrash::in_process
