#pragma once
// The journal on the disk: a ring of fragments in one group's data area, preceded by a superblock
// of one sector that records where the valid part of the ring begins.
//
//   area:  | superblock | ring ................................................................ |
//                        ^0          ^tail: sequence n               ^head: first invalid fragment
//   ring:  | descriptor, images, commit | descriptor, images, commit |
//            sequence n                   n + 1
//
//   superblock  magic, checksum, in use or not, length, tail, its sequence number, epoch
//   descriptor  magic, epoch, sequence, total fragments; home and length of each image;
//               revoked runs; open inodes without a name
//   image       bytes to be written to the home: physical redo
//   commit      magic, epoch, sequence, checksum of descriptor and images; one sector, so atomic
//
// A transaction is valid once its commit record is on the disk. Each mount begins an epoch, so that
// records of earlier mounts are never mistaken for current ones. A run that a transaction revokes
// is not replayed from this transaction or from earlier ones: the transaction has freed the run,
// which may have been reused for data that is not journalled.
//
// Source: Tweedie, "Journaling the Linux ext2fs Filesystem", LinuxExpo 1998, and Gray and Reuter,
// "Transaction Processing", 1993, chapter 10, for recovery. The format is our own.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/device_address.h"
#include "fs-adapters/ufs/format/format.h"
#include "plugin/base/result.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

/// The hint for a missing external journal, as printed by `headcrash image` and fsck.headcrash-ufs.
inline constexpr const char* kExternalLogHint =
    "pass the log's device with --log; if it is lost, --without-log discards changes that only the "
    "log contains";

struct JournalSuperblock {
  bool in_use = false;          ///< the disk is complete only together with the journal
  std::uint32_t fragments = 0;  ///< size of the area
  std::uint32_t tail = 0;       ///< position in the ring
  /// Sequence number of the transaction at the tail. If the ring is empty, the number of the next
  /// transaction.
  std::uint64_t tail_sequence = 1;
  std::uint64_t epoch = 1;
  /// The journal_id in the file system's superblock. Used only by external journals.
  std::uint64_t file_system = 0;
};

/// The new contents of whole fragments, with the address of their home.
struct JournalImage {
  FragmentAddress home = 0;
  std::vector<std::byte> bytes;
};

struct JournalTransaction {
  std::uint64_t epoch = 0, sequence = 0;
  std::vector<JournalImage> images = {};
  std::vector<Extent> revoked = {};
  /// Inodes that had no links but were still open. A replay must release them.
  std::vector<InodeNumber> orphans = {};
  bool too_many_orphans = false;  ///< the list is incomplete; a replay must check every inode
};

/// Converts positions in a file system's journal ring to addresses on the disk.
class JournalRing {
 public:
  JournalRing() = default;
  explicit JournalRing(const Superblock& superblock)
      : device_(superblock.features.external_journal ? 1 : 0),
        area_(superblock.journal.at),
        fragments_(superblock.journal.fragments - 1),
        fragment_bytes_(superblock.fragment_bytes) {}
  std::uint32_t fragments() const { return fragments_; }
  std::uint32_t fragment_bytes() const { return fragment_bytes_; }
  std::uint32_t after(std::uint32_t position, std::uint32_t fragments) const {
    return static_cast<std::uint32_t>((std::uint64_t{position} + fragments) % fragments_);
  }
  /// Returns the first part of the `count` fragments that begin at `position`, up to the end of the
  /// ring. The rest begins at the ring's start.
  Extent run(std::uint32_t position, std::uint32_t count) const {
    return {.at = area_ + 1 + position, .fragments = std::min(count, fragments_ - position)};
  }
  std::uint64_t superblock_lba() const { return lba(area_); }
  /// Returns the driver address of a fragment in the area.
  std::uint64_t lba(FragmentAddress at) const {
    return os::device_address(device_, std::uint64_t{at} * (fragment_bytes_ / kSectorBytes));
  }
  std::size_t device() const { return device_; }

 private:
  std::size_t device_ = 0;
  FragmentAddress area_ = 0;
  std::uint32_t fragments_ = 1, fragment_bytes_ = kSectorBytes;
};

/// Decodes one sector. The Error describes the first invalid field.
Result<JournalSuperblock> decode_journal_superblock(std::span<const std::byte> sector,
                                                    const Superblock& superblock);
/// Returns the identifier of the file system to which an external journal belongs; 0 if the sector
/// is not a journal superblock. This file system may not be the caller's.
std::uint64_t journal_identifier(std::span<const std::byte> sector);
void encode_journal_superblock(const JournalSuperblock& journal, std::span<std::byte> sector);

/// Encodes a transaction. The result consists of whole fragments; the last one is the commit
/// record.
std::vector<std::byte> encode_transaction(const JournalTransaction& transaction,
                                          std::uint32_t fragment_bytes);

std::uint32_t fragments_of(const JournalTransaction& transaction, std::uint32_t fragment_bytes);

struct JournalContents {
  JournalSuperblock super;
  std::vector<JournalTransaction> transactions;
  std::vector<std::uint32_t> starts;  ///< position in the ring at which each transaction begins
  std::uint32_t head = 0;
  /// A description of the first committed transaction that is invalid, if any. Only the
  /// transactions before it are returned.
  std::string damage;
};
/// Fails if the journal's superblock is damaged or the store fails.
Result<JournalContents> read_journal(const model::SectorStore& store, const Superblock& superblock);

/// Empties the journal and begins a new epoch.
Result<JournalSuperblock> reset_journal(model::SectorStore& store, const Superblock& superblock,
                                        const JournalSuperblock& old, bool in_use);
Result<void> write_journal_superblock(model::SectorStore& store, const Superblock& superblock,
                                      const JournalSuperblock& journal);
Result<void> write_to_ring(model::SectorStore& store, const JournalRing& ring,
                           std::uint32_t position, std::span<const std::byte> bytes);

}  // namespace headcrash::ufs
