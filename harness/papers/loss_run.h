#pragma once
// What a power cut loses: a machine at work without fsync, looked at at many instants.
//
//   user      ten changes a second at random times: blocks of a large file are overwritten, files are created and
//             written, renamed and removed, logs grow
//   reader    five blocks a second of a file that the cache does not hold: what a policy costs
//   instant   what is on the medium at that moment is repaired and read, as after a cut; a change that had returned and
//             is not there is lost, and its age is the time since it returned
//
// The age of what an instant loses is that of its oldest lost change, 0 when nothing is lost. A
// change that a later one has made worthless is not counted: what belongs to a file whose removal
// had begun. A write that is under way at the instant counts as not on the medium, where a cut
// would keep the sectors that the head had passed.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harness/papers/claim.h"
#include "harness/papers/modelled_machine.h"

namespace headcrash::experiment {

struct LossAsked {
  /// On one drive, so that its medium can be looked at; for a cut alone (`instants` 0) on anything.
  /// Unless it has an image, with make_loss_files() among what is there, it is populated here.
  ModelledMachineOptions machine;
  os::TimeNs warm_ns = 70 * model::kSecondNs;  ///< until then nobody looks
  os::TimeNs measured_ns = 120 * model::kSecondNs;
  std::size_t instants = 60;
  double synced = 0;  ///< share of the changes of contents that are followed by fsync
  /// At the last instant, or at the end of `warm_ns` where there is none, the power goes, and the
  /// machine recovers: what that has lost is told beside what the look has.
  bool cut_at_last = false;
  Repair repair = Repair::as_needed;  ///< then
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
  std::uint64_t promised = 0;  ///< changes that an fsync had covered, looked for at the instants
  std::uint64_t broken = 0;    ///< of them: not there
  std::uint64_t damaged =
      0;                     ///< instants after which the check finds what the system may not leave
  std::string first_damage;  ///< what it found
  Figure cut_oldest_s, cut_lost_changes;  ///< with cut_at_last, on a drive
  std::optional<Recovery> recovery;       ///< with cut_at_last
  std::string error;                      ///< empty: all of it was measured
};

/// Equal arguments give equal results.
LossSeen run_loss(const LossAsked& asked);

/// What the user and the reader work on: 80 MB.
VfsResult<void> make_loss_files(Vfs& vfs);

}  // namespace headcrash::experiment
