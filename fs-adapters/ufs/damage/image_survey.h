#pragma once
// What a sound image holds, as it is before anything is damaged: every inode, every run of
// fragments with the pointer that leads to it, every name and where it lies. Who damages an image
// draws from it (damage.h), and who judges a repair compares with it (repair_judge.h).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/ufs/core/bmap_cache.h"
#include "fs-adapters/ufs/damage/trial_disk.h"
#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs::damage {

/// What one pointer of a file leads to.
struct OwnedRun {
  ufs::InodeNumber owner = 0;
  std::uint32_t slot = 0;  ///< of the inode's pointers: 12 direct ones, then 3 indirect ones
  std::optional<std::size_t> holder;  ///< the run of pointers that it is in; nothing: the inode
  std::uint32_t index = 0;            ///< of the pointer in that
  std::uint32_t level = 0;            ///< 0: data
  std::uint64_t block = 0;            ///< the first of the file's blocks behind it
  ufs::FragmentAddress at = 0;
  std::uint32_t fragments = 0;
  bool cached = false;  ///< the pointer is in the inode's bmap cache
};

/// A name other than "." and "..".
struct PlacedName {
  ufs::InodeNumber directory = 0, inode = 0;
  std::string name;
  std::uint64_t byte = 0;  ///< of the entry, in the directory
  ufs::FragmentAddress at = 0;
  std::uint32_t offset = 0;  ///< bytes from there: of the entry's chunk, and in it
};

class ImageSurvey {
 public:
  /// Of an image without contradictions (audit.h). Errors: it cannot be read.
  static Result<ImageSurvey> of(const TrialDisk& disk);

  const ufs::Superblock& superblock() const { return superblock_; }
  const ufs::Geometry& geometry() const { return geometry_; }
  const ufs::Inode& inode(ufs::InodeNumber number) const { return inodes_[number]; }
  const ufs::BmapCache& bmap(ufs::InodeNumber number) const { return bmaps_[number]; }
  const std::vector<ufs::InodeNumber>& allocated() const { return allocated_; }
  const std::vector<OwnedRun>& runs() const { return runs_; }
  const std::vector<PlacedName>& names() const { return names_; }
  /// Numbers in runs(), a run of pointers before what they lead to.
  const std::vector<std::size_t>& runs_of(ufs::InodeNumber number) const {
    return runs_of_[number];
  }
  std::optional<std::size_t> run_at(ufs::FragmentAddress at) const;
  /// Numbers in names().
  const std::vector<std::size_t>& names_in(ufs::InodeNumber directory) const {
    return names_in_[directory];
  }
  const std::vector<std::size_t>& names_of(ufs::InodeNumber number) const {
    return names_of_[number];
  }
  /// Its slot holds something: behind what a lazy group has zeroed is whatever there was.
  bool is_initialised(ufs::InodeNumber number) const {
    return geometry_.inode_index_in_group(number) < initialised_[geometry_.group_of_inode(number)];
  }
  /// Data, and nobody's.
  bool is_free(ufs::FragmentAddress at) const;

 private:
  void walk(const TrialDisk& disk, OwnedRun run);
  Result<void> read_names(const TrialDisk& disk, ufs::InodeNumber directory);

  ufs::Superblock superblock_;
  ufs::Geometry geometry_;
  std::vector<ufs::Inode> inodes_;
  std::vector<ufs::BmapCache> bmaps_;       ///< by inode; empty where there are none
  std::vector<std::uint32_t> initialised_;  ///< slots, by group
  std::vector<ufs::InodeNumber> allocated_;
  std::vector<OwnedRun> runs_;
  std::vector<std::uint32_t> run_at_;  ///< by fragment, 1 + number in runs_; 0: none
  std::vector<PlacedName> names_;
  std::vector<std::vector<std::size_t>> runs_of_, names_in_, names_of_;  ///< by inode
};

}  // namespace headcrash::ufs::damage
