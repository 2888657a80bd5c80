#pragma once
// What one MEDIA event does to the extent index of its medium: the same words for the server that
// writes the log and for everybody who reads it.

#include "plugin/record/event.h"
#include "plugin/record/extent_index.h"

namespace headcrash::record {

struct MediaBytes {
  Bytes bytes = Bytes::none;
  model::MediaWrite::Outcome outcome = model::MediaWrite::Outcome::written;
  std::uint64_t bytes_at = 0;  ///< referred, carried
};

inline MediaBytes media_bytes(const Event& media) {
  return {media.bytes, static_cast<model::MediaWrite::Outcome>(media.detail), media.bytes_at};
}

/// A sector that became unreadable without new bytes keeps what it had; a write without data leaves
/// what nobody knows.
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
