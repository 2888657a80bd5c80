#pragma once
// Helpers for tests of Netra's busy marks and the fast check.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/netra/fast_check_trial.h"
#include "fs-adapters/ufs/netra/netra.h"
#include "fs-adapters/ufs/testing/mounted.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs::bench {

inline BusyGroups& busy_of(Mounted& m) {
  return static_cast<Netra&>(*m.file_system->volume().scheme).busy();
}

/// Returns the scheme without its group flusher, so that groups become quiet only when the test
/// makes them quiet.
inline Setup without_flusher(const char* scheme) {
  Setup setup = setup_named(scheme);
  setup.mount.options.netra.flush_interval_ns = 0;
  return setup;
}

/// After each write and after each torn write, expects the fast check and the full check to have
/// the same result. `image` is the disk before the writes; `after_each` may examine it.
inline void compare_checks_after_each(
    const std::vector<LoggedStore::Write>& writes, model::SectorStore& image, FastCheckTrial& trial,
    const std::function<void()>& after_each = [] {}) {
  for (const LoggedStore::Write& write : writes) {
    const std::size_t half = write.bytes.size() / kSectorBytes / 2 * kSectorBytes;
    ASSERT_TRUE(image.write(write.lba, std::span(write.bytes).first(half)));
    ASSERT_EQ(trial.difference(image), "");
    ASSERT_TRUE(image.write(write.lba, write.bytes));
    ASSERT_EQ(trial.difference(image), "");
    after_each();
  }
}

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
