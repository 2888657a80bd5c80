#pragma once
// Names that may not have reached the disk, by the inode that they name: what an fsync of a file
// has to write besides the file.
//
// Nothing in an inode says where its names are, and a directory's block that is dirty does not say
// for whom. So each name that is put somewhere is noted here. Under the inode's number, and not
// with the inode in core: that leaves memory when enough others have been used, and comes back from
// its block without knowing that nobody has written its name yet.
//
//   note:  inode 7 -> (directory 5, block 0)      the way of an fsync of 7: (5, 0), then (2, 0), then the
//          inode 5 -> (directory 2, block 0)      root, of which nothing is noted
//
// A note ends when an fsync has brought it and its whole way to the disk, and not before, since a
// second one may come by meanwhile; with a sync; with its inode or its directory. Lest there be too
// many they are looked through when they have doubled: those are dropped whose path has nothing
// left to write.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "fs-adapters/ufs/format/format.h"

namespace headcrash::ufs {

class Volume;

/// Where a name was put.
struct PendingName {
  InodeNumber directory = 0;
  std::int64_t block = 0;
  std::uint64_t noted = 0;  ///< its number among all notes; put there again it is a newer one
};

class PendingNames {
 public:
  explicit PendingNames(Volume& volume) : volume_(volume) {}

  /// The name is in the block, and the scheme has been given the block.
  void note(InodeNumber inode, InodeNumber directory, std::int64_t block);
  /// A directory has another name, which has been noted. What is below it does not know that its
  /// way has
  /// changed: every way leads through it until it has arrived.
  void moved(InodeNumber directory) { moved_.insert(directory); }
  const std::set<InodeNumber>& moved() const { return moved_; }
  /// The newest note of all.
  std::uint64_t noted() const { return noted_; }
  /// Of one inode, oldest first.
  std::vector<PendingName> of(InodeNumber inode) const;
  /// The inode and what has moved, and the directories that notes lead to from there.
  std::vector<InodeNumber> way_of(InodeNumber inode) const;

  /// Notes up to that one are on the disk: an inode's; everybody's.
  void arrived(InodeNumber inode, std::uint64_t until);
  void all_arrived(std::uint64_t until);
  /// It is no more, or another one begins under its number.
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
  std::unordered_map<InodeNumber, std::vector<PendingName>> names_;  ///< none of them empty
  std::set<InodeNumber> moved_;                                      ///< each has names
  std::size_t count_ = 0;                                            ///< of all names
  static constexpr std::size_t kLookedAtMin = 4096;
  std::size_t look_at_ = kLookedAtMin;  ///< at this number, those that have arrived are looked for
  std::uint64_t noted_ = 0;
};

}  // namespace headcrash::ufs
