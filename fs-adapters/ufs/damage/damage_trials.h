#pragma once
// Trials of the checker itself: one sound image, damaged in many ways, each of them repaired, and
// each repair cut in many places and made again (damage.h, repair_judge.h).
//
//   sound -> damaged -> check: the incremental one finds what the full one does
//                    -> repair, its writes logged -> judge
//            damaged + some of the writes -> repair -> judge          a cut after each write, or in one
//
// All that is reported about a trial follows from its seed.

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
  /// A repair, or what a test puts in its place. `contents` as in FsckOptions; it may be empty.
  using Repair = std::function<Result<ufs::FsckReport>(model::SectorStore& store,
                                                       std::span<const std::uint64_t> contents)>;

  /// `sound` is an image without contradictions: whole sectors; it must outlive this, as must fsck
  /// and audit. With `log_at` its log's device lies there behind it (TrialDisk); nothing of that is
  /// damaged. Errors: it is none.
  static Result<DamageTrials> create(std::span<const std::byte> sound, ufs::Fsck& fsck,
                                     Audit& audit, std::uint64_t log_at = 0);

  /// Instead of fsck's.
  void repair_by(Repair repair) { repair_ = std::move(repair); }
  /// Damage drawn from the seed. Errors: what is wrong with a repair, and the damage in words.
  Result<void> run(std::uint64_t seed, adapters::DamageCounts& counts);
  /// The same with one damage of that kind; false: the image has nothing for it.
  Result<bool> run(const DamageKind& kind, std::uint64_t seed, adapters::DamageCounts& counts);

  const ImageSurvey& survey() const { return *survey_; }

 private:
  struct Write {
    std::uint64_t lba = 0;
    std::vector<std::byte> bytes;
  };
  /// The writes of one repair reach the disk and are kept. One that does not end is ended.
  class Log;
  DamageTrials(std::span<const std::byte> sound, ufs::Fsck& fsck, Audit& audit,
               std::uint64_t log_at);
  Result<bool> run(const std::function<bool(Damaging&)>& put, std::uint64_t seed,
                   adapters::DamageCounts& counts);
  Result<void> examine(Damaging& damaging, const std::vector<Write>& damage, std::uint64_t seed,
                       adapters::DamageCounts& counts);
  Result<void> look(const std::string& subject);
  Result<void> look_fast(const std::string& subject, const std::vector<Write>& damage);
  Result<void> repair_and_judge(const std::string& subject, const Permitted& permitted, bool quick,
                                std::vector<Write>* writes, bool& left);
  Result<void> cut(const std::string& subject, const std::vector<Write>& damage,
                   const std::vector<Write>& writes, const Permitted& permitted, std::uint64_t seed,
                   adapters::DamageCounts& counts);
  void put(const std::vector<Write>& writes, std::size_t count);

  std::unique_ptr<TrialDisk> disk_;
  std::unique_ptr<ImageSurvey> survey_;
  ufs::Fsck* fsck_;
  Audit* audit_;
  std::unique_ptr<RepairJudge> judge_;
  Repair repair_;
};

}  // namespace headcrash::ufs::damage
