#pragma once
// Whether a repair of a damaged image is right: nothing is left to find, nothing contradicts
// itself, what the report counts is there, and what the damage did not touch is as it was.
//
//   check again: nothing    audit: nothing (audit.h)    the superblock is the one that it was
//   every inode that may not go: mode, owner, times, size, pointers, and the bytes behind them
//   every name that may not go leads where it led; no name came that nobody gave
//
// What a repair may leave for want of room it has to tell, and it must not say "clean" then.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fs-adapters/ufs/damage/audit.h"
#include "fs-adapters/ufs/damage/damage.h"
#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/fsck/fsck.h"

namespace headcrash::ufs::damage {

class RepairJudge {
 public:
  /// `sound`: what was surveyed, as it is now. All but `sound` must outlive it.
  RepairJudge(const ImageSurvey& survey, const TrialDisk& sound, ufs::Fsck& fsck, Audit& audit);

  /// The first thing that is wrong, in words; empty: nothing. `disk` is only read.
  std::string wrong_with(const TrialDisk& disk, const ufs::FsckReport& report,
                         const Permitted& permitted);
  /// Of what a cut has left of a repair of an image that did not say that it is clean.
  std::string wrong_with_flag(const TrialDisk& disk);

 private:
  std::string compare_superblock(const ufs::ImageReader& reader) const;
  std::string judge_what_is_left(const TrialDisk& disk, const ufs::ImageReader& reader);
  bool has_room(const ufs::ImageReader& reader) const;
  std::string compare_inodes(const TrialDisk& disk, const ufs::ImageReader& reader,
                             const Permitted& permitted) const;
  std::string compare_inode(const TrialDisk& disk, ufs::InodeNumber number, const ufs::Inode& now,
                            const Permitted& permitted) const;
  static std::string compare_given_names(ufs::InodeNumber directory,
                                         const std::map<std::string_view, ufs::InodeNumber>& now,
                                         const Permitted& permitted);
  std::string compare_names(const ufs::ImageReader& reader, ufs::InodeNumber directory,
                            const Permitted& permitted) const;

  const ImageSurvey& survey_;
  ufs::Fsck& fsck_;
  Audit& audit_;
  std::vector<std::uint64_t> digests_;  ///< of the sound image, by sector
  ufs::InodeNumber lost_found_ = 0;     ///< of the image that is judged
};

}  // namespace headcrash::ufs::damage
