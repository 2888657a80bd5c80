#pragma once
// Writes files to an image directly, without a cache, for tests of readers and checkers. Allocation
// is first-fit. If the image is full, the test fails.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/geometry.h"
#include "fs-adapters/ufs/format/image_reader.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

class ImageWriter {
 public:
  explicit ImageWriter(model::SectorStore& store) : store_(store) {
    const auto reader = ImageReader::open(store);
    EXPECT_TRUE(reader) << reader.error().message();
    superblock_ = reader->superblock();
    geometry_ = reader->geometry();
  }
  const Geometry& geometry() const { return geometry_; }

  InodeNumber file(InodeNumber parent, std::string_view name, std::string_view content) {
    Inode inode{{.mode = kTypeRegular | 0644, .links = 1}};
    put(inode, content);
    return add(parent, name, inode);
  }
  InodeNumber directory(InodeNumber parent, std::string_view name) {
    Inode inode{{.mode = kTypeDirectory | 0755, .links = 2, .size_bytes = tree::kChunkBytes}};
    const InodeNumber number = take_inode(true);
    std::vector<std::byte> bytes(geometry_.fragment_bytes());
    tree::format_directory(std::span(bytes).first(tree::kChunkBytes), number, parent);
    inode.direct[0] = take_fragments(1);
    inode.sectors = geometry_.sectors_per_fragment();
    write(inode.direct[0], bytes);
    save(number, inode);
    enter(parent, name, number, kTypeDirectory);
    Inode above = load(parent);
    ++above.links;
    save(parent, above);
    return number;
  }
  InodeNumber symlink(InodeNumber parent, std::string_view name, std::string_view target) {
    Inode inode{{.mode = kTypeSymlink | 0777, .links = 1}};
    if (target.size() < geometry_.inline_target_max()) {
      set_inline_target(inode, target);
    } else {
      put(inode, target);
    }
    return add(parent, name, inode);
  }
  void link(InodeNumber parent, std::string_view name, InodeNumber number) {
    Inode inode = load(number);
    ++inode.links;
    save(number, inode);
    enter(parent, name, number, inode.mode);
  }
  /// Creates a file of `size` in which only one block is allocated.
  InodeNumber sparse(InodeNumber parent, std::string_view name, std::uint64_t size,
                     std::uint64_t block, std::string_view content) {
    Inode inode{{.mode = kTypeRegular | 0644, .links = 1, .size_bytes = size}};
    put_block(inode, block, content);
    return add(parent, name, inode);
  }

  Inode load(InodeNumber number) const { return *ImageReader::open(store_)->inode(number); }
  void save(InodeNumber number, const Inode& inode) {
    const InodePlace place = geometry_.place_of(number);
    auto bytes = read(place.block, geometry_.block_bytes());
    encode_inode(inode, std::span(bytes).subspan(place.offset, kInodeBytes));
    write(place.block, bytes);
  }
  void save_extension(InodeNumber number, const InodeExtension& extension) {
    const InodePlace place = geometry_.place_of(number + 1);
    auto bytes = read(place.block, geometry_.block_bytes());
    encode_extension(extension, std::span(bytes).subspan(place.offset, kInodeBytes));
    write(place.block, bytes);
  }
  /// Moves the addresses of a file's last blocks from its single indirect block to its bmap cache.
  BmapCache cache_last_blocks(InodeNumber number, std::uint32_t count) {
    const Inode inode = load(number);
    const std::uint64_t end = geometry_.blocks_of_size(inode.size_bytes);
    const auto at = *ImageReader::open(store_)->blocks(number);
    auto pointers = read(inode.indirect[0], geometry_.block_bytes());
    BmapCache cache(end - count, end - count == kDirectPointers);
    for (std::uint64_t block = end - count; block < end; ++block) {
      cache.set(block, at[block]);
      std::fill_n(pointers.begin() + static_cast<std::ptrdiff_t>((block - kDirectPointers) * 4), 4,
                  std::byte{0x77});
    }
    write(inode.indirect[0], pointers);
    save_extension(number, {.bmap = cache});
    return cache;
  }
  std::vector<std::byte> read(FragmentAddress at, std::size_t size) const {
    std::vector<std::byte> bytes(size);
    EXPECT_TRUE(store_.read(geometry_.lba_of(at), bytes));
    return bytes;
  }
  void write(FragmentAddress at, std::span<const std::byte> bytes) {
    EXPECT_TRUE(store_.write(geometry_.lba_of(at), bytes));
  }
  void enter(InodeNumber parent, std::string_view name, InodeNumber number, std::uint16_t mode) {
    Inode inode = load(parent);
    const auto blocks = ImageReader::open(store_)->blocks(inode, 100);
    for (std::size_t i = 0; i < blocks->size(); ++i) {
      const std::uint64_t left = inode.size_bytes - i * geometry_.block_bytes();
      auto bytes = read((*blocks)[i], std::min<std::uint64_t>(left, geometry_.block_bytes()));
      if (!tree::add_entry(bytes, name, number, entry_type(mode))) continue;
      return write((*blocks)[i], bytes);
    }
    // Extends the directory by a whole block or, if its last block is shorter, extends that block
    // to a whole one.
    std::vector<std::byte> bytes(geometry_.block_bytes());
    tree::format_chunks(bytes);
    const std::uint32_t tail = geometry_.offset_in_block(inode.size_bytes);
    const std::size_t index = tail != 0 ? blocks->size() - 1 : blocks->size();
    if (tail != 0) {
      const auto old = read(blocks->back(), tail);
      std::copy(old.begin(), old.end(), bytes.begin());
      give_back(blocks->back(), geometry_.fragments_of(tail));
      inode.sectors -= geometry_.fragments_of(tail) * geometry_.sectors_per_fragment();
    }
    EXPECT_TRUE(tree::add_entry(bytes, name, number, entry_type(mode)));
    inode.direct[index] = take_fragments(geometry_.fragments_per_block());
    inode.sectors += geometry_.fragments_per_block() * geometry_.sectors_per_fragment();
    inode.size_bytes = (index + 1) * std::uint64_t{geometry_.block_bytes()};
    write(inode.direct[index], bytes);
    save(parent, inode);
  }
  /// Writes the summary area and the superblock's totals.
  void finish() {
    superblock_.total = {};
    std::vector<std::byte> summary(superblock_.summary_bytes);
    for (std::uint32_t group = 0; group < geometry_.groups(); ++group) {
      auto header = read(geometry_.header(group), geometry_.block_bytes());
      const Summary s = CylinderGroup(geometry_, header, group).totals();
      encode_summary(s, std::span(summary).subspan(std::size_t{group} * kSummaryBytes));
      superblock_.total.directories += s.directories,
          superblock_.total.free_blocks += s.free_blocks;
      superblock_.total.free_inodes += s.free_inodes,
          superblock_.total.free_fragments += s.free_fragments;
    }
    write(superblock_.summary_address, summary);
    write_superblock();
  }
  /// Marks the file system as not clean, and makes its totals stale.
  void as_after_a_cut() {
    superblock_.clean = false;
    superblock_.total = {};
    write_superblock();
  }
  /// Calls change(CylinderGroup&). Writes the group if `change` returns true.
  template <typename Change>
  bool in_group(std::uint32_t group, Change change) {
    auto header = read(geometry_.header(group), geometry_.block_bytes());
    CylinderGroup map(geometry_, header, group);
    const bool done = change(map);
    if (done) write(geometry_.header(group), header);
    return done;
  }

 private:
  void write_superblock() {
    std::vector<std::byte> bytes(kSuperblockBytes);
    EXPECT_TRUE(store_.read(kSuperblockByte / kSectorBytes, bytes));
    encode_superblock(superblock_, bytes);
    EXPECT_TRUE(store_.write(kSuperblockByte / kSectorBytes, bytes));
  }
  InodeNumber add(InodeNumber parent, std::string_view name, const Inode& inode) {
    const InodeNumber number = take_inode(false);
    save(number, inode);
    enter(parent, name, number, inode.mode);
    return number;
  }
  InodeNumber take_inode(bool directory) {
    for (std::uint32_t group = 0; group < geometry_.groups(); ++group) {
      std::optional<std::uint32_t> found;
      in_group(group, [&](CylinderGroup& map) {
        found = map.find_inode(0);
        if (found) map.use_inode(*found, directory);
        return found.has_value();
      });
      if (found) return group * geometry_.inodes_per_group() + *found;
    }
    ADD_FAILURE() << "no inode is free";
    return 0;
  }
  FragmentAddress take_fragments(std::uint32_t count) {
    for (std::uint32_t group = 0; group < geometry_.groups(); ++group) {
      std::optional<std::uint32_t> found;
      in_group(group, [&](CylinderGroup& map) {
        if (count < geometry_.fragments_per_block()) found = map.find_fragments(0, count);
        if (!found) found = map.find_block(0);
        if (found) map.use(*found, count);
        return found.has_value();
      });
      if (found) return geometry_.group_base(group) + *found;
    }
    ADD_FAILURE() << "no block is free";
    return 0;
  }
  void give_back(FragmentAddress at, std::uint32_t count) {
    in_group(geometry_.group_of_fragment(at), [&](CylinderGroup& map) {
      map.free(geometry_.index_in_group(at), count);
      return true;
    });
  }
  void put(Inode& inode, std::string_view content) {
    inode.size_bytes = content.size();
    for (std::size_t at = 0; at < content.size(); at += geometry_.block_bytes())
      put_block(inode, at / geometry_.block_bytes(), content.substr(at, geometry_.block_bytes()));
  }
  void put_block(Inode& inode, std::uint64_t block, std::string_view content) {
    const std::uint32_t fragments = geometry_.fragments_of_block(inode.size_bytes, block);
    std::vector<std::byte> bytes(std::size_t{fragments} * geometry_.fragment_bytes());
    std::memcpy(bytes.data(), content.data(), std::min(content.size(), bytes.size()));
    const FragmentAddress at = take_fragments(fragments);
    write(at, bytes);
    inode.sectors += fragments * geometry_.sectors_per_fragment();
    const BlockPath path = geometry_.path_of(block);
    std::uint32_t* const root =
        path.levels == 0 ? &inode.direct[path.index[0]] : &inode.indirect[path.levels - 1];
    if (path.levels == 0) {
      *root = at;
      return;
    }
    if (*root == 0) *root = new_indirect(inode);
    FragmentAddress holder = *root;
    for (std::uint32_t level = 0; level < path.levels; ++level) {
      auto pointers = read(holder, geometry_.block_bytes());
      std::uint32_t next;
      std::memcpy(&next, pointers.data() + 4UL * path.index[level], 4);
      const bool last = level + 1 == path.levels;
      if (next == 0) {
        next = last ? at : new_indirect(inode);
        std::memcpy(pointers.data() + 4UL * path.index[level], &next, 4);
        write(holder, pointers);
      }
      holder = next;
    }
  }
  FragmentAddress new_indirect(Inode& inode) {
    const FragmentAddress at = take_fragments(geometry_.fragments_per_block());
    write(at, std::vector<std::byte>(geometry_.block_bytes()));
    inode.sectors += geometry_.fragments_per_block() * geometry_.sectors_per_fragment();
    return at;
  }

  model::SectorStore& store_;
  Superblock superblock_;
  Geometry geometry_;
};

}  // namespace headcrash::ufs
