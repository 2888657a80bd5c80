// Judges contents block by block (content.h).
//
// Let p be the last persistence point that covers the block, and Q the last operation that may have
// run. A block may have its contents at p, or its contents after any operation in (p, Q]. These are
// a version of the file, or zeroes after a punched hole, after a truncation, or before the first
// write to the block. If a write to the block is in flight, the block may also be torn: the
// beginning of one permitted version and the rest of another. The size may be the size at p, any
// later one, or any size between these.
#include "harness/oracle/content.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/oracle/block_content.h"
#include "harness/oracle/expectation.h"
#include "harness/workload/attribute_value.h"
#include "harness/workload/stamp.h"
#include "plugin/base/errno_text.h"
#include "plugin/base/printable.h"

namespace headcrash::oracle {
namespace {

using workload::kStampBytes;

constexpr std::size_t kValueShownBytes = 80;  // maximum length of an attribute value in a finding
// Maximum number of blocks that are judged individually in a run. The verdict on the last of these
// also applies to the rest of the run.
constexpr std::uint64_t kForeignBlocksJudged = 64;

struct Permitted {
  /// Contents at the persistence point that covers the block. Zeroes if no point covers it.
  BlockContent persistent;
  std::vector<BlockContent> pending;      ///< contents that may have replaced `persistent`
  std::vector<BlockContent> overwritten;  ///< stamps that were in the block before `persistent`
  bool covered = false;
  /// True if the block's allocation unit may have been allocated since the persistence point.
  bool unit_in_flight = false;
  bool may_be_another = false;  ///< the block may have been freed and reallocated since the point
  /// True if no operation since the persistence point can have changed the block or the size of the
  /// file.
  bool settled = false;
  /// True if the block is beyond the end of the file at the persistence point, and fsck may extend
  /// the file to the end of its last block (ContentTerms::ends_anywhere).
  bool beyond_end = false;
  Tier tier = Tier::posix;

  bool any(auto&& fits) const {
    return fits(persistent) || std::any_of(pending.begin(), pending.end(), fits);
  }
};

/// Selects the persistence points that count: all points, or only those that POSIX promises.
enum class Covers : std::uint8_t { all, posix };

template <typename Point>
bool counts(const Point& cover, const Horizon& horizon, Covers covers) {
  return horizon.knows(cover.operation) &&
         (covers == Covers::all || cover.tier == CoverTier::posix);
}

std::optional<std::size_t> last_cover(const ObjectHistory& object, std::uint64_t block,
                                      const Horizon& horizon, Covers covers) {
  std::optional<std::size_t> last;
  for (const DataCover& cover : object.data_covers) {
    if (!counts(cover, horizon, covers) || block < cover.first || block >= cover.end) continue;
    // If blocks were moved after this persistence point, the block that is now at this position may
    // not be the one that the point covered.
    const bool moved_since =
        cover.end != kEndless && std::ranges::any_of(object.moves, [&](const auto& move) {
          return move.operation > cover.operation && horizon.may_have_run(move.operation) &&
                 block >= move.first;
        });
    if (!moved_since) last = cover.operation;
  }
  return last;
}

void apply(const BlockEvent& event, std::uint64_t block, Permitted& permitted, bool persistent) {
  if (persistent) {
    const BlockContent before = permitted.persistent;
    permitted.persistent = after(event, block, before);
    const bool another =
        !before.same_stamp(permitted.persistent) || before.hole != permitted.persistent.hole;
    if (!before.zero && another) permitted.overwritten.push_back(before);
    return;
  }
  std::vector<BlockContent> made;
  const bool changes_a_part = event.kind == BlockEvent::Kind::trim ||
                              event.kind == BlockEvent::Kind::hole ||
                              event.kind == BlockEvent::Kind::patch;
  if (changes_a_part) {
    permitted.any([&](const BlockContent& held) {
      made.push_back(made_by(event, block, held));
      return false;
    });
  } else {
    made.push_back(made_by(event, block, {}));
  }
  permitted.pending.insert(permitted.pending.end(), made.begin(), made.end());
}

/// Returns true if, after the persistence point `cover`, the file may have grown from or to a size
/// inside the range. When a file grows, the file system allocates the units at both sizes.
bool tail_grows(const ObjectHistory& object, std::uint64_t first, std::uint64_t end,
                const ContentTerms& terms, std::optional<std::size_t> cover) {
  std::uint64_t before = 0;
  for (const auto& [operation, size] : object.sizes) {
    if (!terms.horizon.may_have_run(operation)) break;
    const bool filled_up = before > first * kStampBytes && before < end * kStampBytes;
    const bool reached = size > first * kStampBytes && size <= end * kStampBytes;
    if (size > before && (filled_up || reached) && (!cover || operation > *cover)) return true;
    before = size;
  }
  return false;
}

bool unit_in_flight(const ObjectHistory& object, std::uint64_t block, const ContentTerms& terms,
                    std::optional<std::size_t> cover) {
  const std::uint64_t first = block / terms.allocation_blocks * terms.allocation_blocks;
  const std::uint64_t end = first + terms.allocation_blocks;
  const auto touches = [&](const auto& event) {
    return event.first < end && first < event.end && terms.horizon.may_have_run(event.operation) &&
           (!cover || event.operation > *cover);
  };
  const auto allocates = [&](const BlockEvent& event) {
    return event.kind == BlockEvent::Kind::stamp || event.kind == BlockEvent::Kind::patch ||
           terms.stale_anywhere_in_flight;
  };
  return std::any_of(object.blocks.begin(), object.blocks.end(),
                     [&](const BlockEvent& event) { return allocates(event) && touches(event); }) ||
         std::any_of(object.allocations.begin(), object.allocations.end(), touches) ||
         (terms.fills_last_unit && tail_grows(object, first, end, terms, cover));
}

/// Returns true if the block may have been freed and allocated again. The file may then have
/// another disk block at this position, and this disk block may contain older data of the same
/// file.
bool may_be_another(const ObjectHistory& object, std::uint64_t block, const ContentTerms& terms,
                    std::optional<std::size_t> cover) {
  std::optional<std::size_t> given_up;
  for (const BlockEvent& event : object.blocks) {
    const bool pending =
        terms.horizon.may_have_run(event.operation) && (!cover || event.operation > *cover);
    if (pending && event.kind == BlockEvent::Kind::zero && block >= event.first &&
        block < event.end) {
      given_up = event.operation;
      break;
    }
  }
  return given_up && unit_in_flight(object, block, terms, given_up);
}

/// Adds all contents that the block may have held so far. If `moves_count` is true, also adds
/// contents that may have been moved there from other positions.
void add_what_stood_there(const ObjectHistory& object, std::uint64_t block,
                          const ContentTerms& terms, std::optional<std::size_t> cover,
                          bool moves_count, Permitted& permitted) {
  for (const BlockEvent& event : object.blocks) {
    if (block < event.first || block >= event.end || !terms.horizon.may_have_run(event.operation))
      continue;
    const bool persistent = cover && event.operation <= *cover;
    if (persistent || !event.moved || moves_count) apply(event, block, permitted, persistent);
  }
}

/// Returns the other positions whose data may appear at position `block`. Each move in flight may
/// or may not have been executed. Even data that was written after a move may appear at the
/// position that its block had before the move.
std::set<std::uint64_t> other_places(const ObjectHistory& object, std::uint64_t block,
                                     const ContentTerms& terms, std::optional<std::size_t> cover) {
  std::set<std::uint64_t> places{block};
  const auto in_flight = [&](const MoveEvent& move) {
    return terms.horizon.may_have_run(move.operation) && (!cover || move.operation > *cover);
  };
  const auto add = [&](std::uint64_t from, std::uint64_t distance, bool towards_the_end) {
    for (const std::uint64_t place : std::vector<std::uint64_t>(places.begin(), places.end()))
      if (place >= from) places.insert(towards_the_end ? place + distance : place - distance);
  };
  for (const MoveEvent& move : object.moves)
    if (in_flight(move))
      add(move.towards_the_end ? move.first : move.first + move.blocks, move.blocks,
          move.towards_the_end);
  for (auto move = object.moves.rbegin(); move != object.moves.rend(); ++move)
    if (in_flight(*move))
      add(move->towards_the_end ? move->first + move->blocks : move->first, move->blocks,
          !move->towards_the_end);
  places.erase(block);
  return places;
}

Permitted permitted_at(const ObjectHistory& object, std::uint64_t block, const ContentTerms& terms,
                       Covers covers) {
  Permitted permitted;
  std::optional<std::size_t> cover = last_cover(object, block, terms.horizon, covers);
  if (terms.kept_by_replacing && (!cover || *terms.kept_by_replacing > *cover)) {
    cover = terms.kept_by_replacing;
    permitted.tier = Tier::de_facto;
  }
  permitted.covered = cover.has_value();
  std::uint64_t covered_size = 0;
  bool resized = false;
  for (const auto& [operation, size] : object.sizes) {
    if (cover && operation <= *cover)
      covered_size = size;
    else
      resized |= terms.horizon.may_have_run(operation);
  }
  permitted.beyond_end = terms.ends_anywhere && block * kStampBytes >= covered_size;
  add_what_stood_there(object, block, terms, cover, true, permitted);
  const std::set<std::uint64_t> places = other_places(object, block, terms, cover);
  // The block may have been moved away before another block was moved to its position, so zeroes
  // are permitted.
  if (!places.empty()) permitted.pending.push_back({});
  for (const std::uint64_t place : places) {
    Permitted there;
    add_what_stood_there(object, place, terms, cover, false, there);
    there.any([&](BlockContent held) {
      held.displacement += static_cast<std::int64_t>(place) - static_cast<std::int64_t>(block);
      permitted.pending.push_back(held);
      return false;
    });
  }
  permitted.settled =
      permitted.covered && permitted.pending.empty() && !resized && !permitted.beyond_end;
  if (terms.exposes_stale_data) {
    permitted.unit_in_flight = unit_in_flight(object, block, terms, cover);
    permitted.may_be_another = may_be_another(object, block, terms, cover);
  }
  return permitted;
}

/// Returns true if a hole in the block is visible. The hole is invisible if the stamp itself has
/// zeroes there.
bool shows_a_hole(const BlockContent& held, std::uint64_t block) {
  if (!held.has_hole() || held.hole.many) return false;
  std::array<std::byte, kStampBytes> stamp;
  const auto stamped =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(block) + held.displacement);
  workload::write_stamp({held.file, held.version, stamped}, stamp);
  const auto end = std::min<std::uint32_t>(held.hole.end, held.bytes);
  return held.hole.first < end && std::any_of(
                                      stamp.begin() + held.hole.first, stamp.begin() + end,
                                      [](std::byte each) { return each != std::byte{0}; });
}

/// Returns true if the observed bytes are the beginning of a permitted version that ends inside the
/// block, or a torn mixture of two permitted versions.
bool could_be_partial(const Permitted& permitted, std::uint64_t block,
                      const std::vector<std::byte>& observed) {
  std::vector<BlockHead> contents;
  const std::size_t length = std::min(observed.size(), BlockHead{}.size());
  const bool ends_inside = permitted.any([&](const BlockContent& held) {
    contents.push_back(head_of(held, block));
    const std::size_t known = std::min<std::size_t>(length, held.bytes);
    // The same content as `held`, but with zeroes after the end of the stamp.
    BlockHead cut = contents.back();
    if (held.bytes < cut.size()) std::fill(cut.begin() + held.bytes, cut.end(), std::byte{0});
    const bool same =
        !held.zero &&
        (held.bytes < kStampBytes || held.has_hole() || held.mixed ||
         length < workload::kStampHeaderBytes) &&
        std::equal(cut.begin(), cut.begin() + static_cast<std::ptrdiff_t>(known), observed.begin());
    contents.push_back(cut);
    return same;
  });
  const auto holes_are_somewhere = [](const BlockContent& held) {
    return held.has_hole() && held.hole.many;
  };
  if (ends_inside || permitted.any(holes_are_somewhere)) return true;
  if (permitted.pending.empty()) return false;
  for (const BlockHead& first : contents) {
    const auto tear =
        std::mismatch(observed.begin(), observed.begin() + static_cast<std::ptrdiff_t>(length),
                      first.begin())
            .first -
        observed.begin();
    for (const BlockHead& rest : contents) {
      if (std::equal(observed.begin() + tear,
                     observed.begin() + static_cast<std::ptrdiff_t>(length), rest.begin() + tear))
        return true;
    }
  }
  return false;
}

struct BlockFault {
  Verdict kind;
  Tier tier;
  std::string expected, found;
};

std::string describe(const ObjectHistory& object, std::uint64_t block, const Permitted& permitted) {
  const BlockContent& held = permitted.persistent;
  if (held.mixed)
    return fmt::format("part of version {} of file {}, or of a newer version", held.version,
                       held.file);
  if (!held.zero && (held.file != object.file || held.displacement != 0))
    return fmt::format("version {} of block {} of file {} or newer", held.version,
                       static_cast<std::int64_t>(block) + held.displacement, held.file);
  if (held.has_hole())
    return fmt::format("version {} with zeroes from byte {} to {}, or a newer version",
                       held.version, held.hole.first, held.hole.end);
  using ExpectedKind = Expectation::Kind;
  if (!held.zero) return words({.kind = ExpectedKind::version, .least = held.version});
  const bool persistent = permitted.covered && permitted.pending.empty();
  return words(
      {.kind = persistent ? ExpectedKind::zeroes : ExpectedKind::zeroes_or_version_in_flight});
}

/// Returns the bytes of a block after all operations that changed parts of it. Returns nullopt if
/// the bytes are unknown, or if the last change replaced the whole block.
std::optional<BlockBytes> changed_in_parts(const ObjectHistory& object, std::uint64_t block,
                                           const Horizon& horizon) {
  const auto applies = [&](const BlockEvent& event) {
    return block >= event.first && block < event.end && horizon.may_have_run(event.operation);
  };
  const auto last = std::find_if(object.blocks.rbegin(), object.blocks.rend(), applies);
  if (last == object.blocks.rend() || last->kind == BlockEvent::Kind::zero) return std::nullopt;
  const bool whole_stamp = last->kind == BlockEvent::Kind::stamp &&
                           (block + 1 < last->end || last->bytes == kStampBytes);
  if (whole_stamp) return std::nullopt;
  BlockBytes bytes{};
  for (const BlockEvent& event : object.blocks)
    if (applies(event) && !apply_exactly(event, block, object.file, bytes)) return std::nullopt;
  return bytes;
}

/// Returns true if, according to the dump, the first block of the run may consist of these bytes.
bool shows_bytes(const ContentRun& run, std::uint64_t block, std::span<const std::byte> bytes) {
  BlockBytes shown{};
  switch (run.kind) {
    case ContentRun::Kind::foreign: {
      const std::size_t known = std::min(run.head.size(), bytes.size());
      return std::equal(run.head.begin(), run.head.begin() + static_cast<std::ptrdiff_t>(known),
                        bytes.begin()) &&
             (run.digest == 0 || run.digest == workload::block_digest(bytes));
    }
    case ContentRun::Kind::before_mkfs:
      return false;
    case ContentRun::Kind::stamp:
      workload::write_stamp({run.file, run.version, block}, shown);
      break;
    case ContentRun::Kind::moved:
      workload::write_stamp({run.file, run.version, run.stamped_block}, shown);
      break;
    case ContentRun::Kind::zero:
      break;
  }
  return std::equal(bytes.begin(), bytes.end(), shown.begin());
}

std::optional<BlockFault> judge_block(const ObjectHistory& object, const ContentRun& run,
                                      std::uint64_t block, const Permitted& permitted,
                                      const ContentTerms& terms) {
  const auto fault = [&](Verdict kind, Tier tier, std::string found) {
    return BlockFault{kind, tier, describe(object, block, permitted), std::move(found)};
  };
  // A newly allocated block may still contain old data from the disk.
  const bool changing = !permitted.covered || !permitted.pending.empty() || permitted.beyond_end;
  const bool allocated =
      permitted.unit_in_flight && (permitted.persistent.zero || permitted.may_be_another);
  const bool may_be_stale =
      terms.exposes_stale_data && (allocated || (terms.stale_anywhere_in_flight && changing));
  if (permitted.any([](const BlockContent& held) { return held.is_unknown(); }))
    return std::nullopt;
  switch (run.kind) {
    case ContentRun::Kind::zero:
      if (permitted.any([](const BlockContent& held) { return held.may_read_as_zeroes(); }))
        return std::nullopt;
      return fault(Verdict::lost_synced_data, permitted.tier, "zeroes");
    case ContentRun::Kind::stamp:
    case ContentRun::Kind::moved: {
      const bool moved = run.kind == ContentRun::Kind::moved;
      const std::uint64_t stamped = moved ? run.stamped_block : block;
      const BlockContent shown{
          .zero = false,
          .file = run.file,
          .version = run.version,
          .displacement = static_cast<std::int64_t>(stamped) - static_cast<std::int64_t>(block)};
      const auto is_shown = [&](const BlockContent& held) { return held.same_stamp(shown); };
      if (permitted.any([&](const BlockContent& held) {
            return is_shown(held) && !shows_a_hole(held, block);
          }))
        return std::nullopt;
      const bool own = run.file == object.file;
      const bool was_once = std::ranges::any_of(permitted.overwritten, is_shown);
      const std::string found = moved ? fmt::format("block {} of file {}", stamped, run.file)
                                      : fmt::format("version {} of file {}", run.version, run.file);
      if (!was_once && (moved || !own)) {
        if (may_be_stale) return std::nullopt;
        return fault(own ? Verdict::wrong_data : Verdict::stale_data, Tier::integrity, found);
      }
      if (!was_once) return fault(Verdict::wrong_data, Tier::integrity, found);
      // A block that was allocated since the persistence point, in a hole or in place of a freed
      // block, may contain an older version.
      if (may_be_stale && (permitted.persistent.zero || permitted.may_be_another))
        return std::nullopt;
      // An older version in place of a synced version is a lost write. An older version in place of
      // a hole is removed data that has come back.
      return fault(permitted.persistent.zero ? Verdict::stale_data : Verdict::lost_synced_data,
                   permitted.tier, found);
    }
    case ContentRun::Kind::foreign:
      if (may_be_stale || could_be_partial(permitted, block, run.head)) return std::nullopt;
      return fault(permitted.persistent.zero ? Verdict::stale_data : Verdict::wrong_data,
                   Tier::integrity, "foreign bytes");
    case ContentRun::Kind::before_mkfs:
      if (may_be_stale) return std::nullopt;
      return fault(Verdict::stale_data, Tier::integrity, "bytes from before mkfs");
  }
  return std::nullopt;
}

std::optional<Finding> judge_size(const ObjectHistory& object, const ObservedObject& observed,
                                  const ContentTerms& terms, Covers covers) {
  std::optional<std::size_t> cover;
  for (const DataCover& each : object.data_covers) {
    if (each.end == kEndless && counts(each, terms.horizon, covers)) cover = each.operation;
  }
  Tier tier = Tier::posix;
  if (terms.kept_by_replacing && (!cover || *terms.kept_by_replacing > *cover)) {
    cover = terms.kept_by_replacing;
    tier = Tier::de_facto;
  }
  std::uint64_t least = 0, most = 0;
  bool changing = false;
  for (const auto& [operation, size] : object.sizes) {
    if (!terms.horizon.may_have_run(operation)) break;
    if (cover && operation <= *cover) {
      least = most = size;
    } else {
      changing = true;
      least = std::min(least, size);
      most = std::max(most, size);
    }
  }
  if (changing && terms.ends_anywhere) most = kEndless;
  // A write with O_SYNC promises that the file extends at least to the end of the write.
  for (const DataCover& each : object.data_covers) {
    if (each.end == kEndless || !counts(each, terms.horizon, covers) ||
        (cover && each.operation < *cover))
      continue;
    const bool shrunk_since =
        std::any_of(object.sizes.begin(), object.sizes.end(), [&](const auto& size) {
          return size.first > each.operation && terms.horizon.may_have_run(size.first) &&
                 size.second < each.end_bytes;
        });
    if (!shrunk_since) least = std::max(least, std::min(most, each.end_bytes));
  }
  if (observed.size_bytes >= least && observed.size_bytes <= most) return std::nullopt;
  const Verdict kind = observed.size_bytes > most ? Verdict::wrong_data
                       : observed.size_bytes == 0 ? Verdict::zero_length
                                                  : Verdict::lost_synced_data;
  return Finding{kind, observed.size_bytes > most ? Tier::integrity : tier, observed.path,
                 words({.kind = Expectation::Kind::size, .least = least, .most = most}),
                 fmt::format("{} bytes", observed.size_bytes)};
}

/// The first fault of one kind, and the number of blocks that have faults of this kind.
struct FaultCount {
  BlockFault fault;
  std::uint64_t first_block = 0, blocks = 0;
};

class BlockJudge {
 public:
  BlockJudge(const ObjectHistory& object, const ObservedObject& observed, const ContentTerms& terms,
             Covers covers)
      : object_(object), terms_(terms), covers_(covers), borders_(borders(object)) {
    size_bytes_ = observed.size_bytes;
    end_ = (observed.size_bytes + kStampBytes - 1) / kStampBytes;
    // The first byte of a stamp is zero. If the file ends after the first byte of a block, the
    // stamp in this block therefore reads as zeroes.
    one_byte_ = observed.size_bytes % kStampBytes == 1;
    if (object.moves.empty()) return;
    for (const std::uint64_t border : borders_)
      if (border != kEndless) moving_end_ = border;
    for (const MoveEvent& move : object.moves) moving_end_ += move.blocks;
  }

  void judge(const ContentRun& run) {
    const std::uint64_t end = std::min(end_, run.first_block + run.blocks);
    for (std::uint64_t block = run.first_block; block < end;) {
      const auto border = borders_.upper_bound(block);
      std::uint64_t next = border == borders_.end() ? end : std::min(end, *border);
      if (block < moving_end_) next = block + 1;
      judge_alike(run, block, next);
      block = next;
    }
  }

  const std::map<Verdict, FaultCount>& faults() const { return faults_; }
  std::uint64_t end() const { return end_; }

 private:
  void judge_alike(const ContentRun& run, std::uint64_t first, std::uint64_t end);
  std::optional<BlockFault> judge_parts(const ContentRun& run, std::uint64_t block,
                                        const Permitted& permitted) const;

  const ObjectHistory& object_;
  const ContentTerms& terms_;
  Covers covers_;
  std::set<std::uint64_t> borders_;
  std::uint64_t size_bytes_ = 0, end_ = 0;
  /// Blocks before this position may have the contents of other blocks because of a move, so each
  /// of them is judged separately.
  std::uint64_t moving_end_ = 0;
  bool one_byte_ = false;
  std::map<Verdict, FaultCount> faults_;
};

/// Compares all bytes of the block. Used only if no operation can have changed the block since its
/// persistence point.
std::optional<BlockFault> BlockJudge::judge_parts(const ContentRun& run, std::uint64_t block,
                                                  const Permitted& permitted) const {
  const auto expected = changed_in_parts(object_, block, terms_.horizon);
  if (!expected) return std::nullopt;
  const auto length = std::min<std::uint64_t>(kStampBytes, size_bytes_ - block * kStampBytes);
  if (shows_bytes(run, block, std::span(*expected).first(length))) return std::nullopt;
  return BlockFault{Verdict::wrong_data, Tier::integrity, describe(object_, block, permitted),
                    "different bytes in part of the block"};
}

void BlockJudge::judge_alike(const ContentRun& run, std::uint64_t first, std::uint64_t end) {
  const Permitted permitted = permitted_at(object_, first, terms_, covers_);
  const bool each = run.kind == ContentRun::Kind::foreign || run.kind == ContentRun::Kind::moved;
  for (std::uint64_t block = first; block < end;) {
    const bool alone = each && block - first < kForeignBlocksJudged;
    const std::uint64_t count = alone ? 1 : end - block;
    const bool unreadable = one_byte_ && block + count == end_ && count == 1;
    auto fault = judge_block(object_, run, block, permitted, terms_);
    if (!fault && permitted.settled && !permitted.unit_in_flight)
      fault = judge_parts(run, block, permitted);
    if (fault && !unreadable)
      faults_.try_emplace(fault->kind, FaultCount{*fault, block}).first->second.blocks += count;
    block += count;
  }
}

std::vector<Finding> judge_content_by(const ObjectHistory& object, const ObservedObject& observed,
                                      const ContentTerms& terms, Covers covers) {
  std::vector<Finding> findings;
  if (observed.error != 0) {
    const bool promised =
        std::any_of(object.data_covers.begin(), object.data_covers.end(),
                    [&](const auto& cover) { return counts(cover, terms.horizon, covers); });
    findings.push_back({promised ? Verdict::lost_synced_data : Verdict::wrong_data, Tier::posix,
                        observed.path, words({.kind = Expectation::Kind::readable_content}),
                        "read error: " + base::errno_text(observed.error)});
    return findings;
  }
  if (auto size = judge_size(object, observed, terms, covers)) findings.push_back(std::move(*size));
  BlockJudge judge(object, observed, terms, covers);
  /// End of the sequence of blocks that begins at block 0 and has no gaps in `observed`.
  std::uint64_t described_end = 0;
  for (const ContentRun& run : observed.runs) {
    judge.judge(run);
    if (run.first_block == described_end) described_end += run.blocks;
  }
  if (described_end < judge.end() && !observed.cut) {
    findings.push_back({Verdict::wrong_data, Tier::integrity, observed.path,
                        fmt::format("{} blocks of 512 bytes, according to its size", judge.end()),
                        fmt::format("reading ends at block {}", described_end)});
  }
  for (const auto& [kind, count] : judge.faults()) {
    findings.push_back({kind, count.fault.tier, observed.path,
                        words_in_block(count.fault.expected, count.first_block),
                        fmt::format("{} ({} block{} of 512 bytes)", count.fault.found, count.blocks,
                                    count.blocks == 1 ? "" : "s")});
  }
  return findings;
}

std::vector<Finding> judge_attributes_by(const ObjectHistory& object,
                                         const ObservedObject& observed, const Horizon& horizon,
                                         Covers covers) {
  std::optional<std::size_t> cover;
  for (const Cover& each : object.attribute_covers) {
    if (counts(each, horizon, covers)) cover = each.operation;
  }
  std::vector<Finding> findings;
  const auto value_of = [](const std::optional<std::string>& value) {
    return value ? fmt::format("\"{}\"", base::printable(*value, kValueShownBytes)) : "none";
  };
  for (const auto& [name, states] : object.attributes) {
    std::vector<std::optional<std::string>> permitted{std::nullopt};
    bool was_there = false;
    const auto at = observed.attributes.find(name);
    const auto shown = at == observed.attributes.end() ? std::nullopt : std::optional(at->second);
    if (!shown && observed.attributes_cut) continue;  // the dump may have omitted this attribute
    for (const auto& [operation, value] : states) {
      if (!horizon.may_have_run(operation)) break;
      if (cover && operation <= *cover) permitted.clear();
      permitted.push_back(value ? std::optional(workload::reported_attribute_value(*value))
                                : std::nullopt);
      was_there |= shown && permitted.back() == shown;
    }
    if (std::find(permitted.begin(), permitted.end(), shown) != permitted.end()) continue;
    const Verdict kind = !permitted[0] && was_there ? Verdict::resurrected
                         : shown && !was_there      ? Verdict::wrong_data
                                                    : Verdict::lost_synced_data;
    findings.push_back({kind, Tier::posix, observed.path,
                        fmt::format("attribute {}: {}", name, value_of(permitted[0])),
                        value_of(shown)});
  }
  for (const auto& [name, value] : observed.attributes) {
    // The kernel may set some attributes by itself. Older kernels may also keep attributes that
    // newer kernels remove.
    if (object.attributes.contains(name) || workload::is_kernels_attribute(name)) continue;
    findings.push_back({Verdict::wrong_data, Tier::integrity, observed.path,
                        fmt::format("attribute {}: none", name), value_of(value)});
  }
  return findings;
}

/// Lowers the tier of each POSIX finding whose kind is not in `by_posix`. `by_posix` contains the
/// findings of a judgement with Covers::posix, which uses only the persistence points that POSIX
/// promises.
std::vector<Finding> tiered(std::vector<Finding> findings, const std::vector<Finding>& by_posix) {
  for (Finding& each : findings) {
    const auto same = [&](const Finding& other) {
      return other.kind == each.kind && other.tier == Tier::posix;
    };
    if (each.tier == Tier::posix && std::none_of(by_posix.begin(), by_posix.end(), same))
      each.tier = Tier::documented;
  }
  return findings;
}

}  // namespace

std::vector<Finding> judge_content(const ObjectHistory& object, const ObservedObject& observed,
                                   const ContentTerms& terms) {
  if (object.unclear) return {};
  std::vector<Finding> findings = judge_content_by(object, observed, terms, Covers::all);
  if (findings.empty()) return findings;
  return tiered(std::move(findings), judge_content_by(object, observed, terms, Covers::posix));
}

std::vector<Finding> judge_attributes(const ObjectHistory& object, const ObservedObject& observed,
                                      const Horizon& horizon) {
  std::vector<Finding> findings = judge_attributes_by(object, observed, horizon, Covers::all);
  if (findings.empty()) return findings;
  return tiered(std::move(findings), judge_attributes_by(object, observed, horizon, Covers::posix));
}

}  // namespace headcrash::oracle
