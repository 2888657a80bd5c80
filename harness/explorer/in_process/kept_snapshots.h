#pragma once
// The snapshots that a run creates and drops, for systems with SystemDescription::keeps_snapshots.
// For each snapshot, stores a digest of its contents at creation, and the range of cuts at which
// the snapshot must still have these contents.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/system_under_test.h"
#include "harness/oracle/verdict.h"

namespace headcrash::in_process {

struct KeptSnapshot {
  std::string name;
  std::uint64_t tree = 0;        ///< digest_of_snapshot() when the snapshot was created
  std::uint64_t from_event = 0;  ///< first cut at which the snapshot must exist
  /// First cut at which the snapshot may be missing, because its removal has begun.
  std::uint64_t to_event = std::numeric_limits<std::uint64_t>::max();
  bool is_kept_at(std::uint64_t cut) const { return cut >= from_event && cut < to_event; }
};

/// Returns a digest of all names, inodes and bytes in a snapshot. Fails if the snapshot is missing
/// or cannot be read.
Result<std::uint64_t> digest_of_snapshot(const adapters::FileSystemType& type,
                                         const model::SectorStore& store, const std::string& name);
/// Returns a finding for each snapshot that must exist at the cut but is missing or has different
/// contents.
std::vector<oracle::Finding> judge_snapshots(const adapters::FileSystemType& type,
                                             const model::SectorStore& store,
                                             std::span<const KeptSnapshot> snapshots,
                                             std::uint64_t cut);

}  // namespace headcrash::in_process
