// Recovers a disk, uses it, empties it and fills it (later_life.h).
#include "harness/explorer/in_process/later_life.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "fs-adapters/substrate/os/cut_store.h"
#include "fs-adapters/substrate/os/memory_machine.h"
#include "fs-adapters/use_of_space.h"
#include "plugin/base/random.h"

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kLaterCacheBytes = 256 << 10;
// A repair is cut after fewer than 2^n writes. n is drawn at random and is at most this number.
constexpr std::uint64_t kCutWritesBits = 6;
// A mount is cut after less than 2^n ms, where n is drawn at random and is at most this number. A
// request takes 1 ms, so the mount issues fewer than 2^n requests.
constexpr std::uint64_t kCutMsBits = 9;
constexpr int kLaterOperations = 30;
constexpr std::uint64_t kLaterNames = 6;
/// Maximum size of a disk that is filled. Larger disks are only emptied, because filling them takes
/// too long.
constexpr std::uint64_t kFilledBytesMost = 1 << 20;
constexpr const char* kLaterFolder = "later";

os::MemoryMachineOptions machine_of(const adapters::SystemUnderTest& system,
                                    const StateDisk& disk) {
  const adapters::SystemDescription& description = system.description();
  return {.system = {.queue = description.queue,
                     .cache = {.bytes = kLaterCacheBytes,
                               .block_copy = description.block_copy,
                               .lock_data = true},
                     .syncer = description.syncer.value_or(os::SyncerOptions{})},
          .second_sectors = disk.second_sectors()};
}

/// Returns a random file size close to a boundary of a disk format, such as a few whole blocks, or
/// as many blocks as an inode has direct pointers. The size differs from the boundary by at most
/// one byte.
std::uint64_t draw_size(Random& random) {
  constexpr std::array<std::uint64_t, 4> kBlocks{512, 1024, 2048, 4096};
  constexpr std::array<std::uint64_t, 6> kCounts{0, 1, 2, 7, 12, 13};
  const std::uint64_t size = kBlocks.at(random.below(4)) * kCounts.at(random.below(6));
  return size + random.below(3) - (size == 0 ? 0 : 1);
}

std::vector<std::byte> bytes_of(std::uint64_t size, std::uint64_t version) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(version + i / model::kSectorBytes * 7 + 1);
  return bytes;
}

/// Files in a new directory. Their contents are known and are compared later.
class LaterFiles {
 public:
  explicit LaterFiles(Random& random) : random_(random) {}

  /// Runs random operations. An operation may fail with ENOSPC.
  VfsResult<void> change(Vfs& vfs) {
    if (const auto made = vfs.mkdir(kLaterFolder, 0755); !made) return without_room(made);
    for (int i = 0; i < kLaterOperations; ++i) TRY(without_room(change_one(vfs)));
    return {};
  }

  /// Returns the first difference from the expected contents, or an empty string.
  std::string difference(Vfs& vfs) const {
    for (const auto& [path, content] : files_) {
      const auto file = vfs.open(path, {});
      if (!file) return fmt::format("{}: {}", path, std::strerror(file.error().value));
      std::vector<std::byte> bytes(content.size() + 1);
      const auto read = vfs.pread(*file, 0, bytes);
      (void)vfs.close(*file);
      if (!read) return fmt::format("{}: {}", path, std::strerror(read.error().value));
      bytes.resize(*read);
      if (bytes != content)
        return fmt::format(
            "the content of {} has changed since the unmount ({} bytes read, {} expected)", path,
            *read, content.size());
    }
    return {};
  }

 private:
  static VfsResult<void> without_room(const VfsResult<void>& done) {
    return !done && done.error().value == ENOSPC ? VfsResult<void>() : done;
  }
  std::string draw_path() { return fmt::format("{}/{}", kLaterFolder, random_.below(kLaterNames)); }

  VfsResult<void> change_one(Vfs& vfs) {
    const std::string path = draw_path(), other = draw_path();
    const bool exists = files_.contains(path);
    switch (random_.below(8)) {
      case 0:
        return vfs.sync();
      case 1:
        if (!exists) return {};
        TRY(vfs.unlink(path));
        files_.erase(path);
        return {};
      case 2:
        if (!exists || path == other) return {};
        TRY(vfs.rename(path, other, RenameMode::replace));
        files_[other] = files_[path];
        files_.erase(path);
        return {};
      case 3:
        if (!exists) return {};
        return resize(vfs, path);
      default:
        return replace(vfs, path);
    }
  }

  VfsResult<void> resize(Vfs& vfs, const std::string& path) {
    const std::uint64_t size = draw_size(random_);
    TRY(const auto file, vfs.open(path, {}));
    const auto done = vfs.truncate(file, size);
    TRY(vfs.close(file));
    if (done) files_[path].resize(size);
    return done;
  }

  /// Replaces a file's contents. If there is no space, the contents are unknown, so the file is
  /// removed.
  VfsResult<void> replace(Vfs& vfs, const std::string& path) {
    files_.erase(path);
    TRY(const auto file, vfs.open(path, {.create = true}));
    auto done = vfs.truncate(file, 0);
    const auto content = bytes_of(draw_size(random_), random_.next());
    if (done) done = vfs.pwrite(file, 0, content);
    if (done && random_.below(2) == 0) done = vfs.fsync(file);
    TRY(vfs.close(file));
    if (!done) {
      TRY(vfs.unlink(path));
      return done;
    }
    files_[path] = content;
    return {};
  }

  Random& random_;
  std::map<std::string, std::vector<std::byte>> files_;
};

/// Drops the snapshots, removes everything, and returns the free space in bytes.
VfsResult<std::uint64_t> emptied(adapters::MountedSystem& mounted, os::System& machine) {
  if (Snapshots* const snapshots = mounted.snapshots()) {
    TRY(const auto list, snapshots->list());
    for (const SnapshotInfo& one : list) TRY(snapshots->drop(one.name));
  }
  return adapters::free_space_when_empty(mounted.vfs(), machine);
}

/// Checks the free-space accounting of a disk from which everything has been removed. Returns the
/// first rule that is broken, or an empty string.
std::string broken_rule(std::uint64_t free, const adapters::UsedSpace& used,
                        std::uint64_t free_when_new) {
  if (used.written_bytes < used.promised_bytes)
    return fmt::format("only {} of {} free bytes can be written", used.written_bytes, free);
  if (free + adapters::kMapGrowthBytes < free_when_new)
    return fmt::format("{} bytes are free after everything has been removed; a new disk has {}",
                       free, free_when_new);
  return {};
}

/// Whether changes are pending when the file system is unmounted.
enum class Unmounts : std::uint8_t { settled, with_pending_changes };

/// Mounts the disk, calls `body` and unmounts. Then compares the file system's counts with those of
/// fsck, unless changes were pending. Returns the first failure, or an empty string.
std::string live(
    const adapters::SystemUnderTest& system, StateDisk& disk, adapters::ImageChecker& fsck,
    Unmounts unmounts,
    const std::function<VfsResult<void>(adapters::MountedSystem&, os::System&)>& body) {
  std::string failure;
  adapters::Counters counted;
  os::MemoryMachine machine(disk, machine_of(system, disk));
  os::Account account{.name = "user"};
  machine.system.syncer.start();
  std::unique_ptr<adapters::MountedSystem> mounted;
  machine.system.run_as(account, [&] {
    auto made = system.mount(machine.system, {});
    if (!made) {
      failure = "the mount fails: " + made.error().message();
      return;
    }
    mounted = *std::move(made);
    const auto done = body(*mounted, machine.system);
    if (!done) failure = fmt::format("an operation fails: {}", std::strerror(done.error().value));
    counted = mounted->space_counts();
    const auto unmounted = mounted->unmount();
    if (unmounted) return;
    if (failure.empty())
      failure = fmt::format("the unmount fails: {}", std::strerror(unmounted.error().value));
    mounted->abandon();
  });
  machine.disk.power_cut();
  machine.system.executor.halt();
  mounted.reset();  // only after the daemons have ended, because they use it
  if (!failure.empty()) return failure;
  const auto report = fsck.check(disk, {});
  if (!report) return "after the unmount: " + report.error().message();
  if (!report->was_clean) return "the unmounted disk is not clean";
  if (!report->nothing_found())
    return "after the unmount, fsck finds " + report->findings.front().text;
  if (unmounts == Unmounts::settled && report->space != counted)
    return "the counts on the unmounted disk are wrong";
  return {};
}

}  // namespace

void LaterLife::measure_new_disk() {
  if (free_when_new_) return;
  disk_.show_base();
  (void)fsck_.repair(disk_, {});  // the disk may need repair if it was used before the run
  std::uint64_t free = 0;
  const std::string failure =
      live(system_, disk_, fsck_, Unmounts::settled,
           [&](adapters::MountedSystem& mounted, os::System& machine) -> VfsResult<void> {
             TRY(free, emptied(mounted, machine));
             return {};
           });
  free_when_new_ = failure.empty() ? free : 0;
}

void LaterLife::interrupt_recovery(std::uint64_t seed) {
  Random random(seed);
  const auto report = fsck_.check(disk_, {});
  if (!report) return;
  const bool mount_suffices = report->log_in_use || report->nothing_found();
  if (!mount_suffices || random.below(2) == 0) {
    os::CutStore cut(disk_, random.below(std::uint64_t{1} << random.below(kCutWritesBits + 1)));
    (void)fsck_.repair(cut, {});  // fails if the cut interrupts the repair
    return;
  }
  os::MemoryMachine machine(disk_, machine_of(system_, disk_));
  os::Account account{.name = "user"};
  std::unique_ptr<adapters::MountedSystem> mounted;
  machine.system.syncer.start();
  machine.system.executor.spawn(os::Executor::Kind::daemon, account, [&] {
    if (auto made = system_.mount(machine.system, {})) mounted = *std::move(made);
    if (mounted) (void)mounted->vfs().sync();
  });
  const std::uint64_t cut_ms = random.below(std::uint64_t{1} << random.below(kCutMsBits + 1));
  machine.system.executor.run_until(static_cast<os::TimeNs>(cut_ms) * model::kMillisecondNs);
  machine.disk.power_cut();
  machine.system.executor.halt();
  if (mounted) mounted->abandon();
}

std::string LaterLife::use(std::uint64_t seed) {
  Random random(seed);
  LaterFiles files(random);
  const Unmounts unmounts = seed % 2 == 0 ? Unmounts::settled : Unmounts::with_pending_changes;
  std::string failure = live(system_, disk_, fsck_, unmounts,
                             [&](adapters::MountedSystem& mounted, os::System& machine) {
                               auto done = files.change(mounted.vfs());
                               if (!done || unmounts == Unmounts::with_pending_changes) return done;
                               return adapters::settle(mounted.vfs(), machine);
                             });
  if (!failure.empty()) return "when the recovered disk is used: " + failure;
  std::string differs;
  std::uint64_t free = 0;
  adapters::UsedSpace used;
  const bool fill = disk_.bytes().size() <= kFilledBytesMost;
  failure = live(system_, disk_, fsck_, Unmounts::settled,
                 [&](adapters::MountedSystem& mounted, os::System& machine) -> VfsResult<void> {
                   differs = files.difference(mounted.vfs());
                   TRY(free, emptied(mounted, machine));
                   if (!fill) return {};
                   TRY(used, adapters::use_space(mounted.vfs(), machine, kLaterFolder, free));
                   return {};
                 });
  if (!differs.empty()) return "when the recovered disk is used: " + differs;
  if (failure.empty()) failure = broken_rule(free, used, free_when_new_.value_or(0));
  return failure.empty() ? "" : "when the recovered disk is emptied: " + failure;
}

}  // namespace headcrash::in_process
