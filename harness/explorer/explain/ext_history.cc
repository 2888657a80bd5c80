// Compares the old and new contents of each written block (ext_history.h). The journal's format is
// described in jbd2.h and in "Journal (jbd2)" of the kernel's documentation.
#include "harness/explorer/explain/ext_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/explorer/explain/byte_order.h"
#include "plugin/model/core/device.h"

namespace headcrash::explorer {
namespace {

using report::BlockClass;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kChangesShown = 4;
constexpr std::size_t kRangesShown = 3;
constexpr std::size_t kNameBytesShown = 40;
// Maximum number of directory blocks that are searched for existing names.
constexpr std::size_t kFolderBlocksMost = 4096;
constexpr int kDepthMost = 5;  // greater than the maximum depth of an extent tree
constexpr int kPathMost = 24;
constexpr std::uint64_t kRoot = 2, kJournalMagic = 0xc03b3998;
// Maximum number of blocks that one request may zero.
constexpr std::uint64_t kZeroedMost = 1 << 16;

/// Formats numbers as "1153" or "1153 to 1160, 2001".
std::string ranges_text(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (++ranges > kRangesShown) return text + ", ...";
    text += (text.empty() ? "" : ", ") +
            (end == i + 1 ? fmt::format("{}", numbers[i])
                          : fmt::format("{} to {}", numbers[i], numbers[end - 1]));
    i = end;
  }
  return text;
}

std::string bits_text(const char* verb, const char* one,
                      const std::vector<std::uint64_t>& numbers) {
  return fmt::format("{} {}{} {} ({})", numbers.size(), one, numbers.size() == 1 ? "" : "s", verb,
                     ranges_text(numbers));
}

std::uint64_t size_of(Bytes inode) {
  return little(inode, 4, 4) | little(inode, 108, 4) << 32;
}

/// Describes the change to an inode. Returns an empty string if nothing but times and checksum
/// changed.
std::string inode_change(Bytes now, Bytes old) {
  const auto links = [](Bytes inode) { return little(inode, 26, 2); };
  const auto used = [&](Bytes inode) { return little(inode, 0, 2) != 0 && links(inode) != 0; };
  if (!used(now)) return used(old) ? "freed" : "unused";
  const std::uint64_t size = size_of(now);
  if (!used(old)) return size == 0 ? "created" : fmt::format("created, {} bytes", size);
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (size_of(old) != size) add(fmt::format("size {} to {}", size_of(old), size));
  if (links(old) != links(now)) add(fmt::format("links {} to {}", links(old), links(now)));
  if (!std::ranges::equal(now.subspan(40, 60), old.subspan(40, 60))) add("blocks");
  if (little(old, 0, 2) != little(now, 0, 2)) add("mode");
  return text.empty() ? "times or attributes" : text;
}

struct Entry {
  std::uint64_t inode = 0;
  std::string name;
  bool operator<(const Entry& other) const {
    return inode != other.inode ? inode < other.inode : name < other.name;
  }
};

std::set<Entry> entries_of(Bytes block) {
  std::set<Entry> entries;
  if (!is_ext_directory(block)) return entries;
  for (std::size_t at = 0; at + 8 <= block.size(); at += little(block, at + 4, 2)) {
    const std::uint64_t inode = little(block, at, 4), length = little(block, at + 6, 1);
    if (inode == 0 || length == 0) continue;
    entries.insert(
        {inode, std::string(reinterpret_cast<const char*>(block.data()) + at + 8, length)});
  }
  return entries;
}

/// Returns the name with unprintable characters replaced and its length limited.
std::string shown(const std::string& name) {
  std::string text;
  for (const char c : name.substr(0, kNameBytesShown))
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return name.size() > kNameBytesShown ? text + "..." : text;
}

}  // namespace

ExtHistory::ExtHistory(ExtLayout layout, ReadSectors before)
    : layout_(std::move(layout)), before_(std::move(before)) {
  for (std::size_t group = 0; group < layout_.groups.size(); ++group) {
    const ExtLayout::Group& each = layout_.groups[group];
    places_.push_back({Place::Kind::block_bitmap, each.block_bitmap, 1, group});
    places_.push_back({Place::Kind::inode_bitmap, each.inode_bitmap, 1, group});
    places_.push_back({Place::Kind::inode_table, each.table, layout_.table_blocks, group});
  }
  std::ranges::sort(places_, {}, &Place::first);
  if (layout_.journal.empty()) return;
  if (const Block super = this->before(Copy::place, layout_.journal.front().first);
      big(super, 0, 4) == kJournalMagic)
    learn_journal(super);
}

std::optional<ExtHistory::Block> ExtHistory::inode_before(std::uint64_t inode) const {
  const std::uint64_t group = (inode - 1) / layout_.inodes_per_group;
  if (inode == 0 || group >= layout_.groups.size()) return std::nullopt;
  return bytes_at(before_,
                  layout_.groups[group].table * layout_.block_bytes +
                      (inode - 1) % layout_.inodes_per_group * layout_.inode_bytes,
                  layout_.inode_bytes);
}

void ExtHistory::folder_blocks(const ExtBlockMap& map, std::vector<std::uint64_t>& blocks,
                               int depth) const {
  for (const ExtExtent& each : map.data)
    for (std::uint64_t i = 0; i < each.blocks && blocks.size() < kFolderBlocksMost; ++i)
      if (each.first + i < layout_.blocks) blocks.push_back(each.first + i);
  for (const ExtBlockMap::Node& node : map.nodes) {
    if (depth >= kDepthMost || blocks.size() >= kFolderBlocksMost || node.block >= layout_.blocks)
      return;
    folder_blocks(block_map_of_node(before(Copy::place, node.block), node), blocks, depth + 1);
  }
}

void ExtHistory::begin() {
  if (std::exchange(begun_, true)) return;
  std::vector<std::uint64_t> folders{kRoot}, blocks;
  std::set<std::uint64_t> seen{kRoot};
  std::size_t read = 0;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const auto folder = inode_before(folders[i]);
    if (!folder) continue;
    claim_inode(0, folders[i], *folder);
    blocks.clear();
    folder_blocks(block_map_of_inode(*folder), blocks, 0);
    for (const std::uint64_t block : blocks) {
      if (++read > kFolderBlocksMost) return;
      for (const Entry& each : entries_of(before(Copy::place, block))) {
        if (each.name == "." || each.name == ".." || !seen.insert(each.inode).second) continue;
        names_[each.inode].push_back({0, folders[i], each.name});
        const auto inode = inode_before(each.inode);
        if (!inode) continue;
        claim_inode(0, each.inode, *inode);
        if (little(*inode, 0, 2) >> 12 == 4) folders.push_back(each.inode);
      }
    }
  }
}

void ExtHistory::will_write(std::uint64_t lba, std::uint64_t sectors) {
  const std::uint64_t per_block = layout_.sectors_per_block();
  for (std::uint64_t block = lba / per_block; block * per_block < lba + sectors; ++block)
    written_.insert(block);
}

ExtHistory::Block ExtHistory::before(Copy copy, std::uint64_t block) const {
  if (const auto found = logged_.find(block); copy == Copy::journal && found != logged_.end())
    return found->second;
  if (const auto found = in_place_.find(block); found != in_place_.end())
    return found->second.empty() ? Block(layout_.block_bytes) : found->second;
  auto read = bytes_at(before_, block * layout_.block_bytes, layout_.block_bytes);
  return read ? std::move(*read) : Block(layout_.block_bytes);
}

void ExtHistory::zero(std::uint64_t lba, std::uint64_t sectors) {
  begin();
  const std::uint64_t per_block = layout_.sectors_per_block(),
                      first = (lba + per_block - 1) / per_block,
                      end = std::min((lba + sectors) / per_block, first + kZeroedMost);
  for (std::uint64_t block = first; block < end; ++block) {
    if (written_.contains(block) || in_place_.contains(block)) in_place_[block] = {};
    logged_.erase(block);
  }
}

void ExtHistory::write(std::size_t request, std::uint64_t lba, Bytes data) {
  begin();
  const std::uint64_t per_block = layout_.sectors_per_block();
  const std::uint64_t skip = (per_block - lba % per_block) % per_block;
  for (std::uint64_t at = skip * model::kSectorBytes; at + layout_.block_bytes <= data.size();
       at += layout_.block_bytes) {
    const std::uint64_t block = (lba + at / model::kSectorBytes) / per_block;
    const Bytes one = data.subspan(at, layout_.block_bytes);
    if (const auto place = place_in_journal(block)) {
      if (auto explanation = in_journal(request, *place, one))
        explanations_[{request, block}] = std::move(*explanation);
      continue;
    }
    if (auto explanation = explain(request, block, one, Copy::place)) {
      explanations_[{request, block}] = std::move(*explanation);
      in_place_[block] = Block(one.begin(), one.end());
    } else {
      remember_pointers(block, one);
    }
  }
}

std::optional<ExtHistory::Explanation> ExtHistory::explain(std::size_t request, std::uint64_t block,
                                                           Bytes data, Copy copy) {
  const auto after = std::ranges::upper_bound(places_, block, {}, &Place::first);
  if (after != places_.begin() && block < std::prev(after)->first + std::prev(after)->blocks) {
    const Place& place = *std::prev(after);
    const Block old = before(copy, block);
    if (place.kind == Place::Kind::inode_table)
      return inodes(request, place, block, data, old, known(copy, block));
    const ExtLayout::Group& group = layout_.groups[place.group];
    const bool unwritten = place.kind == Place::Kind::inode_bitmap ? group.inode_bitmap_unwritten
                                                                   : group.block_bitmap_unwritten;
    if (unwritten && !known(copy, block)) return first_bitmap(place);
    return bitmap(place, data, old);
  }
  const auto node = nodes_.find(block);
  if (node != nodes_.end() || (data.size() > 12 && little(data, 0, 2) == 0xf30a)) {
    Explanation explanation{.what = node != nodes_.end() && node->second.node.level > 0
                                        ? "indirect block"
                                        : "extent tree block"};
    if (node != nodes_.end()) explanation.changes.push_back({node->second.inode, ""});
    claim_node(request, block, data);
    return explanation;
  }
  if (is_ext_directory(data)) return directory(request, block, data, before(copy, block));
  return std::nullopt;
}

bool ExtHistory::known(Copy copy, std::uint64_t block) const {
  return in_place_.contains(block) || (copy == Copy::journal && logged_.contains(block));
}

ExtHistory::Explanation ExtHistory::inodes(std::size_t request, const Place& place,
                                           std::uint64_t block, Bytes data, const Block& old,
                                           bool is_known) {
  Explanation explanation{.what = fmt::format("inode table of group {}", place.group),
                          .block = BlockClass::inode};
  const std::uint64_t first = place.group * layout_.inodes_per_group + 1 +
                              (block - place.first) * layout_.inodes_per_block();
  const Block zeroes(layout_.inode_bytes);
  for (std::uint64_t i = 0; i < layout_.inodes_per_block(); ++i) {
    // mkfs left these inodes uninitialised, so their old bytes may be anything. Compare the new
    // bytes with zeroes instead of the old bytes.
    const std::uint64_t in_group = (block - place.first) * layout_.inodes_per_block() + i;
    const bool blank = !is_known && in_group >= layout_.groups[place.group].inodes_written;
    const Bytes now = data.subspan(i * layout_.inode_bytes, layout_.inode_bytes),
                then = blank ? Bytes(zeroes)
                             : Bytes(old).subspan(i * layout_.inode_bytes, layout_.inode_bytes);
    if (std::ranges::equal(now, then)) continue;
    claim_inode(request, first + i, now);
    const std::string change = inode_change(now, then);
    if (change == "unused") continue;
    explanation.changes.push_back({first + i, change});
  }
  if (explanation.changes.empty())
    explanation.changes.push_back({0, fmt::format("inodes {} to {}, unchanged", first,
                                                  first + layout_.inodes_per_block() - 1)});
  return explanation;
}

/// Describes a bitmap whose earlier contents are unknown. The change is therefore unknown, too.
ExtHistory::Explanation ExtHistory::first_bitmap(const Place& place) {
  return {
      .what = fmt::format("{} bitmap of group {}",
                          place.kind == Place::Kind::inode_bitmap ? "inode" : "block", place.group),
      .block = BlockClass::bitmap,
      .changes = {{0, "the first one"}}};
}

ExtHistory::Explanation ExtHistory::bitmap(const Place& place, Bytes data, const Block& old) const {
  const bool of_inodes = place.kind == Place::Kind::inode_bitmap;
  const char* one = of_inodes ? "inode" : "block";
  Explanation explanation{.what = fmt::format("{} bitmap of group {}", one, place.group),
                          .block = BlockClass::bitmap};
  const std::uint64_t bits = of_inodes ? layout_.inodes_per_group : layout_.blocks_per_group;
  const std::uint64_t first =
      of_inodes ? place.group * bits + 1 : layout_.first_block + place.group * bits;
  std::vector<std::uint64_t> taken, freed;
  for (std::uint64_t bit = 0; bit < std::min<std::uint64_t>(bits, data.size() * 8); ++bit) {
    const std::byte mask = std::byte{1} << static_cast<unsigned>(bit % 8);
    const bool now = (data[bit / 8] & mask) != std::byte{0},
               then = (old[bit / 8] & mask) != std::byte{0};
    if (now && !then) taken.push_back(first + bit);
    if (then && !now) freed.push_back(first + bit);
  }
  if (!taken.empty()) explanation.changes.push_back({0, bits_text("allocated", one, taken)});
  if (!freed.empty()) explanation.changes.push_back({0, bits_text("freed", one, freed)});
  if (explanation.changes.empty()) explanation.changes.push_back({0, "unchanged"});
  return explanation;
}

ExtHistory::Explanation ExtHistory::directory(std::size_t request, std::uint64_t block, Bytes data,
                                              const Block& old) {
  Explanation explanation{.what = "directory", .block = BlockClass::directory};
  const std::set<Entry> now = entries_of(data), then = entries_of(old);
  std::uint64_t parent = 0;
  if (little(data, 6, 1) == 1 && little(data, 8, 1) == '.') {
    parent = little(data, 0, 4);
    if (written_.contains(block)) claims_[block].push_back({request, parent, 0});
  } else if (const auto claim = claim_at(request, block)) {
    parent = claim->inode;
  }
  std::vector<Change> names;
  for (const Entry& each : now) {
    if (each.name == "." || each.name == "..") continue;
    auto& known = names_[each.inode];
    if (known.empty() || known.back().parent != parent || known.back().name != each.name)
      known.push_back({request, parent, each.name});
    if (!then.contains(each))
      names.push_back(
          {0, fmt::format("adds \"{}\" for inode {}", shown(each.name), each.inode), each.inode});
  }
  for (const Entry& each : then) {
    if (!now.contains(each) && each.name != "." && each.name != "..")
      names.push_back({0, fmt::format("removes \"{}\"", shown(each.name)), each.inode});
  }
  if (names.empty()) names.push_back({0, "names unchanged"});
  if (parent != 0) explanation.changes.push_back({parent, ""});
  explanation.changes.insert(explanation.changes.end(), names.begin(), names.end());
  return explanation;
}

std::optional<std::uint64_t> ExtHistory::place_in_journal(std::uint64_t block) const {
  for (const ExtExtent& each : layout_.journal)
    if (block >= each.first && block < each.first + each.blocks)
      return each.logical + block - each.first;
  return std::nullopt;
}

void ExtHistory::learn_journal(Bytes super) {
  constexpr std::uint64_t kWide = 2, kSecondChecksums = 8, kThirdChecksums = 16;
  const std::uint64_t features = big(super, 4, 4) == 4 ? big(super, 40, 4) : 0;
  wide_tags_ = (features & kWide) != 0;
  third_tags_ = (features & kThirdChecksums) != 0;
  checked_tags_ = third_tags_ || (features & kSecondChecksums) != 0;
  tag_bytes_ =
      third_tags_ ? 16 : 8 + ((features & kSecondChecksums) != 0 ? 2 : 0) + (wide_tags_ ? 4 : 0);
}

std::optional<ExtHistory::Explanation> ExtHistory::in_journal(std::size_t request,
                                                              std::uint64_t place, Bytes data) {
  if (big(data, 0, 4) == kJournalMagic) {
    const std::uint64_t type = big(data, 4, 4);
    if (type == 3 || type == 4) learn_journal(data);
    if (type == 1) return descriptor(place, data);
    copies_.erase(place);
    return std::nullopt;  // the block's magic number already describes it
  }
  const auto copy = copies_.find(place);
  if (copy == copies_.end()) return std::nullopt;
  const std::uint64_t block = copy->second;
  copies_.erase(copy);
  auto explanation = explain(request, block, data, Copy::journal);
  if (explanation) {
    logged_[block] = Block(data.begin(), data.end());
    explanation->what = "journal: copy of " + explanation->what;
  } else {
    remember_pointers(block, data);
    const bool descriptors = block >= layout_.descriptors_at &&
                             block < layout_.descriptors_at + layout_.descriptors_blocks;
    explanation = Explanation{
        .what = block == 0 || block == layout_.first_block ? "journal: copy of superblock"
                : descriptors                              ? "journal: copy of group descriptors"
                              : fmt::format("journal: copy of block {}", block)};
    if (const auto claim = claim_at(request, block))
      explanation->changes.push_back({claim->inode, ""});
  }
  explanation->block = BlockClass::journal;
  return explanation;
}

/// Parses a journal descriptor block. Its tags state the original positions of the copies that
/// follow it.
ExtHistory::Explanation ExtHistory::descriptor(std::uint64_t place, Bytes data) {
  constexpr std::uint64_t kSameUuid = 2, kLast = 8;
  constexpr std::size_t kHeader = 12, kUuid = 16;
  const std::uint64_t length = layout_.journal.back().logical + layout_.journal.back().blocks;
  const std::size_t end = data.size() - (checked_tags_ ? 4 : 0);
  std::size_t count = 0;
  for (std::size_t at = kHeader; at + tag_bytes_ <= end;) {
    std::uint64_t block = big(data, at, 4);
    const std::uint64_t flags = third_tags_ ? big(data, at + 4, 4) : big(data, at + 6, 2);
    if (wide_tags_) block |= big(data, at + 8, 4) << 32;
    ++count;
    std::uint64_t copy = place + count;
    // The journal wraps around to position 1, because position 0 is its superblock.
    if (copy >= length) copy = copy - length + 1;
    copies_[copy] = block;
    if ((flags & kLast) != 0) break;
    at += tag_bytes_ + ((flags & kSameUuid) == 0 ? kUuid : 0);
  }
  return {.what = fmt::format("journal descriptor block of transaction {}, {} {}", big(data, 8, 4),
                              count, count == 1 ? "block" : "blocks"),
          .block = BlockClass::journal};
}

void ExtHistory::claim_inode(std::size_t request, std::uint64_t inode, Bytes bytes) {
  std::set<std::uint64_t> own;
  const bool in_use = little(bytes, 0, 2) != 0 && little(bytes, 26, 2) != 0;
  if (in_use) claim(request, inode, block_map_of_inode(bytes), own, 0);
  for (const std::uint64_t block : claimed_[inode]) {
    if (own.contains(block)) continue;
    if (auto& claims = claims_[block]; !claims.empty() && claims.back().inode == inode)
      claims.push_back({request, 0, 0});
    nodes_.erase(block);
  }
  claimed_[inode] = std::move(own);
}

void ExtHistory::claim(std::size_t request, std::uint64_t inode, const ExtBlockMap& map,
                       std::set<std::uint64_t>& own, int depth) {
  for (const ExtExtent& each : map.data) {
    if (each.blocks > layout_.blocks) continue;
    for (auto block = written_.lower_bound(each.first);
         block != written_.end() && *block < each.first + each.blocks; ++block) {
      own.insert(*block);
      auto& claims = claims_[*block];
      if (claims.empty() || claims.back().inode != inode)
        claims.push_back({request, inode, each.logical + *block - each.first});
    }
  }
  for (const ExtBlockMap::Node& node : map.nodes) {
    if (node.block == 0 || node.block >= layout_.blocks || depth >= kDepthMost ||
        !own.insert(node.block).second)
      continue;
    nodes_[node.block] = {inode, node};
    if (auto& claims = claims_[node.block]; claims.empty() || claims.back().inode != inode)
      claims.push_back({request, inode, node.logical, true});
    claim(request, inode, block_map_of_node(node_content(node.block), node), own, depth + 1);
  }
}

void ExtHistory::remember_pointers(std::uint64_t block, Bytes data) {
  bool any = false;
  for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
    const std::uint64_t to = little(data, at, 4);
    if (to >= layout_.blocks) return;
    any = any || to != 0;
  }
  if (any) pointers_[block] = Block(data.begin(), data.end());
}

ExtHistory::Block ExtHistory::node_content(std::uint64_t block) const {
  const auto found = pointers_.find(block);
  return found != pointers_.end() ? found->second : before(Copy::journal, block);
}

void ExtHistory::claim_node(std::size_t request, std::uint64_t block, Bytes data) {
  const auto node = nodes_.find(block);
  if (node == nodes_.end()) return;
  const NodeClaim of = node->second;
  claim(request, of.inode, block_map_of_node(data, of.node), claimed_[of.inode], 1);
}

/// Returns the owner of the block at the time of `request`. If the block did not have an owner yet,
/// returns the next owner, because data is written before the inode that owns it.
std::optional<ExtHistory::Claim> ExtHistory::claim_at(std::size_t request,
                                                      std::uint64_t block) const {
  const auto found = claims_.find(block);
  if (found == claims_.end()) return std::nullopt;
  const auto& claims = found->second;
  const auto after = std::ranges::upper_bound(claims, request, {}, &Claim::request);
  if (after != claims.begin() && std::prev(after)->inode != 0) return *std::prev(after);
  if (after != claims.end() && after->inode != 0) return *after;
  return std::nullopt;
}

std::string ExtHistory::path(std::size_t request, std::uint64_t inode) const {
  std::string text;
  for (int depth = 0; inode != kRoot; ++depth) {
    const auto found = names_.find(inode);
    if (found == names_.end() || depth == kPathMost) return {};
    const auto after = std::ranges::upper_bound(found->second, request, {}, &Name::request);
    const Name& name = after == found->second.begin() ? *after : *std::prev(after);
    text = fmt::format("/{}{}", name.name, text);
    inode = name.parent;
  }
  return text.empty() ? "/" : text;
}

std::string ExtHistory::named(std::size_t request, std::uint64_t inode) const {
  constexpr std::uint64_t kJournal = 8;
  if (inode == kJournal) return "inode 8 (the journal)";
  const std::string where = path(request, inode);
  return where.empty() ? fmt::format("inode {}", inode)
                       : fmt::format("inode {}, {}", inode, shown(where));
}

std::optional<BlockKind> ExtHistory::kind_of(std::size_t request, std::uint64_t lba) const {
  const std::uint64_t block = lba / layout_.sectors_per_block();
  const auto found = explanations_.find({request, block});
  if (found == explanations_.end()) {
    const auto claim = claim_at(request, block);
    if (!claim || !claim->of_map) return std::nullopt;
    return BlockKind{BlockClass::metadata, "block map of " + named(request, claim->inode)};
  }
  const Explanation& explanation = found->second;
  std::string text = explanation.what;
  for (std::size_t i = 0; i < explanation.changes.size() && i < kChangesShown; ++i) {
    const Change& change = explanation.changes[i];
    text += i == 0 ? (explanation.block == BlockClass::directory && change.inode != 0 ? ", " : ": ")
                   : ", ";
    if (change.inode != 0) text += named(request, change.inode);
    if (change.inode != 0 && !change.text.empty()) text += " (" + change.text + ")";
    if (change.inode == 0) text += change.text;
  }
  if (explanation.changes.size() > kChangesShown)
    text += fmt::format(" and {} more", explanation.changes.size() - kChangesShown);
  return BlockKind{explanation.block, std::move(text)};
}

std::string ExtHistory::owner(std::size_t request, std::uint64_t lba) const {
  const auto claim = claim_at(request, lba / layout_.sectors_per_block());
  return claim ? named(request, claim->inode) : std::string();
}

std::vector<std::string> ExtHistory::files(std::size_t request, std::uint64_t lba,
                                           std::uint64_t sectors) const {
  std::vector<std::string> files;
  const auto add = [&](std::uint64_t inode) {
    const std::string where = path(request, inode);
    if (where.size() > 1 && std::ranges::find(files, where.substr(1)) == files.end())
      files.push_back(where.substr(1));
  };
  for (auto explanation = explanations_.lower_bound({request, 0});
       explanation != explanations_.end() && explanation->first.first == request; ++explanation) {
    for (const Change& change : explanation->second.changes) {
      if (change.inode != 0) add(change.inode);
      if (change.about != 0) add(change.about);
    }
  }
  const std::uint64_t per_block = layout_.sectors_per_block();
  for (std::uint64_t block = lba / per_block; block * per_block < lba + sectors; ++block)
    if (const auto claim = claim_at(request, block)) add(claim->inode);
  return files;
}

}  // namespace headcrash::explorer
