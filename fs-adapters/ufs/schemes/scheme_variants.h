#pragma once
// The ways to run the file system, what each may leave behind after a power cut, and which of them
// are
// controls: the one table, for the tests, the crash lab, and whoever mounts it.
//
// What fsck finds has a weight (ufs::weight_of): `stale` is what every power cut leaves, `residue`
// what updates in the right order may leave (leaked blocks and inodes, link counts that are too
// high), `damage` the rest. Every scheme of the paper writes the maps of free blocks and inodes
// whenever it likes, since fsck rebuilds them from the inodes (Ganger and Patt 1994, section 1
// names no rule about them): a block that is somebody's and marked free is then no damage, but no
// file system may be used before fsck has run.
//
// A directory that is renamed has two names between the writes of the new and the old one (rule R1
// wants it so); fsck takes one away. Its ".." follows the new name: until then, when the old name
// was itself too young to be on the disk, ".." names a directory that does not name it; fsck
// corrects that. An exchange of names goes through a third one, which fsck takes away when what it
// names has another name, and which stays when it is the only one.
//
// How many sectors an inode says it has is in the inode. Pointers may be in indirect blocks, and
// how much of the last block belongs to a file follows from its size, which a write raises when its
// fragments are there and a fragment that had to move has made the inode be written: none of the
// three rules puts one before the other, nobody relies on the number, and fsck counts again
// (FreeBSD leaves the same to fsck: the sysctl vfs.ffs.adjblkcnt is there for it).
//
// A control keeps none of the rules. It has to be caught: a lab in which it comes out fine judges
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
  os::DiskQueueOptions queue;  ///< the driver that it relies on
  bool block_copy = false;     ///< -CB
  Features features = {};      ///< of the file systems that it is tried on
  Weight may_leave = Weight::residue;
  bool maps_lag = true;                          ///< maps may say "free" of what is somebody's
  bool control = false;                          ///< must be caught
  std::optional<os::SyncerOptions> syncer = {};  ///< adapters::SystemDescription
  std::int64_t keeps_after_s = 0;  ///< adapters::Promises; the syncer's delay and what follows it
  std::string shown_by = {};       ///< adapters::SystemDescription
};

/// Every name once.
std::vector<SchemeVariant> scheme_variants();
/// For tests' messages.
void PrintTo(const SchemeVariant& scheme, std::ostream* out);
/// Errors tell all names.
Result<SchemeVariant> find_scheme_variant(std::string_view name);

/// What the oracle may ask of it.
adapters::Promises promises_of(const SchemeVariant& scheme);

/// True when the scheme may leave this.
bool permitted(const SchemeVariant& scheme, FindingKind kind);

/// For who does not know which scheme ran: true when one that is not a control may leave each of
/// these. A disk says that a journal was in use; then it is one of those.
bool permitted(const FsckReport& report);

}  // namespace headcrash::ufs
