#pragma once
// What sectors hold, as numbers, for who checks one state of a store after the other: what was made
// of sectors is kept with them (Sources), and while they hold the same it is what another reading
// would give.
//
//   inode 12    made of sectors 901 | mixed digest of what they held | the inode, its blocks
//   recovery    made of sectors 16, 17 to 24, 310 to 317, ... | their digests | what it writes
//
// A recovery's writes lie over the store (Overlay) where the store itself must not be changed.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fs-adapters/substrate/tree/noted_store.h"
#include "plugin/model/core/store.h"

namespace headcrash::lfs {

/// Sectors that were written, and what they hold.
struct WrittenSectors {
  std::vector<std::uint32_t> sectors;  ///< ascending
  std::vector<std::byte> bytes;        ///< one sector after the other
  std::vector<std::uint64_t> digests;  ///< of each
};

/// A store with other sectors over it. Nothing is written to either.
class Overlay final : public model::SectorStore {
 public:
  /// Both must outlive it, or the next call.
  void show(const model::SectorStore& below, const WrittenSectors& above);
  /// The number of the sector above, from 1 on; 0: the store's is seen.
  std::uint32_t place_of(std::uint64_t sector) const { return places_[sector]; }
  std::uint64_t digest_at(std::uint32_t place) const { return above_->digests[place - 1]; }

  std::uint64_t sectors() const override { return below_->sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t, std::span<const std::byte>) override { return refuse(); }
  Result<void> write_zeroes(std::uint64_t, std::uint64_t) override { return refuse(); }

 private:
  static Result<void> refuse() { return fail("lfs", "what a recovery would make is only read"); }
  const model::SectorStore* below_ = nullptr;
  const WrittenSectors* above_ = nullptr;
  std::vector<std::uint32_t> places_;  ///< by sector
  std::vector<std::uint32_t> shown_;   ///< sectors with a place
};

/// A digest of each sector of a store (CheckOptions::digests), or of an overlay on it.
class Contents {
 public:
  Contents() = default;  ///< nothing is known
  explicit Contents(std::span<const std::uint64_t> digests, const Overlay* overlay = nullptr)
      : digests_(digests), overlay_(overlay) {}
  bool known() const { return !digests_.empty(); }
  /// REQUIRES: known().
  std::uint64_t of(std::uint64_t sector) const {
    if (overlay_ != nullptr)
      if (const std::uint32_t place = overlay_->place_of(sector); place != 0)
        return overlay_->digest_at(place);
    return digests_[sector];
  }

 private:
  std::span<const std::uint64_t> digests_;
  const Overlay* overlay_ = nullptr;
};

/// What something was made of.
class Sources {
 public:
  using Run = tree::NotedStore::Run;
  Sources() = default;
  /// `whole`: what was made depends on nothing else, such as a read that failed.
  Sources(std::vector<Run> runs, bool whole, const Contents& contents);
  /// Whether it would be made again.
  bool unchanged(const Contents& contents) const {
    return whole_ && contents.known() && digest_of(contents) == digest_;
  }

 private:
  std::uint64_t digest_of(const Contents& contents) const;
  std::vector<Run> runs_;
  bool whole_ = false;
  std::uint64_t digest_ = 0;
};

/// Notes what is read of it.
class NotedStore final : public tree::NotedStore {
 public:
  Sources sources(const Contents& contents) const { return Sources(runs(), !failed(), contents); }
};

}  // namespace headcrash::lfs
