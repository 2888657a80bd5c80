#pragma once
// The writes that a crash state lacks, and their content.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/guests/known_disks.h"
#include "plugin/states/run_history.h"

namespace headcrash::explorer {

/// A write that no completed flush covered at the cut, and that is lost or torn.
struct MissingWrite {
  model::RequestId request = 0;
  std::optional<states::TornWrite> torn;  ///< nullopt if lost
};
/// Returns the missing write according to the name of a state of writes; nullopt if the write is
/// complete.
std::optional<MissingWrite> missing_write(const states::CrashState& state,
                                          model::RequestId unflushed);

struct LostWrite {
  states::RecordedWrite write;
  std::string disk;  ///< name of the disk if there are several; otherwise empty
  std::optional<states::TornWrite> torn;  ///< nullopt if fully lost
  model::TimeNs submitted_at = 0;
  std::optional<model::TimeNs> acked_at;  ///< before the cut
  std::string what;                       ///< block_kind.h
};

struct LostWrites {
  std::vector<LostWrite> writes;    ///< by submission
  std::size_t unflushed = 0;        ///< number of writes that no completed flush covered at the cut
  std::size_t flushes_ignored = 0;  ///< flushes ignored by the state
  model::TimeNs cut_at = 0;         ///< time of the last event before the cut
};

/// Returns the missing writes. `disks` describes the devices of the state. For a physical state,
/// these are the unflushed writes that are not on the medium. Fails if the recording cannot be
/// read, and for states of arrays.
Result<LostWrites> lost_writes(const states::RunHistory& run, const states::CrashState& state,
                               const KnownDisks& disks);
/// Reads the disks and does the same. `type` is that of mount(2).
Result<LostWrites> lost_writes(const states::RunHistory& run, const states::CrashState& state,
                               std::string_view type);

/// Returns the requests that are unflushed at the cut of `state`, on all its disks, ascending.
std::vector<model::RequestId> unflushed_requests(const states::RunHistory& run,
                                                 const states::CrashState& state);

/// Converts a physical state to lost and torn writes, which can then be minimised. Returns nullopt
/// if that is impossible, because the device lied or tore a write in several places. The content is
/// equal, as verified by digests.
Result<std::optional<states::CrashState>> as_lost_writes(const states::RunHistory& run,
                                                         const states::CrashState& physical);

}  // namespace headcrash::explorer
