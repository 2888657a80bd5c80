#pragma once
// A store whose device loses power during a repair or a replay.

#include <cstdint>
#include <span>

#include "plugin/base/result.h"
#include "plugin/model/core/store.h"

namespace headcrash::os {

/// Completes a given number of writes, and fails all later ones. No write is torn. Reads always
/// succeed.
class CutStore final : public model::SectorStore {
 public:
  /// `store` must outlive this object.
  CutStore(model::SectorStore& store, std::uint64_t writes) : store_(store), left_(writes) {}
  std::uint64_t sectors() const override { return store_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    return store_.read(lba, into);
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    TRY(use_one());
    return store_.write(lba, data);
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    TRY(use_one());
    return store_.write_zeroes(lba, count);
  }

 private:
  Result<void> use_one() {
    if (left_ == 0) return fail("disk", "the power was cut");
    --left_;
    return {};
  }
  model::SectorStore& store_;
  std::uint64_t left_;
};

}  // namespace headcrash::os
