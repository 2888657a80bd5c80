// Runs mkfs in memory and records it (formatted_disk.h).
#include "harness/explorer/in_process/formatted_disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fs-adapters/substrate/os/device_stores.h"
#include "fs-adapters/substrate/os/memory_machine.h"
#include "harness/explorer/in_process/state_disk.h"
#include "harness/workload/stamp.h"
#include "plugin/record/recording.h"

namespace headcrash::in_process {
namespace {

using model::kSectorBytes;

constexpr std::uint64_t kFillBytes = 1 << 20;  // size of each write that fills the disk

class RecordedBytes final : public model::SectorStore {
 public:
  RecordedBytes(std::vector<std::byte>& bytes, record::RecordingWriter& writer)
      : bytes_(bytes), writer_(writer) {}

  std::uint64_t sectors() const override { return bytes_.size() / kSectorBytes; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    TRY(check(lba, into.size()));
    std::memcpy(into.data(), bytes_.data() + lba * kSectorBytes, into.size());
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    TRY(check(lba, data.size()));
    std::memcpy(bytes_.data() + lba * kSectorBytes, data.data(), data.size());
    tell({.op = model::Op::write,
          .lba = lba,
          .sectors = static_cast<std::uint32_t>(data.size() / kSectorBytes),
          .data = data});
    return {};
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    TRY(check(lba, count * kSectorBytes));
    std::memset(bytes_.data() + lba * kSectorBytes, 0, count * kSectorBytes);
    tell({.op = model::Op::write_zeroes, .lba = lba, .sectors = static_cast<std::uint32_t>(count)});
    return {};
  }

 private:
  Result<void> check(std::uint64_t lba, std::size_t bytes) const {
    if (lba <= sectors() && bytes / kSectorBytes <= sectors() - lba) return {};
    return fail("disk",
                fmt::format("sector {} is beyond the end of the disk", lba + bytes / kSectorBytes));
  }
  void tell(model::Request request) {
    request.id = ++requests_;
    request.fua = true;
    writer_.submitted(0, now_, request);
    writer_.acknowledged(0, {.id = request.id, .submitted_at = now_, .completed_at = now_});
    now_ += model::kMicrosecondNs;
  }

  std::vector<std::byte>& bytes_;
  record::RecordingWriter& writer_;
  model::RequestId requests_ = 0;
  model::TimeNs now_ = 0;
};

/// Fills the disk with recognisable bytes. The recording contains these writes too, so that every
/// command that uses the recording has the complete disk.
Result<void> fill(RecordedBytes& store) {
  std::vector<std::byte> piece;
  for (std::uint64_t sector = 0; sector < store.sectors(); sector += piece.size() / kSectorBytes) {
    piece.resize(std::min(kFillBytes, (store.sectors() - sector) * kSectorBytes));
    workload::write_before_mkfs(sector, piece);
    TRY(store.write(sector, piece));
  }
  return {};
}

/// Creates and removes directories on the new file system, so that its log is not empty. Writes no
/// file data, so a later run finds only its own data and the bytes from before mkfs.
///
/// The changes are too few for a journal to wrap around, so the first transaction after the next
/// mount overwrites the first of these transactions.
VfsResult<void> make_and_remove(Vfs& vfs) {
  constexpr int kDirectories = 12;
  const auto path = [](int i) { return fmt::format("used{}", i); };
  for (int i = 0; i < kDirectories; ++i) TRY(vfs.mkdir(path(i), 0755));
  TRY(vfs.sync());
  for (int i = 0; i < kDirectories; ++i) TRY(vfs.rmdir(path(i)));
  return vfs.sync();
}

/// Leaves changes in the log. The next mount must discard these changes.
///
/// Each change affects only the root directory, so each log write is as long as the first log write
/// after the next mount. The last change creates a name that must never become visible.
VfsResult<void> leave_a_log(Vfs& vfs) {
  constexpr std::uint32_t kChanges = 12;
  for (std::uint32_t i = 0; i < kChanges; ++i) {
    TRY(vfs.chmod("", i % 2 == 0 ? 0700 : 0755));
    TRY(vfs.fsync_directory(""));
  }
  TRY(vfs.mkdir("given-up", 0755));
  return vfs.fsync_directory("");
}

Result<void> use(os::DeviceStores& store, const adapters::LabDisk& kind,
                 const adapters::SystemUnderTest& system) {
  os::MemoryMachine machine(store,
                            {.system = {.queue = system.description().queue,
                                        .cache = {.block_copy = system.description().block_copy}},
                             .second_sectors = kind.log_bytes / kSectorBytes});
  os::Account account{.name = "user"};
  Result<void> result;
  machine.system.syncer.start();
  machine.system.run_as(account, [&] {
    auto mounted = system.mount(machine.system, {});
    if (!mounted) {
      result = forward_error(mounted);
      return;
    }
    auto used = make_and_remove((*mounted)->vfs());
    if (used) used = kind.cut ? leave_a_log((*mounted)->vfs()) : (*mounted)->unmount();
    if (used && kind.cut) (*mounted)->abandon();
    if (!used)
      result = fail("disk", fmt::format("cannot be used: {}", std::strerror(used.error().value)));
  });
  machine.disk.power_cut();
  machine.system.executor.halt();
  return result;
}

}  // namespace

std::uint64_t FormattedDisk::sectors() const {
  return bytes.size() / kSectorBytes;
}

Result<FormattedDisk> format_disk(const adapters::FileSystemType& type,
                                  const adapters::LabDisk& kind,
                                  const std::filesystem::path& recording) {
  FormattedDisk disk{.type = &type};
  const std::uint64_t first = kind.bytes / kSectorBytes, second = kind.log_bytes / kSectorBytes;
  disk.bytes.resize((first + second) * kSectorBytes);
  disk.log_at = second == 0 ? 0 : first;
  disk.recording = recording;
  std::error_code error;
  std::filesystem::remove(recording, error);
  TRY(auto writer,
      record::RecordingWriter::create(
          recording, {.devices = {{.name = "hd0", .profile = "memory", .sectors = disk.sectors()}},
                      .media = false}));
  RecordedBytes store(disk.bytes, *writer);
  TRY(fill(store));
  std::vector<os::DeviceStores::Part> parts{{.store = &store, .sectors = first}};
  if (second > 0) parts.push_back({.store = &store, .first = first, .sectors = second});
  os::DeviceStores devices(parts);
  TRY(type.mkfs(devices, kind.mkfs));
  if (!kind.used_by.empty()) {
    TRY(const auto system, type.find_system(kind.used_by));
    TRY(use(devices, kind, *system));
  }
  TRY(writer->flush());
  if (const auto& broken = writer->error()) return tl::unexpected<Error>(*broken);
  TRY(auto history, states::RunHistory::load(recording));
  disk.history = std::move(history);
  const states::CrashState state{.event = disk.history->events()};
  disk.state = states::format(state);
  disk.digests = sector_digests(disk.bytes);
  TRY(disk.history->share_image(state, 0, disk.digests));
  return disk;
}

}  // namespace headcrash::in_process
