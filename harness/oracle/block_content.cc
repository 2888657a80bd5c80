// Computes the contents of blocks after writes, truncations and holes (block_content.h).
#include "harness/oracle/block_content.h"

#include <algorithm>
#include <array>

namespace headcrash::oracle {

using workload::kStampBytes;

namespace {

// Offsets in a stamp (stamp.h). Bytes 0 to 8 are the magic number, whose first byte is zero; bytes
// 8 to 12 are the file number, and bytes 12 to 16 the version.
constexpr std::uint32_t kFileAt = 8, kVersionAt = 12, kBlockAt = 16;

bool leaves_no_trace(const BlockContent& made, const BlockContent& before) {
  if (made.bytes >= kBlockAt) return false;
  if (before.zero) return made.bytes == 1;
  if (before.file != made.file) return made.bytes <= kFileAt;
  const std::uint32_t shown_bits = made.bytes <= kVersionAt ? 0 : (made.bytes - kVersionAt) * 8;
  return ((made.version ^ before.version) & ((1U << shown_bits) - 1)) == 0;
}

BlockHole joined(const BlockHole& one, const BlockHole& other) {
  if (one.end == 0 || other.end == 0) return one.end == 0 ? other : one;
  const bool apart = one.first > other.end || other.first > one.end;
  return {std::min(one.first, other.first), std::max(one.end, other.end),
          one.many || other.many || apart};
}

BlockBytes stamp_of(const BlockContent& held, std::uint64_t block) {
  BlockBytes bytes{};
  if (held.zero) return bytes;
  const auto stamped =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(block) + held.displacement);
  workload::write_stamp({held.file, held.version, stamped}, bytes);
  std::fill(bytes.begin() + held.hole.first,
            bytes.begin() + std::min<std::uint32_t>(held.hole.end, kStampBytes), std::byte{0});
  return bytes;
}

/// Writes part of a stamp over the previous contents of a block. If the previous contents are
/// known, determines whether the block is now a complete stamp.
BlockContent patched(const BlockEvent& event, std::uint64_t block, const BlockContent& before) {
  const BlockHole part = event.hole;
  BlockContent fresh{
      .zero = false, .file = event.file, .version = event.version, .bytes = part.end};
  if (before.zero) {
    fresh.hole = {0, part.first};
    return fresh;
  }
  const BlockBytes written = stamp_of(fresh, block), old = stamp_of(before, block);
  BlockBytes made = old;
  std::copy(written.begin() + part.first, written.begin() + part.end, made.begin() + part.first);
  const bool known = !before.mixed && !before.hole.many && before.bytes >= part.first;
  const bool all_known = known && before.bytes == kStampBytes;
  if (all_known && made == old) return before;
  if ((all_known || (known && part.end == kStampBytes)) && made == written)
    return BlockContent{.zero = false, .file = event.file, .version = event.version};
  BlockContent held = before;
  const BlockHead head = head_of(before, block);
  held.mixed = head;
  for (std::size_t at = part.first; at < std::min<std::size_t>(part.end, head.size()); ++at)
    (*held.mixed)[at] = written.at(at);
  held.hole = {.many = before.hole.many || before.bytes < head.size()};
  held.file = event.file, held.version = event.version;
  held.bytes = std::max(before.bytes, part.end);
  held.displacement = 0;
  return held;
}

}  // namespace

BlockHead head_of(const BlockContent& held, std::uint64_t block) {
  if (held.mixed) return *held.mixed;
  const BlockBytes stamp = stamp_of(held, block);
  BlockHead head;
  std::copy_n(stamp.begin(), head.size(), head.begin());
  return head;
}

BlockContent made_by(const BlockEvent& event, std::uint64_t block, const BlockContent& before) {
  switch (event.kind) {
    case BlockEvent::Kind::zero:
      return {};
    case BlockEvent::Kind::trim: {
      BlockContent held = before;
      held.bytes = std::min(held.bytes, event.bytes);
      if (held.mixed) held.hole.many = true;
      return held;
    }
    case BlockEvent::Kind::hole: {
      BlockContent held = before;
      if (!held.zero) held.hole = joined(before.hole, event.hole);
      if (held.mixed) held.hole.many = true;
      if (held.may_read_as_zeroes() && !held.hole.many) return {};
      return held;
    }
    case BlockEvent::Kind::patch:
      return patched(event, block, before);
    case BlockEvent::Kind::stamp:
      break;
  }
  return {.zero = false,
          .file = event.file,
          .version = event.version,
          .bytes = block + 1 < event.end ? static_cast<std::uint32_t>(kStampBytes) : event.bytes,
          .displacement = event.displacement,
          .hole = event.hole,
          .mixed = event.mixed};
}

BlockContent after(const BlockEvent& event, std::uint64_t block, const BlockContent& before) {
  const BlockContent made = made_by(event, block, before);
  if (event.kind != BlockEvent::Kind::stamp || before.mixed || !leaves_no_trace(made, before))
    return made;
  BlockContent same = before;
  same.bytes = std::max(same.bytes, made.bytes);
  return same;
}

bool apply_exactly(const BlockEvent& event, std::uint64_t block, std::uint32_t file,
                   BlockBytes& bytes) {
  if (event.moved || event.displacement != 0 || event.mixed || event.hole.many) return false;
  std::uint32_t from = event.hole.first, to = event.hole.end;
  switch (event.kind) {
    case BlockEvent::Kind::stamp:
      if (event.file != file || to != 0) return false;
      from = 0;
      to = block + 1 < event.end ? static_cast<std::uint32_t>(kStampBytes) : event.bytes;
      [[fallthrough]];
    case BlockEvent::Kind::patch: {
      BlockBytes stamp;
      workload::write_stamp({event.file, event.version, block}, stamp);
      std::copy(stamp.begin() + from, stamp.begin() + to, bytes.begin() + from);
      return event.file == file;
    }
    case BlockEvent::Kind::zero:
      bytes.fill(std::byte{0});
      return true;
    case BlockEvent::Kind::trim:
      std::fill(bytes.begin() + event.bytes, bytes.end(), std::byte{0});
      return true;
    case BlockEvent::Kind::hole:
      std::fill(bytes.begin() + from, bytes.begin() + to, std::byte{0});
      return true;
  }
  return false;
}

std::set<std::uint64_t> borders(const ObjectHistory& object) {
  std::set<std::uint64_t> borders;
  for (const BlockEvent& event : object.blocks) {
    borders.insert({event.first, event.end});
    if (event.kind == BlockEvent::Kind::stamp) borders.insert(event.end - 1);
  }
  for (const DataCover& cover : object.data_covers) borders.insert({cover.first, cover.end});
  return borders;
}

std::vector<Stretch> content_now(const ObjectHistory& object, std::uint64_t first,
                                 std::uint64_t end) {
  std::vector<Stretch> stretches;
  const std::set<std::uint64_t> all = borders(object);
  while (first < end) {
    const auto border = all.upper_bound(first);
    const std::uint64_t next = border == all.end() ? end : std::min(end, *border);
    BlockContent held;
    for (const BlockEvent& event : object.blocks) {
      if (first >= event.first && first < event.end) held = after(event, first, held);
    }
    stretches.push_back({first, next, held});
    first = next;
  }
  return stretches;
}

}  // namespace headcrash::oracle
