// Through the driver, so that the disk takes its time for a replay as for all else (mount_journal.h).

#include "fs-adapters/ufs/mount_journal.h"

#include <algorithm>
#include <array>

#include "fs-adapters/ufs/journal_area.h"
#include "fs-adapters/ufs/journal_replay.h"

namespace headcrash::ufs {
namespace {

constexpr std::size_t kTransferBytes = 65536;

/// The driver's queue as a store, for a fiber. Every request is complete, and durable, when it returns.
class QueueStore final : public model::SectorStore {
 public:
  QueueStore(os::DiskQueue& disk, bool flushes) : disk_(disk), flushes_(flushes) {}

  std::uint64_t sectors() const override { return disk_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    for (; !into.empty(); into = into.subspan(std::min(into.size(), kTransferBytes))) {
      const auto part = into.first(std::min(into.size(), kTransferBytes));
      os::BlockRequest request{model::Op::read, lba, count(part.size())};
      request.into = part;
      if (auto done = transfer(request); !done) return done;
      lba += request.sectors;
    }
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    for (; !data.empty(); data = data.subspan(std::min(data.size(), kTransferBytes))) {
      const auto part = data.first(std::min(data.size(), kTransferBytes));
      os::BlockRequest request{model::Op::write, lba, count(part.size())};
      request.data = part;
      if (auto done = transfer(request); !done) return done;
      lba += request.sectors;
    }
    return flushes_ ? transfer({model::Op::flush}) : Result<void>();
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t sectors) override {
    const std::vector<std::byte> zeroes(std::min<std::uint64_t>(sectors * kSectorBytes, kTransferBytes));
    for (std::uint64_t done = 0; done < sectors;) {
      const std::uint64_t part = std::min<std::uint64_t>(sectors - done, zeroes.size() / kSectorBytes);
      if (auto written = write(lba + done, std::span(zeroes).first(part * kSectorBytes)); !written)
        return written;
      done += part;
    }
    return {};
  }

 private:
  static std::uint32_t count(std::size_t bytes) { return static_cast<std::uint32_t>(bytes / kSectorBytes); }
  Result<void> transfer(const os::BlockRequest& request) const {
    if (disk_.transfer(request) == model::Status::ok) return {};
    return fail("ufs", "the disk does not answer while its journal is looked at",
                "look whether the device is on");
  }

  os::DiskQueue& disk_;
  bool flushes_;
};

Result<JournalSuperblock> read_superblock(const QueueStore& store, const Superblock& superblock) {
  std::array<std::byte, kSectorBytes> sector = {};
  if (auto done = store.read(JournalRing(superblock).superblock_lba(), sector); !done) return pass_on(done);
  return decode_journal_superblock(sector, superblock);
}

}  // namespace

Result<JournalSuperblock> prepare_journal(const Machine& machine, const MountOptions& options,
                                          Superblock& superblock) {
  const bool journals = options.scheme == SchemeKind::journal;
  if (!journals && superblock.journal.fragments == 0) return JournalSuperblock();
  QueueStore store(machine.disk, options.options.journal.flushes);
  // What is in the cache may be older than what is written here.
  machine.cache.drop_clean();
  if (superblock.journal.fragments == 0) {
    if (!superblock.clean)
      return fail("ufs", "the file system was not unmounted, and has no journal", "run fsck on it");
    if (auto added = add_journal(store, superblock, 0); !added) return pass_on(added);
  }
  if (journals && superblock.journal.fragments < journal_fragments_min(superblock))
    return fail("journal", "is too short for so many groups", "make the file system anew with a longer one");
  if (!superblock.clean) {
    if (auto replayed = replay_journal(store, superblock, ReplayFor::mount); !replayed)
      return pass_on(replayed);
  }
  const auto old = read_superblock(store, superblock);
  if (!old) return pass_on(old);
  if (!superblock.clean && !options.although_not_clean) return *old;
  if (!journals && !old->in_use) return *old;
  return reset_journal(store, superblock, *old, journals);
}

}  // namespace headcrash::ufs
