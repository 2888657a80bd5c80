#pragma once
// What a mount makes of an image whose power went, without a machine around it: for checkers.

#include <array>
#include <cstdint>
#include <map>

#include "plugin/base/result.h"
#include "plugin/model/store.h"

namespace headcrash::lfs {

/// What a recovery has taken in of the log.
struct Recovered {
  std::uint64_t regions = 0;
  std::uint64_t inodes = 0;  ///< whose newest copies were in them
  std::uint64_t moved = 0;   ///< of these inodes: the cleaner's work, nobody had changed them
};

/// Rolls forward, unless the image's last mount did without, and unmounts; then the image says that it is
/// clean. Errors: as a mount's, and the store's.
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

 private:
  using Sector = std::array<std::byte, model::kSectorBytes>;
  const model::SectorStore& below_;
  std::map<std::uint64_t, Sector> written_;
};

}  // namespace headcrash::lfs
