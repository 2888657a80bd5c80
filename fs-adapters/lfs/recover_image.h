#pragma once
// What a mount makes of an image whose power went, without a machine around it: for checkers.

#include <array>
#include <cstdint>
#include <list>
#include <map>

#include "fs-adapters/lfs/contents.h"
#include "plugin/base/result.h"
#include "plugin/model/core/store.h"

namespace headcrash::lfs {

/// What a recovery has taken in of the log.
struct Recovered {
  std::uint64_t regions = 0;
  std::uint64_t inodes = 0;  ///< whose newest copies were in them
  std::uint64_t moved = 0;   ///< of these inodes: the cleaner's work, nobody had changed them
};

/// Rolls forward, unless the image's last mount did without, and unmounts; then the image says that
/// it is clean. Errors: as a mount's, and the store's.
Result<Recovered> recover_image(model::SectorStore& store);

/// What is written stays here. For who wants to know what a recovery would make of an image.
class WritesApart final : public model::SectorStore {
 public:
  /// `below` must outlive it, and is not changed meanwhile.
  explicit WritesApart(const model::SectorStore& below) : below_(below) {}

  std::uint64_t sectors() const override { return below_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// With digests from `digest` if it is not null.
  WrittenSectors written(std::uint64_t (*digest)(std::uint64_t, std::span<const std::byte>)) const;

 private:
  using Sector = std::array<std::byte, model::kSectorBytes>;
  const model::SectorStore& below_;
  std::map<std::uint64_t, Sector> written_;
};

/// What recoveries make of images that are shown one after the other. A recovery depends on the
/// sectors that it reads, and on nothing else: one that would read what an earlier one has read
/// writes what that one wrote.
class KeptRecoveries {
 public:
  struct Made {
    Recovered taken_in;
    WrittenSectors written;
  };
  /// `contents` of the store, whose digests `digest` makes. Valid until the next call; nothing is
  /// changed. Errors: recover_image()'s.
  Result<const Made*> recover(const model::SectorStore& store, const Contents& contents,
                              std::uint64_t (*digest)(std::uint64_t, std::span<const std::byte>));

 private:
  static constexpr std::size_t kKept = 48;
  struct Kept {
    std::uint64_t device_sectors = 0;
    Sources sources;
    Made made;
  };
  std::list<Kept> kept_;  ///< the last one that was wanted is the first
};

}  // namespace headcrash::lfs
