#pragma once
// The writes that a crash state lacks, and what they were.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/guests/known_disks.h"
#include "plugin/states/run_history.h"

namespace headcrash::explorer {

/// A write that no completed flush covered at the cut, and that is not wholly there.
struct MissingWrite {
  model::RequestId request = 0;
  std::optional<states::TornWrite> torn;  ///< none: lost
};
/// What the name of a state of writes says of such a write; nothing: it is there.
std::optional<MissingWrite> missing_write(const states::CrashState& state,
                                          model::RequestId unflushed);

struct LostWrite {
  states::RecordedWrite write;
  std::string disk;                       ///< its name, where there are several; else empty
  std::optional<states::TornWrite> torn;  ///< none: nothing of it is there
  model::TimeNs submitted_at = 0;
  std::optional<model::TimeNs> acked_at;  ///< before the cut
  std::string what;                       ///< block_kind.h
};

struct LostWrites {
  std::vector<LostWrite> writes;    ///< by submission
  std::size_t unflushed = 0;        ///< writes that no completed flush covered at the cut
  std::size_t flushes_ignored = 0;  ///< that the state says did nothing
  model::TimeNs cut_at = 0;         ///< of the last event before the cut
};

/// `disks`, of the state's devices: for the words. Of a physical state, what of the unflushed
/// writes is not on the medium. Errors: a recording that cannot be read; states of arrays.
Result<LostWrites> lost_writes(const states::RunHistory& run, const states::CrashState& state,
                               const KnownDisks& disks);
/// The same with the disks read for it. `type`: of mount(2).
Result<LostWrites> lost_writes(const states::RunHistory& run, const states::CrashState& state,
                               std::string_view type);

/// The requests that are unflushed at the cut of `state`, on all disks that it is about, ascending.
std::vector<model::RequestId> unflushed_requests(const states::RunHistory& run,
                                                 const states::CrashState& state);

/// A physical state told as writes that were lost or torn, which can then be made fewer. Nothing
/// when it cannot be described so: the device lied, or tore a write in more than one place. The
/// content is the same (digests are compared).
Result<std::optional<states::CrashState>> as_lost_writes(const states::RunHistory& run,
                                                         const states::CrashState& physical);

}  // namespace headcrash::explorer
