#pragma once
// Lists the writes that a crash state lacks, and describes their contents.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/explain/issuers.h"
#include "harness/explorer/guests/known_disks.h"
#include "plugin/states/run_history.h"

namespace headcrash::explorer {

/// A write that is lost or torn, and that was not covered by a completed flush at the cut.
struct MissingWrite {
  model::RequestId request = 0;
  std::optional<states::TornWrite> torn;  ///< nullopt if the whole write is lost
};
/// Describes which part of the write `unflushed` the state lacks: the whole write or some of its
/// sectors. Returns nullopt if the state contains the whole write. REQUIRES: `state.base` is
/// Base::writes.
std::optional<MissingWrite> missing_write(const states::CrashState& state,
                                          model::RequestId unflushed);

struct LostWrite {
  states::RecordedWrite write;
  std::string disk;                       ///< name of the disk; empty if there is only one
  std::optional<states::TornWrite> torn;  ///< nullopt if the whole write is lost
  model::TimeNs submitted_at = 0;
  std::optional<model::TimeNs> acked_at;  ///< time of the acknowledgement, if it was before the cut
  std::string what;                       ///< description of the contents (block_kind.h)
  IssuersOfRequest issuers;               ///< empty if they were not recorded
};

struct LostWrites {
  std::vector<LostWrite> writes;    ///< in submission order
  std::size_t unflushed = 0;        ///< number of writes that no completed flush covered at the cut
  std::size_t flushes_ignored = 0;  ///< number of completed flushes that had no effect in the state
  model::TimeNs cut_at = 0;         ///< time of the last event before the cut
  /// Issuers of the last flush that completed before the cut, if they were recorded.
  std::vector<Issuer> last_flush = {};
};

/// Returns the missing writes. For a physical state, these are the unflushed writes that are not on
/// the medium. `disks` has the facts about the state's devices. Fails if the recording cannot be
/// read or was made on an array.
Result<LostWrites> lost_writes(const states::RunHistory& run, const states::CrashState& state,
                               const KnownDisks& disks);
/// Like the other lost_writes(), but first reads the facts about the disks. `type` is the file
/// system type as in mount(2).
Result<LostWrites> lost_writes(const states::RunHistory& run, const states::CrashState& state,
                               std::string_view type);

/// Returns, in ascending order, the requests on all disks of `state` that were unflushed at the
/// cut.
std::vector<model::RequestId> unflushed_requests(const states::RunHistory& run,
                                                 const states::CrashState& state);

/// Converts a physical state to an equivalent state of lost and torn writes, because only such a
/// state can be minimised. Compares digests to verify that the two states have the same content.
/// Returns nullopt if no state is equivalent, because the device ignored a flush or tore a write in
/// several places.
Result<std::optional<states::CrashState>> as_lost_writes(const states::RunHistory& run,
                                                         const states::CrashState& physical);

}  // namespace headcrash::explorer
