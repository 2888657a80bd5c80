// Identifies blocks by their stamps and magic numbers (block_kind.h). The magic numbers come from
// the kernel's headers: jbd2.h, ext4_extents.h, xfs_format.h and xfs_da_format.h, btrfs_tree.h,
// f2fs_fs.h, nilfs2_ondisk.h, jfs_superblock.h, reiserfs.h.
//
// Metadata is examined in pieces of one block, or of 4 KiB if the block size is unknown. A
// structure that begins inside a piece is not recognised.
#include "harness/explorer/explain/block_kind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "harness/explorer/explain/byte_order.h"
#include "harness/explorer/explain/ext_history.h"
#include "harness/workload/stamp.h"
#include "plugin/base/zeroes.h"

namespace headcrash::explorer {
namespace {

using report::BlockClass;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kBtrfsSectorBytes = 4096;
constexpr std::size_t kPartsShown = 6;

/// A magic number at an offset in a block. If `lba` is set, the magic number counts only in the
/// block at this address.
struct Magic {
  std::string_view type;
  std::size_t offset;
  std::string_view bytes;
  std::string_view what;
  std::optional<std::uint64_t> lba;
  BlockClass block;
};
using namespace std::string_view_literals;
constexpr Magic kMagics[] = {
    {"ext", 1080, "\x53\xef"sv, "superblock", 0, BlockClass::superblock},
    {"ext", 56, "\x53\xef"sv, "superblock", 2, BlockClass::superblock},
    {"ext", 0, "\x0a\xf3"sv, "extent tree block", {}, BlockClass::metadata},
    {"xfs", 0, "XFSB"sv, "superblock", {}, BlockClass::superblock},
    {"xfs", 0, "XAGF"sv, "free space header (AGF)", {}, BlockClass::bitmap},
    {"xfs", 0, "XAGI"sv, "inode header (AGI)", {}, BlockClass::bitmap},
    {"xfs", 0, "XAFL"sv, "free list (AGFL)", {}, BlockClass::bitmap},
    {"xfs", 0, "AB3B"sv, "free space B-tree by block", {}, BlockClass::bitmap},
    {"xfs", 0, "AB3C"sv, "free space B-tree by size", {}, BlockClass::bitmap},
    {"xfs", 0, "IAB3"sv, "inode B-tree", {}, BlockClass::inode},
    {"xfs", 0, "FIB3"sv, "free inode B-tree", {}, BlockClass::inode},
    {"xfs", 0, "R3FC"sv, "reference count B-tree", {}, BlockClass::metadata},
    {"xfs", 0, "RMB3"sv, "reverse map B-tree", {}, BlockClass::metadata},
    {"xfs", 0, "BMA3"sv, "extent map B-tree", {}, BlockClass::metadata},
    {"xfs", 0, "XDB3"sv, "directory block", {}, BlockClass::directory},
    {"xfs", 0, "XDD3"sv, "directory data block", {}, BlockClass::directory},
    {"xfs", 0, "IN"sv, "inodes", {}, BlockClass::inode},
    {"btrfs", 64, "_BHRfS_M"sv, "superblock", {}, BlockClass::superblock},
    {"f2fs", 1024, "\x10\x20\xf5\xf2"sv, "superblock", {}, BlockClass::superblock},
    {"nilfs2", 1030, "\x34\x34"sv, "superblock", 0, BlockClass::superblock},
    {"nilfs2", 8, "\x11\xfa\xaf\x1e"sv, "segment summary", {}, BlockClass::metadata},
    {"jfs", 0, "JFS1"sv, "superblock", {}, BlockClass::superblock},
    {"reiserfs", 52, "ReIsEr"sv, "superblock", {}, BlockClass::superblock},
};

std::optional<std::string> journal_block(Bytes block) {
  constexpr std::uint64_t kJbd2 = 0xc03b3998;
  if (block.size() < 12 || big(block, 0, 4) != kJbd2) return std::nullopt;
  constexpr std::array<std::string_view, 6> kTypes{
      "", "descriptor block", "commit block", "superblock", "superblock", "revoke block"};
  const std::uint64_t type = big(block, 4, 4);
  if (type == 0 || type >= kTypes.size()) return "journal block of an unknown type";
  if (type == 3 || type == 4) return "journal superblock";
  return fmt::format("journal {} of transaction {}", kTypes.at(type), big(block, 8, 4));
}

std::optional<std::string> xfs_log_record(Bytes block) {
  if (block.size() < 8 || big(block, 0, 4) != 0xfeedbabe) return std::nullopt;
  return fmt::format("log record of cycle {}", big(block, 4, 4));
}

/// Returns the allocation group or the owner of an XFS block, as stated in the block's header. The
/// header must be of format version 5.
std::string xfs_owner(std::string_view type, Bytes block) {
  if (type != "xfs" || block.size() < 64) return {};
  const std::string_view magic(reinterpret_cast<const char*>(block.data()), 4);
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, magic) != names.end();
  };
  constexpr std::size_t kGroupOfHeader = 8, kGroupOfFreeList = 4, kGroupOfTree = 48,
                        kOwnerOfDirectory = 40, kOwnerOfMap = 56;
  if (is({"XAGF", "XAGI"})) return fmt::format(" of group {}", big(block, kGroupOfHeader, 4));
  if (is({"XAFL"})) return fmt::format(" of group {}", big(block, kGroupOfFreeList, 4));
  if (is({"AB3B", "AB3C", "IAB3", "FIB3", "R3FC", "RMB3"}))
    return fmt::format(" of group {}", big(block, kGroupOfTree, 4));
  if (is({"XDB3", "XDD3"})) return fmt::format(" of inode {}", big(block, kOwnerOfDirectory, 8));
  if (is({"BMA3"})) return fmt::format(" of inode {}", big(block, kOwnerOfMap, 8));
  return {};
}

std::string_view type_in_mode(std::uint64_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "file";
    case S_IFDIR:
      return "directory";
    case S_IFLNK:
      return "symlink";
    default:
      return "special file";
  }
}

/// Describes the inodes in a block, for example "inodes 128 to 135; in use: 128 (directory), 131
/// (file)". Requires inodes of version 3, which contain their numbers.
std::optional<std::string> xfs_inodes(Bytes block) {
  constexpr std::size_t kMode = 2, kVersion = 4, kNumber = 152, kSmallest = 512;
  constexpr std::size_t kShown = 4;
  const auto is_inode = [&](std::size_t at) {
    return at + kNumber + 8 <= block.size() && big(block, at, 2) == 0x494e &&
           big(block, at + kVersion, 1) == 3;
  };
  if (!is_inode(0)) return std::nullopt;
  std::size_t size = kSmallest;
  while (size < block.size() && !is_inode(size)) size *= 2;
  std::vector<std::string> used;
  std::size_t count = 0;
  for (; is_inode(count * size); ++count) {
    const std::size_t at = count * size;
    if (const std::uint64_t mode = big(block, at + kMode, 2); mode != 0)
      used.push_back(fmt::format("{} ({})", big(block, at + kNumber, 8), type_in_mode(mode)));
  }
  std::string text = fmt::format("inode {}", big(block, kNumber, 8));
  if (count > 1)
    text = fmt::format("inodes {} to {}", big(block, kNumber, 8),
                       big(block, (count - 1) * size + kNumber, 8));
  if (used.empty()) return text + ", none in use";
  const std::size_t more = used.size() - std::min(used.size(), kShown);
  used.resize(used.size() - more);
  return fmt::format("{}; in use: {}{}", text, fmt::join(used, ", "),
                     more == 0 ? "" : fmt::format(", {} more", more));
}

/// Returns text such as ", inodes 257 to 259" for a leaf of a tree that holds files. Items are
/// sorted by inode, so the first and the last item give the range.
std::string btrfs_inodes(Bytes node, std::uint64_t items) {
  constexpr std::size_t kHeader = 101, kItem = 25;
  constexpr std::uint64_t kFirst = 256;
  if (items == 0 || kHeader + items * kItem > node.size()) return {};
  const std::uint64_t first = little(node, kHeader, 8),
                      last = little(node, kHeader + (items - 1) * kItem, 8);
  if (first < kFirst || last < first) return {};
  return first == last ? fmt::format(", inode {}", first)
                       : fmt::format(", inodes {} to {}", first, last);
}

/// Recognises a btrfs node, which has no magic number but must have a consistent header.
std::optional<std::string> btrfs_node(Bytes block) {
  if (block.size() < 101) return std::nullopt;
  const std::uint64_t at = little(block, 48, 8), generation = little(block, 80, 8),
                      owner = little(block, 88, 8);
  const std::uint64_t items = little(block, 96, 4), level = little(block, 100, 1);
  constexpr std::uint64_t kLogTree = ~std::uint64_t{5};  // BTRFS_TREE_LOG_OBJECTID, -6
  if (at == 0 || at % kBtrfsSectorBytes != 0 || generation == 0 || generation >> 40 != 0 ||
      level > 7 || items > 1000)
    return std::nullopt;
  constexpr std::array<std::string_view, 12> kTrees{
      "",         "root",  "extent", "chunk",      "device",     "file system", "root directory",
      "checksum", "quota", "UUID",   "free space", "block group"};
  std::string tree;
  if (owner > 0 && owner < kTrees.size()) {
    tree = kTrees.at(owner);
  } else if (owner == kLogTree) {
    tree = "log";
  } else {
    return std::nullopt;
  }
  constexpr std::uint64_t kFileSystemTree = 5;
  const bool of_files = owner == kFileSystemTree || owner == kLogTree;
  return fmt::format("node of the {} tree, level {}, generation {}{}", tree, level, generation,
                     of_files && level == 0 ? btrfs_inodes(block, items) : "");
}

/// Joins the descriptions of adjacent blocks. If a description is repeated, it is shown once, with
/// the number of repetitions.
class Descriptions {
 public:
  void add(const std::string& what) {
    if (!parts_.empty() && parts_.back().first == what) {
      ++parts_.back().second;
    } else {
      parts_.emplace_back(what, 1);
    }
  }
  std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < parts_.size() && i < kPartsShown; ++i) {
      const auto& [what, count] = parts_[i];
      text += (i == 0 ? "" : "; ") + (count == 1 ? what : fmt::format("{} x {}", count, what));
    }
    if (parts_.size() > kPartsShown) text += fmt::format("; {} more", parts_.size() - kPartsShown);
    return text;
  }

 private:
  std::vector<std::pair<std::string, std::size_t>> parts_;
};

/// Returns the number of adjacent sectors, from `sector` on, that hold consecutive blocks of the
/// same version of one file. Returns 0 if there is no stamp.
std::size_t stamped_run(Bytes data, std::size_t sector, std::string* what) {
  std::optional<workload::Stamp> first;
  std::size_t count = 0;
  for (; (sector + count) * workload::kStampBytes < data.size(); ++count) {
    const std::size_t at = (sector + count) * workload::kStampBytes;
    const auto content =
        workload::read_stamp(data.subspan(at, std::min(workload::kStampBytes, data.size() - at)));
    const auto* stamp = std::get_if<workload::Stamp>(&content);
    if (stamp == nullptr) break;
    if (!first) first = *stamp;
    if (*stamp != workload::Stamp{first->file, first->version, first->block + count}) break;
  }
  if (count == 1)
    *what = fmt::format("file {}: version {}, block {}", first->file, first->version, first->block);
  if (count > 1) {
    *what = fmt::format("file {}: version {}, blocks {} to {}", first->file, first->version,
                        first->block, first->block + count - 1);
  }
  return count;
}

}  // namespace

std::optional<BlockKind> known_block(std::string_view type, std::uint64_t lba, Bytes block,
                                     const KnownDisk& disk) {
  if (disk.history != nullptr) {
    if (auto kind = disk.history->kind_of(disk.request, lba)) return kind;
  }
  for (const Magic& magic : kMagics) {
    if (!type.starts_with(magic.type) || magic.offset + magic.bytes.size() > block.size()) continue;
    if (magic.lba && *magic.lba != lba) continue;
    const auto* at = reinterpret_cast<const char*>(block.data()) + magic.offset;
    if (std::string_view(at, magic.bytes.size()) != magic.bytes) continue;
    // Prefer the map, because it also knows the numbers of the inodes in the block.
    auto placed = disk.map != nullptr && magic.block == BlockClass::inode ? disk.map->at(lba, block)
                                                                          : std::nullopt;
    if (placed) return placed;
    if (auto inodes =
            type == "xfs" && magic.block == BlockClass::inode ? xfs_inodes(block) : std::nullopt)
      return BlockKind{magic.block, *std::move(inodes)};
    return BlockKind{magic.block, std::string(magic.what) + xfs_owner(type, block)};
  }
  std::optional<std::string> journal;
  if (type.starts_with("ext")) journal = journal_block(block);
  if (type == "xfs") journal = xfs_log_record(block);
  if (journal) return BlockKind{BlockClass::journal, std::move(*journal)};
  if (type == "btrfs") {
    if (auto node = btrfs_node(block)) return BlockKind{BlockClass::metadata, std::move(*node)};
  }
  if (disk.map != nullptr) {
    if (auto placed = disk.map->at(lba, block)) return placed;
  }
  const std::string owner = disk.history != nullptr ? disk.history->owner(disk.request, lba) : "";
  return owner.empty() ? std::nullopt
                       : std::optional(BlockKind{BlockClass::data, "data of " + owner});
}

std::string describe_write(std::string_view type, std::uint64_t lba, Bytes data,
                           const KnownDisk& disk) {
  Descriptions parts;
  const std::size_t sectors = (data.size() + workload::kStampBytes - 1) / workload::kStampBytes;
  for (std::size_t sector = 0; sector < sectors;) {
    std::string stamped;
    if (const std::size_t count = stamped_run(data, sector, &stamped); count > 0) {
      const std::string owner =
          disk.history != nullptr ? disk.history->owner(disk.request, lba + sector) : "";
      parts.add(owner.empty() ? stamped : fmt::format("{}, of {}", stamped, owner));
      sector += count;
      continue;
    }
    const std::size_t at = sector * workload::kStampBytes;
    const Bytes piece = data.subspan(at, std::min(disk.piece_bytes(), data.size() - at));
    const auto kind = known_block(type, lba + sector, piece, disk);
    if (base::all_zero(piece)) {
      parts.add(kind ? kind->what + ", zeroes" : "zeroes");
    } else {
      parts.add(kind ? kind->what : "metadata or data of unknown kind");
    }
    sector += (piece.size() + workload::kStampBytes - 1) / workload::kStampBytes;
  }
  return parts.text();
}

}  // namespace headcrash::explorer
