#pragma once
// The table of scheme variants: for each variant, what a power cut may leave behind and whether it
// is a control. Used by tests, crash exploration and mounts.
// fsck findings have a severity (ufs::severity_of): `stale` results from every power cut, `residue`
// from correctly ordered updates (leaked blocks and inodes, link counts that are too high),
// `damage` from errors. All schemes of the paper write the maps of free blocks and inodes in any
// order, because fsck rebuilds them from the inodes (Ganger and Patt 1994, section 1, has no rule
// for them). A block in use that is marked free is therefore no damage, but a file system must not
// be used before fsck has run.
//
// Between the writes of the new and the old name, a renamed directory has two names, as rule R1
// requires; fsck removes one. Its ".." is written after the new name. If the old name was too
// recent to be on the disk, ".." may refer to a directory without an entry for it; fsck corrects
// this. An exchange of names uses a temporary name. fsck removes the temporary name if the inode
// has another name, and otherwise keeps it.
//
// An inode's number of sectors may be wrong after a power cut. Pointers may be in indirect blocks,
// and the length of the last block follows from the file's size, which a write raises only after
// the fragments have been allocated. If the fragments were moved, the inode may be written before
// the size is raised. None of the three rules orders these writes. Nothing depends on the number,
// and fsck recounts it (FreeBSD also leaves it to fsck: sysctl vfs.ffs.adjblkcnt).
//
// A control follows none of the rules, and tests must detect that. If a control passes, the test
// proves nothing.

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/promises.h"
#include "fs-adapters/substrate/os/disk_queue.h"
#include "fs-adapters/substrate/os/syncer.h"
#include "fs-adapters/ufs/core/file_system.h"
#include "fs-adapters/ufs/fsck/fsck.h"

namespace headcrash::ufs {

struct SchemeVariant {
  std::string name;
  std::string title;
  MountOptions mount;
  os::DiskQueueOptions queue;  ///< the order that the driver must enforce
  bool block_copy = false;     ///< -CB
  Features features = {};      ///< the features of the file systems on which the variant is tested
  Severity may_leave = Severity::residue;
  /// True if the maps on the disk may show used space as free.
  bool maps_lag = true;
  bool control = false;                          ///< a negative control, which tests must detect
  std::optional<os::SyncerOptions> syncer = {};  ///< adapters::SystemDescription
  /// adapters::Promises: the syncer's delay, and the time until the delayed writes are complete.
  std::int64_t keeps_after_s = 0;
  std::string shown_by = {};  ///< adapters::SystemDescription
};

/// Returns all variants; names are unique.
std::vector<SchemeVariant> scheme_variants();
void PrintTo(const SchemeVariant& scheme, std::ostream* out);
/// Finds a variant by name. If there is no such variant, the error lists all names.
Result<SchemeVariant> find_scheme_variant(std::string_view name);

/// Returns the promises by which the oracle judges the scheme.
adapters::Promises promises_of(const SchemeVariant& scheme);

/// Returns true if a power cut under this scheme may leave the finding behind.
bool permitted(const SchemeVariant& scheme, FindingKind kind);

/// For callers that do not know the scheme: returns true if some variant that is not a control may
/// leave all of these findings behind after a power cut. If the disk's journal is in use, only
/// variants with a journal are considered.
bool permitted(const FsckReport& report);

}  // namespace headcrash::ufs
