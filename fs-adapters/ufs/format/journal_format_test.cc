#include "fs-adapters/ufs/format/journal_format.h"

#include <gtest/gtest.h>

#include "fs-adapters/ufs/format/geometry.h"
#include "fs-adapters/ufs/format/mkfs.h"
#include "plugin/media/memory_store.h"

namespace headcrash::ufs {
namespace {

/// An empty file system whose journal is in use.
struct JournalledImage {
  JournalledImage() {
    auto made = mkfs(*store, {.block_bytes = 4096, .fragment_bytes = 1024, .journal_bytes = 0});
    EXPECT_TRUE(made) << made.error().message();
    super = *made;
    super.clean = false;
    ring = JournalRing(super);
  }
  /// Writes the transaction at `position`, as the first transaction of its epoch.
  void log(JournalTransaction& transaction, std::uint32_t position) {
    journal = {.in_use = true,
               .fragments = super.journal.fragments,
               .tail = position,
               .tail_sequence = 7,
               .epoch = 3};
    EXPECT_TRUE(write_journal_superblock(*store, super, journal));
    transaction.epoch = 3, transaction.sequence = 7;
    EXPECT_TRUE(write_to_ring(*store, ring, position, encode_transaction(transaction, 1024)));
  }
  JournalContents contents() const {
    auto read = read_journal(*store, super);
    EXPECT_TRUE(read) << read.error().message();
    return std::move(*read);
  }
  FragmentAddress data() const { return super.journal.at + super.journal.fragments + 8; }

  std::unique_ptr<media::MemoryStore> store = *media::MemoryStore::create(8192);
  Superblock super;
  JournalRing ring;
  JournalSuperblock journal;
};

JournalTransaction some_transaction(const JournalledImage& image) {
  JournalTransaction made;
  made.images.push_back(
      {.home = image.data(), .bytes = std::vector<std::byte>(4096, std::byte{'a'})});
  made.images.push_back(
      {.home = image.data() + 5, .bytes = std::vector<std::byte>(1024, std::byte{'b'})});
  made.images.push_back({.home = Geometry(image.super).header(0),
                         .bytes = std::vector<std::byte>(4096, std::byte{'c'})});
  made.revoked = {{.at = image.data() + 100, .fragments = 3}};
  made.orphans = {5, 9};
  return made;
}

TEST(JournalFormat, ATransactionRoundTripsAtAnyRingPosition) {
  JournalledImage image;
  JournalTransaction written = some_transaction(image);
  EXPECT_EQ(fragments_of(written, 1024), 11U);
  for (const std::uint32_t back : {40U, 11U, 10U, 9U, 5U, 1U}) {
    image.log(written, image.ring.fragments() - back);
    const JournalContents read = image.contents();
    ASSERT_EQ(read.transactions.size(), 1U) << back << " fragments before the ring's end";
    EXPECT_EQ(read.head, (image.ring.fragments() - back + 11) % image.ring.fragments());
    const JournalTransaction& got = read.transactions[0];
    ASSERT_EQ(got.images.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(got.images[i].home, written.images[i].home);
      EXPECT_EQ(got.images[i].bytes, written.images[i].bytes);
    }
    EXPECT_EQ(got.revoked, written.revoked);
    EXPECT_EQ(got.orphans, written.orphans);
    EXPECT_FALSE(got.too_many_orphans);
  }
}

TEST(JournalFormat, ATransactionNeedsItsCommitRecord) {
  JournalledImage image;
  JournalTransaction written = some_transaction(image);
  image.log(written, 0);
  ASSERT_TRUE(image.store->write_zeroes(Geometry(image.super).lba_of(image.ring.run(10, 1).at), 1));
  EXPECT_TRUE(image.contents().transactions.empty());
  EXPECT_EQ(image.contents().damage, "");
}

TEST(JournalFormat, IgnoresTransactionsOfAnotherEpoch) {
  JournalledImage image;
  JournalTransaction written = some_transaction(image);
  image.log(written, 0);
  image.journal.epoch = 4;
  ASSERT_TRUE(write_journal_superblock(*image.store, image.super, image.journal));
  EXPECT_TRUE(image.contents().transactions.empty());
  const auto fresh = reset_journal(*image.store, image.super, image.journal, true);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->epoch, 5U);
}

TEST(JournalFormat, AMissingPartOfACommittedTransactionIsDamage) {
  JournalledImage image;
  JournalTransaction written = some_transaction(image);
  for (std::uint32_t sector = 1; sector < 20; ++sector) {
    image.log(written, 0);
    const std::uint64_t lba = Geometry(image.super).lba_of(image.ring.run(0, 1).at) + sector;
    if (sector == 1) continue;  // the descriptor's second sector is unused
    ASSERT_TRUE(image.store->write_zeroes(lba, 1));
    EXPECT_TRUE(image.contents().transactions.empty()) << sector;
    EXPECT_NE(image.contents().damage.find("transaction 7"), std::string::npos) << sector;
  }
}

TEST(JournalFormat, RejectsBlockImagesOutsideMetadataAndDataAreas) {
  JournalledImage image;
  const Geometry geometry(image.super);
  const auto damage = [&](FragmentAddress home, std::uint32_t fragments) {
    JournalTransaction made;
    made.images.push_back({.home = home, .bytes = std::vector<std::byte>(fragments * 1024)});
    image.log(made, 0);
    return image.contents().damage;
  };
  EXPECT_EQ(damage(image.data(), 4), "");
  EXPECT_EQ(damage(geometry.inode_table(0), 4), "");
  EXPECT_NE(damage(8, 1), "") << "the superblock";
  EXPECT_NE(damage(geometry.replica(0), 1), "");
  EXPECT_NE(damage(image.super.journal.at + 4, 4), "") << "the journal itself";
  EXPECT_NE(damage(image.data() + 1, 4), "") << "over a block's end";
  EXPECT_NE(damage(image.super.size_fragments, 1), "");
  EXPECT_NE(damage(0xfffffff0, 4), "");
  JournalTransaction orphan;
  orphan.orphans = {geometry.inodes()};
  image.log(orphan, 0);
  EXPECT_NE(image.contents().damage, "");
}

TEST(JournalFormat, RejectsAnInvalidJournalSuperblock) {
  JournalledImage image;
  const auto problem = [&](auto change) {
    std::array<std::byte, kSectorBytes> sector = {};
    JournalSuperblock journal{.fragments = image.super.journal.fragments};
    change(journal);
    encode_journal_superblock(journal, sector);
    const auto decoded = decode_journal_superblock(sector, image.super);
    return decoded ? "" : decoded.error().message();
  };
  EXPECT_EQ(problem([](JournalSuperblock&) {}), "");
  EXPECT_NE(problem([](JournalSuperblock& j) { j.tail = j.fragments; }), "");
  EXPECT_NE(problem([](JournalSuperblock& j) { ++j.fragments; }), "");
  std::array<std::byte, kSectorBytes> sector = {};
  encode_journal_superblock({.fragments = image.super.journal.fragments}, sector);
  sector[24] ^= std::byte{1};
  EXPECT_FALSE(decode_journal_superblock(sector, image.super)) << "a checksum that is not its own";
  EXPECT_FALSE(decode_journal_superblock(std::array<std::byte, kSectorBytes>{}, image.super));
}

TEST(JournalFormat, RejectsAJournalAreaOutsideOneGroupsData) {
  const JournalledImage image;
  const std::uint64_t bytes = 8192 * kSectorBytes;
  const auto problem = [&](Extent area) {
    Superblock changed = image.super;
    changed.journal = area;
    return problem_of(changed, bytes);
  };
  EXPECT_EQ(problem(image.super.journal), "");
  EXPECT_NE(problem({.at = 0, .fragments = 100}), "");
  EXPECT_NE(problem({.at = image.super.summary_address, .fragments = 100}), "");
  EXPECT_NE(problem({.at = image.super.journal.at, .fragments = 1}), "");
  EXPECT_NE(problem({.at = image.super.journal.at, .fragments = 0xffffffff}), "");
  EXPECT_NE(problem({.at = 0xfffffff0, .fragments = 100}), "");
}

}  // namespace
}  // namespace headcrash::ufs
