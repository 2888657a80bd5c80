#pragma once
// The tree that a scratch file system must still have after a power cut while it was mounted.
//
// A mount period begins when a test mounts its scratch disk and ends when the test unmounts it. The
// tree at its end is read from the recording. An object of this tree that was last changed before a
// sync, or before the mount, has not been changed since, so it must be in every crash state after
// that sync, unchanged:
//
//    mount      sync, T        cut           unmount
//      |---------|--------------x---------------|  the tree at the end
//       a changed                b changed         a must be there at the cut; b need not be
//
// The change time of an object's inode (ctime) shows when the object was last changed. Nothing is
// read in the guest while the test runs, so the test is not disturbed. Objects that a test removes
// after the sync are not judged.
//
// A test may cut the power itself: device-mapper drops writes, or the file system is shut down. The
// tree at the end is then an older one. An object that has changed in a crash state after the sync
// is not compared with it, because the test has undone the change. Of the other objects, only the
// existence, type, mode and owner are compared, because a file system may make a change persistent
// without its time: fdatasync of data, or a link that btrfs restores from its log.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/oracle/observed_tree.h"
#include "harness/oracle/oracle.h"
#include "plugin/states/run_history.h"

namespace headcrash::fstests {

/// Marks that the stand-ins write (guest/stand-in.sh). The first one is followed by a time in
/// microseconds since the epoch, and by mount options about quotas.
inline constexpr std::string_view kMountingMark = "fstests mounting ";
inline constexpr std::string_view kNotMountedMark = "fstests not mounted";
inline constexpr std::string_view kUnmountedMark = "fstests unmounted";
inline constexpr std::string_view kDropsWritesMark = "fstests drops writes";

struct MountPeriod {
  std::uint64_t from = 0, to = 0;  ///< events of the recording
  /// Time in microseconds since the epoch. All earlier changes were durable when the mount began. 0
  /// if the disk had unflushed writes at that time.
  std::uint64_t durable_before_us = 0;
  std::string mount_options = {};  ///< options without which a recovery would drop the quotas
  bool drops_writes = false;       ///< the test cut the power itself
};

/// Finds the mount periods of the first disk in a recording. A period without an end ends with the
/// recording. Ignores mounts that failed and mounts of a file system that is already mounted.
std::vector<MountPeriod> mount_periods(const states::RunHistory& run);

class DurableTree {
 public:
  /// `older` if the test cut the power itself, so that the tree at the end may lack changes of the
  /// mount period; otherwise, `complete`.
  enum class End : std::uint8_t { complete, older };

  /// `end` is the tree at the end of the mount period. `type` is the type of the file system.
  DurableTree(std::vector<oracle::ObservedObject> end, const std::string& type,
              End kind = End::complete);

  /// Compares the tree of a crash state with the objects that were last changed before
  /// `durable_before_us`. Each object that is missing or different gives a finding.
  std::vector<oracle::Finding> judge(std::uint64_t durable_before_us,
                                     const std::vector<oracle::ObservedObject>& tree) const;

  /// Returns the number of objects that were last changed before this time.
  std::size_t durable_objects(std::uint64_t durable_before_us) const;

 private:
  bool is_judged(const oracle::ObservedObject& object, std::uint64_t before_us) const;
  bool folder_changed_since(const std::string& path, std::uint64_t before_us) const;

  std::vector<oracle::ObservedObject> end_;
  std::vector<std::string> subvolumes_;  ///< paths of the subvolumes below the root
  End kind_;
};

}  // namespace headcrash::fstests
