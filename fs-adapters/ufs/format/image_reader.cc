// Reads an image by following its pointers and names (image_reader.h). Nothing is cached between
// calls. An indirect block is read again for each of the blocks to which it points, unless the
// caller uses each_block().

#include "fs-adapters/ufs/format/image_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/ufs/core/cylinder_group.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

constexpr std::uint64_t kTargetBytesMax = 4096;

tl::unexpected<Error> damaged(std::uint64_t number, std::string problem) {
  return fail(fmt::format("inode {}", number), std::move(problem), "run fsck");
}

}  // namespace

Result<ImageReader> ImageReader::open(const model::SectorStore& store) {
  const std::uint64_t device_bytes = store.sectors() * model::kSectorBytes;
  if (device_bytes < kSuperblockByte + kSuperblockBytes)
    return fail("ufs image", "is too small for a superblock", "use a complete image");
  std::vector<std::byte> bytes(kSuperblockBytes);
  TRY(store.read(kSuperblockByte / kSectorBytes, bytes));
  const auto superblock = decode_superblock(bytes, device_bytes);
  if (!superblock)
    return fail("ufs image", superblock.error().problem, "run fsck, which can use a replica");
  return ImageReader(store, *superblock);
}

Result<void> ImageReader::read_fragments(FragmentAddress at, std::span<std::byte> into) const {
  return store_->read(geometry_.lba_of(at), into);
}

/// Returns the number of initialised inodes in a group. Slots after them have arbitrary contents.
Result<std::uint32_t> ImageReader::initialised_inodes(std::uint32_t group) const {
  if (!geometry_.features().lazy_inodes) return geometry_.inodes_per_group();
  std::vector<std::byte> header(geometry_.block_bytes());
  TRY(read_fragments(geometry_.header(group), header));
  if (std::string problem = CylinderGroup::problem_of(geometry_, header, group); !problem.empty())
    return fail(fmt::format("group {}", group), "its header " + problem, "run fsck");
  return CylinderGroup(geometry_, header, group).initialised_inodes();
}

Result<Inode> ImageReader::inode(InodeNumber number) const {
  if (!geometry_.is_inode(number)) return damaged(number, "invalid inode number");
  TRY(const auto initialised, initialised_inodes(geometry_.group_of_inode(number)));
  if (geometry_.inode_index_in_group(number) >= initialised) return Inode();
  TRY(const auto bytes, slot(number));
  return decode_inode(bytes);
}

Result<std::array<std::byte, kInodeBytes>> ImageReader::slot(InodeNumber number) const {
  const InodePlace place = geometry_.place_of(number);
  std::array<std::byte, kSectorBytes> sector;
  const std::uint64_t byte = geometry_.byte_of(place.block) + place.offset;
  TRY(store_->read(byte / kSectorBytes, sector));
  std::array<std::byte, kInodeBytes> bytes;
  std::memcpy(bytes.data(), sector.data() + byte % kSectorBytes, kInodeBytes);
  return bytes;
}

Result<InodeExtension> ImageReader::extension(InodeNumber number) const {
  if (!geometry_.features().extensions()) return InodeExtension();
  TRY(const auto found, inode(number));
  if (!found.allocated()) return InodeExtension();
  TRY(const auto bytes, slot(number + 1));
  return decode_extension(bytes);
}

Result<ImageReader::Mapped> ImageReader::mapped(InodeNumber number) const {
  TRY(const auto found, inode(number));
  if (!geometry_.features().bmap_cache || !found.is_regular()) return Mapped{.inode = found};
  TRY(const auto beside, extension(number));
  if (!beside.bmap.is_sound(geometry_)) return damaged(number, "has an invalid bmap cache");
  return Mapped{.inode = found, .bmap = beside.bmap};
}

Result<FragmentAddress> ImageReader::address_of(const Mapped& mapped, std::uint64_t block) const {
  const auto& [inode, bmap] = mapped;
  if (block >= geometry_.file_blocks_max()) return fail({}, "is larger than the maximum file size");
  const BlockPath path = geometry_.path_of(block);
  FragmentAddress at =
      path.levels == 0 ? inode.direct[path.index[0]] : inode.indirect[path.levels - 1];
  const auto good = [&](std::uint32_t fragments) {
    return at == 0 ||
           (geometry_.is_data(at) && geometry_.is_data(at + fragments - 1) && at + fragments > at);
  };
  std::array<std::byte, kSectorBytes> sector;
  const bool cached = bmap.covers(block);
  const bool alone =
      bmap.alone() && path.levels > 0 && bmap.is_of(geometry_, geometry_.first_of_indirect(block));
  if (cached || alone) at = cached ? bmap.at(block) : 0;
  for (std::uint32_t level = 0; level < path.levels && at != 0 && !cached; ++level) {
    if (!good(geometry_.fragments_per_block())) break;
    const std::uint64_t byte = geometry_.byte_of(at) + std::uint64_t{path.index[level]} * 4;
    TRY(store_->read(byte / kSectorBytes, sector));
    at = load32(sector, byte % kSectorBytes);
  }
  if (!good(geometry_.fragments_of_block(inode.size_bytes, block)))
    return fail({}, fmt::format("block {} is at fragment {}, outside of the data area", block, at));
  return at;
}

Result<std::size_t> ImageReader::read_inode(const Mapped& mapped, std::uint64_t offset,
                                            std::span<std::byte> into) const {
  const Inode& inode = mapped.inode;
  if (offset >= inode.size_bytes) return std::size_t{0};
  const auto length =
      static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), inode.size_bytes - offset));
  std::vector<std::byte> block;
  for (std::size_t done = 0; done < length;) {
    const std::uint64_t at = offset + done;
    const std::uint64_t number = geometry_.block_of(at);
    const std::uint32_t within = geometry_.offset_in_block(at);
    const std::size_t count =
        std::min<std::size_t>(length - done, geometry_.block_bytes() - within);
    TRY(const auto address, address_of(mapped, number));
    if (address == 0) {
      std::fill_n(into.begin() + static_cast<std::ptrdiff_t>(done), count, std::byte{0});
    } else {
      block.resize(std::size_t{geometry_.fragments_of_block(inode.size_bytes, number)} *
                   geometry_.fragment_bytes());
      TRY(read_fragments(address, block));
      std::memcpy(into.data() + done, block.data() + within, count);
    }
    done += count;
  }
  return length;
}

Result<std::size_t> ImageReader::read(InodeNumber number, std::uint64_t offset,
                                      std::span<std::byte> into) const {
  TRY(const auto found, mapped(number));
  if (!found.inode.is_regular()) return damaged(number, "is not a regular file");
  const auto count = read_inode(found, offset, into);
  if (!count) return damaged(number, count.error().problem);
  return *count;
}

Result<std::string> ImageReader::readlink(InodeNumber number) const {
  TRY(const auto found, inode(number));
  if (!found.is_symlink()) return damaged(number, "is not a symbolic link");
  if (pointers_are_text(found, geometry_.inline_target_max())) return inline_target(found);
  if (found.size_bytes > kTargetBytesMax) return damaged(number, "has a target that is too long");
  std::string target(found.size_bytes, '\0');
  const auto count = read_inode({.inode = found}, 0, std::as_writable_bytes(std::span(target)));
  if (!count) return damaged(number, count.error().problem);
  return target;
}

Result<std::vector<NamedInode>> ImageReader::list(InodeNumber directory) const {
  TRY(const auto found, inode(directory));
  if (!found.is_directory()) return damaged(directory, "is not a directory");
  if (found.size_bytes > geometry_.byte_of(geometry_.size_fragments()))
    return damaged(directory, "is longer than the device");
  const std::uint64_t end = found.size_bytes / tree::kChunkBytes * tree::kChunkBytes;
  std::vector<NamedInode> names;
  std::vector<std::byte> block(geometry_.block_bytes());
  for (std::uint64_t at = 0; at < end; at += block.size()) {
    const auto bytes = std::span(block).first(std::min<std::uint64_t>(block.size(), end - at));
    const auto count = read_inode({.inode = found}, at, bytes);
    if (!count) return damaged(directory, count.error().problem);
    tree::DirectoryCursor cursor(bytes);
    while (const auto entry = cursor.next())
      if (entry->inode != 0 && !entry->is_dot() && !entry->is_dot_dot())
        names.push_back(
            {.name = std::string(entry->name), .inode = entry->inode, .type = entry->type});
    if (cursor.damage())
      return damaged(directory, fmt::format("is invalid at byte {}", at + *cursor.damage()));
    if (names.size() > adapters::kImageNamesMax) return damaged(directory, "has too many names");
  }
  return names;
}

Result<InodeNumber> ImageReader::lookup(std::string_view path) const {
  TRY(const auto found,
      adapters::look_up_in_image(kRootInode, path, [this](std::uint64_t directory) {
        return list(static_cast<InodeNumber>(directory));
      }));
  return static_cast<InodeNumber>(found);
}

Result<std::vector<FragmentAddress>> ImageReader::blocks(InodeNumber number) const {
  TRY(const auto found, mapped(number));
  return blocks(found.inode, geometry_.blocks_of_size(found.inode.size_bytes), found.bmap);
}

Result<std::vector<FragmentAddress>> ImageReader::blocks(const Inode& inode, std::uint64_t most,
                                                         const BmapCache& bmap) const {
  std::vector<FragmentAddress> addresses(
      std::min(geometry_.blocks_of_size(inode.size_bytes), most));
  TRY(each_block({.inode = inode, .bmap = bmap}, addresses.size(),
                 [&](std::uint64_t block, FragmentAddress at) { addresses[block] = at; }));
  return addresses;
}

Result<std::vector<std::byte>> ImageReader::pointers_at(const Mapped& mapped, FragmentAddress at,
                                                        std::uint32_t levels,
                                                        std::uint64_t from) const {
  std::vector<std::byte> pointers(geometry_.block_bytes());
  const bool cached = levels == 1 && mapped.bmap.is_of(geometry_, from);
  if (!cached || !mapped.bmap.alone()) TRY(read_fragments(at, pointers));
  if (cached) mapped.bmap.lay_over(geometry_, pointers);
  return pointers;
}

/// Visits the blocks below a pointer, from block `from` up to but not including `end`.
Result<void> ImageReader::visit_below(const Mapped& mapped, FragmentAddress at,
                                      std::uint32_t levels, std::uint64_t from, std::uint64_t end,
                                      tree::BlockBudget& budget, const VisitBlock& visit) const {
  if (at == 0 || from >= end) return {};
  const std::uint32_t fragments = levels > 0
                                      ? geometry_.fragments_per_block()
                                      : geometry_.fragments_of_block(mapped.inode.size_bytes, from);
  if (!geometry_.is_run(at, fragments))
    return fail({}, fmt::format("block {} is at fragment {}, outside of the data area", from, at));
  if (!budget.take()) return fail({}, "has more blocks than the device");
  if (levels == 0) {
    visit(from, at);
    return {};
  }
  TRY(const auto pointers, pointers_at(mapped, at, levels, from));
  for (std::uint32_t i = 0; i < geometry_.pointers_per_block(); ++i)
    TRY(visit_below(mapped, load32(pointers, std::size_t{i} * 4), levels - 1,
                    from + i * geometry_.blocks_below(levels - 1), end, budget, visit));
  return {};
}

Result<void> ImageReader::each_block(const Mapped& mapped, std::uint64_t end,
                                     const VisitBlock& visit) const {
  if (end > geometry_.file_blocks_max()) return fail({}, "is larger than the maximum file size");
  tree::BlockBudget budget(geometry_.size_fragments());
  for (std::uint32_t block = 0; block < kDirectPointers; ++block)
    TRY(visit_below(mapped, mapped.inode.direct[block], 0, block, end, budget, visit));
  for (std::uint32_t level = 1; level <= kIndirectPointers; ++level)
    TRY(visit_below(mapped, mapped.inode.indirect[level - 1], level,
                    geometry_.blocks_within(level - 1), end, budget, visit));
  return {};
}

Result<std::uint64_t> ImageReader::each_block(InodeNumber number, const VisitBlock& visit) const {
  TRY(const auto found, mapped(number));
  const std::uint64_t count = geometry_.blocks_of_size(found.inode.size_bytes);
  if (auto done = each_block(found, count, visit); !done)
    return damaged(number, done.error().problem);
  return count;
}

Result<void> ImageReader::walk(const std::function<void(const Found&)>& visit) const {
  return adapters::walk_image(
      kRootInode,
      [this](std::uint64_t directory) { return list(static_cast<InodeNumber>(directory)); },
      [&](const std::string& path, const NamedInode& entry) -> Result<bool> {
        TRY(const auto child, inode(entry.inode));
        if (!child.allocated())
          return damaged(entry.inode,
                         fmt::format("is not allocated, but has the name '{}'", entry.name));
        visit({.path = path, .number = entry.inode, .inode = child});
        return child.is_directory();
      },
      damaged);
}

}  // namespace headcrash::ufs
