#pragma once
// Records which sectors of a store are read, so that results can be reused while those sectors are
// unchanged.

#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::tree {

/// A read-only view of another store. Not thread-safe.
class NotedStore : public model::SectorStore {
 public:
  struct Run {
    std::uint32_t first = 0, count = 0;
  };

  /// Selects the store to read from. That store must remain valid until the next call of show() or
  /// the destruction of this object.
  void show(const model::SectorStore& below) { below_ = &below; }
  std::uint64_t sectors() const override { return below_->sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t, std::span<const std::byte>) override { return refuse(); }
  Result<void> write_zeroes(std::uint64_t, std::uint64_t) override { return refuse(); }

  void begin() {
    runs_.clear();
    failed_ = false;
  }
  const std::vector<Run>& runs() const {
    return runs_;
  }  ///< the sectors in the order in which they were read, including those whose read failed
  bool failed() const { return failed_; }  ///< true if any read failed

 private:
  static Result<void> refuse() { return fail("the image", "is read-only"); }
  const model::SectorStore* below_ = nullptr;
  mutable std::vector<Run> runs_;
  mutable bool failed_ = false;
};

}  // namespace headcrash::tree
