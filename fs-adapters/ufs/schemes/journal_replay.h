#pragma once
// Replay after a power cut: writes the journal's committed images in place and releases orphaned
// inodes.
//
//   1  find the end: transactions from the tail that have a commit record
//   2  collect revoked runs
//   3  write the newest image of each home that no later transaction revokes
//   4  free inodes that were open without a name, and their blocks
//   5  recompute the counts of free blocks and inodes, which are not journalled, from group headers
//   6  empty the journal
//
// The replay may be cut and restarted at any point. Steps 1 to 3 and 5 always write the same bytes,
// step 4 commits its changes to the journal before making them, and the journal is emptied last.
//
// A read-only check sees the disk through a Redo, which has the blocks that a replay would write.

#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/journal_format.h"

namespace headcrash::ufs {

/// The fragments that a replay would write, as an overlay.
class Redo {
 public:
  Redo(const model::SectorStore& store, const Superblock& superblock)
      : store_(store), superblock_(superblock), geometry_(superblock) {}

  /// Adds the images of `transactions`. `transactions` must outlive this object.
  void add(const std::vector<JournalTransaction>& transactions);
  /// Adds a copy of `bytes`. REQUIRES: `bytes` consists of whole fragments.
  void put(FragmentAddress at, std::span<const std::byte> bytes);
  Result<void> read(FragmentAddress at, std::span<std::byte> into) const;
  /// Overwrites those parts of `bytes` for which fragments are pending. `bytes` were read from the
  /// store at `lba`.
  void patch(std::uint64_t lba, std::span<std::byte> bytes) const;
  /// Returns the pending fragments as runs that are contiguous and as long as possible.
  std::vector<JournalImage> images() const;
  Result<void> write_to(model::SectorStore& store) const;
  std::size_t size() const { return fragments_.size(); }

  /// Step 4: frees an inode if it is allocated and has no links. If the inode is damaged, ignores
  /// pointers to places outside the data area. Fails if the store fails or a group's header is
  /// invalid.
  Result<void> release(InodeNumber number);
  /// Step 5: adds the summary area to the overlay and sets the superblock's totals.
  Result<void> count(Superblock& superblock);

 private:
  Result<void> release_run(FragmentAddress at, std::uint32_t fragments, bool& was_used);
  Result<void> release_tree(FragmentAddress at, std::uint32_t levels);
  template <typename Change>
  Result<void> change_group(std::uint32_t group, Change change);

  const model::SectorStore& store_;
  Superblock superblock_;
  Geometry geometry_;
  std::map<FragmentAddress, std::span<const std::byte>> fragments_;
  std::deque<std::vector<std::byte>> kept_;
};

/// Returns the inodes that step 4 must free.
Result<std::vector<InodeNumber>> orphans_of(const JournalContents& contents,
                                            const Superblock& superblock, const Redo& disk);

struct ReplayReport {
  bool was_in_use = false;
  std::size_t transactions = 0, orphans = 0;
  std::string damage;        ///< describes the first transaction that was not replayed, and why
  std::string not_released;  ///< why an orphan could not be released; empty if all were
};

/// The purpose of a replay.
///
/// `mount`: the replay fails before writing anything if a committed transaction is invalid. Once
/// everything is in place, the replay marks the superblock clean, and then empties the journal.
///
/// `repair`: the replay includes only the transactions before an invalid one. The repair itself
/// marks the superblock clean.
enum class ReplayFor : std::uint8_t { mount, repair };

/// Runs steps 1 to 6 and updates the counts in `superblock`. Fails if the store fails or the
/// journal is damaged.
Result<ReplayReport> replay_journal(model::SectorStore& store, Superblock& superblock,
                                    ReplayFor whom);

}  // namespace headcrash::ufs
