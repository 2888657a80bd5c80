#pragma once
// After a cut: what the journal says is brought to its place, and what nobody will come back for is
// released.
//
//   1  find the end: transactions from the tail on whose commit records are there
//   2  collect what they revoke
//   3  the newest image of each home that no later transaction revokes
//   4  inodes that were open without a name: their blocks and they themselves become free
//   5  the counts of free blocks and inodes, which no transaction carries, from the groups' headers
//   6  an empty journal
//
// Everything may be cut and begun again: steps 1 to 3 and 5 write the same each time, step 4
// commits what it does to the journal before it does it, and the journal is emptied last.
//
// A check that may change nothing sees the disk through a Redo, which holds what a replay would
// write.

#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/journal_format.h"

namespace headcrash::ufs {

/// A store, and on top of it fragments that are to be written.
class Redo {
 public:
  Redo(const model::SectorStore& store, const Superblock& superblock)
      : store_(store), superblock_(superblock), geometry_(superblock) {}

  /// What the transactions say. Their images must live as long.
  void add(const std::vector<JournalTransaction>& transactions);
  /// Whole fragments. A copy is kept.
  void put(FragmentAddress at, std::span<const std::byte> bytes);
  Result<void> read(FragmentAddress at, std::span<std::byte> into) const;
  /// What was read from the store at this place becomes what will be there.
  void patch(std::uint64_t lba, std::span<std::byte> bytes) const;
  /// Runs of fragments, as long as they are.
  std::vector<JournalImage> images() const;
  Result<void> write_to(model::SectorStore& store) const;
  std::size_t size() const { return fragments_.size(); }

  /// Step 4: an inode that is allocated and has no links; others are left alone. What a damaged
  /// inode leads to outside of the data is left alone, too. An Error: the store, or a group's
  /// header is invalid.
  Result<void> release(InodeNumber number);
  /// Step 5: what is to be in the summary area is put, the superblock's totals are set.
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

/// Those of step 4.
Result<std::vector<InodeNumber>> orphans_of(const JournalContents& contents,
                                            const Superblock& superblock, const Redo& disk);

/// What became of a journal.
struct ReplayReport {
  bool was_in_use = false;
  std::size_t transactions = 0, orphans = 0;
  std::string damage;  ///< what was not replayed, and why
};

/// For whom. `mount`: a committed transaction that is invalid is an Error before anything is
/// written, and the superblock says "clean" when all is in its place, before the journal is
/// emptied. `repair`: continues with the transactions before it, and leaves it to who repairs to
/// say "clean".
enum class ReplayFor : std::uint8_t { mount, repair };

/// Steps 1 to 6; `superblock` gets the counts. An Error: the store failed, or the journal is
/// damaged.
Result<ReplayReport> replay_journal(model::SectorStore& store, Superblock& superblock,
                                    ReplayFor whom);

}  // namespace headcrash::ufs
