#pragma once
// Measures the loss caused by a power cut: a machine runs a load, usually without fsync, and its
// medium is examined at many instants.
//
//   user      makes ten changes per second at random times: overwrites blocks of a large file;
//             creates, writes, renames and removes files; appends to logs
//   reader    reads five blocks per second of an uncached file, to measure the cost of a policy
//   instant   a copy of the medium is repaired and read, as after a cut. A change is lost if its
//             call had returned and the copy does not contain the change. The age of a change is
//             the time since its call returned
//
// The age of the loss at an instant is the age of the oldest lost change, or 0 if none is lost. A
// change does not count if the removal of its file had begun, because the change is then
// irrelevant. A write in flight counts as missing from the medium, whereas a real cut would keep
// the sectors that the head had already passed.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harness/papers/modelled_machine.h"
#include "results/db/claim.h"

namespace headcrash::experiment {

struct LossAsked {
  /// The machine. If `instants` is not 0, its device must be a single drive, because the medium of
  /// the drive is examined at each instant. If the machine has an image, the image must contain the
  /// files of make_loss_files(); otherwise, the run creates these files.
  ModelledMachineOptions machine;
  os::TimeNs warm_ns = 70 * model::kSecondNs;  ///< no measurements before this time
  os::TimeNs measured_ns = 120 * model::kSecondNs;
  std::size_t instants = 60;
  double synced = 0;  ///< fraction of the data changes that are followed by fsync
  /// If true, the run cuts the power at the last instant (or at the end of `warm_ns` if there are
  /// no instants) and recovers. The result then also contains the loss caused by the cut.
  bool cut_at_last = false;
  Repair repair = Repair::as_needed;  ///< when to repair after the cut
  std::uint64_t seed = 1;
};

/// Kinds of changes, in the order of LossSeen::oldest_of_kind_s.
inline constexpr std::array<const char*, 6> kChangeKinds{"overwrite", "create", "write",
                                                         "append",    "rename", "remove"};

struct LossSeen {
  std::vector<double>
      oldest_s;  ///< age of the oldest lost change at each instant; 0 if none is lost
  std::array<double, kChangeKinds.size()> oldest_of_kind_s = {};  ///< maximum over all instants
  /// Number of lost changes at each instant.
  std::vector<double> lost_changes;
  std::vector<double> lost_kb;             ///< lost writes at each instant, in kB of 1000 bytes
  std::vector<double> read_ms, change_ms;  ///< response times of calls after warm_ns
  double written_kb_s = 0;                 ///< rate of writes to the disk
  double modelled_s = 0;
  std::uint64_t promised = 0;  ///< changes covered by an earlier fsync, summed over all instants
  std::uint64_t broken = 0;    ///< number of promised changes that are missing
  /// Number of instants at which fsck reports findings that the scheme forbids.
  std::uint64_t damaged = 0;
  std::string first_damage;               ///< the first forbidden finding
  Figure cut_oldest_s, cut_lost_changes;  ///< set only with cut_at_last and a single drive
  std::optional<Recovery> recovery;       ///< set only with cut_at_last
  std::string error;                      ///< empty if the run succeeded
};

/// Measures the loss. The same arguments always yield the same results.
LossSeen run_loss(const LossAsked& asked);

/// Creates the files that the user and the reader use, 80 MB in total.
VfsResult<void> make_loss_files(Vfs& vfs);

}  // namespace headcrash::experiment
