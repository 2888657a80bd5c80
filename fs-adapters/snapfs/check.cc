#include "fs-adapters/snapfs/check.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "fs-adapters/snapfs/image_reader.h"
#include "plugin/base/names.h"

namespace headcrash::snapfs {
namespace {

enum class Scope : std::uint8_t { newest, snapshot };

class Checker {
 public:
  /// `table` is the address of the snapshot table in the generation to be checked; 0 if the
  /// generation has no such table. `kept` has a bit for each block; the bit is set if a snapshot
  /// contains the block.
  Checker(const ImageReader& reader, Scope scope, BlockAddress table, const std::vector<bool>& kept,
          std::size_t findings_max)
      : r_(reader),
        s_(reader.superblock()),
        scope_(scope),
        table_(table),
        kept_(kept),
        findings_max_(findings_max),
        used_(s_.blocks),
        marked_(s_.blocks),
        inodes_marked_(s_.inodes) {
    report_.superblock = s_;
    report_.logged = r_.logged().records;
  }

  CheckReport run() {
    for (BlockAddress address = 0; address < s_.first_block(); ++address) used_[address] = true;
    if (table_ != 0) (void)own(table_, 0, "the table of snapshots");
    check_map(s_.block_map, s_.block_tree(), marked_);
    check_map(s_.inode_map, s_.inode_tree(), inodes_marked_);
    for (const auto& [address, in_use] : r_.logged().blocks) marked_[address] = in_use;
    for (const auto& [number, in_use] : r_.logged().numbers) inodes_marked_[number] = in_use;
    check_records();
    check_logged_inodes();
    check_names();
    check_links();
    check_marks();
    return std::move(report_);
  }
  /// Returns the blocks that the generation's map marks as used.
  const std::vector<bool>& marked() const { return marked_; }

 private:
  void find(FindingKind kind, std::string text, InodeNumber inode = 0, BlockAddress block = 0) {
    if (report_.findings.size() < findings_max_)
      report_.findings.push_back({kind, inode, block, std::move(text)});
    else
      ++report_.more_findings;
  }

  /// Records that `inode` owns the block. Returns false if the block already has an owner.
  bool own(BlockAddress address, InodeNumber inode, std::string_view what) {
    if (used_[address]) {
      find(FindingKind::doubly_used, fmt::format("block {}: also claimed by {}", address, what),
           inode, address);
      return false;
    }
    used_[address] = true;
    return true;
  }

  void check_map(BlockAddress root, const TreeShape& shape, std::vector<bool>& marked) {
    const auto done = r_.each_tree_block(
        root, shape,
        [&](BlockAddress at, const std::uint32_t* leaf, std::span<const std::byte> bytes) {
          if (!own(at, 0, "a map")) return false;
          if (leaf == nullptr) return true;
          const std::uint64_t first = std::uint64_t{*leaf} * s_.bits_per_block();
          for (std::size_t i = 0; i < bytes.size(); ++i) {
            if (bytes[i] == std::byte{0}) continue;
            for (std::size_t bit = 0; bit < 8; ++bit) {
              if ((bytes[i] & (std::byte{1} << bit)) == std::byte{0}) continue;
              if (first + i * 8 + bit < marked.size())
                marked[first + i * 8 + bit] = true;
              else
                find(FindingKind::tree, "a map has a bit set beyond the end of the map", 0, at);
            }
          }
          return true;
        });
    if (!done) find(FindingKind::tree, done.error().message());
  }

  void check_records() {
    const auto done = r_.each_tree_block(
        s_.record_map, s_.record_tree(),
        [&](BlockAddress at, const std::uint32_t* leaf, std::span<const std::byte> bytes) {
          if (!own(at, 0, "the record map")) return false;
          if (leaf == nullptr) return true;
          for (std::uint32_t i = 0; i < s_.records_per_block(); ++i)
            check_record(bytes.subspan(std::size_t{i} * kInodeBytes, kInodeBytes),
                         *leaf * s_.records_per_block() + i);
          return true;
        });
    if (!done) find(FindingKind::tree, done.error().message());
  }

  void check_logged_inodes() {
    for (const auto& [number, inode] : r_.logged().inodes)
      if (inode) see(*inode);
  }

  void check_record(std::span<const std::byte> record, InodeNumber number) {
    if (r_.logged().inodes.contains(number)) return;
    const auto inode = decode_inode(record, number, s_);
    if (!inode) return find(FindingKind::inode, inode.error().message(), number);
    if (!*inode) return;
    if (number < kRootInode || number >= s_.inodes)
      return find(FindingKind::inode, fmt::format("inode {} does not exist", number), number);
    see(**inode);
  }

  void see(const Inode& inode) {
    own_blocks(inode);
    ++(inode.is_directory() ? report_.directories : report_.files);
    inodes_.emplace(inode.number, inode);
  }

  void own_blocks(const Inode& inode) {
    std::uint32_t blocks = 0;
    bool sound = true;
    const auto done = r_.each_block(inode, [&](const ImageReader::Block& block) {
      ++blocks;
      sound = own(block.address, inode.number, fmt::format("inode {}", inode.number));
      if (block.level == 0 && block.index * s_.block_bytes >= inode.size_bytes)
        find(FindingKind::pointer,
             fmt::format("inode {}: block {} is beyond the end of the file", inode.number,
                         block.index),
             inode.number, block.address);
      return sound;
    });
    if (!done) return find(FindingKind::pointer, done.error().message(), inode.number);
    if (sound && blocks != inode.blocks)
      find(FindingKind::pointer,
           fmt::format("inode {}: uses {} blocks, but its block count is {}", inode.number, blocks,
                       inode.blocks),
           inode.number);
  }

  void check_names() {
    const auto root = inodes_.find(kRootInode);
    if (root == inodes_.end() || !root->second.is_directory())
      return find(FindingKind::inode, "there is no root directory", kRootInode);
    std::vector<std::pair<InodeNumber, InodeNumber>> to_see{{kRootInode, kRootInode}};
    parents_.emplace(kRootInode, kRootInode);
    while (!to_see.empty()) {
      const auto [number, parent] = to_see.back();
      to_see.pop_back();
      const auto names = r_.entries(inodes_.at(number));
      if (!names) {
        find(FindingKind::name, names.error().message(), number);
        continue;
      }
      check_dots(number, parent, *names);
      for (const NamedInode& one : *names) {
        if (one.name == "." || one.name == "..") continue;
        if (check_name(number, one) && inodes_.at(one.inode).is_directory() &&
            parents_.emplace(one.inode, number).second)
          to_see.emplace_back(one.inode, number);
      }
    }
  }

  void check_dots(InodeNumber number, InodeNumber parent, const std::vector<NamedInode>& names) {
    const bool right = names.size() >= 2 && names[0].name == "." && names[0].inode == number &&
                       names[1].name == ".." && names[1].inode == parent;
    if (!right)
      find(FindingKind::name, fmt::format("directory {}: its \".\" or \"..\" is wrong", number),
           number);
    ++links_[number];
    ++links_[number == kRootInode ? number : parent];
  }

  bool check_name(InodeNumber directory, const NamedInode& one) {
    const auto target = inodes_.find(one.inode);
    if (target == inodes_.end()) {
      find(FindingKind::name,
           fmt::format("directory {}: '{}' refers to inode {}, which does not exist", directory,
                       one.name, one.inode),
           directory);
      return false;
    }
    if (tree::entry_type(target->second.mode) != one.type)
      find(FindingKind::name,
           fmt::format("directory {}: '{}' has the wrong type", directory, one.name), directory);
    if (target->second.is_directory() && parents_.contains(one.inode))
      find(FindingKind::name,
           fmt::format("directory {}: '{}' is the second name of a directory", directory, one.name),
           directory);
    ++links_[one.inode];
    return true;
  }

  void check_links() {
    std::uint32_t unlinked = 0;
    for (const auto& [number, inode] : inodes_) {
      const auto counted = links_.find(number);
      const std::uint32_t links = counted == links_.end() ? 0 : counted->second;
      if (links == 0 && inode.links == 0)
        ++unlinked;  // the inode was unlinked while it was open
      else if (links == 0)
        find(FindingKind::unreachable,
             fmt::format("inode {} has no name, but its link count is {}", number, inode.links),
             number);
      else if (links != inode.links)
        find(FindingKind::links,
             fmt::format("inode {}: has {} links, but its link count is {}", number, links,
                         inode.links),
             number);
    }
    if (unlinked != s_.unlinked)
      find(FindingKind::totals,
           fmt::format("{} inodes without a name, but the superblock claims {}", unlinked,
                       s_.unlinked));
  }

  void check_marks() {
    for (BlockAddress address = 0; address < s_.blocks; ++address) {
      if (!marked_[address] && !kept_[address]) ++report_.free_blocks;
      if (marked_[address] == used_[address]) continue;
      if (used_[address])
        find(FindingKind::marked_free, fmt::format("block {} is in use", address), 0, address);
      else
        find(FindingKind::leaked_block, fmt::format("block {}", address), 0, address);
    }
    for (InodeNumber number = 0; number < s_.inodes; ++number) {
      if (!inodes_marked_[number]) ++report_.free_inodes;
      const bool used = number < kRootInode || inodes_.contains(number);
      if (inodes_marked_[number] == used) continue;
      if (used)
        find(FindingKind::marked_free, fmt::format("inode {} is in use", number), number);
      else
        find(FindingKind::leaked_inode, fmt::format("inode {}", number), number);
    }
    const bool blocks_are_right =
        scope_ == Scope::snapshot || report_.free_blocks == s_.free_blocks;
    if (!blocks_are_right || report_.free_inodes != s_.free_inodes)
      find(FindingKind::totals,
           fmt::format("{} free blocks and {} free inodes, but the superblock claims {} and {}",
                       report_.free_blocks, report_.free_inodes, s_.free_blocks, s_.free_inodes));
  }

  const ImageReader& r_;
  const Superblock& s_;
  Scope scope_;
  BlockAddress table_;
  const std::vector<bool>& kept_;
  std::size_t findings_max_;
  CheckReport report_;
  std::vector<bool> used_, marked_, inodes_marked_;
  std::map<InodeNumber, Inode> inodes_;
  std::map<InodeNumber, InodeNumber> parents_;
  std::unordered_map<InodeNumber, std::uint32_t> links_;
};

}  // namespace

std::string_view name_of(FindingKind kind) {
  static constexpr auto kNames = base::names<FindingKind>(
      {"tree", "inode", "pointer", "doubly-used", "marked-free", "leaked-block", "leaked-inode",
       "name", "links", "unreachable", "totals", "snapshots"});
  return kNames[kind];
}

std::string CheckReport::text() const {
  std::string lines;
  for (const Finding& finding : findings)
    lines += std::string(name_of(finding.kind)) + ": " + finding.text + "\n";
  return lines;
}

Result<CheckReport> check(const model::SectorStore& store, std::size_t findings_max) {
  TRY(const auto reader, ImageReader::open(store));
  const Superblock& s = reader.superblock();
  const auto snapshots = read_snapshots(store, s);
  std::vector<bool> kept(s.blocks);
  const std::vector<bool> none(s.blocks);
  std::vector<Finding> of_snapshots;
  if (!snapshots)
    of_snapshots.push_back({.kind = FindingKind::snapshots, .text = snapshots.error().message()});
  for (std::size_t i = 0; snapshots && i < snapshots->size(); ++i) {
    const SnapshotEntry& snapshot = (*snapshots)[i];
    TRY(const auto its, ImageReader::open_snapshot(store, s, snapshot));
    Checker checker(its, Scope::snapshot, snapshot.table, none, findings_max);
    for (Finding& finding : checker.run().findings) {
      finding.text = "snapshot " + snapshot.name + ": " + finding.text;
      of_snapshots.push_back(std::move(finding));
    }
    for (BlockAddress address = s.first_block(); address < s.blocks; ++address)
      if (checker.marked()[address]) kept[address] = true;
  }
  auto report = Checker(reader, Scope::newest, s.snapshot_table, kept, findings_max).run();
  for (Finding& finding : of_snapshots) report.findings.push_back(std::move(finding));
  return report;
}

}  // namespace headcrash::snapfs
