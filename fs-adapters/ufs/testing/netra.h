#pragma once
// What tests of Netra's marks and of the fast check share.

#include <cstddef>
#include <cstdint>
#include <span>

#include "fs-adapters/ufs/netra.h"
#include "fs-adapters/ufs/testing/mounted.h"
#include "fs-adapters/ufs/volume.h"
#include "plugin/model/store.h"

namespace headcrash::ufs::bench {

inline BusyGroups& busy_of(Mounted& m) {
  return static_cast<Netra&>(*m.file_system->volume().scheme).busy();
}

/// Counts what is read of a store.
class CountedReads final : public model::SectorStore {
 public:
  explicit CountedReads(model::SectorStore& below) : below_(below) {}
  std::uint64_t sectors() const override { return below_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    ++reads;
    bytes += into.size();
    return below_.read(lba, into);
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    return below_.write(lba, data);
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    return below_.write_zeroes(lba, count);
  }
  mutable std::uint64_t reads = 0, bytes = 0;

 private:
  model::SectorStore& below_;
};

}  // namespace headcrash::ufs::bench
