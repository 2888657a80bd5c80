#pragma once
// Notes which sectors of a store are read, so that what was made of them can be kept as long as
// they stay.

#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::tree {

/// Read only. Not for several threads.
class NotedStore : public model::SectorStore {
 public:
  struct Run {
    std::uint32_t first = 0, count = 0;
  };

  /// The store must outlive it, or the next call.
  void show(const model::SectorStore& below) { below_ = &below; }
  std::uint64_t sectors() const override { return below_->sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t, std::span<const std::byte>) override { return refuse(); }
  Result<void> write_zeroes(std::uint64_t, std::uint64_t) override { return refuse(); }

  /// Forgets what was read before.
  void begin() {
    runs_.clear();
    failed_ = false;
  }
  const std::vector<Run>& runs() const {
    return runs_;
  }  ///< in the order of the reads, those that failed, too
  bool failed() const { return failed_; }  ///< any of them

 private:
  static Result<void> refuse() { return fail("the image", "is only read here"); }
  const model::SectorStore* below_ = nullptr;
  mutable std::vector<Run> runs_;
  mutable bool failed_ = false;
};

}  // namespace headcrash::tree
