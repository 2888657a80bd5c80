#pragma once
// The table of scheme variants: for each, what a power cut may leave behind and whether it is a
// control. Used by tests, crash exploration and mounts.
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
// this. An exchange of names uses a third name. fsck removes it if the inode has another name;
// otherwise it stays.
//
// The inode records its number of sectors. Pointers may be in indirect blocks, and the part of the
// last block that belongs to the file follows from its size, which a write raises once the
// fragments exist and a moved fragment has caused an inode write. None of the three rules orders
// these. Nothing depends on the number, and fsck recounts it (FreeBSD also leaves it to fsck:
// sysctl vfs.ffs.adjblkcnt).
//
// A control follows none of the rules and must be caught. If a control passes, the test proves
// nothing.

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
  os::DiskQueueOptions queue;  ///< required driver order
  bool block_copy = false;     ///< -CB
  Features features = {};      ///< features of the file systems with which the variant is tested
  Severity may_leave = Severity::residue;
  bool maps_lag = true;                          ///< maps may show used space as free
  bool control = false;                          ///< must be caught
  std::optional<os::SyncerOptions> syncer = {};  ///< adapters::SystemDescription
  /// adapters::Promises; the syncer's delay and the writes that follow it.
  std::int64_t keeps_after_s = 0;
  std::string shown_by = {};  ///< adapters::SystemDescription
};

/// Returns all variants; names are unique.
std::vector<SchemeVariant> scheme_variants();
/// Prints the variant in test messages.
void PrintTo(const SchemeVariant& scheme, std::ostream* out);
/// Finds a variant by name. The error lists all names.
Result<SchemeVariant> find_scheme_variant(std::string_view name);

/// Returns the promises for the oracle.
adapters::Promises promises_of(const SchemeVariant& scheme);

/// Returns true if the scheme may leave this finding.
bool permitted(const SchemeVariant& scheme, FindingKind kind);

/// For an unknown scheme: returns true if some variant that is not a control may leave all of these
/// findings. If the disk records a journal in use, only variants with a journal count.
bool permitted(const FsckReport& report);

}  // namespace headcrash::ufs
