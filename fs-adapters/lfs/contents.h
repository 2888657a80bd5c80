#pragma once
// Digests of sectors, for checks of successive states. Each result is kept together with the
// sectors that it was computed from (Sources), and is reused while these sectors are unchanged.
//
//   inode 12    from sectors 901 | combined digest of these | the inode, its blocks
//   recovery    from sectors 16, 17 to 24, 310 to 317, ... | their digest | its writes
//
// If the store must not change, the writes of a recovery are shown as an Overlay on top of the
// store.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fs-adapters/substrate/tree/noted_store.h"
#include "plugin/model/core/sector_digests.h"
#include "plugin/model/core/store.h"

namespace headcrash::lfs {

/// A set of sectors with their new contents.
struct WrittenSectors {
  std::vector<std::uint32_t> sectors;  ///< ascending
  std::vector<std::byte> bytes;        ///< contiguous sectors
  std::vector<std::uint64_t> digests;  ///< one for each sector
};

/// A read-only view of a store in which some sectors are replaced.
class Overlay final : public model::SectorStore {
 public:
  /// Shows the store `below`, with the written sectors `above` on top of it. Both arguments must
  /// remain valid until the next call or the destruction of this object.
  void show(const model::SectorStore& below, const WrittenSectors& above);
  /// Returns the number of the replacement for the sector. Replacements are counted from 1; 0 means
  /// that the sector is not replaced.
  std::uint32_t place_of(std::uint64_t sector) const { return places_[sector]; }
  std::uint64_t digest_at(std::uint32_t place) const { return above_->digests[place - 1]; }

  std::uint64_t sectors() const override { return below_->sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t, std::span<const std::byte>) override { return refuse(); }
  Result<void> write_zeroes(std::uint64_t, std::uint64_t) override { return refuse(); }

 private:
  static Result<void> refuse() { return fail("lfs", "the image of a recovery is read-only"); }
  const model::SectorStore* below_ = nullptr;
  const WrittenSectors* above_ = nullptr;
  std::vector<std::uint32_t> places_;  ///< result of place_of() for each sector
  std::vector<std::uint32_t> shown_;   ///< sectors that `above_` replaces
};

/// The digests of a store's sectors (CheckOptions::digests). Sectors in the overlay, if there is
/// one, have the overlay's digests.
class Contents {
 public:
  Contents() = default;  ///< no digests
  explicit Contents(model::SectorDigests digests, const Overlay* overlay = nullptr)
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
  model::SectorDigests digests_;
  const Overlay* overlay_ = nullptr;
};

/// The sectors from which a result was computed, with a digest of their contents at that time.
class Sources {
 public:
  using Run = tree::NotedStore::Run;
  Sources() = default;
  /// `whole` is false if the result also depends on something other than these sectors, such as a
  /// failed read.
  Sources(std::vector<Run> runs, bool whole, const Contents& contents);
  /// Returns true if the sectors are unchanged and the result depends on nothing else, so that the
  /// same computation would yield the same result now.
  bool unchanged(const Contents& contents) const {
    return whole_ && contents.known() && digest_of(contents) == digest_;
  }

 private:
  std::uint64_t digest_of(const Contents& contents) const;
  std::vector<Run> runs_;
  bool whole_ = false;
  std::uint64_t digest_ = 0;
};

/// Records the sectors that are read.
class NotedStore final : public tree::NotedStore {
 public:
  Sources sources(const Contents& contents) const { return Sources(runs(), !failed(), contents); }
};

}  // namespace headcrash::lfs
