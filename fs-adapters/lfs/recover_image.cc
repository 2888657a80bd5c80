// Recovers an image by mounting it in virtual time on a disk without latency (recover_image.h).
#include "fs-adapters/lfs/recover_image.h"

#include <algorithm>
#include <cstring>

#include "fs-adapters/lfs/file_system.h"
#include "fs-adapters/substrate/os/memory_machine.h"

namespace headcrash::lfs {
namespace {

constexpr std::uint64_t kCacheBytes = 16 << 20;

}  // namespace

Result<void> WritesApart::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(below_.read(lba, into));
  const std::uint64_t end = lba + into.size() / model::kSectorBytes;
  for (auto at = written_.lower_bound(lba); at != written_.end() && at->first < end; ++at)
    std::memcpy(into.data() + (at->first - lba) * model::kSectorBytes, at->second.data(),
                at->second.size());
  return {};
}

Result<void> WritesApart::write(std::uint64_t lba, std::span<const std::byte> data) {
  for (std::size_t at = 0; at < data.size(); at += model::kSectorBytes)
    std::memcpy(written_[lba++].data(), data.data() + at, model::kSectorBytes);
  return {};
}

Result<void> WritesApart::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) written_[lba + i].fill(std::byte{0});
  return {};
}

Result<Recovered> recover_image(model::SectorStore& store) {
  os::MemoryMachine machine(store, {.latency_ns = 0, .system = {.cache = {.bytes = kCacheBytes}}});
  os::Account account{.name = "recovery"};
  Result<Recovered> recovered;
  std::unique_ptr<FileSystem> mounted;
  machine.system.run_as(account, [&] {
    auto file_system = FileSystem::mount(machine.system, {.background_cleaner = false});
    if (!file_system) {
      recovered = forward_error(file_system);
      return;
    }
    mounted = *std::move(file_system);
    const Counters& counters = mounted->log().counters();
    recovered = Recovered{counters.regions_rolled_forward, counters.inodes_rolled_forward,
                          counters.inodes_moved};
    if (!mounted->unmount())
      recovered = fail("lfs", "cannot write the recovered state", "check the device");
  });
  machine.disk.power_cut();
  machine.system.executor.halt();
  return recovered;
}

WrittenSectors WritesApart::written(std::uint64_t (*digest)(std::uint64_t,
                                                            std::span<const std::byte>)) const {
  WrittenSectors all;
  all.sectors.reserve(written_.size());
  all.bytes.reserve(written_.size() * model::kSectorBytes);
  for (const auto& [sector, bytes] : written_) {
    all.sectors.push_back(static_cast<std::uint32_t>(sector));
    all.bytes.insert(all.bytes.end(), bytes.begin(), bytes.end());
    if (digest != nullptr) all.digests.push_back(digest(sector, bytes));
  }
  return all;
}

Result<const KeptRecoveries::Made*> KeptRecoveries::recover(
    const model::SectorStore& store, const Contents& contents,
    std::uint64_t (*digest)(std::uint64_t, std::span<const std::byte>)) {
  const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
    return one.device_sectors == store.sectors() && one.sources.unchanged(contents);
  });
  if (same != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, same);
    return &kept_.front().made;
  }
  NotedStore noted;
  noted.show(store);
  WritesApart apart(noted);
  TRY(const auto taken_in, recover_image(apart));
  kept_.push_front({store.sectors(), noted.sources(contents), {taken_in, apart.written(digest)}});
  if (kept_.size() > kKept) kept_.pop_back();
  return &kept_.front().made;
}

}  // namespace headcrash::lfs
