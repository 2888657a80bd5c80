#pragma once
// The contents of a sound image before damage: inodes, runs of fragments with their pointers, and
// names with their positions. Damage is drawn from it (damage.h), and repairs are compared with it
// (repair_judge.h).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/ufs/core/bmap_cache.h"
#include "fs-adapters/ufs/damage/trial_disk.h"
#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs::damage {

/// The target of one pointer of a file.
struct OwnedRun {
  ufs::InodeNumber owner = 0;
  /// Index of the inode's pointer: 12 direct pointers, then 3 indirect pointers.
  std::uint32_t slot = 0;
  std::optional<std::size_t> holder;  ///< the run that contains the pointer; nullopt for the inode
  std::uint32_t index = 0;            ///< index of the pointer within that run
  std::uint32_t level = 0;            ///< 0 for data
  std::uint64_t block = 0;            ///< first file block that is reached through the pointer
  ufs::FragmentAddress at = 0;
  std::uint32_t fragments = 0;
  bool cached = false;  ///< the pointer is in the inode's bmap cache
};

/// A name other than "." and "..".
struct PlacedName {
  ufs::InodeNumber directory = 0, inode = 0;
  std::string name;
  std::uint64_t byte = 0;  ///< position of the entry in the directory
  ufs::FragmentAddress at = 0;
  std::uint32_t offset = 0;  ///< bytes from `at` to the entry
};

class ImageSurvey {
 public:
  /// Surveys an image without contradictions (audit.h). Fails if it cannot be read.
  static Result<ImageSurvey> of(const TrialDisk& disk);

  const ufs::Superblock& superblock() const { return superblock_; }
  const ufs::Geometry& geometry() const { return geometry_; }
  const ufs::Inode& inode(ufs::InodeNumber number) const { return inodes_[number]; }
  const ufs::BmapCache& bmap(ufs::InodeNumber number) const { return bmaps_[number]; }
  const std::vector<ufs::InodeNumber>& allocated() const { return allocated_; }
  const std::vector<OwnedRun>& runs() const { return runs_; }
  const std::vector<PlacedName>& names() const { return names_; }
  /// Returns indices into runs(); runs of pointers precede their targets.
  const std::vector<std::size_t>& runs_of(ufs::InodeNumber number) const {
    return runs_of_[number];
  }
  std::optional<std::size_t> run_at(ufs::FragmentAddress at) const;
  /// Returns indices into names().
  const std::vector<std::size_t>& names_in(ufs::InodeNumber directory) const {
    return names_in_[directory];
  }
  const std::vector<std::size_t>& names_of(ufs::InodeNumber number) const {
    return names_of_[number];
  }
  /// Returns true if the slot has been initialised; slots beyond the zeroed part of a lazy group
  /// have arbitrary content.
  bool is_initialised(ufs::InodeNumber number) const {
    return geometry_.inode_index_in_group(number) < initialised_[geometry_.group_of_inode(number)];
  }
  /// Returns true for a data fragment that has no owner.
  bool is_free(ufs::FragmentAddress at) const;

 private:
  void walk(const TrialDisk& disk, OwnedRun run);
  Result<void> read_names(const TrialDisk& disk, ufs::InodeNumber directory);

  ufs::Superblock superblock_;
  ufs::Geometry geometry_;
  std::vector<ufs::Inode> inodes_;
  /// bmap caches by inode; empty if the feature is absent
  std::vector<ufs::BmapCache> bmaps_;
  std::vector<std::uint32_t> initialised_;  ///< number of initialised slots, by group
  std::vector<ufs::InodeNumber> allocated_;
  std::vector<OwnedRun> runs_;
  std::vector<std::uint32_t> run_at_;  ///< by fragment: 1 + index into runs_; 0 if no run
  std::vector<PlacedName> names_;
  std::vector<std::vector<std::size_t>> runs_of_, names_in_, names_of_;  ///< by inode
};

}  // namespace headcrash::ufs::damage
