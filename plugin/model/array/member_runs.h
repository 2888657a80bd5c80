#pragma once
// The mapping of a run of array data to its members.
//
//   pieces, in the host's order    | D0 | D1 | D2 | D3 | D0' | D1' |   at most one stripe unit each
//   buffer ordered by member       | D0 D0' | D1 D1' | D2 | D3 |       adjacent pieces: one command

#include <algorithm>
#include <array>
#include <cstdint>

#include "plugin/model/array/raid_layout.h"
#include "plugin/model/array/stripe_plan.h"

namespace headcrash::model {

class MemberRuns {
 public:
  struct Piece {
    std::uint64_t stripe = 0;
    std::uint32_t role = 0;
    std::uint32_t member = 0;
    RowRange rows;
    std::uint64_t offset = 0;  ///< offset in the host's data, in sectors
    /// Offset of the piece in a buffer that holds the sectors of each member contiguously.
    std::uint64_t buffer_sector = 0;
  };
  struct Run {
    std::uint32_t member = 0;
    std::uint64_t lba = 0;
    std::uint32_t sectors = 0;
    std::uint64_t buffer_sector = 0;
  };

  MemberRuns(const RaidLayout& layout, std::uint64_t lba, std::uint32_t sectors)
      : layout_(layout), lba_(lba), sectors_(sectors) {
    std::array<std::uint64_t, kArrayMembersMax> total{};
    for (Piece piece = first(); piece.offset < sectors_; advance(piece))
      total[piece.member] += piece.rows.sectors();
    for (std::uint32_t m = 1; m < layout_.members; ++m) base_[m] = base_[m - 1] + total[m - 1];
  }

  /// Returns the first piece, for a loop that waits between two pieces. `buffer_sector` is not set.
  /// The first piece takes four divisions. Each later piece takes at most one, which finds the
  /// member in RAID-5 and RAID-6.
  Piece first() const {
    const auto in_stripe = static_cast<std::uint32_t>(lba_ % layout_.stripe_sectors());
    Piece piece;
    piece.stripe = lba_ / layout_.stripe_sectors();
    piece.role = in_stripe / layout_.unit;
    piece.rows.first = in_stripe % layout_.unit;
    place(piece);
    return piece;
  }
  void advance(Piece& piece) const {
    piece.offset += piece.rows.sectors();
    piece.rows.first = 0;
    if (++piece.role == layout_.data) {
      piece.role = 0;
      ++piece.stripe;
    }
    place(piece);
  }

  template <typename Visit>
  void each_piece(Visit visit) const {
    auto next = base_;
    for (Piece piece = first(); piece.offset < sectors_; advance(piece)) {
      piece.buffer_sector = next[piece.member];
      next[piece.member] += piece.rows.sectors();
      visit(piece);
    }
  }

  template <typename Visit>
  void each_run(Visit visit) const {
    std::array<Run, kArrayMembersMax> open{};
    each_piece([&](const Piece& piece) {
      const std::uint64_t lba = layout_.member_lba(piece.stripe, piece.rows.first);
      Run& run = open[piece.member];
      if (run.sectors == 0 || run.lba + run.sectors != lba) {
        if (run.sectors > 0) visit(run);
        run = {piece.member, lba, 0, piece.buffer_sector};
      }
      run.sectors += piece.rows.sectors();
    });
    for (std::uint32_t m = 0; m < layout_.members; ++m) {
      if (open[m].sectors > 0) visit(open[m]);
    }
  }

 private:
  void place(Piece& piece) const {
    piece.rows.last = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(layout_.unit, piece.rows.first + (sectors_ - piece.offset)));
    piece.member = layout_.member_of(piece.stripe, piece.role);
  }

  const RaidLayout& layout_;
  std::uint64_t lba_;
  std::uint32_t sectors_;
  std::array<std::uint64_t, kArrayMembersMax> base_{};
};

}  // namespace headcrash::model
