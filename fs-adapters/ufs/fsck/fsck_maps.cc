// Phase 5 (fsck.h): compares the results of phases 1 to 4 with each group's maps, word by word.
// Then computes the counts from the maps and compares them with those in the group, the summary
// area and the superblock. A group is skipped if an earlier check found it correct with the same
// header and the same results.

#include <fmt/core.h>

#include <bit>
#include <cstring>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/fsck/fsck_state.h"

namespace headcrash::ufs {
namespace {

constexpr std::size_t kGroupsKnownMax = 8192;

/// Returns 64 bits of a map, starting at bit `word` * 64; bits beyond its end are 0.
std::uint64_t word_of(std::span<const std::byte> map, std::size_t word) {
  std::uint64_t bits = 0;
  if (word * 8 < map.size())
    std::memcpy(&bits, map.data() + word * 8, std::min<std::size_t>(8, map.size() - word * 8));
  return bits;
}

/// Calls run(first, length) for each run of set bits.
template <typename Run>
void each_run_of(std::uint64_t bits, Run run) {
  while (bits != 0) {
    const int first = std::countr_zero(bits);
    const int length = std::countr_one(bits >> first);
    run(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(length));
    if (first + length >= 64) return;
    bits &= ~std::uint64_t{0} << (first + length);
  }
}

}  // namespace

void Fsck::State::check_maps() {
  summaries.clear();
  std::vector<std::byte>& header = block;
  header.resize(geometry.block_bytes());
  for (std::uint32_t group = 0; group < geometry.groups() && !stopped(); ++group) {
    const auto contents = contents_of_group(group);
    if (contents) {
      if (const auto in_order = known.groups.find(*contents); in_order != known.groups.end()) {
        summaries.push_back(in_order->second);
        continue;
      }
    }
    if (!read(geometry.header(group), header)) return;
    const std::string problem = CylinderGroup::problem_of(geometry, header, group);
    if (!problem.empty()) {
      const bool fits = CylinderGroup::format(geometry, header, group);
      find(FindingKind::bad_group, 0, geometry.header(group), 0,
           fmt::format("group {}: its header {}; rebuilt", group, problem), fits);
      if (!fits) {
        summaries.push_back({});
        continue;
      }
      // By now, all inodes of the group have been checked, and invalid slots have been cleared.
      CylinderGroup(geometry, header, group).set_initialised_inodes(geometry.inodes_per_group());
      if (repairing()) write(geometry.header(group), header);
    }
    if (!check_group(group, header) || !contents || !problem.empty()) continue;
    if (known.groups.size() >= kGroupsKnownMax) known.groups.clear();
    known.groups.emplace(*contents, summaries.back());
  }
  check_totals();
}

/// Returns a hash of the group's header, claimed fragments and allocated inodes; nullopt if the
/// digests of sectors are unknown.
std::optional<std::uint64_t> Fsck::State::contents_of_group(std::uint32_t number) const {
  if (options.contents.empty()) return {};
  std::uint64_t all = number;
  const auto add = [&all](std::uint64_t word) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
    all = (all ^ word) * kOdd;
    all ^= all >> 32U;
  };
  const std::uint64_t lba = geometry.lba_of(geometry.header(number));
  for (std::uint32_t i = 0; i < geometry.block_bytes() / kSectorBytes; ++i)
    add(options.contents[lba + i]);
  for (std::uint32_t i = 0; i < map.row_words(); ++i) add(map.row(number)[i]);
  const std::uint8_t* const types = type.data() + std::size_t{number} * geometry.inodes_per_group();
  for (std::uint32_t i = 0; i < geometry.inodes_per_group(); i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, types + i, std::min<std::size_t>(8, geometry.inodes_per_group() - i));
    add(eight);
  }
  return all;
}

bool Fsck::State::check_group(std::uint32_t number, std::span<std::byte> header) {
  CylinderGroup group(geometry, header, number);
  bool changed = check_inode_map(group);
  changed |= check_fragment_map(group);
  const Summary before = group.totals();
  const auto runs_before = group.runs();
  group.recount();
  Summary now = group.totals();
  now.directories = 0;
  const InodeNumber first = number * geometry.inodes_per_group();
  const InodeNumber end = first + geometry.inodes_per_group();
  for (const CheckedDirectory& d : directories)
    now.directories += d.inode >= first && d.inode < end && type[d.inode] != 0 ? 1 : 0;
  group.set_totals(now);
  // If a map has changed, the resulting change of its counts is not reported separately.
  if (!changed && (before != now || runs_before != group.runs()))
    find(FindingKind::group_totals, 0, geometry.header(number), 0,
         fmt::format("group {}: its counts do not match its maps", number));
  summaries.push_back(now);
  const bool in_order = !changed && before == now && runs_before == group.runs();
  if (!in_order) write(geometry.header(number), header);
  return in_order;
}

bool Fsck::State::check_inode_map(CylinderGroup& group) {
  const InodeNumber first = group.group() * geometry.inodes_per_group();
  const auto map_bytes = group.inode_map();
  bool changed = false;
  for (std::uint32_t i = 0; i < geometry.inodes_per_group(); i += 64) {
    const std::uint32_t count = std::min<std::uint32_t>(64, geometry.inodes_per_group() - i);
    std::uint64_t right = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (k % 8 == 0 && k + 8 <= count && first + i + k != 0) {
        std::uint64_t eight;
        std::memcpy(&eight, type.data() + first + i + k, sizeof eight);
        if (eight == 0 && !geometry.features().extensions()) {
          k += 7;
          continue;
        }
      }
      const InodeNumber slot = first + i + k;
      right |= std::uint64_t{type[slot] != 0 || !geometry.is_inode(slot)} << k;
    }
    std::uint64_t wrong = right ^ word_of(map_bytes, i / 64);
    if (count < 64) wrong &= (std::uint64_t{1} << count) - 1;
    for (; wrong != 0; wrong &= wrong - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(wrong));
      const bool used = (right >> bit & 1U) != 0;
      const InodeNumber number = first + i + bit;
      find(used ? FindingKind::inode_marked_free : FindingKind::leaked_inode, number, 0, 0,
           fmt::format("inode {}: is {}, but marked {} in the map", number,
                       used ? "allocated" : "free", used ? "free" : "allocated"));
      group.set_inode_used(i + bit, used);
      changed = true;
    }
  }
  return changed;
}

bool Fsck::State::check_fragment_map(CylinderGroup& group) {
  const FragmentAddress base = geometry.group_base(group.group());
  const std::uint64_t* const row = map.row(group.group());
  const auto map_bytes = group.fragment_map();
  bool changed = false;
  for (std::uint32_t word = 0; word < map.row_words(); ++word) {
    const std::uint32_t first = word * 64;
    const std::uint32_t left = first < group.fragments() ? group.fragments() - first : 0;
    const std::uint64_t inside = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    const std::uint64_t free = word_of(map_bytes, word) & inside;
    const std::uint64_t used = row[word] & inside;
    if (free == (~used & inside)) continue;
    const auto report_run = [&](std::uint64_t bits, FindingKind kind, const char* words,
                                bool make_free) {
      each_run_of(bits, [&](std::uint32_t at, std::uint32_t count) {
        find(kind, 0, base + first + at, count,
             fmt::format("fragments {} to {}: {}", base + first + at, base + first + at + count - 1,
                         words));
        for (std::uint32_t f = 0; f < count; ++f)
          group.set_fragment_free(first + at + f, make_free);
        changed = true;
      });
    };
    report_run(free & used, FindingKind::block_marked_free, "in use, but marked free", false);
    report_run(~free & ~used & inside, FindingKind::leaked_blocks, "unused, but not marked free",
               true);
  }
  return changed;
}

void Fsck::State::check_totals() {
  Summary all;
  for (const Summary& s : summaries) {
    all.directories += s.directories, all.free_blocks += s.free_blocks;
    all.free_inodes += s.free_inodes, all.free_fragments += s.free_fragments;
  }
  report.totals = all;
  block.resize((superblock.summary_bytes + geometry.fragment_bytes() - 1) /
               geometry.fragment_bytes() * geometry.fragment_bytes());
  if (stopped() || !read(superblock.summary_address, block)) return;
  bool same = true;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const auto bytes = std::span(block).subspan(i * kSummaryBytes, kSummaryBytes);
    same = same && decode_summary(bytes) == summaries[i];
    encode_summary(summaries[i], bytes);
  }
  if (!same) {
    find(FindingKind::totals, 0, superblock.summary_address, 0, "the groups' summaries are stale");
    write(superblock.summary_address, block);
  }
  if (superblock.total != all)
    find(FindingKind::totals, 0, 0, 0, "the superblock's totals are stale");
  superblock.total = all;
}

}  // namespace headcrash::ufs
