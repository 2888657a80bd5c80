// Registers the file system `shadow` (under_test.h): its promises, systems and lab disks.
#include "fs-adapters/examples/shadow/under_test.h"

#include <fmt/format.h>

#include "fs-adapters/examples/shadow/file_system.h"
#include "fs-adapters/examples/shadow/image.h"
#include "fs-adapters/examples/shadow/mkfs.h"

namespace headcrash::shadow {
namespace {

constexpr std::string_view kUsualSystem = "commit-last";
constexpr std::int64_t kCommitS = MountOptions{}.commit_interval_ns / model::kSecondNs;

adapters::Counters counters_of(const Space& space) {
  return {{"free blocks", space.free_blocks}, {"free inodes", space.free_inodes}};
}

/// Returns the promises. Every fsync is a commit, which makes the whole file system durable.
adapters::Promises promises() {
  return {.fsync_keeps_name = true,
          .fsync_keeps_links = true,
          .fsync_keeps_moved_path = true,
          .fsync_keeps_new_name = true,
          // The sum of the commit interval, one tick of the syncer, and the time for an operation
          // in progress.
          .keeps_after_s = kCommitS + 2,
          .replace_keeps_content = true,
          .names = adapters::NameOrder::atomic,
          .keeps_allocation = true};
}

class Mounted final : public adapters::MountedSystem {
 public:
  explicit Mounted(std::unique_ptr<FileSystem> file_system)
      : file_system_(std::move(file_system)) {}

  Vfs& vfs() override { return *file_system_; }
  VfsResult<void> unmount() override { return file_system_->unmount(); }
  void abandon() override { file_system_->abandon(); }
  adapters::Counters space_counts() const override { return counters_of(file_system_->counted()); }

 private:
  std::unique_ptr<FileSystem> file_system_;
};

class System final : public adapters::SystemUnderTest {
 public:
  System(const adapters::FileSystemType& type, adapters::SystemDescription description,
         MountOptions options)
      : SystemUnderTest(type, std::move(description)), options_(options) {}

  Result<std::unique_ptr<adapters::MountedSystem>> mount(
      os::System& system, const adapters::MountSettings&) const override {
    TRY(auto mounted, FileSystem::mount(system, options_));
    return std::make_unique<Mounted>(std::move(mounted));
  }
  bool may_leave(const adapters::FindingKind&) const override { return false; }
  std::optional<adapters::LabDisk> lab_disk(std::string_view name) const override {
    if (name == "plain") return adapters::LabDisk{.bytes = 16 << 20};
    if (name == "tiny")
      return adapters::LabDisk{.bytes = 320 << 10,
                               .mkfs = {{"block-size", "2048"}, {"inodes", "64"}}};
    if (name != "deep" && name != "used") return {};
    adapters::LabDisk small{.bytes = 224 << 10, .mkfs = {{"block-size", "512"}, {"inodes", "96"}}};
    if (name == "used") small.used_by = kUsualSystem;
    return small;
  }

 private:
  MountOptions options_;
};

class Type final : public adapters::FileSystemType {
 public:
  Type() {
    add("commit-last", "a header is written after everything that it describes is on the disk", {});
    add("commit-early", "control: headers do not wait for blocks", {.flush_first = false});
    add("reuse-early", "control: blocks of the state on the disk are reused",
        {.keep_freed = false});
  }

  std::string_view name() const override { return "shadow"; }
  std::string_view title() const override {
    return "shadow paging, the example of an in-process file system";
  }
  std::span<const adapters::MkfsOption> mkfs_options() const override {
    return shadow::mkfs_options();
  }
  Result<adapters::MadeImage> mkfs(model::SectorStore& store,
                                   const adapters::Settings& settings) const override {
    TRY(const auto made, shadow::mkfs(store, settings));
    const Geometry& its = made.geometry;
    return adapters::MadeImage{
        .text = fmt::format("{} blocks of {} bytes, {} inodes", its.blocks, its.block_bytes,
                            its.inodes),
        .facts = {
            {"blocks", its.blocks}, {"block_bytes", its.block_bytes}, {"inodes", its.inodes}}};
  }
  std::unique_ptr<adapters::ImageChecker> checker() const override { return make_checker(); }
  bool repairs_damage() const override { return false; }
  Result<std::unique_ptr<adapters::ImageReader>> open_image(
      const model::SectorStore& store) const override {
    TRY(auto image, Image::open(store));
    return std::make_unique<Image>(std::move(image));
  }
  Result<std::vector<os::SectorRange>> fault_areas(const model::SectorStore& store) const override {
    TRY(const auto image, Image::open(store));
    const Geometry& its = image.header().geometry;
    return std::vector<os::SectorRange>{{kHeaderSectors[0], kHeaderSectors[0] + 1},
                                        {kHeaderSectors[1], kHeaderSectors[1] + 1},
                                        {its.table_lba(0), its.table_lba(1)},
                                        {its.table_lba(1), its.lba_of(0)},
                                        {its.lba_of(0), its.lba_of(kOperationBlocks)}};
  }
  std::span<const std::unique_ptr<const adapters::SystemUnderTest>> systems() const override {
    return systems_;
  }
  std::string_view usual_system() const override { return kUsualSystem; }

 private:
  void add(std::string name, std::string title, MountOptions options) {
    const bool sound = options.flush_first && options.keep_freed;
    systems_.push_back(
        std::make_unique<System>(*this,
                                 adapters::SystemDescription{.name = std::move(name),
                                                             .title = std::move(title),
                                                             .control = !sound,
                                                             .promises = promises()},
                                 options));
  }
  std::vector<std::unique_ptr<const adapters::SystemUnderTest>> systems_;
};

}  // namespace

const adapters::FileSystemType& file_system_type() {
  static const Type kType;
  return kType;
}

}  // namespace headcrash::shadow
