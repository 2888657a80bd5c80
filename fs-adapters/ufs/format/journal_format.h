#pragma once
// The journal on the disk: a ring of fragments in one group's data, and in front of it one sector
// that says where the ring's valid part begins.
//
//   area:  | superblock | ring ......................................................... |
//                        ^0          ^tail: sequence n                ^head: the first that is not valid
//          ring: | descriptor, images, commit | descriptor, images, commit |
//                 sequence n                   n + 1
//
//   superblock  magic, checksum, in use or not, length, tail, its sequence number, epoch
//   descriptor magic, epoch, sequence, fragments in all; for each image its home and length;
//   revoked runs;
//               the inodes that are open without a name
//   image       what the home holds when the transaction is in place: physical redo
//   commit      magic, epoch, sequence, checksum of descriptor and images; one sector, whole or not there
//
// A transaction counts when its commit record does. An epoch begins whenever somebody mounts the
// file system, so that no record of an earlier life is ever taken for one of this. A revoked run is
// not replayed from transactions up to this one: it was freed in this, and may hold since then what
// no journal knows.
//
// Source: Tweedie, "Journaling the Linux ext2fs Filesystem", LinuxExpo 1998, and the recovery of
// Gray and Reuter, "Transaction Processing", 1993, chapter 10, for what there must be; the format
// is ours.

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

/// For who has no journal of an external one's file system. `headcrash image` and
/// fsck.headcrash-ufs have these words.
inline constexpr const char* kExternalLogRemedy =
    "give the device of this file system's log (--log); if it is gone for good, --without-log gives up what only it "
    "holds";

struct JournalSuperblock {
  bool in_use = false;              ///< what is in it belongs to the file system as it lies there
  std::uint32_t fragments = 0;      ///< of the area
  std::uint32_t tail = 0;           ///< in the ring
  std::uint64_t tail_sequence = 1;  ///< of the transaction there, or of the next one
  std::uint64_t epoch = 1;
  std::uint64_t file_system = 0;  ///< of an external journal: Superblock::journal_id
};

/// Whole fragments, and where they belong.
struct JournalImage {
  FragmentAddress home = 0;
  std::vector<std::byte> bytes;
};

struct JournalTransaction {
  std::uint64_t epoch = 0, sequence = 0;
  std::vector<JournalImage> images = {};
  std::vector<Extent> revoked = {};
  std::vector<InodeNumber> orphans =
      {};                         ///< allocated, without links, open: to be released by a replay
  bool too_many_orphans = false;  ///< the list is not all of them: a replay looks at every inode
};

/// The ring of a file system.
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
  /// Where `count` fragments from `position` on lie: the first run of them, the rest begins at the
  /// ring's start.
  Extent run(std::uint32_t position, std::uint32_t count) const {
    return {.at = area_ + 1 + position, .fragments = std::min(count, fragments_ - position)};
  }
  std::uint64_t superblock_lba() const { return lba(area_); }
  /// Of a fragment of the area, at a driver's address.
  std::uint64_t lba(FragmentAddress at) const {
    return os::device_address(device_, std::uint64_t{at} * (fragment_bytes_ / kSectorBytes));
  }
  std::size_t device() const { return device_; }

 private:
  std::size_t device_ = 0;
  FragmentAddress area_ = 0;
  std::uint32_t fragments_ = 1, fragment_bytes_ = kSectorBytes;
};

/// A sector. An Error says what is wrong with it.
Result<JournalSuperblock> decode_journal_superblock(std::span<const std::byte> sector,
                                                    const Superblock& superblock);
/// That of its file system, whoever's it is; 0: it is none of an external journal.
std::uint64_t journal_identifier(std::span<const std::byte> sector);
void encode_journal_superblock(const JournalSuperblock& journal, std::span<std::byte> sector);

/// Whole fragments; the commit record is the last one.
std::vector<std::byte> encode_transaction(const JournalTransaction& transaction,
                                          std::uint32_t fragment_bytes);

/// How long that will be.
std::uint32_t fragments_of(const JournalTransaction& transaction, std::uint32_t fragment_bytes);

/// What is valid in a ring.
struct JournalContents {
  JournalSuperblock super;
  std::vector<JournalTransaction> transactions;
  std::vector<std::uint32_t> starts;  ///< of each, in the ring
  std::uint32_t head = 0;
  std::string damage;  ///< a transaction that was committed is invalid: those before it are given
};
/// An Error: the journal's superblock is damaged, or the store failed.
Result<JournalContents> read_journal(const model::SectorStore& store, const Superblock& superblock);

/// Makes the journal empty, in a new epoch.
Result<JournalSuperblock> reset_journal(model::SectorStore& store, const Superblock& superblock,
                                        const JournalSuperblock& old, bool in_use);
Result<void> write_journal_superblock(model::SectorStore& store, const Superblock& superblock,
                                      const JournalSuperblock& journal);
/// Puts a transaction's bytes into the ring.
Result<void> write_to_ring(model::SectorStore& store, const JournalRing& ring,
                           std::uint32_t position, std::span<const std::byte> bytes);

}  // namespace headcrash::ufs
