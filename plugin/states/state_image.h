#pragma once
// The bytes of one medium in one crash state, read through: what the recording wrote, else what was
// there before the recording began (its base), else zeroes. Nothing is copied.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plugin/model/core/store.h"
#include "plugin/record/state.h"

namespace headcrash::states {

/// A value that is cheap to copy and safe to read from several threads.
class StateImage {
 public:
  explicit StateImage(record::MediumState top, std::shared_ptr<const StateImage> base = nullptr);

  std::uint64_t sectors() const { return top_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const;
  std::optional<std::uint64_t> first_unreadable(std::uint64_t lba, std::uint64_t sectors) const;

  /// Calls visit(lba, sectors) for every range that is not known to be zeroes, ascending, joined.
  using Visit = std::function<void(std::uint64_t, std::uint64_t)>;
  void visit_written(const Visit& visit) const { visit_written(0, sectors(), visit); }
  void visit_written(std::uint64_t lba, std::uint64_t sectors, const Visit& visit) const;

  /// Content hash of the whole medium. The same bytes give the same digest however they came to be
  /// there (a sum over sectors, so that states are compared by their differences: digest.h).
  Result<std::uint64_t> digest() const { return digest(0, sectors()); }
  /// What a range adds to it.
  Result<std::uint64_t> digest(std::uint64_t lba, std::uint64_t sectors) const;
  /// Reads the whole image once: digests of this copy, and of what stands on it, read nothing of it
  /// again. Takes 8 bytes a sector, shared by copies, until the image is changed.
  Result<void> know_digests();

  const record::MediumState& top() const { return top_; }
  /// Puts other bytes of the same recording over a range of this copy.
  void assign(std::uint64_t lba, std::uint64_t sectors, record::ExtentLocation where) {
    top_.assign(lba, sectors, where);
    digests_.reset();
  }
  /// What a MEDIA event of the same recording does to this copy. The event lies inside the medium.
  void apply(const record::Event& media) {
    top_.apply(media.lba, media.sectors, record::media_bytes(media));
    digests_.reset();
  }

 private:
  struct Part;
  /// The parts of a range by where their bytes come from: the top, or what is below it.
  template <typename Take>
  void split(std::uint64_t lba, std::uint64_t sectors, Take take) const;
  Result<std::uint64_t> digest_of(const Part& part, std::span<std::byte> buffer) const;

  record::MediumState top_;
  std::shared_ptr<const StateImage> base_;
  std::shared_ptr<const std::vector<std::uint64_t>>
      digests_;  ///< [n]: of the first n sectors; null: not known
};

/// A state under a bounded private overlay in memory: what a guest, a checker or a recovery writes
/// onto it. For one thread at a time.
class OverlayStore : public model::SectorStore {
 public:
  /// `image_digest`: if it is known already; saves digest() the reading of the whole image.
  OverlayStore(StateImage image, std::uint64_t overlay_bytes_max,
               std::optional<std::uint64_t> image_digest = std::nullopt);
  ~OverlayStore() override;
  OverlayStore(const OverlayStore&) = delete;
  OverlayStore& operator=(const OverlayStore&) = delete;

  std::uint64_t sectors() const override;
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  /// Error when the overlay is full: the caller answers ENOSPC and the state says so.
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// A sector that cannot be read is readable once it has been written.
  std::optional<std::uint64_t> first_unreadable(std::uint64_t lba, std::uint64_t sectors) const;
  std::uint64_t overlay_bytes() const;  ///< of data; zeroes cost next to nothing
  /// Digest of what is there now; comparable with StateImage::digest().
  Result<std::uint64_t> digest() const;

 private:
  StateImage image_;
  struct Overlay;
  std::unique_ptr<Overlay> overlay_;
};

}  // namespace headcrash::states
