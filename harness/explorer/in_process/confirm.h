#pragma once
// Failures looked at again: the workload is recorded again, on another disk, and each state that
// failed is checked in full by a checker that has seen none before. A failure is confirmed when the
// new run has the same state, byte for byte, and all that is said of it is the same. Of the first
// confirmed one the fewest lost writes are looked for with which it still fails in the same way,
// within the driver's rules.

#include "harness/explorer/in_process/exploration.h"

namespace headcrash::in_process {

enum class Minimise : std::uint8_t { first, none };
/// Of a result of Bench::explore() with the same arguments. Replaces `recording`. Errors: as
/// explore().
Result<void> confirm_failures(const FormattedDisk& formatted,
                              const adapters::SystemUnderTest& system,
                              std::span<const workload::Operation> operations,
                              const ExplorationOptions& options,
                              const std::filesystem::path& recording, Minimise minimise,
                              ExplorationResult& result);

}  // namespace headcrash::in_process
