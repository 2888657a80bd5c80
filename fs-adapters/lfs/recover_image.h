#pragma once
// Recovers an image after a power cut, without an emulated machine. Used by checkers.

#include <array>
#include <cstdint>
#include <list>
#include <map>

#include "fs-adapters/lfs/contents.h"
#include "plugin/base/result.h"
#include "plugin/model/core/store.h"

namespace headcrash::lfs {

struct Recovered {
  std::uint64_t regions = 0;
  std::uint64_t inodes = 0;  ///< inodes that have a newer copy in the recovered regions
  std::uint64_t moved = 0;   ///< inodes that the cleaner moved without changing them
};

/// Mounts the image and unmounts it. The mount rolls the log forward, unless the image's last mount
/// disabled roll-forward; the unmount marks the image clean. Fails if the mount or the store fails.
Result<Recovered> recover_image(model::SectorStore& store);

/// A store that keeps all writes in memory, so that a recovery does not change the image.
class WritesApart final : public model::SectorStore {
 public:
  /// `below` must outlive this object and stay unchanged.
  explicit WritesApart(const model::SectorStore& below) : below_(below) {}

  std::uint64_t sectors() const override { return below_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// Returns the written sectors, with digests if `digest` is not null.
  WrittenSectors written(std::uint64_t (*digest)(std::uint64_t, std::span<const std::byte>)) const;

 private:
  using Sector = std::array<std::byte, model::kSectorBytes>;
  const model::SectorStore& below_;
  std::map<std::uint64_t, Sector> written_;
};

/// Recovers a sequence of images and reuses earlier results. The writes of a recovery depend only
/// on the sectors that the recovery reads.
class KeptRecoveries {
 public:
  struct Made {
    Recovered taken_in;
    WrittenSectors written;
  };
  /// Recovers one image, without changing the store. `contents` are the digests of the store,
  /// computed with `digest`. The result is valid until the next call. Fails in the same cases as
  /// recover_image().
  Result<const Made*> recover(const model::SectorStore& store, const Contents& contents,
                              std::uint64_t (*digest)(std::uint64_t, std::span<const std::byte>));

 private:
  static constexpr std::size_t kKept = 48;
  struct Kept {
    std::uint64_t device_sectors = 0;
    Sources sources;
    Made made;
  };
  std::list<Kept> kept_;  ///< most recently used first
};

}  // namespace headcrash::lfs
