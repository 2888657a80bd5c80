#pragma once
// Applies one MEDIA event to the extent index of its medium. Shared by the log's writer and all
// readers.

#include "plugin/record/event.h"
#include "plugin/record/extent_index.h"

namespace headcrash::record {

struct MediaBytes {
  Bytes bytes = Bytes::none;
  model::MediaWrite::Outcome outcome = model::MediaWrite::Outcome::written;
  std::uint64_t bytes_at = 0;  ///< file offset; valid if `bytes` is referred or carried
};

inline MediaBytes media_bytes(const Event& media) {
  return {media.bytes, static_cast<model::MediaWrite::Outcome>(media.detail), media.bytes_at};
}

/// Applies a MEDIA event. A sector that becomes unreadable without new bytes keeps its old bytes.
/// The contents are unknown after a write that was recorded without data.
inline void apply_media(ExtentIndex& index, std::uint64_t lba, std::uint32_t sectors,
                        const MediaBytes& media) {
  using Outcome = model::MediaWrite::Outcome;
  if (media.outcome == Outcome::unreadable && media.bytes == Bytes::none)
    return index.mark_unreadable(lba, sectors);
  ExtentLocation where = ExtentLocation::unrecorded();
  if (media.bytes == Bytes::zeroes) where = ExtentLocation::zeroes();
  if (media.bytes == Bytes::referred || media.bytes == Bytes::carried)
    where = ExtentLocation::at(media.bytes_at);
  if (media.outcome == Outcome::unreadable) where = where.with_unreadable();
  if (media.outcome == Outcome::torn) where = where.with_torn();
  index.assign(lba, sectors, where);
}

}  // namespace headcrash::record
