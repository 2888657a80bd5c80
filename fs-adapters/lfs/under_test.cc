// Adapts lfs to the common interface (under_test.h).
#include "fs-adapters/lfs/under_test.h"

#include <fmt/format.h>

#include <algorithm>

#include "fs-adapters/lfs/file_system.h"
#include "fs-adapters/lfs/image_reader.h"
#include "fs-adapters/lfs/mkfs.h"
#include "fs-adapters/lfs/mkfs_settings.h"
#include "fs-adapters/lfs/recover_image.h"

namespace headcrash::lfs {
namespace {

adapters::Counters counters_of(std::uint64_t files, std::uint64_t live_bytes) {
  return {{"files", files}, {"live bytes", live_bytes}};
}

adapters::CheckFinding converted(Finding finding) {
  return {
      .kind = {.name = name_of(finding.kind), .order = static_cast<std::uint16_t>(finding.kind)},
      .text = std::move(finding.text)};
}

class LfsChecker final : public adapters::ImageChecker {
 public:
  Result<adapters::CheckReport> check(const model::SectorStore& store,
                                      const adapters::CheckOptions& options) override {
    const Contents contents = contents_of(options);
    TRY(auto at_checkpoint, check_shown(store, contents));
    adapters::CheckReport report{.was_clean = at_checkpoint.clean,
                                 .log_in_use = !at_checkpoint.clean};
    add(at_checkpoint, options, report);
    if (report.was_clean) return report;
    Recovered taken_in;
    auto recovered = check_recovered(store, options, taken_in);
    if (!recovered) {
      CheckReport none;
      none.findings.push_back({FindingKind::recovery, recovered.error().message()});
      add(none, options, report);
      return report;
    }
    say(taken_in, report);
    add(*recovered, options, report);
    return report;
  }

  Result<adapters::CheckReport> repair(model::SectorStore& store,
                                       const adapters::CheckOptions& options) override {
    const Contents contents = contents_of(options);
    TRY(const auto checkpoint, newest_checkpoint(store));
    Recovered taken_in;
    if (!checkpoint.clean) {
      TRY(const auto recovered,
          contents.known() ? recover_as_before(store, options) : recover_image(store));
      taken_in = recovered;
    }
    TRY(auto after, check_shown(store, contents));
    adapters::CheckReport report{.was_clean = checkpoint.clean,
                                 .log_in_use = !checkpoint.clean,
                                 .unrepaired = !after.nothing_found()};
    say(taken_in, report);
    add(after, options, report);
    return report;
  }

 private:
  static Contents contents_of(const adapters::CheckOptions& options) {
    return options.digest_of == nullptr ? Contents() : Contents(options.digests);
  }

  /// Checks a state without recovering it. There are two checkers, one for clean or recovered
  /// states and one for all others, so that each checker sees a sequence of similar states.
  Result<CheckReport> check_shown(const model::SectorStore& store, const Contents& contents) {
    if (!contents.known()) return full_.check(store);
    TRY(const auto checkpoint, newest_checkpoint(store));
    return (checkpoint.clean ? clean_ : cut_).check(store, contents);
  }

  /// Checks the state that a recovery of the log would leave. Stores the result of the recovery in
  /// `taken_in`.
  Result<CheckReport> check_recovered(const model::SectorStore& store,
                                      const adapters::CheckOptions& options, Recovered& taken_in) {
    const Contents contents = contents_of(options);
    if (!contents.known()) {
      WritesApart apart(store);
      TRY(const auto recovered, recover_image(apart));
      taken_in = recovered;
      return full_.check(apart);
    }
    TRY(const auto made, recoveries_.recover(store, contents, options.digest_of));
    taken_in = made->taken_in;
    overlay_.show(store, made->written);
    return clean_.check(overlay_, Contents(options.digests, &overlay_));
  }

  Result<Recovered> recover_as_before(model::SectorStore& store,
                                      const adapters::CheckOptions& options) {
    TRY(const auto made, recoveries_.recover(store, contents_of(options), options.digest_of));
    const WrittenSectors& written = made->written;
    for (std::size_t first = 0, end = 0; first < written.sectors.size(); first = end) {
      while (end < written.sectors.size() &&
             written.sectors[end] == written.sectors[first] + (end - first))
        ++end;
      const auto bytes =
          std::span(written.bytes).subspan(first * kSectorBytes, (end - first) * kSectorBytes);
      TRY(store.write(written.sectors[first], bytes));
    }
    return made->taken_in;
  }

  static void say(const Recovered& taken_in, adapters::CheckReport& report) {
    report.replayed = taken_in.regions;
    report.log = fmt::format("{} regions with {} inodes, {} of them moved by the cleaner",
                             taken_in.regions, taken_in.inodes, taken_in.moved);
  }
  static void add(CheckReport& made, const adapters::CheckOptions& options,
                  adapters::CheckReport& report) {
    for (Finding& finding : made.findings) {
      if (report.findings.size() < options.findings_max)
        report.findings.push_back(converted(std::move(finding)));
      else
        ++report.more_findings;
    }
    report.files = made.files;
    report.directories = made.directories;
    report.space = counters_of(std::uint64_t{made.files} + made.directories, made.live_bytes);
  }

  Checker full_;  ///< used if there are no digests; keeps no results
  Checker cut_, clean_;
  KeptRecoveries recoveries_;
  Overlay overlay_;
};

/// Reads an image at its newest checkpoint. Later changes in the log become visible only after a
/// recovery.
class LfsReader final : public adapters::ImageReader {
 public:
  explicit LfsReader(lfs::ImageReader reader) : reader_(std::move(reader)) {}

  std::uint64_t root() const override { return kRootInode; }
  std::uint64_t layout() const override {
    const Superblock& s = reader_.superblock();
    return adapters::layout_digest(s.id, {s.block_bytes, s.segment_sectors, s.segments,
                                          s.first_segment, s.inodes, s.checksums ? 1U : 0U});
  }
  std::uint64_t place_of(std::uint64_t inode) const override {
    if (inode >= reader_.map().size()) return 0;
    const MapEntry& entry = reader_.map()[inode];
    return (std::uint64_t{entry.address} << 8U) + entry.slot;
  }
  Result<adapters::ImageInode> inode(std::uint64_t number) const override {
    // Reports a free inode without an error, like formats with inodes at fixed addresses.
    if (number < reader_.map().size() && !reader_.map()[number].allocated())
      return adapters::ImageInode{.number = number};
    TRY(const auto found, reader_.inode(adapters::inode_number(number)));
    return adapters::image_inode(number, found, std::uint64_t{found.sectors} * kSectorBytes);
  }
  Result<std::vector<adapters::ImageName>> list(std::uint64_t directory) const override {
    TRY(const auto inode, reader_.inode(adapters::inode_number(directory)));
    TRY(auto entries, reader_.entries(inode));
    return adapters::image_names(std::move(entries));
  }
  Result<std::string> readlink(std::uint64_t number) const override {
    TRY(const auto inode, reader_.inode(adapters::inode_number(number)));
    return reader_.readlink(inode);
  }
  Result<std::vector<adapters::ContentExtent>> content(std::uint64_t number) const override;
  Result<std::size_t> read(std::uint64_t number, std::uint64_t offset,
                           std::span<std::byte> into) const override {
    TRY(const auto inode, reader_.inode(adapters::inode_number(number)));
    return reader_.read(inode, offset, into);
  }

 private:
  lfs::ImageReader reader_;
};

Result<std::vector<adapters::ContentExtent>> LfsReader::content(std::uint64_t number) const {
  TRY(const auto inode, reader_.inode(adapters::inode_number(number)));
  const Superblock& s = reader_.superblock();
  const std::uint64_t blocks = (inode.size_bytes + s.block_bytes - 1) / s.block_bytes;
  std::vector<adapters::ContentExtent> extents;
  std::uint64_t next = 0;  // next block of the file
  const auto hole_until = [&](std::uint64_t block) {
    if (block > next)
      extents.push_back({adapters::ContentExtent::kHole, (block - next) * s.block_sectors()});
    next = std::max(next, block);
  };
  // Blocks are visited in file order: first the direct blocks, then the blocks below each index
  // block.
  TRY(reader_.each_block(inode, [&](const lfs::ImageReader::Block& block) {
    if (block.id.level != 0 || block.id.index >= blocks) return;
    hole_until(block.id.index);
    extents.push_back({block.address, block.bytes / kSectorBytes});
    ++next;
  }));
  hole_until(blocks);
  return extents;
}

class MountedLfs final : public adapters::MountedSystem {
 public:
  explicit MountedLfs(std::unique_ptr<FileSystem> file_system)
      : file_system_(std::move(file_system)) {}

  Vfs& vfs() override { return *file_system_; }
  VfsResult<void> unmount() override { return file_system_->unmount(); }
  void abandon() override { file_system_->abandon(); }
  bool has_no_pending_changes() const override {
    return file_system_->log().has_no_pending_changes();
  }
  void drop_unused_inodes() override { file_system_->log().forget_idle(0); }
  adapters::Counters space_counts() const override {
    return counters_of(file_system_->log().files(), file_system_->log().live_bytes());
  }

 private:
  std::unique_ptr<FileSystem> file_system_;
};

/// A configuration of the file system, registered as a system.
struct Variant {
  std::string name;
  std::string title;
  MountOptions mount = {};
  bool control = false;
  bool checksums = true;
  std::string shown_by = {};
};

/// The cleaner of `eager-cleaner` runs if fewer segments than this are clean. The small test disks
/// (lab_disk()) have hardly more segments in total, so the cleaner is nearly always active.
constexpr std::uint32_t kEager = 24;
constexpr std::uint32_t kSmallTransfer = 8;  // sectors

std::vector<Variant> variants() {
  const auto breaking = [](Rule rule, std::string name, std::string title, std::string shown_by) {
    return Variant{.name = std::move(name),
                   .title = std::move(title),
                   .mount = {.broken = rule},
                   .control = true,
                   .shown_by = std::move(shown_by)};
  };
  std::vector<Variant> all{
      {.name = "roll-forward",
       .title = "log with checksums and roll-forward from the newest checkpoint"},
      {.name = "checkpoint-only",
       .title = "the newest checkpoint only: sync persists, fsync promises nothing",
       .mount = {.roll_forward = false}},
      {.name = "eager-cleaner",
       .title = "roll-forward, with a cleaner that starts early",
       .mount = {.clean_start = kEager, .clean_stop = kEager}},
      {.name = "small-transfers",
       .title = "roll-forward, with regions written in 4 KiB transfers in any order",
       .mount = {.transfer_sectors_max = kSmallTransfer}},
      {.name = "sprite92",
       .title = "small-transfers without checksums of regions, as in Sprite",
       .mount = {.transfer_sectors_max = kSmallTransfer},
       .control = true,
       .checksums = false,
       .shown_by = "indirect/2@deep"},
      breaking(Rule::reuse_waits_for_checkpoint, "early-reuse",
               "a segment is reused before a checkpoint records it as empty", "no-room/1@tiny"),
      breaking(Rule::mounts_have_numbers, "old-log",
               "log left behind by an earlier mount is followed", "histories/0@used"),
      breaking(Rule::records_come_first, "late-records",
               "the directory log is written after the changes that it describes", "ace-seq1/3"),
      breaking(Rule::two_checkpoint_regions, "one-checkpoint", "one checkpoint region",
               "ace-seq1/3"),
      breaking(Rule::versions_rise, "same-version",
               "the version of an inode number is not incremented", "open-files/2@tiny~3"),
      breaking(Rule::newest_copy_wins, "old-copy", "the cleaner overwrites a newer copy",
               "overwrites/1@tiny"),
      breaking(Rule::usage_counts_all, "under-counted", "live bytes of a segment are under-counted",
               "overwrites/1@tiny"),
  };
  const auto cleans = std::ranges::find(all, "old-copy", &Variant::name);
  cleans->mount.clean_start = cleans->mount.clean_stop = kEager;
  return all;
}

adapters::Promises promises_of(const Variant& variant) {
  adapters::Promises promises{.fsync_keeps_name = true,
                              .fsync_keeps_links = true,
                              .fsync_keeps_moved_path = true,
                              .names = adapters::NameOrder::atomic,
                              .allocation_bytes = MkfsOptions{}.block_bytes,
                              .keeps_allocation = true};
  if (!variant.mount.roll_forward) promises.fsync_persists = false;
  // Data of this age is written at the next tick. If its inode is in use at that tick, the data is
  // written at the tick after that.
  if (variant.mount.roll_forward)
    promises.keeps_after_s = variant.mount.write_after_ns / model::kSecondNs + 2;
  return promises;
}

class LfsSystem final : public adapters::SystemUnderTest {
 public:
  LfsSystem(const adapters::FileSystemType& type, Variant variant)
      : SystemUnderTest(type, {.name = variant.name,
                               .title = variant.title,
                               .control = variant.control,
                               .shows_unmounted = variant.mount.broken == Rule::usage_counts_all,
                               .shown_by = variant.shown_by,
                               .promises = promises_of(variant),
                               .flushes = true}),
        variant_(std::move(variant)) {}

  Result<std::unique_ptr<adapters::MountedSystem>> mount(
      os::System& system, const adapters::MountSettings& settings) const override {
    MountOptions how = variant_.mount;
    how.flushes = how.flushes && settings.flushes;
    TRY(auto mounted, FileSystem::mount(system, how));
    return std::make_unique<MountedLfs>(std::move(mounted));
  }
  bool may_leave(const adapters::FindingKind&) const override { return false; }
  std::optional<adapters::LabDisk> lab_disk(std::string_view name) const override;

 private:
  Variant variant_;
};

std::optional<adapters::LabDisk> LfsSystem::lab_disk(std::string_view name) const {
  constexpr std::uint64_t kKiB = 1 << 10;
  const auto disk = [&](std::uint64_t bytes, const char* block, const char* segment,
                        const char* per_inode) {
    return adapters::LabDisk{.bytes = bytes,
                             .mkfs = {{"block-size", block},
                                      {"segment-size", segment},
                                      {"bytes-per-inode", per_inode},
                                      {"checksums", variant_.checksums ? "1" : "0"}}};
  };
  if (name == "plain") return disk(16 << 20, "4096", "131072", "4096");
  if (name == "tiny") return disk(704 * kKiB, "1024", "16384", "2048");
  if (name == "deep") return disk(512 * kKiB, "512", "16384", "2048");
  if (name != "used") return {};
  auto used = disk(512 * kKiB, "512", "16384", "2048");
  used.used_by = "checkpoint-only";
  used.cut = true;
  return used;
}

class LfsType final : public adapters::FileSystemType {
 public:
  LfsType() {
    for (Variant& variant : variants())
      systems_.push_back(std::make_unique<LfsSystem>(*this, std::move(variant)));
  }

  std::string_view name() const override { return "lfs"; }
  std::string_view title() const override {
    return "The log-structured file system of Rosenblum 1992";
  }
  std::string_view address_unit() const override { return "sector"; }
  std::span<const adapters::MkfsOption> mkfs_options() const override {
    return lfs::mkfs_options();
  }
  Result<adapters::MadeImage> mkfs(model::SectorStore& store,
                                   const adapters::Settings& settings) const override {
    TRY(const auto options, mkfs_options_of(settings));
    TRY(const auto made, lfs::mkfs(store, options));
    return adapters::MadeImage{
        .text = fmt::format(
            "{} segments of {} bytes, {} of them in reserve, {} inodes, blocks of {} bytes{}",
            made.segments, made.segment_bytes(), made.reserve_segments, made.inodes,
            made.block_bytes, made.checksums ? "" : ", no checksums"),
        .facts = {{"segments", made.segments},
                  {"segment_bytes", made.segment_bytes()},
                  {"inodes", made.inodes},
                  {"block_bytes", made.block_bytes},
                  {"data_bytes",
                   std::uint64_t{made.segments - made.reserve_segments} * made.segment_bytes()}}};
  }
  std::unique_ptr<adapters::ImageChecker> checker() const override {
    return std::make_unique<LfsChecker>();
  }
  bool repairs_damage() const override { return false; }
  Result<std::unique_ptr<adapters::ImageReader>> open_image(
      const model::SectorStore& store) const override {
    TRY(auto reader, lfs::ImageReader::open(store));
    return std::make_unique<LfsReader>(std::move(reader));
  }
  Result<std::vector<os::SectorRange>> fault_areas(const model::SectorStore& store) const override {
    TRY(const auto reader, lfs::ImageReader::open(store));
    const Superblock& s = reader.superblock();
    std::vector<os::SectorRange> areas{{kSuperblockAddress, kSuperblockAddress + 1}};
    for (const SectorAddress at : s.checkpoints) areas.push_back({at, at + s.checkpoint_sectors});
    const SectorAddress end = s.segment_start(reader.checkpoint().segment);
    areas.push_back({end, end + s.segment_sectors});
    areas.push_back({s.first_segment});
    return areas;
  }
  std::span<const std::unique_ptr<const adapters::SystemUnderTest>> systems() const override {
    return systems_;
  }
  std::string_view usual_system() const override { return "roll-forward"; }

 private:
  std::vector<std::unique_ptr<const adapters::SystemUnderTest>> systems_;
};

}  // namespace

const adapters::FileSystemType& file_system_type() {
  static const LfsType kType;
  return kType;
}

std::unique_ptr<const adapters::SystemUnderTest> system_of(std::string name,
                                                           const MountOptions& mount) {
  return std::make_unique<LfsSystem>(file_system_type(),
                                     Variant{.name = std::move(name), .mount = mount});
}

}  // namespace headcrash::lfs
