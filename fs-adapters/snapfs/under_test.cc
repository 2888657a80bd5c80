// Adapts snapfs to the common interface (under_test.h).
#include "fs-adapters/snapfs/under_test.h"

#include <fmt/format.h>

#include <algorithm>

#include "fs-adapters/snapfs/check.h"
#include "fs-adapters/snapfs/file_system.h"
#include "fs-adapters/snapfs/image_reader.h"
#include "fs-adapters/snapfs/kept_checks.h"
#include "fs-adapters/snapfs/mkfs_settings.h"

namespace headcrash::snapfs {
namespace {

adapters::Counters counters_of(std::uint32_t free_blocks, std::uint32_t free_inodes) {
  return {{"free blocks", free_blocks}, {"free inodes", free_inodes}};
}

class SnapfsChecker final : public adapters::ImageChecker {
 public:
  Result<adapters::CheckReport> check(const model::SectorStore& store,
                                      const adapters::CheckOptions& options) override {
    TRY(auto found, kept_.check(store, options.findings_max, options.digests));
    adapters::CheckReport report{.more_findings = found.more_findings,
                                 .was_clean = found.superblock.clean,
                                 .log_in_use = found.logged != 0,
                                 .replayed = found.logged,
                                 .log = fmt::format("{} records of the intent log", found.logged),
                                 .files = found.files,
                                 .directories = found.directories,
                                 .space = counters_of(found.free_blocks, found.free_inodes)};
    for (Finding& finding : found.findings)
      report.findings.push_back({.kind = {.name = name_of(finding.kind),
                                          .order = static_cast<std::uint16_t>(finding.kind)},
                                 .inode = finding.inode,
                                 .block = finding.block,
                                 .text = std::move(finding.text)});
    return report;
  }
  /// Only checks the image. A recovery is never necessary, and damage cannot be repaired.
  Result<adapters::CheckReport> repair(model::SectorStore& store,
                                       const adapters::CheckOptions& options) override {
    auto report = check(store, options);
    if (report) report->unrepaired = !report->nothing_found();
    return report;
  }

 private:
  KeptChecks kept_;
};

class SnapfsReader final : public adapters::ImageReader {
 public:
  explicit SnapfsReader(snapfs::ImageReader reader) : reader_(std::move(reader)) {}

  std::uint64_t root() const override { return kRootInode; }
  std::uint64_t layout() const override {
    const Superblock& s = reader_.superblock();
    return adapters::layout_digest(s.id, {s.block_bytes, s.blocks, s.inodes});
  }
  std::uint64_t place_of(std::uint64_t inode) const override {
    return reader_.place_of(adapters::inode_number(inode));
  }
  Result<adapters::ImageInode> inode(std::uint64_t number) const override {
    TRY(const auto found, reader_.record(adapters::inode_number(number)));
    // Reports a free inode without an error, like formats with inodes at fixed addresses.
    if (!found) return adapters::ImageInode{.number = number};
    const Inode& inode = *found;
    return adapters::image_inode(number, inode,
                                 std::uint64_t{inode.blocks} * reader_.superblock().block_bytes);
  }
  Result<std::vector<adapters::ImageName>> list(std::uint64_t directory) const override {
    TRY(auto entries, reader_.names(adapters::inode_number(directory)));
    return adapters::image_names(std::move(entries));
  }
  Result<std::string> readlink(std::uint64_t number) const override {
    TRY(const auto inode, reader_.inode(adapters::inode_number(number)));
    return reader_.readlink(inode);
  }
  Result<std::vector<adapters::ContentExtent>> content(std::uint64_t number) const override {
    TRY(const auto inode, reader_.inode(adapters::inode_number(number)));
    const Superblock& s = reader_.superblock();
    TRY(const auto addresses,
        reader_.addresses(inode, (inode.size_bytes + s.block_bytes - 1) / s.block_bytes));
    std::vector<adapters::ContentExtent> extents;
    extents.reserve(addresses.size());
    for (const BlockAddress at : addresses)
      extents.push_back(
          {at == 0 ? adapters::ContentExtent::kHole : s.lba_of(at), s.sectors_per_block()});
    return extents;
  }
  Result<std::size_t> read(std::uint64_t number, std::uint64_t offset,
                           std::span<std::byte> into) const override {
    TRY(const auto inode, reader_.inode(adapters::inode_number(number)));
    return reader_.read(inode, offset, into);
  }

 private:
  snapfs::ImageReader reader_;
};

class MountedSnapfs final : public adapters::MountedSystem,
                            private Snapshots,
                            private Transactions {
 public:
  explicit MountedSnapfs(std::unique_ptr<FileSystem> file_system)
      : file_system_(std::move(file_system)) {}

  Vfs& vfs() override { return *file_system_; }
  Snapshots* snapshots() override { return this; }
  Transactions* transactions() override { return this; }
  VfsResult<void> unmount() override { return file_system_->unmount(); }
  void abandon() override { file_system_->abandon(); }
  void drop_unused_inodes() override { file_system_->snapshots().forget_idle(0); }
  adapters::Counters space_counts() const override {
    const Store& store = file_system_->snapshots();
    return counters_of(store.free_blocks_now(), store.free_inodes_now());
  }

 private:
  VfsResult<void> make(std::string_view name) override { return file_system_->make_snapshot(name); }
  VfsResult<std::vector<SnapshotInfo>> list() override { return file_system_->kept_snapshots(); }
  VfsResult<void> drop(std::string_view name) override { return file_system_->drop_snapshot(name); }

  VfsResult<void> begin() override { return file_system_->begin_transaction(); }
  VfsResult<void> commit() override { return file_system_->commit_transaction(); }

  std::unique_ptr<FileSystem> file_system_;
};

/// A configuration of the file system, registered as a system.
struct Variant {
  std::string name;
  std::string title;
  MountOptions mount = {};
  bool control = false;
  VersionCheck version_check = VersionCheck::every_sector;
  std::string shown_by = {};
  adapters::OnePoint one_point = adapters::OnePoint::metadata;
  bool intent_log = false;
  bool keeps_snapshots = false;
};

/// A limit on dirty blocks, low enough for generations to be spawned all the time.
constexpr std::uint32_t kFewBlocks = 6;

std::vector<Variant> variants() {
  return {
      {.name = "snapshots", .title = "Meta-data snapshots, data in place and ordered"},
      {.name = "snapshots-often",
       .title = "Meta-data snapshots, a generation for every six dirty blocks",
       .mount = {.dirty_blocks_max = kFewBlocks}},
      {.name = "snapshots-at-once",
       .title = "Meta-data snapshots, a generation per six dirty blocks, "
                "each written at once",
       .mount = {.dirty_blocks_max = kFewBlocks, .writes_at_once = true}},
      {.name = "data-copied",
       .title = "Snapshots of meta-data and data",
       .mount = {.data = DataMode::copy_on_write},
       .one_point = adapters::OnePoint::all},
      {.name = "data-unordered",
       .title = "Meta-data snapshots, data in place whenever",
       .mount = {.data = DataMode::unordered}},
      {.name = "intent-log",
       .title = "Meta-data snapshots, fsync with a log record",
       .intent_log = true},
      {.name = "intent-log-often",
       .title =
           "Meta-data snapshots, fsync with a log record, a generation for every six dirty blocks",
       .mount = {.dirty_blocks_max = kFewBlocks},
       .intent_log = true},
      {.name = "kept-snapshots",
       .title = "Meta-data snapshots with kept snapshots",
       .keeps_snapshots = true},
      {.name = "kept-snapshots-often",
       .title = "Kept snapshots, a log, and a generation for every six dirty blocks",
       .mount = {.dirty_blocks_max = kFewBlocks},
       .intent_log = true,
       .keeps_snapshots = true},
      {.name = "kept-snapshots-barrier",
       .title = "Kept snapshots, and operations wait until a generation is on the disk",
       .mount = {.dirty_blocks_max = kFewBlocks, .spawn = Spawn::barrier_until_committed},
       .keeps_snapshots = true},
      {.name = "kfs",
       .title = "KFS without snapshots: all writes in place and unordered",
       .mount = {.copy_on_write = false},
       .control = true,
       .shown_by = "ace-seq1/0"},
      {.name = "kfs-reuse",
       .title =
           "freed blocks are reused at once, but writes of newer generations wait (section III-A)",
       .mount = {.reuse = Reuse::newer_writes_wait},
       .control = true,
       .shown_by = "ace-seq2/3302"},
      {.name = "reuse-at-spawn",
       .title = "freed blocks are reused as soon as the commit of their generation begins",
       .mount = {.dirty_blocks_max = kFewBlocks, .reuse = Reuse::at_spawn, .writes_at_once = true},
       .control = true,
       .shown_by = "fsyncs/0@deep~1"},
      {.name = "reuse-at-once",
       .title = "freed blocks are reused at once",
       .mount = {.reuse = Reuse::at_once},
       .control = true,
       .shown_by = "ace-seq2/3302"},
      {.name = "one-superblock",
       .title = "one superblock",
       .mount = {.one_superblock = true},
       .control = true,
       .shown_by = "ace-seq1/0"},
      {.name = "one-version",
       .title = "the generation number only in the superblock's first sector",
       .control = true,
       .version_check = VersionCheck::first_sector,
       .shown_by = "ace-seq1/1"},
      {.name = "straddle",
       .title = "operations continue in a generation spawned during them",
       .mount = {.dirty_blocks_max = kFewBlocks, .operations_straddle = true},
       .control = true,
       .shown_by = "fsyncs/4@deep~5"},
      {.name = "commit-early",
       .title = "the superblock does not wait for the last block",
       .mount = {.commits_early = true},
       .control = true,
       .shown_by = "directories/7@deep~2"},
      {.name = "drop-in-flight",
       .title = "removals also change the generation in flight",
       .mount = {.dirty_blocks_max = kFewBlocks, .drops_in_flight = true},
       .control = true,
       .shown_by = "fsyncs/7@deep~3"},
      {.name = "log-early",
       .title = "a log record does not wait for the blocks that it refers to",
       .mount = {.logs_early = true},
       .control = true,
       .shown_by = "ace-seq1/41",
       .intent_log = true},
      {.name = "snapshot-reuse",
       .title = "blocks that only a kept snapshot contains are reused",
       .mount = {.reuses_snapshots = true},
       .control = true,
       .shown_by = "ace-seq1/0",
       .keeps_snapshots = true},
      {.name = "snapshot-in-place",
       .title = "data of a kept snapshot is overwritten in place",
       .mount = {.writes_in_snapshots = true},
       .control = true,
       .shown_by = "ace-seq1/8",
       .keeps_snapshots = true},
      {.name = "transactions-split",
       .title = "a generation is spawned in the middle of a transaction",
       .mount = {.dirty_blocks_max = kFewBlocks, .splits_transactions = true},
       .control = true,
       .shown_by = "transactions/0@tiny~1"},
      {.name = "mix-generations",
       .title = "new modes, owners and times also change the generation in flight",
       .mount = {.dirty_blocks_max = kFewBlocks, .mixes_generations = true},
       .control = true,
       .shown_by = "attributes/1@deep~3"},
      {.name = "data-in-place",
       .title = "data is written in place, although contents of a single point are promised",
       .control = true,
       .shown_by = "ace-seq1/35",
       .one_point = adapters::OnePoint::all},
  };
}

/// Returns true if the variant changes blocks that kept snapshots contain. These changes are
/// permanent, so the defect is visible even without a power cut.
bool breaks_snapshots(const Variant& variant) {
  return variant.mount.reuses_snapshots || variant.mount.writes_in_snapshots;
}

adapters::Promises promises_of(const Variant& variant) {
  const bool ordered = variant.mount.data != DataMode::unordered;
  return {.fsync_keeps_name = true,
          .fsync_keeps_links = true,
          .fsync_keeps_moved_path = true,
          .fsync_keeps_new_name = true,
          // A commit always makes metadata durable, but makes data durable only if it waits for the
          // data.
          .keeps_after_s = ordered ? variant.mount.commit_interval_ns / model::kSecondNs + 2 : 0,
          .replace_keeps_content = ordered,
          .names = adapters::NameOrder::atomic,
          .one_point = variant.one_point,
          .exposes_stale_data = !ordered,
          .allocation_bytes = MkfsOptions{}.block_bytes,
          .keeps_allocation = true};
}

class SnapfsSystem final : public adapters::SystemUnderTest {
 public:
  SnapfsSystem(const adapters::FileSystemType& type, Variant variant)
      : SystemUnderTest(type, {.name = variant.name,
                               .title = variant.title,
                               .control = variant.control,
                               .shows_unmounted = breaks_snapshots(variant),
                               .shown_by = variant.shown_by,
                               .promises = promises_of(variant),
                               .block_copy = true,
                               .flushes = true,
                               .keeps_snapshots = variant.keeps_snapshots}),
        variant_(std::move(variant)) {}

  Result<std::unique_ptr<adapters::MountedSystem>> mount(
      os::System& system, const adapters::MountSettings& settings) const override {
    MountOptions how = variant_.mount;
    how.flushes = how.flushes && settings.flushes;
    how.snapshot = settings.snapshot;
    TRY(auto mounted, FileSystem::mount(system, how));
    return std::make_unique<MountedSnapfs>(std::move(mounted));
  }
  bool may_leave(const adapters::FindingKind&) const override { return false; }
  std::optional<adapters::LabDisk> lab_disk(std::string_view name) const override {
    constexpr std::uint64_t kKiB = 1 << 10;
    constexpr const char* kLogBytes = "4096";  // small enough that the log is sometimes full
    const auto disk = [&](std::uint64_t bytes, const char* block, const char* inodes) {
      return adapters::LabDisk{
          .bytes = bytes,
          .mkfs = {{"block-size", block},
                   {"inodes", inodes},
                   {"intent-log", variant_.intent_log ? kLogBytes : "0"},
                   {"version-check",
                    variant_.version_check == VersionCheck::first_sector ? "first" : "every"}}};
    };
    if (name == "plain") return disk(16 << 20, "4096", "2048");
    if (name == "tiny") return disk(320 * kKiB, "2048", "96");
    if (name == "deep") return disk(256 * kKiB, "512", "96");
    if (name != "used") return {};
    auto used = disk(256 * kKiB, "512", "96");
    used.used_by = "snapshots";
    return used;
  }

 private:
  Variant variant_;
};

class SnapfsType final : public adapters::FileSystemType {
 public:
  SnapfsType() {
    for (Variant& variant : variants())
      systems_.push_back(std::make_unique<SnapfsSystem>(*this, std::move(variant)));
  }

  std::string_view name() const override { return "snapfs"; }
  std::string_view title() const override {
    return "The meta-data snapshotting file system of Soares, Krieger and Da Silva 2003";
  }
  std::span<const adapters::MkfsOption> mkfs_options() const override {
    return snapfs::mkfs_options();
  }
  Result<adapters::MadeImage> mkfs(model::SectorStore& store,
                                   const adapters::Settings& settings) const override {
    TRY(const auto options, mkfs_options_of(settings));
    TRY(const auto made, snapfs::mkfs(store, options));
    return adapters::MadeImage{
        .text = fmt::format("{} blocks of {} bytes, {} inodes", made.blocks, made.block_bytes,
                            made.inodes),
        .facts = {{"blocks", made.blocks},
                  {"block_bytes", made.block_bytes},
                  {"inodes", made.inodes},
                  {"data_bytes", std::uint64_t{made.free_blocks} * made.block_bytes}}};
  }
  std::unique_ptr<adapters::ImageChecker> checker() const override {
    return std::make_unique<SnapfsChecker>();
  }
  bool repairs_damage() const override { return false; }
  Result<std::unique_ptr<adapters::ImageReader>> open_image(
      const model::SectorStore& store) const override {
    TRY(auto reader, snapfs::ImageReader::open(store));
    return std::make_unique<SnapfsReader>(std::move(reader));
  }
  bool has_snapshots() const override { return true; }
  Result<std::vector<SnapshotInfo>> snapshots(const model::SectorStore& store) const override {
    TRY(const auto superblock, read_superblock(store));
    TRY(const auto snapshots, read_snapshots(store, superblock));
    return infos_of(snapshots);
  }
  Result<std::unique_ptr<adapters::ImageReader>> open_snapshot(
      const model::SectorStore& store, std::string_view name) const override {
    TRY(const auto superblock, read_superblock(store));
    TRY(const auto snapshots, read_snapshots(store, superblock));
    TRY(const auto snapshot, find_snapshot(snapshots, name));
    TRY(auto reader, snapfs::ImageReader::open_snapshot(store, superblock, snapshot));
    return std::make_unique<SnapfsReader>(std::move(reader));
  }
  /// Returns the superblocks, the roots of the three maps, and the whole area for blocks.
  Result<std::vector<os::SectorRange>> fault_areas(const model::SectorStore& store) const override {
    TRY(const auto reader, snapfs::ImageReader::open(store));
    const Superblock& s = reader.superblock();
    std::vector<os::SectorRange> areas;
    areas.reserve(std::size(kSlotAt) + 4);
    for (const std::uint64_t at : kSlotAt)
      areas.push_back({at / kSectorBytes, (at + kSuperblockBytes) / kSectorBytes});
    for (const BlockAddress root : {s.record_map, s.inode_map, s.block_map})
      areas.push_back({s.lba_of(root), s.lba_of(root + 1)});
    areas.push_back({s.lba_of(s.first_block())});
    return areas;
  }
  std::span<const std::unique_ptr<const adapters::SystemUnderTest>> systems() const override {
    return systems_;
  }
  std::string_view usual_system() const override { return "snapshots"; }

 private:
  std::vector<std::unique_ptr<const adapters::SystemUnderTest>> systems_;
};

}  // namespace

const adapters::FileSystemType& file_system_type() {
  static const SnapfsType kType;
  return kType;
}

std::unique_ptr<const adapters::SystemUnderTest> system_of(std::string name,
                                                           const MountOptions& mount) {
  return std::make_unique<SnapfsSystem>(file_system_type(),
                                        Variant{.name = std::move(name), .mount = mount});
}

}  // namespace headcrash::snapfs
