// Damages images, repairs them, and cuts the repairs (damage_trials.h).
#include "fs-adapters/ufs/damage/damage_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plugin/base/invariant.h"

namespace headcrash::ufs::damage {
namespace {

constexpr std::uint64_t kCutsMost = 24;  // per repair
// Maximum number of requests in a repair; a test disk has only a few hundred sectors.
constexpr std::uint64_t kRequestsMost = 1 << 20;
// Timestamp that repairs store, in seconds since the epoch. No file in the damaged images has this
// timestamp.
constexpr std::uint32_t kLater = 2'000'000'000;

tl::unexpected<Error> wrong(const std::string& subject, const std::string& problem) {
  return fail(subject, problem, "this is a bug in fsck or in its judge");
}

}  // namespace

class DamageTrials::Log final : public model::SectorStore {
 public:
  Log(TrialDisk& disk, std::vector<Write>* writes) : disk_(disk), writes_(writes) {}
  std::uint64_t sectors() const override { return disk_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    TRY(count());
    return disk_.read(lba, into);
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    TRY(count());
    if (writes_ != nullptr) writes_->push_back({.lba = lba, .bytes = {data.begin(), data.end()}});
    return disk_.write(lba, data);
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t sectors) override {
    return write(lba, std::vector<std::byte>(sectors * model::kSectorBytes));
  }

 private:
  Result<void> count() const {
    if (++requests_ <= kRequestsMost) return {};
    return fail("repair", fmt::format("did not end within {} requests", kRequestsMost));
  }
  TrialDisk& disk_;
  std::vector<Write>* writes_;
  mutable std::uint64_t requests_ = 0;
};

DamageTrials::DamageTrials(std::span<const std::byte> sound, ufs::Fsck& fsck, Audit& audit,
                           std::uint64_t log_at)
    : disk_(std::make_unique<TrialDisk>(sound, log_at)), fsck_(&fsck), audit_(&audit) {
  repair_ = [&fsck](model::SectorStore& store, const model::SectorDigests& contents) {
    return fsck.run(store, {.repair = true, .time = kLater, .contents = contents});
  };
}

Result<DamageTrials> DamageTrials::create(std::span<const std::byte> sound, ufs::Fsck& fsck,
                                          Audit& audit, std::uint64_t log_at) {
  DamageTrials trials(sound, fsck, audit, log_at);
  if (std::string problem = audit.contradiction_in(trials.disk_->bytes()); !problem.empty())
    return fail("the image to be damaged", "is not sound: " + problem);
  TRY(auto survey, ImageSurvey::of(*trials.disk_));
  trials.survey_ = std::make_unique<ImageSurvey>(std::move(survey));
  trials.judge_ = std::make_unique<RepairJudge>(*trials.survey_, *trials.disk_, fsck, audit);
  return trials;
}

Result<void> DamageTrials::run(std::uint64_t seed, adapters::DamageCounts& counts) {
  const auto draw = [](Damaging& damaging) {
    damaging.draw();
    return true;
  };
  const auto done = run(draw, seed, counts);
  return done ? Result<void>() : forward_error(done);
}

Result<bool> DamageTrials::run(const DamageKind& kind, std::uint64_t seed,
                               adapters::DamageCounts& counts) {
  return run([&](Damaging& damaging) { return damaging.add(kind); }, seed, counts);
}

Result<bool> DamageTrials::run(const std::function<bool(Damaging&)>& apply, std::uint64_t seed,
                               adapters::DamageCounts& counts) {
  disk_->show_base();
  std::vector<Write> damage;
  Log log(*disk_, &damage);
  Damaging damaging(*survey_, log, seed);
  if (!apply(damaging)) return false;
  TRY(examine(damaging, damage, seed, counts));
  return true;
}

Result<void> DamageTrials::examine(Damaging& damaging, const std::vector<Write>& damage,
                                   std::uint64_t seed, adapters::DamageCounts& counts) {
  const std::string subject = fmt::format("damage {} ({})", seed, damaging.words());
  const Permitted& permitted = damaging.permitted();
  TRY(check_incremental(subject));
  TRY(check_fast(subject, damage));
  ++counts.damaged;
  std::vector<Write> writes;
  bool left = false;
  TRY(repair_and_judge(subject, permitted, seed % 2 == 0, &writes, left));
  if (left) ++counts.left;
  return cut(subject, damage, writes, permitted, seed, counts);
}

/// Findings must not depend on what the checker remembers about other images.
Result<void> DamageTrials::check_incremental(const std::string& subject) {
  const auto plain = fsck_->check(*disk_);
  const auto quick = fsck_->check(*disk_, plain ? 1000 : 0, disk_->digests());
  if (!plain || !quick)
    return wrong(subject, "the check failed: " + (plain ? quick : plain).error().message());
  const auto same = [](const ufs::Finding& one, const ufs::Finding& other) {
    return one.kind == other.kind && one.text == other.text;
  };
  if (!std::ranges::equal(plain->findings, quick->findings, same))
    return wrong(subject, "the incremental check and the full one have different findings");
  if (!plain->nothing_found()) return {};
  const bool clean = plain->was_clean;
  const std::string problem = clean ? audit_->contradiction_in(disk_->bytes()) : std::string();
  return problem.empty() ? Result<void>{} : wrong(subject, "a check finds nothing, but " + problem);
}

/// A fast check must return a report for any damage, even if it cannot repair that damage. A full
/// check must then be able to repair the result.
Result<void> DamageTrials::check_fast(const std::string& subject,
                                      const std::vector<Write>& damage) {
  if (!survey_->geometry().features().fast_check) return {};
  Log log(*disk_, nullptr);
  const auto fast = fsck_->run(log, {.repair = true, .fast = true, .time = kLater});
  if (!fast) return wrong(subject, "the fast check failed: " + fast.error().message());
  const auto full = fsck_->run(log, {.repair = true, .time = kLater});
  if (!full)
    return wrong(subject, "the full check after a fast check failed: " + full.error().message());
  const std::string problem =
      full->unrepaired ? std::string() : audit_->contradiction_in(disk_->bytes());
  if (!problem.empty()) return wrong(subject, "after a fast check and a full check: " + problem);
  disk_->show_base();
  apply(damage, damage.size());
  return {};
}

Result<void> DamageTrials::repair_and_judge(const std::string& subject, const Permitted& permitted,
                                            bool quick, std::vector<Write>* writes, bool& left) {
  Log log(*disk_, writes);
  const auto report = repair_(log, quick ? disk_->digests() : model::SectorDigests());
  if (!report) return wrong(subject, "the repair failed: " + report.error().message());
  left = report->unrepaired;
  const std::string problem = judge_->problem_with(*disk_, *report, permitted);
  return problem.empty() ? Result<void>{} : wrong(subject, problem);
}

void DamageTrials::apply(const std::vector<Write>& writes, std::size_t count) {
  for (const Write& write : std::span(writes).first(count)) {
    const auto done = disk_->write(write.lba, write.bytes);
    invariant(done.has_value(), "an image in memory must be writable");
  }
}

Result<void> DamageTrials::cut(const std::string& subject, const std::vector<Write>& damage,
                               const std::vector<Write>& writes, const Permitted& permitted,
                               std::uint64_t seed, adapters::DamageCounts& counts) {
  disk_->show_base();
  apply(damage, damage.size());
  const auto reader = ufs::ImageReader::open(*disk_);
  const bool said_clean = reader && reader->superblock().clean;
  Random random(seed);
  std::vector<std::size_t> cuts(writes.size());
  std::iota(cuts.begin(), cuts.end(), 0);
  for (std::size_t i = cuts.size(); i > 1; --i) std::swap(cuts[i - 1], cuts[random.below(i)]);
  // Cuts at the last writes are always tested, because one of these writes sets the clean flag.
  if (cuts.size() > kCutsMost) {
    const auto last = std::ranges::find(cuts, writes.size() - 1);
    std::iter_swap(cuts.begin(), last);
    cuts.resize(kCutsMost);
  }
  for (const std::size_t count : cuts) {
    const std::size_t sectors = writes[count].bytes.size() / model::kSectorBytes;
    const std::size_t torn =
        sectors > 1 && random.below(2) == 0 ? 1 + random.below(sectors - 1) : 0;
    disk_->show_base();
    apply(damage, damage.size());
    apply(writes, count);
    if (torn > 0) {
      const auto part = std::span(writes[count].bytes).first(torn * model::kSectorBytes);
      invariant(disk_->write(writes[count].lba, part).has_value(),
                "an image in memory must be writable");
    }
    const std::string at = fmt::format(
        "{}, with the repair interrupted after {} of {} writes{}", subject, count, writes.size(),
        torn > 0 ? fmt::format(" and {} sectors of the next", torn) : "");
    if (!said_clean)
      if (const std::string problem = judge_->problem_with_flag(*disk_); !problem.empty())
        return wrong(at, problem);
    bool left = false;
    TRY(repair_and_judge(at, permitted, count % 2 == 0, nullptr, left));
    ++counts.cut;
  }
  return {};
}

}  // namespace headcrash::ufs::damage
