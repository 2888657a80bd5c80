#pragma once
// Confirms failures. Records the workload again on another disk, and checks each failed state in
// full with a fresh checker.
//
// A failure is confirmed if two conditions hold: the new recording contains a state with the same
// bytes, and the check of this state has the same outcome. For the first confirmed failure, also
// searches for the smallest set of lost writes that causes the same failure. The driver's rules
// must permit the loss of this set.

#include "harness/explorer/in_process/exploration.h"

namespace headcrash::in_process {

enum class Minimise : std::uint8_t { first, none };
/// Confirms the failures in a result of DiskExplorer::explore(). The other arguments must equal
/// those that were passed to explore(). Replaces `recording`. Fails for the same reasons as
/// explore().
Result<void> confirm_failures(const FormattedDisk& formatted,
                              const adapters::SystemUnderTest& system,
                              std::span<const workload::Operation> operations,
                              const ExplorationOptions& options,
                              const std::filesystem::path& recording, Minimise minimise,
                              ExplorationResult& result);

}  // namespace headcrash::in_process
