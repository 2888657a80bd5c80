#pragma once
// Judges the repair of a damaged image: no findings and no contradictions are left, the report's
// counts are correct, and undamaged parts are unchanged.
//
//   second check: no findings    audit: no contradictions (audit.h)    superblock unchanged
//   every inode that must stay: mode, owner, times, size, pointers, and the bytes behind them
//   every name that must stay refers to the same inode; there are no unexpected names
//
// A repair that runs out of space must report the remaining findings and must not mark the image
// clean.

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
  /// `sound` is the image from which the survey was made. All other arguments must outlive this
  /// object.
  RepairJudge(const ImageSurvey& survey, const TrialDisk& sound, ufs::Fsck& fsck, Audit& audit);

  /// Returns a description of the first error; empty if the repair is correct.
  std::string problem_with(const TrialDisk& disk, const ufs::FsckReport& report,
                           const Permitted& permitted);
  /// For an image that was not marked clean before the repair: checks the clean flag after the
  /// repair was interrupted.
  std::string problem_with_flag(const TrialDisk& disk);

 private:
  std::string compare_superblock(const ufs::ImageReader& reader) const;
  std::string judge_unrepaired(const TrialDisk& disk, const ufs::ImageReader& reader);
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
  std::vector<std::uint64_t> digests_;  ///< digest of each sector of the sound image
  ufs::InodeNumber lost_found_ = 0;     ///< inode of lost+found in the image that is being judged
};

}  // namespace headcrash::ufs::damage
