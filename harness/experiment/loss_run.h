#pragma once
// What a power cut loses: a machine at work without fsync, looked at at many instants.
//
//   user      ten changes a second at random times: blocks of a large file are overwritten, files are created and
//             written, renamed and removed, logs grow
//   reader    five blocks a second of a file that the cache does not hold: what a policy costs
//   instant   what is on the medium at that moment is repaired and read, as after a cut; a change that had returned and
//             is not there is lost, and its age is the time since it returned
//
// The age of what an instant loses is that of its oldest lost change, 0 when nothing is lost. A change that a later one
// has made worthless is not counted: what belongs to a file whose removal had begun. A write that is under way at the
// instant counts as not on the medium, where a cut would keep the sectors that the head had passed.

#include <string>
#include <vector>

#include "harness/experiment/chen96/axp3000_600.h"

namespace headcrash::experiment::chen96 {

struct LossAsked {
  std::string type = "ufs", system = "conventional";  ///< of the registry
  os::SyncerOptions syncer = {};
  os::TimeNs warm_ns = 70 * model::kSecondNs;  ///< until then nobody looks
  os::TimeNs measured_ns = 120 * model::kSecondNs;
  std::size_t instants = 60;
  /// At the last instant the power goes, and the machine recovers: what that has lost is told beside what the look has.
  bool cut_at_last = false;
  std::uint64_t seed = 1;
};

/// Kinds of changes, in the order of LossSeen::oldest_of_kind_s.
inline constexpr std::array<const char*, 6> kChangeKinds{"overwrite", "create", "write",
                                                         "append",    "rename", "remove"};

struct LossSeen {
  std::vector<double> oldest_s;  ///< of each instant: the age of the oldest lost change
  std::array<double, kChangeKinds.size()> oldest_of_kind_s = {};  ///< of all instants
  std::vector<double> lost_changes;                               ///< of each instant
  std::vector<double> lost_kb;             ///< of each instant: bytes of their writes, kB of 1000
  std::vector<double> read_ms, change_ms;  ///< responses after warm_ns
  double written_kb_s = 0;                 ///< to the disk
  double modelled_s = 0;
  Figure cut_oldest_s, cut_lost_changes;  ///< with cut_at_last
  std::string error;                      ///< empty: all of it was measured
};

/// Equal arguments give equal results.
LossSeen run_loss(const LossAsked& asked);

}  // namespace headcrash::experiment::chen96
