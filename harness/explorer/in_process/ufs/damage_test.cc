// Tests that fsck reports and repairs each kind of damage, and that a wrong repair is detected. In
// the environment, HEADCRASH_DAMAGE=500 sets the number of seeds per image, and
// HEADCRASH_DAMAGE_FROM sets the first seed.
#include "fs-adapters/ufs/damage/damage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fs-adapters/registry.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/ufs/damage/damage_trials.h"
#include "fs-adapters/ufs/damage/trial_disk.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "harness/workload/families.h"
#include "plugin/base/little_endian.h"
#include "plugin/base/testing/number_from_environment.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

using adapters::DamageCounts;
using ufs::damage::Audit;
using ufs::damage::damage_kinds;
using ufs::damage::DamageKind;
using ufs::damage::DamageTrials;
using ufs::damage::Damaging;

constexpr std::uint64_t kDamageSeeds = 20, kSeedsOfAKind = 12;

/// A tree with links, holes and pointers of every level. A wrong repair would lose some of its many
/// names.
constexpr std::string_view kKnown = R"(
mkdir a
mkdir a/b
mkdir a/b/c
mkdir empty
mkdir other
create a/one
write a/one 0 9000 1 1
create a/two
write a/two 0 512 2 2
create a/b/three
write a/b/three 90112 6144 3 3
write a/b/three 0 20480 3 4
create a/b/c/four
write a/b/c/four 0 30720 4 5
link a/b/c/four other/five
link a/one a/b/c/one-again
create a/none
symlink short a/short
symlink a-target-that-is-so-long-that-it-does-not-fit-into-the-place-of-the-pointers a/b/long
create other/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1
create other/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2
create other/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa3
create other/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa4
)";

const DamageKind& kind_called(std::string_view name) {
  const auto& all = damage_kinds();
  const auto found = std::ranges::find(all, name, &DamageKind::name);
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

class Damage : public testing::Test {
 protected:
  /// Returns the image after the unmount at the end of the run.
  std::vector<std::byte> image_of(const std::string& disk,
                                  std::span<const workload::Operation> operations,
                                  const std::string& scheme = "soft-updates") {
    const auto variant = adapters::find_system("ufs", scheme);
    const auto made = explorers_.get(disk, **variant);
    EXPECT_TRUE(made) << made.error().message();
    StateDisk store((*made)->formatted);
    const auto run = record_run((*made)->formatted, store, **variant, operations, {.unmount = true},
                                folder_.path() / "run.hcrec");
    EXPECT_TRUE(run) << run.error().message();
    EXPECT_FALSE(run->failure) << *run->failure;
    EXPECT_EQ(run->unmount, Unmount::succeeded);
    return {store.bytes().begin(), store.bytes().end()};
  }
  std::vector<std::byte> known_image(const std::string& disk,
                                     const std::string& scheme = "soft-updates") {
    const auto operations = workload::parse_operations(kKnown, "known");
    EXPECT_TRUE(operations) << operations.error().message();
    return image_of(disk, *operations, scheme);
  }
  /// Returns the first sector of the log device in the image; 0 if there is no such device.
  std::uint64_t log_at(const std::string& disk, const std::string& scheme) {
    const auto made = explorers_.get(disk, **adapters::find_system("ufs", scheme));
    EXPECT_TRUE(made) << made.error().message();
    return (*made)->formatted.log_at;
  }
  DamageTrials trials_of(const std::vector<std::byte>& sound, std::uint64_t log_at = 0) {
    auto trials = DamageTrials::create(sound, fsck_, audit_, log_at);
    EXPECT_TRUE(trials) << trials.error().message();
    return *std::move(trials);
  }

  TemporaryFolder folder_;
  DiskExplorers explorers_{folder_.path()};
  ufs::Fsck fsck_;
  Audit audit_;
};

TEST_F(Damage, EachKindIsFoundAndRepaired) {
  const std::vector<std::vector<std::byte>> images{
      known_image("tiny"),          known_image("deep"),          known_image("deep", "journal"),
      known_image("tiny", "netra"), known_image("deep", "netra"), known_image("deep", "netra-map")};
  for (const DamageKind& kind : damage_kinds()) {
    DamageCounts counts;
    for (const auto& image : images) {
      auto trials = trials_of(image);
      for (std::uint64_t seed = 1; seed <= kSeedsOfAKind; ++seed) {
        ufs::damage::TrialDisk disk(image);
        Damaging damaging(trials.survey(), disk, seed);
        if (!damaging.add(kind)) continue;
        const auto report = fsck_.check(disk);
        ASSERT_TRUE(report) << report.error().message();
        if (kind.shows) {
          EXPECT_TRUE(report->has(*kind.shows)) << damaging.words();
        }
        const auto done = trials.run(kind, seed, counts);
        EXPECT_TRUE(done) << done.error().message();
      }
    }
    EXPECT_GT(counts.damaged, 0U) << kind.name << ": no image can have this damage";
    EXPECT_TRUE(counts.cut > 0 || !kind.shows) << kind.name;
  }
}

TEST_F(Damage, SeveralKindsAreRepaired) {
  const std::uint64_t first = number_from_environment("HEADCRASH_DAMAGE_FROM", 1);
  const std::uint64_t end = first + number_from_environment("HEADCRASH_DAMAGE", kDamageSeeds);
  DamageCounts counts;
  for (const auto& [disk, family] :
       {std::pair("tiny", "histories"), std::pair("deep", "large-directories"),
        std::pair("deep", "indirect"), std::pair("tiny", "nearly-full"),
        std::pair("deep", "directories"), std::pair("tiny", "moves")})
    for (const char* scheme : {"soft-updates", "journal", "journal-external", "netra"}) {
      const auto image = image_of(disk, *workload::family_member(family, first % 10), scheme);
      auto trials = trials_of(image, log_at(disk, scheme));
      for (std::uint64_t seed = first; seed < end; ++seed) {
        const auto done = trials.run(seed, counts);
        EXPECT_TRUE(done) << disk << " " << family << " " << scheme << ": "
                          << done.error().message();
      }
    }
  fmt::print("{} damaged images, {} repairs cut, {} without room\n", counts.damaged, counts.cut,
             counts.left);
}

/// The damage makes two directories point to the same indirect block. fsck assigns this block to
/// the directory that it finds first. fsck must resolve this conflict before it truncates the other
/// directory.
TEST_F(Damage, TwoDirectoriesWithTheSameIndirectBlockLoseNoNames) {
  constexpr std::uint64_t kMany = 150;
  DamageCounts counts;
  for (const std::uint64_t number : {1U, 2U}) {
    const auto image = image_of("deep", *workload::family_member("large-directories", number));
    auto trials = trials_of(image);
    for (std::uint64_t seed = 1; seed <= kMany; ++seed) {
      const auto done = trials.run(kind_called("pointer-to-another-file"), seed, counts);
      EXPECT_TRUE(done) << done.error().message();
    }
  }
}

TEST_F(Damage, LackOfSpaceIsReportedOnlyIfReal) {
  const auto image = known_image("deep");
  auto trials = trials_of(image);
  DamageCounts counts;
  for (std::uint64_t seed = 1; seed <= kDamageSeeds; ++seed) {
    const auto done = trials.run(kind_called("no-room"), seed, counts);
    EXPECT_TRUE(done) << done.error().message();
  }
  EXPECT_GT(counts.left, 0U);
}

// ---- wrong repairs

/// A kind of damage, and a deliberately wrong repair of this damage.
struct Broken {
  std::string_view kind;
  std::string_view message;  ///< part of the message that the trial must report
  DamageTrials::Repair repair;
};

constexpr std::string_view kUntouched = "a/b/c/four";

class BrokenRepair : public Damage {
 protected:
  Result<ufs::FsckReport> sound(model::SectorStore& store) {
    return ufs::Fsck().run(store, {.repair = true, .time = 1});
  }
  static ufs::InodeNumber number_of(model::SectorStore& store, std::string_view path) {
    return ufs::ImageReader::open(store)->lookup(path).value_or(0);
  }
  static void change_sector(model::SectorStore& store, std::uint64_t byte,
                            const std::function<void(std::span<std::byte>, std::size_t)>& change) {
    std::array<std::byte, ufs::kSectorBytes> sector;
    ASSERT_TRUE(store.read(byte / ufs::kSectorBytes, sector));
    change(sector, byte % ufs::kSectorBytes);
    ASSERT_TRUE(store.write(byte / ufs::kSectorBytes, sector));
  }
  static void change_inode(model::SectorStore& store, ufs::InodeNumber number,
                           const std::function<void(ufs::Inode&)>& change) {
    const auto reader = ufs::ImageReader::open(store);
    const auto place = reader->geometry().place_of(number);
    change_sector(store, reader->geometry().byte_of(place.block) + place.offset,
                  [&](auto sector, auto at) {
                    ufs::Inode inode = ufs::decode_inode(sector.subspan(at));
                    change(inode);
                    ufs::encode_inode(inode, sector.subspan(at));
                  });
  }
  static std::uint64_t byte_of_block(model::SectorStore& store, std::string_view path) {
    const auto reader = ufs::ImageReader::open(store);
    return reader->geometry().byte_of(reader->inode(*reader->lookup(path))->direct[0]);
  }
  /// Returns a repair that is correct, except that `change` is applied to its result.
  DamageTrials::Repair and_then(std::function<void(model::SectorStore&, ufs::FsckReport&)> change) {
    return [this, change](model::SectorStore& store, auto) {
      auto report = sound(store);
      if (report) change(store, *report);
      return report;
    };
  }
  std::string said_of(const Broken& broken) {
    const auto image = known_image("tiny");
    auto trials = trials_of(image);
    trials.repair_by(broken.repair);
    DamageCounts counts;
    for (std::uint64_t seed = 1; seed <= kSeedsOfAKind; ++seed)
      if (const auto done = trials.run(kind_called(broken.kind), seed, counts); !done)
        return done.error().message();
    return "nothing";
  }
};

TEST_F(BrokenRepair, IsDetectedByItsResult) {
  using enum ufs::FindingKind;
  const auto flag = [](std::uint8_t value) {
    return [value](model::SectorStore& store, ufs::FsckReport&) {
      change_sector(store, ufs::kSuperblockByte + ufs::kSuperblockCleanOffset,
                    [&](auto sector, auto at) { little_endian::store8(sector, at, value); });
    };
  };
  const std::vector<Broken> all{
      {"sectors-too-high", "a second check reports",
       [](model::SectorStore& store, auto) { return ufs::Fsck().run(store, {}); }},
      {"sectors-too-high", "did not end",
       [](model::SectorStore& store, auto) -> Result<ufs::FsckReport> {
         for (std::array<std::byte, ufs::kSectorBytes> sector;;) TRY(store.read(0, sector));
       }},
      {"sectors-too-high", "is not marked clean", and_then(flag(0))},
      {"sectors-too-high", "has different contents", and_then([](auto& store, auto&) {
         change_sector(store, byte_of_block(store, kUntouched) + 77,
                       [](auto sector, auto at) { sector[at] ^= std::byte{1}; });
       })},
      {"sectors-too-high", "a different owner", and_then([](auto& store, auto&) {
         change_inode(store, number_of(store, kUntouched),
                      [](ufs::Inode& inode) { inode.user = 4711; });
       })},
      {"sectors-too-high", "had mode", and_then([](auto& store, auto&) {
         change_inode(store, number_of(store, kUntouched),
                      [](ufs::Inode& inode) { inode.mode ^= 0111; });
       })},
      {"sectors-too-high", "bytes, now has", and_then([](auto& store, auto&) {
         change_inode(store, number_of(store, kUntouched),
                      [](ufs::Inode& inode) { --inode.size_bytes; });
       })},
      {"sectors-too-high", "is missing", and_then([](auto& store, auto&) {
         change_sector(store, byte_of_block(store, "a/b/c"), [](auto sector, auto) {
           little_endian::store8(sector, tree::find_entry(sector, "four")->offset + 8, 'F');
         });
       })},
      {"sectors-too-high", "the report counts",
       and_then([](auto&, auto& report) { ++report.files; })},
      {"sectors-too-high", "the report's totals",
       and_then([](auto&, auto& report) { ++report.totals.free_blocks; })},
      {"sectors-too-high", "the superblock has changed", and_then([](auto& store, auto&) {
         change_sector(store, ufs::kSuperblockByte + 144,  // fs_id
                       [](auto sector, auto at) { sector[at] ^= std::byte{1}; });
       })},
      {"sectors-too-high", "but a check finds none", and_then([&](auto& store, auto& report) {
         report.unrepaired = true;
         flag(0)(store, report);
       })},
      {"no-room", "is marked clean", and_then(flag(1))},
      {"file-without-name", "although there was enough free space",
       and_then([&](auto& store, auto& report) {
         const auto names = ufs::ImageReader::open(store)->list(number_of(store, "lost+found"));
         if (!names || names->empty()) return;
         change_sector(store, byte_of_block(store, "lost+found"), [&](auto sector, auto) {
           tree::remove_entry(sector, tree::find_entry(sector, names->front().name)->offset);
         });
         report.unrepaired = true;
         flag(0)(store, report);
       })},
  };
  for (const Broken& broken : all)
    EXPECT_NE(said_of(broken).find(broken.message), std::string::npos)
        << broken.message << ", but found: " << said_of(broken);
}

TEST_F(BrokenRepair, IsDetectedByItsLosses) {
  // The damaged file has no name. The wrong repair clears its link count, so that fsck frees it.
  const Broken broken{"file-without-name", "is free now", [this](model::SectorStore& store, auto) {
                        const auto report = ufs::Fsck().check(store);
                        for (const ufs::Finding& finding : report->findings)
                          if (finding.kind == ufs::FindingKind::unreferenced_file)
                            change_inode(store, finding.inode,
                                         [](ufs::Inode& inode) { inode.links = 0; });
                        return sound(store);
                      }};
  EXPECT_NE(said_of(broken).find(broken.message), std::string::npos) << said_of(broken);
}

TEST_F(BrokenRepair, IsDetectedByAPowerCut) {
  // The wrong repair sets the clean flag first. If the power is cut later, the image is marked as
  // clean although it is damaged.
  const auto image = known_image("tiny");
  auto trials = trials_of(image);
  trials.repair_by([this](model::SectorStore& store, auto) {
    change_sector(store, ufs::kSuperblockByte + ufs::kSuperblockCleanOffset,
                  [](auto sector, auto at) { little_endian::store8(sector, at, 1); });
    return sound(store);
  });
  std::size_t reported = 0;
  DamageCounts counts;
  for (std::uint64_t seed = 1; seed <= kDamageSeeds; ++seed) {
    const auto done = trials.run(seed, counts);
    if (!done && done.error().message().find("is marked clean") != std::string::npos) ++reported;
  }
  EXPECT_GT(reported, kDamageSeeds / 4) << "the flag is missing on too many images";
}

TEST_F(Damage, CanBePartOfAnExploration) {
  const auto scheme = adapters::find_system("ufs", "soft-updates");
  const auto made = explorers_.get("tiny", **scheme);
  ASSERT_TRUE(made);
  const auto operations = workload::family_member("histories", 3);
  const ExplorationOptions how{
      .budget = 10, .run = {.unmount = true}, .damage = DamageOptions{.seed = 7, .images = 5}};
  const auto explored =
      (*made)->explorer.explore(**scheme, *operations, how, folder_.path() / "run.hcrec");
  ASSERT_TRUE(explored) << explored.error().message();
  EXPECT_TRUE(explored->failures.empty());
  EXPECT_EQ(explored->run.unmount, Unmount::succeeded);
  EXPECT_EQ(explored->damage.damaged, 5U);
  EXPECT_GT(explored->damage.cut, 5U);
}

}  // namespace
}  // namespace headcrash::in_process
