#pragma once
// Names that may still be missing on the disk, indexed by the inode that they refer to. An fsync of
// the inode must also write these names.
//
// An inode does not record where its names are, and a dirty directory block does not record which
// inodes it concerns. Therefore each new name is recorded here, under the inode's number. In-core
// inodes are not suitable: they may be evicted and reloaded before their name is written.
//
//   inode 7 -> (directory 5, block 0)      an fsync of 7 writes (5, 0), then (2, 0);
//   inode 5 -> (directory 2, block 0)      the root has no names
//
// A name is removed from the index once an fsync has written the name and the whole path to the
// root. The name must stay until then, because a concurrent fsync needs it too. A sync removes all
// names. When an inode is removed, its names are removed; for a directory, also the names in it.
// When the number of names has doubled, those whose whole path is on the disk are dropped.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "fs-adapters/ufs/format/format.h"

namespace headcrash::ufs {

class Volume;

struct PendingName {
  InodeNumber directory = 0;
  std::int64_t block = 0;
  /// Sequence number. If the same name becomes pending again, it gets a new number.
  std::uint64_t noted = 0;
};

class PendingNames {
 public:
  explicit PendingNames(Volume& volume) : volume_(volume) {}

  /// Adds a pending name of `inode`. The name is in block number `block` of `directory`. Must be
  /// called after the block has been passed to the scheme.
  void note(InodeNumber inode, InodeNumber directory, std::int64_t block);
  /// Records that a directory was moved; note() must already have been called for its new name.
  /// Nothing is recorded for the inodes below the directory, so every fsync must include the
  /// directory until its new name is on the disk.
  void moved(InodeNumber directory) { moved_.insert(directory); }
  const std::set<InodeNumber>& moved() const { return moved_; }
  /// Returns the sequence number of the newest pending name.
  std::uint64_t noted() const { return noted_; }
  /// Returns an inode's pending names, oldest first.
  std::vector<PendingName> of(InodeNumber inode) const;
  /// Returns the inode, all moved directories and, recursively, the directories that contain
  /// pending names of any inode in the result.
  std::vector<InodeNumber> inodes_to_sync(InodeNumber inode) const;

  /// Removes those pending names of an inode whose numbers are at most `until`, because they are on
  /// the disk now. all_written() does the same for all inodes.
  void arrived(InodeNumber inode, std::uint64_t until);
  void all_written(std::uint64_t until);
  /// Drops an inode's pending names. Must be called when the inode is removed or its number is
  /// reused.
  void forget(InodeNumber inode);
  void forget_directory(InodeNumber directory);

  std::size_t inodes() const { return names_.size(); }
  std::size_t names() const { return count_; }

 private:
  void drop(const std::function<bool(const PendingName&)>& gone);
  void drop_arrived();
  void forget_moves();
  bool unwritten(const PendingName& name) const;

  Volume& volume_;
  /// The pending names of each inode; no vector is empty.
  std::unordered_map<InodeNumber, std::vector<PendingName>> names_;
  std::set<InodeNumber> moved_;  ///< moved directories; each has an entry in `names_`
  std::size_t count_ = 0;        ///< total number of pending names
  static constexpr std::size_t kSearchMin = 4096;
  /// When `count_` reaches this value, names that are already on the disk are dropped.
  std::size_t search_at_ = kSearchMin;
  std::uint64_t noted_ = 0;
};

}  // namespace headcrash::ufs
