// Restores the contents of media and caches (cut_machine.h).
#include "harness/papers/cut_machine.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace headcrash::experiment {
namespace {

constexpr std::uint64_t kPieceSectors = 128;
// Maximum size of a drive's overlay, which receives the dirty data of the drive's cache.
constexpr std::uint64_t kKeptBytesMost = 1 << 30;

/// Copies a range of sectors from `cache` to the same addresses of `store`.
Result<void> copy_kept(const states::StateImage& cache, std::uint64_t lba, std::uint64_t sectors,
                       model::SectorStore& store) {
  std::vector<std::byte> bytes;
  while (sectors > 0) {
    const std::uint64_t piece = std::min(sectors, kPieceSectors);
    bytes.resize(piece * model::kSectorBytes);
    TRY(cache.read(lba, bytes));
    TRY(store.write(lba, bytes));
    lba += piece;
    sectors -= piece;
  }
  return {};
}

Result<void> copy_all_kept(const states::StateImage& cache, model::SectorStore& store) {
  Result<void> done;
  cache.visit_written([&](std::uint64_t lba, std::uint64_t sectors) {
    if (done) done = copy_kept(cache, lba, sectors, store);
  });
  return done;
}

/// Returns the sectors that are dirty in the cache at the cut, in ascending order: those whose
/// newest data in the cache has not reached the device below. Data that the cache writes through is
/// handled in the same way.
std::vector<std::uint64_t> dirty_in(const states::RunHistory& run, model::DeviceId cache,
                                    std::uint64_t cut_event) {
  // For each sector, the event in which the cache accepted the sector's newest data.
  std::map<std::uint64_t, std::uint64_t> taken_at;
  const auto was_complete = [&](const states::RecordedWrite& write) {
    return write.acked_event && *write.acked_event < cut_event;
  };
  for (const states::RecordedWrite& write : run.writes(cache)) {
    if (!was_complete(write)) continue;
    for (std::uint64_t lba = write.lba; lba < write.lba + write.sectors; ++lba) {
      std::uint64_t& at = taken_at[lba];
      at = std::max(at, *write.acked_event);
    }
  }
  for (const states::RecordedWrite& write : run.writes(cache + 1)) {
    if (!was_complete(write)) continue;
    auto sector = taken_at.lower_bound(write.lba);
    while (sector != taken_at.end() && sector->first < write.lba + write.sectors)
      sector = sector->second < write.submitted_event ? taken_at.erase(sector) : std::next(sector);
  }
  std::vector<std::uint64_t> dirty;
  dirty.reserve(taken_at.size());
  for (const auto& [lba, at] : taken_at) dirty.push_back(lba);
  return dirty;
}

Result<void> write_again(const states::StateImage& cache, const std::vector<std::uint64_t>& dirty,
                         model::SectorStore& device) {
  for (std::size_t i = 0; i < dirty.size();) {
    std::size_t end = i + 1;
    while (end < dirty.size() && dirty[end] == dirty[end - 1] + 1) ++end;
    TRY(copy_kept(cache, dirty[i], end - i, device));
    i = end;
  }
  return {};
}

}  // namespace

Result<CutMachine> cut_machine_of(const std::shared_ptr<const states::RunHistory>& run,
                                  const states::CrashState& state) {
  CutMachine found;
  const auto& devices = run->header().devices;
  const auto& caches = run->caches();
  const auto has_cache = [&](model::DeviceId id) {
    return std::ranges::find(caches, id) != caches.end();
  };
  for (std::size_t at = 0; at < devices.size(); ++at) {
    const auto id = static_cast<model::DeviceId>(at);
    if (!devices[id].medium) continue;
    TRY(const auto image, run->image(state, id));
    auto drive = std::make_shared<states::OverlayStore>(image, kKeptBytesMost);
    // Ids are assigned depth-first. The id of a cache in front of a drive is therefore one less
    // than the id of the drive.
    if (id > 0 && has_cache(id - 1)) {
      TRY(const auto kept, run->image(state, id - 1));
      TRY(copy_all_kept(kept, *drive));
    }
    found.media.leaves.push_back(std::move(drive));
  }
  for (const model::DeviceId cache : caches) {
    if (devices.at(cache + 1).medium) continue;
    if (cache != 0)
      return fail(devices[cache].name, "is a cache above an array that is itself a member",
                  "only a cache above all devices is supported");
    TRY(auto kept, run->image(state, cache));
    found.write_back = [run, image = std::move(kept),
                        dirty = dirty_in(*run, cache, state.event)](model::SectorStore& device) {
      return write_again(image, dirty, device);
    };
  }
  return found;
}

ModelledMachineOptions machine_of(const states::RunHistory& run) {
  const auto& first = run.header().devices.front();
  return {.profile = first.profile,
          .size_bytes = first.sectors * model::kSectorBytes,
          .seed = run.header().seed};
}

}  // namespace headcrash::experiment
