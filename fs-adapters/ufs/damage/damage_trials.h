#pragma once
// Trials of the checker: a sound image is damaged in many ways, each damaged image is repaired, and
// each repair is cut at many points and restarted (damage.h, repair_judge.h).
//
//   sound -> damaged -> check: the incremental one must find the same as the full one
//                    -> repair, with its writes logged -> judge
//            damaged + some of the writes -> repair -> judge      (a cut after a write or in it)
//
// All reports about a trial depend only on its seed.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/ufs/damage/repair_judge.h"

namespace headcrash::ufs::damage {

class DamageTrials {
 public:
  /// A function that repairs an image; tests pass their own functions. `contents` has the same
  /// meaning as FsckOptions::contents, and may be empty.
  using Repair = std::function<Result<ufs::FsckReport>(model::SectorStore& store,
                                                       const model::SectorDigests& contents)>;

  /// `sound` must be an image of whole sectors, without contradictions. The image, fsck and audit
  /// must outlive this object. If `log_at` is set, the external log's image begins at that sector
  /// (TrialDisk); trials do not damage the log. Fails if the image is not sound.
  static Result<DamageTrials> create(std::span<const std::byte> sound, ufs::Fsck& fsck,
                                     Audit& audit, std::uint64_t log_at = 0);

  /// Replaces fsck's repair.
  void repair_by(Repair repair) { repair_ = std::move(repair); }
  /// Runs one trial with damage drawn from the seed. If the repair is wrong, the error describes
  /// the damage and what is wrong with the repair.
  Result<void> run(std::uint64_t seed, adapters::DamageCounts& counts);
  /// Runs one trial in which damage of this kind is applied once. Returns false if the image has
  /// nothing that this kind can damage.
  Result<bool> run(const DamageKind& kind, std::uint64_t seed, adapters::DamageCounts& counts);

  const ImageSurvey& survey() const { return *survey_; }

 private:
  struct Write {
    std::uint64_t lba = 0;
    std::vector<std::byte> bytes;
  };
  /// Applies the writes of one repair and records them. Fails after too many writes, because the
  /// repair might never terminate.
  class Log;
  DamageTrials(std::span<const std::byte> sound, ufs::Fsck& fsck, Audit& audit,
               std::uint64_t log_at);
  Result<bool> run(const std::function<bool(Damaging&)>& apply, std::uint64_t seed,
                   adapters::DamageCounts& counts);
  Result<void> examine(Damaging& damaging, const std::vector<Write>& damage, std::uint64_t seed,
                       adapters::DamageCounts& counts);
  Result<void> check_incremental(const std::string& subject);
  Result<void> check_fast(const std::string& subject, const std::vector<Write>& damage);
  Result<void> repair_and_judge(const std::string& subject, const Permitted& permitted, bool quick,
                                std::vector<Write>* writes, bool& left);
  Result<void> cut(const std::string& subject, const std::vector<Write>& damage,
                   const std::vector<Write>& writes, const Permitted& permitted, std::uint64_t seed,
                   adapters::DamageCounts& counts);
  void apply(const std::vector<Write>& writes, std::size_t count);

  std::unique_ptr<TrialDisk> disk_;
  std::unique_ptr<ImageSurvey> survey_;
  ufs::Fsck* fsck_;
  Audit* audit_;
  std::unique_ptr<RepairJudge> judge_;
  Repair repair_;
};

}  // namespace headcrash::ufs::damage
