#pragma once
// The contents of a sound image before it is damaged: inodes, runs of fragments with the pointers
// to them, and names with their positions. Damage is drawn from this survey (damage.h), and repairs
// are compared with it (repair_judge.h).

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
  /// Index of the inode's pointer through which the run is reached: 12 direct pointers, then 3
  /// indirect ones.
  std::uint32_t slot = 0;
  /// The run that contains the pointer to this run; nullopt if the inode contains the pointer.
  std::optional<std::size_t> holder;
  std::uint32_t index = 0;  ///< index of the pointer within the run that contains it
  std::uint32_t level = 0;  ///< 0 for data
  std::uint64_t block = 0;  ///< number of the first file block below the pointer
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
  std::uint32_t offset = 0;  ///< offset of the entry, in bytes from `at`
};

class ImageSurvey {
 public:
  /// Surveys an image without contradictions (audit.h). Fails if the image cannot be read.
  static Result<ImageSurvey> of(const TrialDisk& disk);

  const ufs::Superblock& superblock() const { return superblock_; }
  const ufs::Geometry& geometry() const { return geometry_; }
  const ufs::Inode& inode(ufs::InodeNumber number) const { return inodes_[number]; }
  const ufs::BmapCache& bmap(ufs::InodeNumber number) const { return bmaps_[number]; }
  const std::vector<ufs::InodeNumber>& allocated() const { return allocated_; }
  const std::vector<OwnedRun>& runs() const { return runs_; }
  const std::vector<PlacedName>& names() const { return names_; }
  /// Returns the indices of the file's runs in runs(). A run of pointers precedes the runs to which
  /// its pointers refer.
  const std::vector<std::size_t>& runs_of(ufs::InodeNumber number) const {
    return runs_of_[number];
  }
  std::optional<std::size_t> run_at(ufs::FragmentAddress at) const;
  /// Returns the indices of the directory's names in names().
  const std::vector<std::size_t>& names_in(ufs::InodeNumber directory) const {
    return names_in_[directory];
  }
  const std::vector<std::size_t>& names_of(ufs::InodeNumber number) const {
    return names_of_[number];
  }
  /// Returns true if the slot has been initialised. In a group that is initialised lazily, slots
  /// after the zeroed ones have arbitrary contents.
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
  /// Bmap caches by inode number; empty if the file system does not have the feature.
  std::vector<ufs::BmapCache> bmaps_;
  std::vector<std::uint32_t> initialised_;  ///< number of initialised slots, by group
  std::vector<ufs::InodeNumber> allocated_;
  std::vector<OwnedRun> runs_;
  /// For each fragment: 1 + index into runs_; 0 if no run contains it.
  std::vector<std::uint32_t> run_at_;
  std::vector<PlacedName> names_;
  std::vector<std::vector<std::size_t>> runs_of_, names_in_, names_of_;  ///< by inode
};

}  // namespace headcrash::ufs::damage
