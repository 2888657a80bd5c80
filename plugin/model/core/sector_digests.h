#pragma once
// Digests of a store's sectors, for code that examines many similar versions of a store and skips
// sectors that it has already seen.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace headcrash::model {

/// The sectors of a store that a computation has read so far, and the sum of the digests of their
/// current contents. While the sum stays the same, repeating the computation would give the same
/// result.
class ReadSectors {
 public:
  explicit ReadSectors(std::uint64_t sectors) : contains_(sectors) {}
  void add(std::uint64_t sector, std::uint64_t digest) {
    if (std::exchange(contains_[sector], std::uint8_t{1}) != 0) return;
    sum_ += digest;
    has_grown_ = true;
  }
  /// Must be called when the contents of a sector change, so that the sum remains correct. Ignores
  /// sectors that have not been added.
  void change(std::uint64_t sector, std::uint64_t digest_before, std::uint64_t digest) {
    if (contains_[sector] != 0) sum_ += digest - digest_before;
  }
  std::uint64_t sum() const { return sum_; }
  /// Returns true if a sector has been added since the last call.
  bool take_growth() { return std::exchange(has_grown_, false); }

 private:
  std::vector<std::uint8_t> contains_;
  std::uint64_t sum_ = 0;
  bool has_grown_ = false;
};

/// Contains one digest for each sector of a store. Sectors with equal digests have equal bytes; 0
/// means zeroes. The vector of digests must outlive this object. If a ReadSectors is given, it must
/// also outlive this object.
class SectorDigests {
 public:
  SectorDigests() = default;  ///< the digests are unknown
  SectorDigests(std::span<const std::uint64_t> digests) : digests_(digests) {}
  SectorDigests(const std::vector<std::uint64_t>& digests) : digests_(digests) {}
  /// Whenever a digest is read, adds its sector to `read`.
  SectorDigests(std::span<const std::uint64_t> digests, ReadSectors* read)
      : digests_(digests), read_(read) {}

  bool empty() const { return digests_.empty(); }
  std::size_t size() const { return digests_.size(); }
  std::uint64_t operator[](std::uint64_t sector) const {
    if (read_ != nullptr) read_->add(sector, digests_[sector]);
    return digests_[sector];
  }

 private:
  std::span<const std::uint64_t> digests_;
  ReadSectors* read_ = nullptr;
};

}  // namespace headcrash::model
