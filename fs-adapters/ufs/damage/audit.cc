// Independent recount (audit.h).
#include "fs-adapters/ufs/damage/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "fs-adapters/ufs/damage/trial_disk.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs::damage {
namespace {

using ufs::FragmentAddress;
using ufs::Inode;
using ufs::InodeNumber;

// Fields of struct cg: its counts, and the positions of its maps.
constexpr std::size_t kSummaryField = 24, kRunsField = 52, kInodeMapField = 92,
                      kFragmentMapField = 96, kInitialisedField = 120;
// Fields of struct fs: the totals, and the copies that other systems use.
constexpr std::size_t kTotalsField = 192, kTotals64Field = 1008;

bool bit(std::span<const std::byte> map, std::uint32_t number) {
  return (std::to_integer<std::uint32_t>(map[number / 8]) >> (number % 8) & 1U) != 0;
}

bool has_pointers(const ufs::Geometry& geometry, const Inode& inode) {
  if (inode.is_symlink()) return inode.size_bytes >= geometry.inline_target_max();
  const std::uint16_t type = inode.mode & ufs::kTypeMask;
  return type != ufs::kTypeCharacter && type != ufs::kTypeBlock;
}

/// Returns true if the slot has never been used. In a table that is zeroed lazily, such slots may
/// have any contents.
bool is_unused(std::span<const std::byte> image, const ufs::Geometry& geometry,
               InodeNumber number) {
  const std::uint64_t header = geometry.byte_of(geometry.header(geometry.group_of_inode(number)));
  if (geometry.features().lazy_inodes &&
      geometry.inode_index_in_group(number) >=
          little_endian::load32(image, header + kInitialisedField))
    return true;
  constexpr std::array<std::byte, ufs::kInodeBytes> kBlank = {};
  const auto place = geometry.place_of(number);
  return std::memcmp(image.data() + geometry.byte_of(place.block) + place.offset, kBlank.data(),
                     kBlank.size()) == 0;
}

}  // namespace

std::string Audit::take(const ufs::ImageReader& reader, FragmentAddress at,
                        std::uint32_t fragments) {
  const ufs::Geometry& geometry = reader.geometry();
  for (FragmentAddress f = at; f < at + fragments; ++f) {
    if (!geometry.is_data(f)) return fmt::format("fragment {} is outside of the data area", f);
    if (taken_[f]) return fmt::format("fragment {} is claimed twice", f);
    taken_[f] = true;
  }
  return {};
}

/// Counts the blocks that are reachable through a pointer in an inode or an indirect block. `level`
/// is 0 if the pointer refers to data.
std::string Audit::count_pointer(const ufs::ImageReader& reader, FragmentAddress at,
                                 std::uint32_t level, std::uint64_t& first_block,
                                 const Inode& inode, std::uint64_t& fragments) {
  const ufs::Geometry& geometry = reader.geometry();
  const std::uint64_t reach = geometry.blocks_below(level);
  if (at == 0) {
    first_block += reach;
    return {};
  }
  const std::uint32_t width = level == 0
                                  ? geometry.fragments_of_block(inode.size_bytes, first_block)
                                  : geometry.fragments_per_block();
  const std::uint64_t blocks = geometry.blocks_of_size(inode.size_bytes);
  if (first_block >= blocks) return fmt::format("fragment {} is beyond the end of the file", at);
  fragments += width;
  if (auto problem = take(reader, at, width); !problem.empty()) return problem;
  if (level == 0) {
    ++first_block;
    return {};
  }
  const auto bytes = image_.subspan(geometry.byte_of(at), geometry.block_bytes());
  std::vector<std::byte> pointers(bytes.begin(), bytes.end());
  if (level == 1 && bmap_.is_of(geometry, first_block)) {
    bmap_.lay_over(geometry, pointers);
    bmap_reached_ = true;
  }
  for (std::uint32_t i = 0; i < geometry.pointers_per_block(); ++i) {
    const FragmentAddress next = little_endian::load32(pointers, std::size_t{i} * 4);
    if (auto problem = count_pointer(reader, next, level - 1, first_block, inode, fragments);
        !problem.empty())
      return problem;
  }
  return {};
}

std::string Audit::count_inode(const ufs::ImageReader& reader, InodeNumber number) {
  const auto read = reader.inode(number);
  if (!read) return read.error().message();
  const Inode& inode = *read;
  inodes_[number] = {.mode = inode.mode, .links = inode.links};
  if (inode.mode == 0) {
    const auto is_zero = [](FragmentAddress at) { return at == 0; };
    if (inode.size_bytes != 0 || !std::ranges::all_of(inode.direct, is_zero) ||
        !std::ranges::all_of(inode.indirect, is_zero))
      return "is not allocated, but has a size or pointers";
    return {};
  }
  const auto extension = reader.extension(number);
  if (!extension) return extension.error().message();
  bmap_ = reader.geometry().features().bmap_cache ? extension->bmap : ufs::BmapCache();
  bmap_reached_ = false;
  if (!bmap_.is_sound(reader.geometry()) || !(bmap_.empty() || inode.is_regular()))
    return "has an invalid bmap cache";
  if (!has_pointers(reader.geometry(), inode)) return {};
  std::uint64_t block = 0, fragments = 0;
  std::string problem;
  for (std::size_t i = 0; i < inode.direct.size() && problem.empty(); ++i)
    problem = count_pointer(reader, inode.direct[i], 0, block, inode, fragments);
  for (std::uint32_t i = 0; i < inode.indirect.size() && problem.empty(); ++i)
    problem = count_pointer(reader, inode.indirect[i], i + 1, block, inode, fragments);
  if (!problem.empty()) return problem;
  if (!bmap_.empty() && !bmap_reached_) return "has a bmap cache whose indirect block is missing";
  const std::uint64_t sectors = fragments * reader.geometry().sectors_per_fragment();
  if (sectors != inode.sectors)
    return fmt::format("has sector count {}, but {} sectors", inode.sectors, sectors);
  return {};
}

/// Counts names, starting at the root. Inodes that are not visited have no name.
std::string Audit::count_names(const ufs::ImageReader& reader) {
  std::vector<InodeNumber> open{ufs::kRootInode};
  inodes_[ufs::kRootInode].names = 1;  // the root's own ".."
  while (!open.empty()) {
    const InodeNumber directory = open.back();
    open.pop_back();
    ++inodes_[directory].names;  // "."
    const auto names = reader.list(directory);
    if (!names) return names.error().message();
    for (const ufs::NamedInode& entry : *names) {
      if (!reader.geometry().is_inode(entry.inode) || inodes_[entry.inode].mode == 0)
        return fmt::format("\"{}\" refers to inode {}, which is not allocated", entry.name,
                           entry.inode);
      Counted& named = inodes_[entry.inode];
      if (ufs::entry_type(named.mode) != entry.type)
        return fmt::format("\"{}\" has a different type from inode {}", entry.name, entry.inode);
      ++named.names;
      if ((named.mode & ufs::kTypeMask) != ufs::kTypeDirectory) continue;
      if (named.names > 1)
        return fmt::format("directory {} has a second name, \"{}\"", entry.inode, entry.name);
      ++inodes_[directory].names;  // the subdirectory's ".."
      open.push_back(entry.inode);
    }
  }
  return {};
}

std::string Audit::compare_links(const ufs::ImageReader& reader) const {
  for (InodeNumber number = ufs::kRootInode; number < reader.geometry().inodes(); ++number) {
    const Counted& inode = inodes_[number];
    if (inode.mode == 0) continue;
    if (inode.names == 0) return fmt::format("inode {} has no name", number);
    if (inode.links != inode.names)
      return fmt::format("inode {} has link count {}, but {} links", number, inode.links,
                         inode.names);
  }
  return {};
}

std::string Audit::compare_group(const ufs::ImageReader& reader, std::uint32_t group) {
  const ufs::Geometry& geometry = reader.geometry();
  const auto header =
      image_.subspan(geometry.byte_of(geometry.header(group)), geometry.block_bytes());
  const auto inode_map = header.subspan(little_endian::load32(header, kInodeMapField));
  const auto fragment_map = header.subspan(little_endian::load32(header, kFragmentMapField));
  ufs::Summary counted;
  for (std::uint32_t i = 0; i < geometry.inodes_per_group(); ++i) {
    const InodeNumber number = group * geometry.inodes_per_group() + i;
    const bool used = !geometry.is_inode(number) || inodes_[number].mode != 0;
    if (bit(inode_map, i) != used)
      return fmt::format("inode {} is {} in the map", number, used ? "free" : "used");
    counted.free_inodes += used ? 0 : 1;
    if (used && (inodes_[number].mode & ufs::kTypeMask) == ufs::kTypeDirectory)
      ++counted.directories;
  }
  const std::uint32_t width = geometry.fragments_per_block();
  // Element n is the number of runs of n free fragments, not counting whole free blocks.
  std::array<std::uint32_t, 9> runs = {};
  for (std::uint32_t f = 0; f < geometry.group_fragments(group); f += width) {
    std::uint32_t free = 0, run = 0;
    for (std::uint32_t i = f; i < f + width; ++i) {
      const FragmentAddress at = geometry.group_base(group) + i;
      const bool is_free = geometry.is_data(at) && !taken_[at];
      if (bit(fragment_map, i) != is_free)
        return fmt::format("fragment {} is {} in the map", at, is_free ? "used" : "free");
      free += is_free ? 1 : 0;
      if (is_free) ++run;
      if (run > 0 && (!is_free || i + 1 == f + width)) ++runs.at(std::exchange(run, 0));
    }
    if (free == width) {
      ++counted.free_blocks;
    } else {
      counted.free_fragments += free;
    }
  }
  for (std::uint32_t length = 1; length < width; ++length)
    if (little_endian::load32(header, kRunsField + 4 * std::size_t{length}) != runs.at(length))
      return fmt::format("it has {} runs of {} free fragments, but claims a different number",
                         runs.at(length), length);
  if (ufs::decode_summary(header.subspan(kSummaryField)) != counted)
    return "its counts do not match its maps";
  const auto summaries = image_.subspan(geometry.byte_of(reader.superblock().summary_address));
  if (ufs::decode_summary(summaries.subspan(std::size_t{group} * ufs::kSummaryBytes)) != counted)
    return "its summary does not match its maps";
  total_.directories += counted.directories;
  total_.free_blocks += counted.free_blocks;
  total_.free_inodes += counted.free_inodes;
  total_.free_fragments += counted.free_fragments;
  return {};
}

std::string Audit::contradiction_in(std::span<const std::byte> image) {
  return contradiction_in(image, Names::all);
}

std::string Audit::contradiction_in_counts(std::span<const std::byte> image) {
  return contradiction_in(image, Names::not_all);
}

std::string Audit::contradiction_in(std::span<const std::byte> image, Names names) {
  image_ = image;
  const ImageBytes store(image);
  const auto reader = ufs::ImageReader::open(store);
  if (!reader) return reader.error().message();
  const ufs::Geometry& geometry = reader->geometry();
  const ufs::Superblock& superblock = reader->superblock();
  taken_.assign(geometry.size_fragments(), false);
  inodes_.assign(geometry.inodes(), {});
  total_ = {};
  files_ = 0;
  const auto in = [](std::string_view what, std::uint32_t number, const std::string& problem) {
    return problem.empty() ? problem : fmt::format("{} {}: {}", what, number, problem);
  };
  const std::uint32_t summary = superblock.summary_bytes / geometry.fragment_bytes();
  if (auto problem = take(*reader, superblock.summary_address, summary); !problem.empty())
    return problem;
  const ufs::Extent journal = superblock.journal_inside();
  if (auto problem = take(*reader, journal.at, journal.fragments); !problem.empty()) return problem;
  for (InodeNumber number = ufs::kRootInode; number < geometry.inodes(); ++number) {
    if (!geometry.is_inode(number) || is_unused(image, geometry, number)) continue;
    if (auto problem = in("inode", number, count_inode(*reader, number)); !problem.empty())
      return problem;
    const std::uint16_t mode = inodes_[number].mode;
    if (mode != 0 && (mode & ufs::kTypeMask) != ufs::kTypeDirectory) ++files_;
  }
  if (names == Names::all) {
    if (auto problem = count_names(*reader); !problem.empty()) return problem;
    if (auto problem = compare_links(*reader); !problem.empty()) return problem;
  }
  for (std::uint32_t group = 0; group < geometry.groups(); ++group)
    if (auto problem = in("group", group, compare_group(*reader, group)); !problem.empty())
      return problem;
  if (superblock.total != total_) return "the superblock's totals do not match the groups";
  const auto bytes = image.subspan(ufs::kSuperblockByte, ufs::kSuperblockBytes);
  for (std::size_t i = 0; i < 4; ++i)
    if (little_endian::load32(bytes, kTotalsField + 4 * i) !=
        little_endian::load64(bytes, kTotals64Field + 8 * i))
      return "the superblock's 64-bit totals, which other systems read, differ from its 32-bit "
             "totals";
  if (names == Names::not_all)
    return superblock.clean ? "the superblock is marked clean" : std::string();
  return superblock.clean ? std::string() : "the superblock is not marked clean";
}

}  // namespace headcrash::ufs::damage
