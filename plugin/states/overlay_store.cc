// The overlay of a crash state (state_image.h): an extent index like a recording's, whose "file" is
// memory in slots of one sector.
//
//   index   lba 100, 8 sectors -> slot 0 | lba 300, 4096 sectors -> zeroes | lba 5000, 2 -> slot 8
//   slots   [ block of 2048 ][ block of 2048 ] ...   a rewritten sector keeps its slot; zeroing
//                                                    frees it
//
// The limit applies to the slots in use. The index grows with the slots and with zeroed ranges:
// discarding a whole disk costs an extent of 16 bytes per MiB.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "plugin/media/range.h"
#include "plugin/states/digest.h"
#include "plugin/states/state_image.h"

namespace headcrash::states {
namespace {

using model::kSectorBytes;
using record::ExtentLocation;

constexpr std::uint64_t kBlockSlots = 2048;

struct Piece {
  std::uint64_t lba = 0, sectors = 0;
  ExtentLocation where;
};

std::uint64_t slot_of(ExtentLocation where) {
  return where.offset() / kSectorBytes - 1;
}
ExtentLocation where_of(std::uint64_t slot) {
  return ExtentLocation::at((slot + 1) * kSectorBytes);
}

}  // namespace

struct OverlayStore::Overlay {
  explicit Overlay(std::uint64_t sectors, std::uint64_t bytes_max)
      : index(sectors), slots_max(bytes_max / kSectorBytes) {}

  using Block = std::array<std::byte, kBlockSlots * kSectorBytes>;

  record::ExtentIndex index;
  std::uint64_t slots_max;
  std::vector<std::unique_ptr<Block>> blocks;
  std::uint64_t slots = 0;          ///< number of slots ever allocated
  std::vector<std::uint64_t> free;  ///< allocated slots not in use
  mutable std::optional<std::uint64_t> image_digest;

  std::uint64_t in_use() const { return slots - free.size(); }
  std::byte* at(std::uint64_t slot) const {
    return blocks[slot / kBlockSlots]->data() + slot % kBlockSlots * kSectorBytes;
  }

  std::vector<Piece> pieces(std::uint64_t lba, std::uint64_t sectors) const {
    std::vector<Piece> found;
    index.visit(lba, sectors, [&](std::uint64_t from, std::uint64_t count, ExtentLocation where) {
      found.push_back({from, count, where});
    });
    return found;
  }

  /// Calls take(lba, sectors, bytes in memory) for each range that is stored in slots.
  template <typename Take>
  void each_run(const Piece& piece, Take take) const {
    for (std::uint64_t done = 0; done < piece.sectors;) {
      const std::uint64_t slot = slot_of(piece.where) + done;
      const std::uint64_t run = std::min(piece.sectors - done, kBlockSlots - slot % kBlockSlots);
      take(piece.lba + done, run, at(slot));
      done += run;
    }
  }

  /// Stores the bytes of sectors that have no slot. REQUIRES: the limit leaves enough slots for
  /// these sectors.
  void place(std::uint64_t lba, std::span<const std::byte> data) {
    while (!data.empty()) {
      std::uint64_t slot = slots;
      std::uint64_t run = 1;
      if (!free.empty()) {
        slot = free.back();
        free.pop_back();
      } else {
        if (slot % kBlockSlots == 0) blocks.push_back(std::make_unique<Block>());
        run = std::min(data.size() / kSectorBytes, kBlockSlots - slot % kBlockSlots);
        slots += run;
      }
      std::memcpy(at(slot), data.data(), run * kSectorBytes);
      index.assign(lba, run, where_of(slot));
      lba += run;
      data = data.subspan(run * kSectorBytes);
    }
  }
};

OverlayStore::OverlayStore(StateImage image, std::uint64_t overlay_bytes_max,
                           std::optional<std::uint64_t> image_digest)
    : image_(std::move(image)),
      overlay_(std::make_unique<Overlay>(image_.sectors(), overlay_bytes_max)) {
  overlay_->image_digest = image_digest;
}
OverlayStore::~OverlayStore() = default;

std::uint64_t OverlayStore::sectors() const {
  return image_.sectors();
}

Result<void> OverlayStore::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(media::check_range("state", sectors(), lba, into.size()));
  const auto part = [&](std::uint64_t from, std::uint64_t count) {
    return into.subspan((from - lba) * kSectorBytes, count * kSectorBytes);
  };
  std::uint64_t next = lba;
  const std::uint64_t end = lba + into.size() / kSectorBytes;
  Result<void> result;
  const auto read_image_to = [&](std::uint64_t to) {
    if (result && to > next) result = image_.read(next, part(next, to - next));
  };
  overlay_->index.visit(
      lba, end - lba, [&](std::uint64_t at, std::uint64_t sectors, ExtentLocation where) {
        read_image_to(at);
        next = at + sectors;
        const auto bytes = part(at, sectors);
        if (where.is_zeroes()) {
          std::fill(bytes.begin(), bytes.end(), std::byte{0});
          return;
        }
        overlay_->each_run({at, sectors, where},
                           [&](std::uint64_t from, std::uint64_t count, const std::byte* held) {
                             std::memcpy(part(from, count).data(), held, count * kSectorBytes);
                           });
      });
  read_image_to(end);
  return result;
}

Result<void> OverlayStore::write(std::uint64_t lba, std::span<const std::byte> data) {
  TRY(media::check_range("state", sectors(), lba, data.size()));
  Overlay& o = *overlay_;
  const auto part = [&](std::uint64_t from, std::uint64_t count) {
    return data.subspan((from - lba) * kSectorBytes, count * kSectorBytes);
  };
  const std::uint64_t count = data.size() / kSectorBytes;
  std::vector<Piece> held = o.pieces(lba, count);
  std::erase_if(held, [](const Piece& piece) { return piece.where.is_zeroes(); });
  std::uint64_t wanted = count;
  for (const Piece& piece : held) wanted -= piece.sectors;
  if (wanted > o.slots_max - std::min(o.slots_max, o.in_use()))
    return fail("overlay",
                fmt::format("is full: {} bytes have been written to the state, and the limit is {}",
                            overlay_bytes(), o.slots_max * kSectorBytes),
                "use a larger overlay, or write less");
  std::uint64_t next = lba;
  for (const Piece& piece : held) {
    o.place(next, part(next, piece.lba - next));
    o.each_run(piece, [&](std::uint64_t from, std::uint64_t sectors, std::byte* there) {
      std::memcpy(there, part(from, sectors).data(), sectors * kSectorBytes);
    });
    next = piece.lba + piece.sectors;
  }
  o.place(next, part(next, lba + count - next));
  return {};
}

Result<void> OverlayStore::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  if (lba > sectors() || count > sectors() - lba)
    return fail("state", fmt::format("{} sectors at sector {} exceed a medium of {} sectors", count,
                                     lba, sectors()));
  Overlay& o = *overlay_;
  for (const Piece& piece : o.pieces(lba, count)) {
    if (piece.where.is_zeroes()) continue;
    for (std::uint64_t i = 0; i < piece.sectors; ++i) o.free.push_back(slot_of(piece.where) + i);
  }
  o.index.assign(lba, count, ExtentLocation::zeroes());
  return {};
}

std::optional<std::uint64_t> OverlayStore::first_unreadable(std::uint64_t lba,
                                                            std::uint64_t count) const {
  std::uint64_t next = lba;
  std::optional<std::uint64_t> first;
  for (const Piece& piece : overlay_->pieces(lba, count)) {
    if (!first && piece.lba > next) first = image_.first_unreadable(next, piece.lba - next);
    next = piece.lba + piece.sectors;
  }
  if (!first && next < lba + count) first = image_.first_unreadable(next, lba + count - next);
  return first;
}

std::uint64_t OverlayStore::overlay_bytes() const {
  return overlay_->in_use() * kSectorBytes;
}

Result<std::uint64_t> OverlayStore::digest() const {
  const Overlay& o = *overlay_;
  if (!o.image_digest) {
    const auto below = image_.digest();
    if (!below) return below;
    o.image_digest = *below;
  }
  std::uint64_t sum = *o.image_digest;
  for (const Piece& piece : o.pieces(0, sectors())) {
    const auto hidden = image_.digest(piece.lba, piece.sectors);
    if (!hidden) return hidden;
    sum -= *hidden;
    if (piece.where.is_zeroes()) continue;
    o.each_run(piece, [&](std::uint64_t from, std::uint64_t count, const std::byte* held) {
      sum += digest_sum(from, std::span(held, count * kSectorBytes));
    });
  }
  return sum;
}

}  // namespace headcrash::states
