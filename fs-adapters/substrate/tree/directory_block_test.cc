#include "fs-adapters/substrate/tree/directory_block.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plugin/base/little_endian.h"
#include "plugin/base/random.h"

namespace headcrash::tree {
namespace {

using namespace little_endian;

std::vector<std::byte> chunks(std::uint32_t count) {
  std::vector<std::byte> block(std::size_t{count} * kChunkBytes, std::byte{0xee});
  format_chunks(block);
  return block;
}

std::map<std::string, InodeNumber> names(std::span<const std::byte> block) {
  std::map<std::string, InodeNumber> found;
  DirectoryCursor cursor(block);
  while (const auto entry = cursor.next())
    if (entry->inode != 0) found[std::string(entry->name)] = entry->inode;
  EXPECT_FALSE(cursor.damage());
  return found;
}

TEST(DirectoryBlock, ANewDirectoryContainsDotAndDotDot) {
  auto block = chunks(1);
  format_directory(block, 7, 2);
  EXPECT_EQ(names(block), (std::map<std::string, InodeNumber>{{".", 7}, {"..", 2}}));
  EXPECT_TRUE(is_empty_directory_block(block));
  EXPECT_FALSE(damage_of_chunk(block, 0));
  add_entry(block, "a", 9, 8);
  EXPECT_FALSE(is_empty_directory_block(block));
}

TEST(DirectoryBlock, RemovalExtendsThePrecedingEntry) {
  auto block = chunks(1);
  const auto first = add_entry(block, "first", 5, 8);
  const auto second = add_entry(block, "second", 6, 8);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->offset, entry_bytes(5));
  remove_entry(block, second->offset);
  EXPECT_EQ(entry_at(block, 0)->length, kChunkBytes);
  remove_entry(block, first->offset);
  EXPECT_EQ(entry_at(block, 0)->inode, 0U);
  EXPECT_EQ(names(block).size(), 0U);
  EXPECT_EQ(add_entry(block, "third", 7, 8)->offset, 0U);
}

TEST(DirectoryBlock, CompactsScatteredFreeSpace) {
  auto block = chunks(1);
  std::vector<std::uint32_t> offsets;
  for (int i = 0; i < 42; ++i)
    offsets.push_back(add_entry(block, fmt::format("{:03}", i), 100 + i, 8)->offset);
  EXPECT_FALSE(add_entry(block, "abc", 9, 8))
      << "42 entries of 12 bytes, and 8 bytes that are too few";
  for (const int i : {0, 10, 20, 30}) remove_entry(block, offsets[i]);
  const auto added = add_entry(block, std::string(40, 'n'), 9, 8);
  ASSERT_TRUE(added);
  ASSERT_EQ(added->moved.size(), 38U);
  EXPECT_EQ(added->moved.front(), (MovedEntry{.from = 12, .to = 0}));
  for (const MovedEntry& moved : added->moved)
    EXPECT_EQ(entry_at(block, moved.to)->inode, 100 + moved.from / 12) << moved.from;
  EXPECT_EQ(names(block).size(), 39U);
  EXPECT_EQ(find_entry(block, std::string(40, 'n'))->offset, added->offset);
}

TEST(DirectoryBlock, EntriesDoNotCrossChunkBoundaries) {
  auto block = chunks(2);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(add_entry(block, std::string(200, static_cast<char>('a' + i)), 5, 8));
  EXPECT_EQ(find_entry(block, std::string(200, 'c'))->chunk(), 1U);
  EXPECT_FALSE(previous_entry(block, find_entry(block, std::string(200, 'c'))->offset));
  EXPECT_FALSE(add_entry(block, 0, std::string(200, 'd'), 5, 8))
      << "only the first chunk may be used";
  EXPECT_TRUE(add_entry(block, std::string(200, 'd'), 5, 8));
}

TEST(DirectoryBlock, BehavesLikeAMap) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    auto block = chunks(4);
    std::map<std::string, InodeNumber> expected;
    for (int step = 0; step < 400; ++step) {
      const std::string name(1 + random.below(random.below(4) == 0 ? 100 : 12),
                             static_cast<char>('a' + random.below(26)));
      const auto number = static_cast<InodeNumber>(1 + random.below(1000));
      const auto found = find_entry(block, name);
      ASSERT_EQ(found.has_value(), expected.contains(name)) << "seed " << seed << " step " << step;
      if (!found) {
        if (add_entry(block, name, number, 8)) expected[name] = number;
      } else if (random.below(2) == 0) {
        set_entry_inode(block, found->offset, number);
        expected[name] = number;
      } else {
        remove_entry(block, found->offset);
        expected.erase(name);
      }
      if (step % 8 == 0) {
        ASSERT_EQ(names(block), expected) << "seed " << seed << " step " << step;
      }
    }
    for (std::uint32_t chunk = 0; chunk < 4; ++chunk)
      ASSERT_FALSE(damage_of_chunk(block, chunk)) << "seed " << seed;
  }
}

/// Does the same as search_block(), but computes each part of the result with a different function.
NameSearch searched_slowly(std::span<const std::byte> block, std::string_view name) {
  NameSearch result;
  DirectoryCursor cursor(block);
  while (const auto entry = cursor.next()) {
    ++result.entries;
    if (entry->inode == 0 || entry->name != name) continue;
    result.inode = entry->inode;
    result.offset = entry->offset;
    break;
  }
  const std::size_t chunks_passed =
      result.inode != 0 ? result.offset / kChunkBytes : block.size() / kChunkBytes;
  result.room = chunk_with_room(block.first(chunks_passed * kChunkBytes), name.size()).has_value();
  return result;
}

TEST(DirectoryBlock, SearchBlockMatchesSeparateSearches) {
  int found = 0, missed_with_room = 0, missed_without = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    auto block = chunks(4);
    for (int step = 0; step < 300; ++step) {
      const std::string name(1 + random.below(30), static_cast<char>('a' + random.below(26)));
      if (const auto entry = find_entry(block, name); entry && random.below(3) == 0)
        remove_entry(block, entry->offset);
      else if (!entry)
        add_entry(block, name, static_cast<InodeNumber>(1 + random.below(1000)), 8);
      auto seen = block;
      if (random.below(4) == 0)
        seen[random.below(seen.size())] = static_cast<std::byte>(random.below(256));
      const std::string wanted(1 + random.below(60), static_cast<char>('a' + random.below(26)));
      for (const std::string& asked : {name, wanted}) {
        const NameSearch fast = search_block(seen, asked), slow = searched_slowly(seen, asked);
        ASSERT_EQ(fast.entries, slow.entries) << "seed " << seed << " step " << step;
        ASSERT_EQ(fast.inode, slow.inode) << "seed " << seed << " step " << step;
        ASSERT_EQ(fast.offset, slow.offset) << "seed " << seed << " step " << step;
        ASSERT_EQ(fast.room, slow.room) << "seed " << seed << " step " << step;
        found += fast.inode != 0 ? 1 : 0;
        missed_with_room += fast.inode == 0 && fast.room ? 1 : 0;
        missed_without += fast.inode == 0 && !fast.room ? 1 : 0;
      }
    }
  }
  EXPECT_GT(std::min({found, missed_with_room, missed_without}), 100);
}

TEST(DirectoryBlock, ADamagedChunkIsReadUpToTheDamageAndNeverChanged) {
  auto block = chunks(2);
  add_entry(block, 0, "one", 5, 8), add_entry(block, 0, "two", 6, 8),
      add_entry(block, 1, "three", 7, 8);
  for (const std::uint16_t length : {0, 4, 10, 2000, 65535, 508}) {
    auto damaged = block;
    store16(damaged, 12 + 4, length);
    EXPECT_TRUE(find_entry(damaged, "one"));
    EXPECT_TRUE(find_entry(damaged, "three"));
    EXPECT_TRUE(damage_of_chunk(damaged, 0)) << length;
    EXPECT_FALSE(damage_of_chunk(damaged, 1)) << length;
    EXPECT_EQ(add_entry(damaged, "new", 8, 8)->chunk(), 1U) << length;
    EXPECT_FALSE(is_empty_directory_block(damaged));
  }
  // The damaged length leaves four bytes at the end, too few for another entry. Nothing beyond the
  // block is read.
  auto short_of_four = chunks(1);
  add_entry(short_of_four, 0, "one", 5, 8), add_entry(short_of_four, 0, "two", 6, 8);
  store16(short_of_four, 12 + 4, 496);
  const auto damage = damage_of_chunk(short_of_four, 0);
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->offset, 508U);
  EXPECT_EQ(damage->text, "no room for an entry at byte 508 of its chunk");
  auto slash = block;
  slash[8] = std::byte{'/'};
  EXPECT_EQ(damage_of_chunk(slash, 0)->text, "a name with a slash");
}

}  // namespace
}  // namespace headcrash::tree
