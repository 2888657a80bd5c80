// Adapts ufs to the common interface (under_test.h).
#include "fs-adapters/ufs/under_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fs-adapters/ufs/core/file_system.h"
#include "fs-adapters/ufs/core/write_kind.h"
#include "fs-adapters/ufs/damage/damage_trials.h"
#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/format/journal_format.h"
#include "fs-adapters/ufs/format/mkfs.h"
#include "fs-adapters/ufs/format/mkfs_settings.h"
#include "fs-adapters/ufs/lab_disks.h"
#include "fs-adapters/ufs/netra/fast_check_trial.h"
#include "fs-adapters/ufs/schemes/scheme_variants.h"

namespace headcrash::ufs {
namespace {

adapters::Severity severity_of(Severity weight) {
  switch (weight) {
    case Severity::stale:
      return adapters::Severity::stale;
    case Severity::residue:
      return adapters::Severity::residue;
    case Severity::damage:
      break;
  }
  return adapters::Severity::damage;
}

adapters::Counters counters_of(const Summary& counted) {
  return {{"directories", counted.directories},
          {"free inodes", counted.free_inodes},
          {"free blocks", counted.free_blocks},
          {"free fragments", counted.free_fragments}};
}

class UfsChecker final : public adapters::ImageChecker {
 public:
  Result<adapters::CheckReport> check(const model::SectorStore& store,
                                      const adapters::CheckOptions& options) override {
    return converted(fsck_.check(store, FsckOptions{.without_log = options.without_log,
                                                    .findings_max = options.findings_max,
                                                    .contents = options.digests}));
  }
  Result<std::optional<adapters::CheckReport>> recover_log(
      model::SectorStore& store, const adapters::CheckOptions& options) override {
    TRY(auto report, fsck_.recover_log(store, {.findings_max = options.findings_max}));
    if (!report) return std::nullopt;
    return converted(*std::move(report));
  }
  Result<adapters::CheckReport> repair(model::SectorStore& store,
                                       const adapters::CheckOptions& options) override {
    return converted(fsck_.run(store, {.repair = true,
                                       .fast = options.fast,
                                       .without_log = options.without_log,
                                       .findings_max = options.findings_max,
                                       .time = options.time,
                                       .contents = options.digests}));
  }

 private:
  static Result<adapters::CheckReport> converted(Result<FsckReport> report) {
    if (!report) return forward_error(report);
    adapters::CheckReport made{.more_findings = report->more_findings,
                               .was_clean = report->was_clean,
                               .log_in_use = report->journalled,
                               .unrepaired = report->unrepaired,
                               .replayed = report->replayed,
                               .files = report->files,
                               .directories = report->directories,
                               .space = counters_of(report->totals)};
    made.findings.reserve(report->findings.size());
    for (Finding& finding : report->findings)
      made.findings.push_back({.kind = kind_of(finding.kind),
                               .inode = finding.inode,
                               .block = finding.block,
                               .count = finding.count,
                               .repaired = finding.repaired,
                               .text = std::move(finding.text)});
    return made;
  }

  Fsck fsck_;
};

class UfsReader final : public adapters::ImageReader {
 public:
  explicit UfsReader(const ufs::ImageReader& reader) : reader_(reader) {}

  std::uint64_t root() const override { return kRootInode; }
  std::uint64_t layout() const override {
    const Superblock& s = reader_.superblock();
    return adapters::layout_digest(
        s.size_fragments,
        {s.superblock_offset, s.header_offset, s.inodes_offset, s.data_offset, s.stagger,
         s.stagger_mask, s.groups, s.inodes_per_group, s.fragments_per_group, s.header_bytes,
         s.block_bytes, s.fragment_bytes, s.inline_target_max});
  }
  Result<adapters::ImageInode> inode(std::uint64_t number) const override {
    TRY(const auto found, reader_.inode(adapters::inode_number(number)));
    return adapters::image_inode(number, found, std::uint64_t{found.sectors} * kSectorBytes);
  }
  Result<std::vector<adapters::ImageName>> list(std::uint64_t directory) const override {
    TRY(auto entries, reader_.list(adapters::inode_number(directory)));
    return adapters::image_names(std::move(entries));
  }
  Result<std::string> readlink(std::uint64_t number) const override {
    return reader_.readlink(adapters::inode_number(number));
  }
  Result<std::vector<adapters::ContentExtent>> content(std::uint64_t number) const override {
    const Geometry& geometry = reader_.geometry();
    const std::uint64_t whole = geometry.block_bytes() / kSectorBytes;
    std::vector<adapters::ContentExtent> extents;
    std::uint64_t next = 0;  // next block of the file
    const auto hole_until = [&](std::uint64_t block) {
      if (block > next) extents.push_back({adapters::ContentExtent::kHole, (block - next) * whole});
      next = block;
    };
    TRY(const auto blocks, reader_.each_block(adapters::inode_number(number),
                                              [&](std::uint64_t block, FragmentAddress at) {
                                                hole_until(block++);
                                                extents.push_back({geometry.lba_of(at), whole});
                                                next = block;
                                              }));
    hole_until(blocks);
    return extents;
  }
  Result<std::size_t> read(std::uint64_t number, std::uint64_t offset,
                           std::span<std::byte> into) const override {
    return reader_.read(adapters::inode_number(number), offset, into);
  }

 private:
  ufs::ImageReader reader_;
};

class MountedUfs final : public adapters::MountedSystem {
 public:
  explicit MountedUfs(std::unique_ptr<FileSystem> file_system)
      : file_system_(std::move(file_system)) {}

  Vfs& vfs() override { return *file_system_; }
  VfsResult<void> unmount() override { return file_system_->unmount(); }
  void abandon() override { file_system_->abandon(); }
  void drop_unused_inodes() override { file_system_->volume().inodes.forget_idle(0); }
  adapters::Counters space_counts() const override {
    return counters_of(file_system_->volume().super.total);
  }

 private:
  std::unique_ptr<FileSystem> file_system_;
};

class UfsSystem final : public adapters::SystemUnderTest {
 public:
  UfsSystem(const adapters::FileSystemType& type, SchemeVariant variant)
      : SystemUnderTest(type, {.name = variant.name,
                               .title = variant.title,
                               .control = variant.control,
                               .shown_by = variant.shown_by,
                               .promises = promises_of(variant),
                               .queue = variant.queue,
                               .block_copy = variant.block_copy,
                               .syncer = variant.syncer,
                               .devices = variant.features.external_journal ? 2U : 1U,
                               .mkfs = variant.features.external_journal
                                           ? adapters::Settings{{"external-journal", "0"}}
                                           : adapters::Settings()}),
        variant_(std::move(variant)) {}

  Result<std::unique_ptr<adapters::MountedSystem>> mount(
      os::System& system, const adapters::MountSettings& settings) const override {
    MountOptions how = variant_.mount;
    how.allow_unclean = settings.force;
    TRY(auto mounted, FileSystem::mount(system, how));
    return std::make_unique<MountedUfs>(std::move(mounted));
  }
  bool may_leave(const adapters::FindingKind& kind) const override {
    return permitted(variant_, static_cast<FindingKind>(kind.order));
  }
  std::optional<adapters::LabDisk> lab_disk(std::string_view name) const override {
    return ufs::lab_disk(name, {.journal = has_journal(), .features = variant_.features});
  }
  std::unique_ptr<adapters::RecoveryTrial> recovery_trial() const override {
    if (!variant_.features.fast_check) return nullptr;
    return std::make_unique<FastCheckTrial>();
  }
  bool has_journal() const { return variant_.mount.scheme == SchemeKind::journal; }

 private:
  SchemeVariant variant_;
};

class UfsTrials final : public adapters::RepairTrials {
 public:
  UfsTrials(std::span<const std::byte> sound, std::uint64_t log_at)
      : trials_(damage::DamageTrials::create(sound, fsck_, audit_, log_at)) {}

  const Result<damage::DamageTrials>& made() const { return trials_; }
  Result<void> run(std::uint64_t seed, adapters::DamageCounts& counts) override {
    return trials_->run(seed, counts);
  }

 private:
  Fsck fsck_;
  damage::Audit audit_;
  Result<damage::DamageTrials> trials_;
};

class UfsType final : public adapters::FileSystemType {
 public:
  UfsType() {
    for (SchemeVariant& variant : scheme_variants())
      systems_.push_back(std::make_unique<UfsSystem>(*this, std::move(variant)));
  }

  std::string_view name() const override { return "ufs"; }
  std::string_view title() const override {
    return "UFS1 with the ordering schemes of Ganger and Patt 1994";
  }
  std::string_view address_unit() const override { return "fragment"; }
  std::span<const adapters::MkfsOption> mkfs_options() const override {
    return ufs::mkfs_options();
  }
  Result<adapters::MadeImage> mkfs(model::SectorStore& store,
                                   const adapters::Settings& settings) const override {
    TRY(const auto options, mkfs_options_of(settings));
    TRY(const auto made, ufs::mkfs(store, options));
    const std::uint32_t inodes = made.groups * made.inodes_per_group;
    return adapters::MadeImage{
        .text = fmt::format("{} groups, {} inodes, blocks of {} bytes, fragments of {}",
                            made.groups, inodes, made.block_bytes, made.fragment_bytes),
        .facts = {{"groups", made.groups},
                  {"inodes", inodes},
                  {"block_bytes", made.block_bytes},
                  {"fragment_bytes", made.fragment_bytes},
                  {"data_bytes", std::uint64_t{made.data_fragments} * made.fragment_bytes}}};
  }
  std::unique_ptr<adapters::ImageChecker> checker() const override {
    return std::make_unique<UfsChecker>();
  }
  Result<std::unique_ptr<adapters::ImageReader>> open_image(
      const model::SectorStore& store) const override {
    TRY(auto reader, ufs::ImageReader::open(store));
    return std::make_unique<UfsReader>(std::move(reader));
  }
  Result<std::vector<os::SectorRange>> fault_areas(const model::SectorStore& store) const override;
  std::span<const std::string_view> block_kinds() const override { return write_kinds(); }
  std::span<const std::unique_ptr<const adapters::SystemUnderTest>> systems() const override {
    return systems_;
  }
  std::string_view usual_system() const override { return "soft-updates"; }
  bool left_by_a_cut(const adapters::CheckReport& report) const override;
  std::unique_ptr<adapters::ImageAudit> audit() const override {
    return std::make_unique<damage::Audit>();
  }
  bool has_repair_trials() const override { return true; }
  Result<std::unique_ptr<adapters::RepairTrials>> repair_trials(
      std::span<const std::byte> sound, std::uint64_t log_at) const override {
    auto trials = std::make_unique<UfsTrials>(sound, log_at);
    if (!trials->made()) return forward_error(trials->made());
    return trials;
  }

 private:
  std::vector<std::unique_ptr<const adapters::SystemUnderTest>> systems_;
};

Result<std::vector<os::SectorRange>> UfsType::fault_areas(const model::SectorStore& store) const {
  TRY(const auto reader, ufs::ImageReader::open(store));
  const Geometry& geometry = reader.geometry();
  const auto range = [&](FragmentAddress from, FragmentAddress end) {
    return os::SectorRange{geometry.lba_of(from), geometry.lba_of(end)};
  };
  std::vector<os::SectorRange> areas;
  areas.push_back({0, geometry.lba_of(geometry.header(0))});  // the superblock
  areas.push_back(range(geometry.header(0), geometry.inode_table(0)));
  areas.push_back(range(geometry.inode_table(0), geometry.data_start(0)));
  areas.push_back({geometry.lba_of(geometry.data_start(0))});
  if (const Superblock& superblock = reader.superblock(); superblock.journal.fragments > 0) {
    const JournalRing ring(superblock);
    areas.push_back(
        {ring.superblock_lba(), ring.lba(superblock.journal.at + superblock.journal.fragments)});
  }
  return areas;
}

/// Considers only systems with a journal if the disk's journal is in use, and only systems without
/// a journal if it is not.
bool UfsType::left_by_a_cut(const adapters::CheckReport& report) const {
  const auto may_be_left = [&](const adapters::CheckFinding& finding) {
    return std::ranges::any_of(systems_, [&](const auto& system) {
      return !system->control() &&
             static_cast<const UfsSystem&>(*system).has_journal() == report.log_in_use &&
             system->may_leave(finding.kind);
    });
  };
  return report.more_findings == 0 && std::ranges::all_of(report.findings, may_be_left);
}

}  // namespace

const adapters::FileSystemType& file_system_type() {
  static const UfsType kType;
  return kType;
}

std::unique_ptr<const adapters::SystemUnderTest> system_of(SchemeVariant variant) {
  return std::make_unique<UfsSystem>(file_system_type(), std::move(variant));
}

adapters::FindingKind kind_of(FindingKind kind) {
  return {.name = name_of(kind),
          .severity = severity_of(severity_of(kind)),
          .order = static_cast<std::uint16_t>(kind)};
}

}  // namespace headcrash::ufs
