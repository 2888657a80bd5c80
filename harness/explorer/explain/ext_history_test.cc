// Tests the history with real file systems. mke2fs and debugfs create an image, and then debugfs
// changes the image. Each block that differs becomes a write.
#include "harness/explorer/explain/ext_history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "harness/explorer/explain/block_kind.h"
#include "harness/explorer/explain/lost_writes.h"
#include "harness/explorer/testing/recorded_disk.h"
#include "plugin/base/process.h"
#include "plugin/base/random.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::explorer {
namespace {

using namespace std::chrono_literals;
using report::BlockClass;
using ExtBytes = std::vector<std::byte>;

constexpr std::size_t kExtImageBytes = 16 << 20;

ReadSectors sectors_of(const ExtBytes& image) {
  return [&image](std::uint64_t lba, std::span<std::byte> into) -> Result<void> {
    if (lba > image.size() / 512 || lba * 512 + into.size() > image.size())
      return fail("image", "ends before");
    std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(lba * 512), into.size(), into.begin());
    return {};
  };
}

class ExtImage {
 public:
  enum class Disk : std::uint8_t { blank, used };
  explicit ExtImage(const std::vector<std::string>& options, Disk disk = Disk::blank) {
    std::ofstream(path(), std::ios::binary)
        << std::string(disk == Disk::used ? kExtImageBytes : 0, static_cast<char>(0x81));
    std::filesystem::resize_file(path(), kExtImageBytes);
    // Disables the orphan file. By default, e2fsprogs 1.47.2 creates this file, which would occupy
    // inode 12.
    std::vector<std::string> argv{"/sbin/mke2fs", "-q", "-F"};
    if (std::ranges::find(options, "-O") == options.end())
      argv.insert(argv.end(), {"-O", "^orphan_file"});
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back(path());
    run(argv);
    std::ofstream(folder_ / "content", std::ios::binary) << std::string(20'000, 'x');
  }
  /// Applies debugfs commands and returns the changed image. The commands may refer to `content`, a
  /// file of 20 000 bytes.
  ExtBytes after(const std::string& commands) {
    std::ofstream(folder_ / "commands") << commands;
    run({"/bin/sh", "-c",
         "cd " + folder_.path().string() + " && /sbin/debugfs -w -f commands image >out 2>&1"});
    return bytes();
  }
  /// Stores a file for debugfs commands that refer to it.
  void put(const std::string& name, std::span<const std::byte> content) const {
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
  }
  ExtBytes bytes() const {
    ExtBytes image(kExtImageBytes);
    std::ifstream(path(), std::ios::binary)
        .read(reinterpret_cast<char*>(image.data()), static_cast<std::streamsize>(image.size()));
    return image;
  }

 private:
  std::string path() const { return folder_ / "image"; }
  static void run(const std::vector<std::string>& argv) {
    const auto made = base::Process::start({.argv = argv, .errors = STDERR_FILENO});
    ASSERT_TRUE(made) << made.error().message();
    ASSERT_EQ(made->wait(30s), 0);
  }
  TemporaryFolder folder_;
};

/// The blocks in which two images differ. Each block is a separate write. By default, the writes
/// are sorted by position.
class Written {
 public:
  enum class Order : std::uint8_t { as_on_disk, backwards, journal_first };
  Written(const ExtBytes& before, const ExtBytes& after, Order order = Order::as_on_disk)
      : before_(before), after_(after), map_(DiskMap::read("ext4", sectors_of(before))) {
    const std::size_t step = map_.ext()->block_bytes;
    for (std::size_t at = 0; at < before.size(); at += step)
      if (!std::equal(&before[at], &before[at] + step, &after[at])) places_.push_back(at);
    if (order == Order::backwards) std::ranges::reverse(places_);
    if (order == Order::journal_first)
      std::ranges::stable_partition(places_, [&](std::size_t at) {
        return std::ranges::any_of(map_.ext()->journal, [&](const ExtExtent& each) {
          return at / step >= each.first && at / step < each.first + each.blocks;
        });
      });
    history_.emplace(*map_.ext(), sectors_of(before_));
    for (const std::size_t at : places_) history_->will_write(at / 512, step / 512);
    for (std::size_t i = 0; i < places_.size(); ++i) history_->write(i, places_[i] / 512, block(i));
    for (std::size_t i = 0; i < places_.size(); ++i)
      kinds_.push_back(kind_of_write({&map_, &*history_, i}, places_[i] / 512, block(i)));
  }
  std::vector<std::string> that_are(std::string_view what) const {
    std::vector<std::string> found;
    for (const BlockKind& kind : kinds_)
      if (kind.what.starts_with(what)) found.push_back(kind.what);
    return found;
  }
  std::string all() const {
    std::string text;
    for (const BlockKind& kind : kinds_) text += kind.what + "\n";
    return text;
  }
  bool is_about(std::string_view what, const std::string& file) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto files = history_->files(i, places_[i] / 512, block(i).size() / 512);
      if (kinds_[i].what.starts_with(what) && std::ranges::find(files, file) != files.end())
        return true;
    }
    return false;
  }

 private:
  std::span<const std::byte> block(std::size_t i) const {
    return std::span(after_).subspan(places_[i], map_.ext()->block_bytes);
  }
  const ExtBytes& before_;
  const ExtBytes& after_;
  DiskMap map_;
  std::optional<ExtHistory> history_;
  std::vector<std::size_t> places_;
  std::vector<BlockKind> kinds_;
};

using Strings = std::vector<std::string>;

class EveryExt : public testing::TestWithParam<Strings> {};

TEST_P(EveryExt, DescribesInodesBitmapsNamesAndDataOwners) {
  ExtImage image(GetParam());
  image.after("mkdir d\n");
  const ExtBytes before = image.bytes();
  const ExtBytes after = image.after("write content d/foo\n");
  for (const auto order : {Written::Order::as_on_disk, Written::Order::backwards}) {
    const Written written(before, after, order);
    ASSERT_EQ(written.that_are("inode table of group 0").size(), 1U) << written.all();
    EXPECT_NE(written.all().find("inode 13, /d/foo (created, 20000 bytes)"), std::string::npos)
        << written.all();
    EXPECT_EQ(written.all().find("inode 12, /d ("), std::string::npos)
        << "debugfs does not change the inode of the directory: " << written.all();
    EXPECT_EQ(written.that_are("inode bitmap of group 0"),
              Strings{"inode bitmap of group 0: 1 inode allocated (13)"});
    EXPECT_EQ(written.that_are("directory"),
              Strings{"directory, inode 12, /d, adds \"foo\" for inode 13"});
    EXPECT_GE(written.that_are("data of inode 13, /d/foo").size(), 5U) << written.all();
    EXPECT_TRUE(written.is_about("data of", "d/foo"));
    EXPECT_TRUE(written.is_about("inode table", "d/foo"));
    EXPECT_TRUE(written.is_about("directory", "d/foo"));
    EXPECT_EQ(written.that_are("metadata or data of no").size(), 0U) << written.all();
  }
  const ExtBytes removed = image.after("rm d/foo\n");
  const Written undone(after, removed);
  EXPECT_NE(undone.all().find("inode 13, /d/foo (freed)"), std::string::npos) << undone.all();
  EXPECT_EQ(undone.that_are("inode bitmap of group 0"),
            Strings{"inode bitmap of group 0: 1 inode freed (13)"});
  EXPECT_EQ(undone.that_are("directory"), Strings{"directory, inode 12, /d, removes \"foo\""});
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EveryExt,
    testing::Values(Strings{"-t", "ext2", "-b", "1024"}, Strings{"-t", "ext3", "-b", "1024"},
                    Strings{"-t", "ext4", "-b", "1024"}, Strings{"-t", "ext4", "-b", "4096"},
                    Strings{"-t", "ext4", "-O", "64bit,^metadata_csum,^orphan_file", "-b",
                            "2048"}));

class EveryJournal : public testing::TestWithParam<std::string> {};

/// debugfs writes journal transactions in the same format as jbd2.
TEST_P(EveryJournal, IdentifiesTheBlockOfEachJournalCopy) {
  ExtImage image({"-t", "ext4", "-b", "1024"});
  const ExtBytes before = image.bytes();
  const ExtBytes changed = image.after("write content foo\n");
  const DiskMap map = DiskMap::read("ext4", sectors_of(before));
  const std::uint64_t table = map.ext()->groups[0].table,
                      bitmap = map.ext()->groups[0].inode_bitmap;
  // The block of the inode table that contains inode 12. It is not the first block of the table.
  const std::uint64_t block = table + 11 / map.ext()->inodes_per_block();
  ExtImage logged({"-t", "ext4", "-b", "1024"});
  const ExtBytes fresh = logged.bytes();
  ExtBytes copies;
  for (const std::uint64_t each : {block, bitmap}) {
    const auto at = changed.begin() + static_cast<std::ptrdiff_t>(each * 1024);
    copies.insert(copies.end(), at, at + 1024);
  }
  logged.put("copies", copies);
  const ExtBytes after = logged.after("jo -c" + GetParam() + "\njw -b " + std::to_string(block) +
                                      "," + std::to_string(bitmap) + " copies\njc\n");
  const Written written(fresh, after);
  const auto descriptors = written.that_are("journal descriptor block of transaction ");
  ASSERT_EQ(descriptors.size(), 1U) << written.all();
  EXPECT_TRUE(descriptors[0].ends_with(", 2 blocks")) << descriptors[0];
  const auto inodes = written.that_are("journal: copy of inode table of group 0: ");
  ASSERT_EQ(inodes.size(), 1U) << written.all();
  EXPECT_NE(inodes[0].find("inode 12 (created, 20000 bytes)"), std::string::npos) << inodes[0];
  EXPECT_EQ(
      written.that_are("journal: copy of inode bitmap of group 0: 1 inode allocated (12)").size(),
      1U)
      << written.all();
  EXPECT_EQ(written.that_are("journal commit block of transaction").size(), 1U) << written.all();
}

INSTANTIATE_TEST_SUITE_P(Checksums, EveryJournal, testing::Values("", " -v 2", " -v 3"));

/// mke2fs leaves most of an inode table uninitialised. The kernel initialises a block of the table
/// when it needs the first inode in this block.
TEST(ExtHistory, BytesFromBeforeMkfsAreNotInodes) {
  ExtImage image({"-t", "ext4", "-b", "1024", "-E", "lazy_itable_init=1,nodiscard"},
                 ExtImage::Disk::used);
  const ExtBytes before = image.bytes();
  ExtBytes after = image.after("write content foo\n");
  const DiskMap map = DiskMap::read("ext4", sectors_of(before));
  ASSERT_LE(map.ext()->groups[0].inodes_written, 12U)
      << "the test needs a lazily initialized table";
  const std::size_t inode = map.ext()->inode_bytes,
                    thirteenth = map.ext()->groups[0].table * 1024 + 12 * inode;
  ASSERT_EQ(before[thirteenth], std::byte{0x81});
  std::fill_n(after.begin() + static_cast<std::ptrdiff_t>(thirteenth),
              (map.ext()->inodes_per_block() - 12 % map.ext()->inodes_per_block()) * inode,
              std::byte{});
  const Written written(before, after);
  EXPECT_EQ(
      written.that_are("inode table of group 0: inode 12, /foo (created, 20000 bytes)").size(), 1U)
      << written.all();
  EXPECT_EQ(written.all().find("inode 13"), std::string::npos) << written.all();
}

/// A bitmap that mke2fs did not write may contain any bytes. Its first write must therefore not be
/// compared with the earlier contents, even if the journal already holds a copy of the bitmap.
TEST(ExtHistory, DoesNotCompareABitmapThatMkfsDidNotWrite) {
  ExtImage image({"-t", "ext4", "-b", "1024", "-g", "2048", "-E", "nodiscard"},
                 ExtImage::Disk::used);
  const ExtBytes before = image.bytes();
  const DiskMap map = DiskMap::read("ext4", sectors_of(before));
  const auto& groups = map.ext()->groups;
  const auto found = std::ranges::find(groups, true, &ExtLayout::Group::block_bitmap_unwritten);
  ASSERT_NE(found, groups.end());
  const ExtLayout::Group& group = *found;
  const std::string name =
      "block bitmap of group " + std::to_string(found - groups.begin()) + ": the first one";
  const auto at = static_cast<std::ptrdiff_t>(group.block_bitmap * 1024);
  ASSERT_EQ(before[static_cast<std::size_t>(at)], std::byte{0x81});
  const ExtBytes bitmap(1024, std::byte{0x0f});
  image.put("copy", bitmap);
  ExtBytes after =
      image.after("jo -c\njw -b " + std::to_string(group.block_bitmap) + " copy\njc\n");
  std::ranges::copy(bitmap, after.begin() + at);
  const Written written(before, after, Written::Order::journal_first);
  EXPECT_EQ(written.that_are("journal: copy of " + name).size(), 1U) << written.all();
  EXPECT_EQ(written.that_are(name).size(), 1U) << written.all();
}

TEST(LostWrites, AreDescribedByTheirChanges) {
  ExtImage image({"-t", "ext4", "-b", "1024"});
  const ExtBytes before = image.bytes(), after = image.after("write content foo\n");
  const TemporaryFolder folder;
  RecordedDisk disk(folder / "r", kExtImageBytes / 512);
  model::RequestId request = 0;
  std::uint64_t events = 0;
  const auto write_what_differs = [&](const ExtBytes& from, const ExtBytes& to) {
    for (std::size_t at = 0; at < to.size(); at += 1024) {
      if (std::equal(&to[at], &to[at] + 1024, &from[at])) continue;
      ++request;
      disk.write(request, at / 512, {&to[at], &to[at] + 1024}).ack(request);
      events += 2;
    }
  };
  write_what_differs(ExtBytes(kExtImageBytes), before);
  disk.flush(++request);
  events += 2;
  write_what_differs(before, after);
  const auto run = disk.load();
  const auto lost =
      lost_writes(*run, *states::parse_crash_state(fmt::format("w{}-", events)), "ext4");
  ASSERT_TRUE(lost) << lost.error().message();
  std::string all;
  for (const LostWrite& each : lost->writes) all += each.what + "\n";
  EXPECT_NE(all.find("inode 12, /foo (created, 20000 bytes)"), std::string::npos) << all;
  EXPECT_NE(all.find("adds \"foo\" for inode 12"), std::string::npos) << all;
  EXPECT_NE(all.find("data of inode 12, /foo"), std::string::npos) << all;
}

TEST(ExtHistory, ToleratesHostileInput) {
  ExtImage image({"-t", "ext4", "-b", "1024"});
  const ExtBytes before = image.bytes();
  const ExtBytes after = image.after("mkdir d\nwrite content d/foo\n");
  Random random(24);
  for (int round = 0; round < 60; ++round) {
    ExtBytes from = before, to = after;
    const DiskMap map = DiskMap::read("ext4", sectors_of(before));
    for (int i = 0; i < 200; ++i) {
      const std::size_t at = random.below(2) == 0
                                 ? 1024 + random.below(64 << 10)
                                 : map.ext()->groups[0].table * 1024 + random.below(8192);
      to[at] = static_cast<std::byte>(random.below(256));
      if (at > 2048) from[at] = static_cast<std::byte>(random.below(256));
    }
    if (!DiskMap::read("ext4", sectors_of(from)).ext()) continue;
    const Written written(from, to);
    EXPECT_LT(written.all().size(), 4'000'000U);
  }
}

}  // namespace
}  // namespace headcrash::explorer
