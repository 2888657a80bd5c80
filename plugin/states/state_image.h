#pragma once
// The contents of one medium in one crash state, read through layers: the recording's writes, below
// them the recording's base, and below that zeroes. Nothing is copied.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plugin/model/core/store.h"
#include "plugin/record/state.h"

namespace headcrash::states {

/// A value type: cheap to copy and thread-safe to read.
class StateImage {
 public:
  explicit StateImage(record::MediumState top, std::shared_ptr<const StateImage> base = nullptr);

  std::uint64_t sectors() const { return top_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const;
  std::optional<std::uint64_t> first_unreadable(std::uint64_t lba, std::uint64_t sectors) const;

  /// Calls visit(lba, sectors) for every range that may be nonzero. The ranges are ascending, and
  /// adjacent ones are merged.
  using Visit = std::function<void(std::uint64_t, std::uint64_t)>;
  void visit_written(const Visit& visit) const { visit_written(0, sectors(), visit); }
  void visit_written(std::uint64_t lba, std::uint64_t sectors, const Visit& visit) const;

  /// Returns the content digest of the whole medium. Equal contents have equal digests, however
  /// they were written. The digest is a sum over sectors, so the digest of a state can be computed
  /// from its difference from another state (digest.h).
  Result<std::uint64_t> digest() const { return digest(0, sectors()); }
  /// Returns the contribution of a range to the digest.
  Result<std::uint64_t> digest(std::uint64_t lba, std::uint64_t sectors) const {
    return digest(lba, sectors, {});
  }
  /// Returns the digest of a range of bytes in the recording, or nullopt if it is not known.
  using KnownDigest = std::function<Result<std::optional<std::uint64_t>>(
      std::uint64_t lba, std::uint64_t sectors, record::ExtentLocation)>;
  /// Like digest(lba, sectors), but reads only those ranges of the recording whose digests `known`
  /// does not return.
  Result<std::uint64_t> digest(std::uint64_t lba, std::uint64_t sectors,
                               const KnownDigest& known) const;
  /// Reads the whole image once and stores its digests. Later calls of digest() on this copy, or on
  /// images on top of it, then need not read the image again. The digests take 8 bytes per sector,
  /// are shared by copies, and are dropped when the image changes.
  Result<void> know_digests();
  /// Like know_digests(), but takes the digest of each sector (digest.h) from the caller.
  void know_digests(std::span<const std::uint64_t> digests);

  const record::MediumState& top() const { return top_; }
  /// Overlays a range of this copy with other bytes from the same recording.
  void assign(std::uint64_t lba, std::uint64_t sectors, record::ExtentLocation where) {
    top_.assign(lba, sectors, where);
    digests_.reset();
  }
  /// Applies a MEDIA event from the same recording to this copy. REQUIRES: the event is within the
  /// medium.
  void apply(const record::Event& media) {
    top_.apply(media.lba, media.sectors, record::media_bytes(media));
    digests_.reset();
  }

 private:
  struct Part;
  /// Calls `take` for each part of a range. A part is stored either in the top layer or in the
  /// base.
  template <typename Take>
  void split(std::uint64_t lba, std::uint64_t sectors, Take take) const;
  /// Calls take(sector, digest) for the sectors of a part of the top layer. Omits zeroes.
  template <typename Take>
  Result<void> visit_digests(const Part& part, Take take) const;

  record::MediumState top_;
  std::shared_ptr<const StateImage> base_;
  /// Element n is the digest of the first n sectors. Null if not computed.
  std::shared_ptr<const std::vector<std::uint64_t>> digests_;
};

/// A crash state with a bounded private overlay in memory, for the writes of a guest, a checker or
/// a recovery. Not thread-safe.
class OverlayStore : public model::SectorStore {
 public:
  /// Pass `image_digest` if the image's digest is known; digest() then need not read the whole
  /// image.
  OverlayStore(StateImage image, std::uint64_t overlay_bytes_max,
               std::optional<std::uint64_t> image_digest = std::nullopt);
  ~OverlayStore() override;
  OverlayStore(const OverlayStore&) = delete;
  OverlayStore& operator=(const OverlayStore&) = delete;

  std::uint64_t sectors() const override;
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  /// Fails if the overlay is full. The caller must then return ENOSPC and record that the overlay
  /// was full.
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// Unreadable sectors become readable when they are written.
  std::optional<std::uint64_t> first_unreadable(std::uint64_t lba, std::uint64_t sectors) const;
  std::uint64_t overlay_bytes() const;  ///< size of the stored data; zeroes take almost no space
  /// Returns the digest of the current contents; comparable with StateImage::digest().
  Result<std::uint64_t> digest() const;

 private:
  StateImage image_;
  struct Overlay;
  std::unique_ptr<Overlay> overlay_;
};

}  // namespace headcrash::states
