#pragma once
// Snapshots that a run makes and drops: what each held when it had been made, and where it has to
// be on the disk with just that. Of systems that say so (SystemDescription::keeps_snapshots).

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
  std::uint64_t tree = 0;        ///< digest_of_snapshot() when it had been made
  std::uint64_t from_event = 0;  ///< cuts from here on
  std::uint64_t to_event = std::numeric_limits<std::uint64_t>::max();  ///< and before this one
  bool is_kept_at(std::uint64_t cut) const { return cut >= from_event && cut < to_event; }
};

/// Of all names, inodes and bytes of a snapshot. Errors: there is none; it cannot be read.
Result<std::uint64_t> digest_of_snapshot(const adapters::FileSystemType& type,
                                         const model::SectorStore& store, const std::string& name);
/// For each that is kept at the cut and is not what it was.
std::vector<oracle::Finding> judge_snapshots(const adapters::FileSystemType& type,
                                             const model::SectorStore& store,
                                             std::span<const KeptSnapshot> snapshots,
                                             std::uint64_t cut);

}  // namespace headcrash::in_process
