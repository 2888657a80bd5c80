#include "harness/explorer/explain/failure_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness/explorer/explain/block_kind.h"
#include "harness/explorer/explain/lost_writes.h"
#include "harness/explorer/guests/array_cut.h"
#include "harness/explorer/testing/recorded_disk.h"
#include "plugin/base/random.h"

namespace headcrash::explorer {
namespace {

using states::CrashState;

CrashState named(const std::string& name) {
  return states::parse_crash_state(name).value();
}

/// Recorded events, with their numbers: 0 mark  1 W1  2 ack  3 F2  4 ack  5 mark  6 W3  7 ack  8 W4
/// 9 ack  10 mark  11 trim  12 W6. W is a write, F a flush.
std::shared_ptr<const states::RunHistory> a_run(const TemporaryFolder& folder) {
  RecordedDisk disk(folder / "workload.hcrec");
  disk.mark("phase workload")
      .write(1, 800, RecordedDisk::stamps(1, 1, 0, 4096))
      .ack(1)
      .flush(2)
      .mark("persisted 2");
  disk.write(3, 1600, RecordedDisk::stamps(2, 7, 1024, 2048)).ack(3);
  auto journal = RecordedDisk::block({0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 1, 0, 0, 0, 9});
  const auto commit = RecordedDisk::block({0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 2, 0, 0, 0, 9});
  const auto other = RecordedDisk::block({1, 2, 3});
  journal.insert(journal.end(), other.begin(), other.end());
  journal.insert(journal.end(), commit.begin(), commit.end());
  disk.write(4, 2048, journal, true).ack(4).mark("persisted 5").trim(5, 3000, 16);
  disk.write(6, 100, std::vector<std::byte>(1024));
  return disk.load();
}

constexpr const char* kGolden = R"(ext4-nobarrier: lost-synced-data (posix)
========================================
2 objects are not as promised, first g: no such name

file system  ext4 with nobarrier (control: must lose)
mounted with nobarrier
made by      mkfs.ext4 -q {device}
crash state  w13!2-1.5.6~4:0x8 of workload.hcrec
- Lost or torn writes minimised from 9 to 4 (minimal; states checked: 12).

Operations
----------
  P: promises persistence    *: the last operation that is known to have succeeded before the cut

     0    create f
     1    write f 0 4096 1 1
     2 P  fsync f
     3    create g
     4    write g 1024 2048 2 7
     5 P* fsync g
          -- the power may have been cut at any later point
     6    punch g 0 512    (not supported: skipped)
     7    unlink f
     8 P  sync
          == power cut
        (1 operations that cannot have begun)

Power cut and lost writes
-------------------------
  After event 13 of the recording, 13.000 ms after its start, 2.000 ms after the mark "persisted 5".
  lying drive: flushes ignored: 1, starting at request 2
  unflushed writes 5; lost or torn 4

   request         LBA  sectors     submitted  acknowledged
         1         800        8      2.000 ms      3.000 ms
           file 1: version 1, blocks 0 to 7
           submitted after the mark "phase workload"
         4        2048       24      9.000 ms     10.000 ms
           journal descriptor block of transaction 9; metadata or data of unknown kind; journal
           commit block of transaction 9 (torn: only sectors 0 to 7 are on the medium) (FUA)
           submitted after the mark "persisted 2"
         5        3000       16     12.000 ms         never
           trim
           submitted after the mark "persisted 5"
         6         100        2     13.000 ms         never
           zeroes
           submitted after the mark "persisted 5"

Expected and found
------------------
  g    lost-synced-data, tier posix (file 2)
    expected  the name to be there
    found     no such name
  f    wrong-data, tier integrity (file 1)
    expected  version 1 or newer in block 3
    found     foreign bytes (5 blocks of 512 bytes)

Recovery
--------
  $ e2fsck -fn /dev/vda
  clean

To reproduce
------------
  headcrash replay 17 --state w13!2-1.5.6~4:0x8
)";

TEST(FailureText, DescribesAFailure) {
  const TemporaryFolder folder;
  const auto run = a_run(folder);
  adapters::LinuxAdapter filesystem{.name = "ext4-nobarrier",
                                    .title = "ext4 with nobarrier (control: must lose)",
                                    .type = "ext4",
                                    .mount_options = "nobarrier",
                                    .mkfs = {.argv = {"mkfs.ext4", "-q", "{device}"}}};
  const RecordedWorkload workload{
      .recording = folder / "workload.hcrec",
      .operations = workload::parse_operations(
                        "create f\nwrite f 0 4096 1 1\nfsync f\ncreate g\n"
                        "write g 1024 2048 2 7\nfsync g\npunch g 0 512\nunlink f\nsync\n"
                        "create h\n",
                        "test")
                        .value(),
      .failed_operations = {{6, workload::Outcome::skipped}}};
  StateOutcome outcome;
  outcome.persisted_operation = 5;
  outcome.judgement = {oracle::Verdict::lost_synced_data,
                       "2 objects are not as promised, first g: no such name"};
  outcome.findings = {{oracle::Verdict::lost_synced_data, oracle::Tier::posix, "g",
                       "the name to be there", "no such name"},
                      {oracle::Verdict::wrong_data, oracle::Tier::integrity, "f",
                       "version 1 or newer in block 3", "foreign bytes (5 blocks of 512 bytes)"}};
  outcome.log = "$ e2fsck -fn /dev/vda\nclean\n";
  const CrashState state = named("w13!2-1.5.6~4:0x8");
  const auto text = failure_text(
      {.filesystem = &filesystem,
       .workload = &workload,
       .run = run.get(),
       .state = state,
       .outcome = &outcome,
       .kind = kind_of(outcome.judgement, outcome.findings),
       .notes = {"Lost or torn writes minimised from 9 to 4 (minimal; states checked: 12)."},
       .replay = {"headcrash replay 17 --state " + states::format(state)}});
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, kGolden);
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(FailureText, NamesTheIssuersOfLostWritesAndOfTheLastFlush) {
  const TemporaryFolder folder;
  const auto run = a_run(folder);
  Issuers issuers;
  issuers.add_issued(0, 2, {"sh", {"submit_bio+0x1/0x2", "ext4_sync_file+0x1/0x2"}});
  issuers.add_issued(0, 3, {"kworker/0:1", {"submit_bio+0x1/0x2", "ext4_writepages+0x3/0x4"}});
  issuers.add_dirtied(0, 3, {"agent", {"mark_buffer_dirty+0x1/0x2", "ext4_setattr+0x3/0x4"}});
  std::ofstream(issuers_file(run->path())) << issuers.text();
  const adapters::LinuxAdapter filesystem{.name = "ext4", .title = "ext4", .type = "ext4"};
  const RecordedWorkload workload{.recording = run->path()};
  const StateOutcome outcome;
  const auto text = failure_text({.filesystem = &filesystem,
                                  .workload = &workload,
                                  .run = run.get(),
                                  .state = named("w13-3.6"),
                                  .outcome = &outcome});
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_NE(text->find("\n  last flush issued by ext4_sync_file from sh\n"), std::string::npos);
  EXPECT_NE(text->find("\n           issued by ext4_writepages from kworker/0:1\n"
                       "             ext4_writepages\n"
                       "           dirtied by ext4_setattr from agent\n"),
            std::string::npos)
      << *text;
  std::ofstream(issuers_file(run->path())) << "#issuers 1\ndamage\n";
  EXPECT_FALSE(lost_writes(*run, named("w13-3"), "ext4"));
}

TEST(FailureText, ListsWritesThatASyncDidNotWaitFor) {
  const TemporaryFolder folder;
  RecordedDisk disk(folder / "workload.hcrec");
  const auto block = std::vector<std::byte>(512);
  disk.write(1, 800, block).ack(1).write(2, 900, block).mark("persisted 1").write(3, 1000, block);
  const auto run = disk.load();
  const adapters::LinuxAdapter filesystem{.name = "ext4", .title = "ext4", .type = "ext4"};
  const RecordedWorkload workload{
      .recording = run->path(),
      .operations = workload::parse_operations("create f\nfsync f\n", "test").value()};
  StateOutcome outcome;
  outcome.persisted_operation = 1;
  const auto text_of = [&](const std::string& state) {
    return failure_text({.filesystem = &filesystem,
                         .workload = &workload,
                         .run = run.get(),
                         .state = named(state),
                         .outcome = &outcome})
        .value();
  };
  const std::string all = text_of("w5-1.2.3");
  const std::string flush = "operation 1 (fsync f) returned without a flush of this write\n";
  const std::string answer = "operation 1 (fsync f) returned before this write was acknowledged\n";
  EXPECT_LT(all.find(flush), all.find(answer)) << all;
  EXPECT_NE(all.find(answer), std::string::npos) << all;
  EXPECT_EQ(text_of("w5-3").find("returned"), std::string::npos) << "submitted after the fsync";
  EXPECT_EQ(text_of("w5!2-1").find("returned"), std::string::npos) << "the drive lies";
}

TEST(FailureText, ShortensLongLinesOfToolOutput) {
  const TemporaryFolder folder;
  const auto run = a_run(folder);
  const adapters::LinuxAdapter filesystem{.name = "ext4", .title = "ext4", .type = "ext4"};
  const RecordedWorkload workload{
      .recording = folder / "workload.hcrec",
      .operations = workload::parse_operations("create f\nsync\n", "test").value()};
  StateOutcome outcome;
  outcome.log = "$ e2fsck -fn /dev/vda\nbits: " + std::string(1000, '7') + "\nclean\n";
  const auto text = failure_text({.filesystem = &filesystem,
                                  .workload = &workload,
                                  .run = run.get(),
                                  .state = named("w13"),
                                  .outcome = &outcome});
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_NE(text->find("777 ... (606 bytes more)\n  clean\n"), std::string::npos) << *text;
}

TEST(LostWrites, AreDerivedFromTheStateName) {
  const TemporaryFolder folder;
  const auto run = a_run(folder);
  const auto requests = [&](const std::string& name) {
    const auto lost = lost_writes(*run, named(name), "ext4");
    EXPECT_TRUE(lost) << lost.error().message();
    std::vector<model::RequestId> ids;
    if (lost)
      for (const LostWrite& each : lost->writes) ids.push_back(each.write.request);
    return ids;
  };
  using Ids = std::vector<model::RequestId>;
  EXPECT_EQ(requests("w13"), Ids{});
  EXPECT_EQ(requests("w13-"), (Ids{3, 5, 6}));
  EXPECT_EQ(requests("w13+5"), (Ids{3, 6}));
  EXPECT_EQ(requests("w13-6"), Ids{6});
  EXPECT_EQ(unflushed_requests(*run, named("w13-")), (Ids{3, 5, 6}));
  EXPECT_EQ(unflushed_requests(*run, named("w8-")), Ids{3});
}

/// Converts random physical states to states of lost and torn writes. The contents must remain the
/// same.
TEST(LostWrites, DescribeAPhysicalStateByItsLosses) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TemporaryFolder folder;
    Random random(seed);
    RecordedDisk disk(folder / "r", 256);
    std::vector<model::RequestId> lost, torn;
    std::uint64_t events = 0;
    for (model::RequestId id = 1; id <= 8; ++id) {
      const auto data = RecordedDisk::stamps(1, static_cast<std::uint32_t>(id), 0, 4096);
      disk.write(id, id * 8, data).ack(id);
      events += 2;
      switch (random.below(3)) {
        case 0:
          lost.push_back(id);
          break;
        case 1:
          torn.push_back(id);
          disk.media(id, id * 8 + 2, {data.begin() + 1024, data.begin() + 2560});
          ++events;
          break;
        default:
          disk.media(id, id * 8, data);
          ++events;
      }
    }
    const auto run = disk.load();
    const auto state = as_lost_writes(*run, {.base = CrashState::Base::physical, .event = events});
    ASSERT_TRUE(state) << state.error().message();
    ASSERT_TRUE(*state);
    EXPECT_EQ((*state)->listed, lost);
    ASSERT_EQ((*state)->torn.size(), torn.size());
    for (std::size_t i = 0; i < torn.size(); ++i)
      EXPECT_EQ((*state)->torn[i], (states::TornWrite{torn[i], 2, 3}));
  }
}

TEST(LostWrites, NameTheirDiskIfThereAreTwo) {
  const TemporaryFolder folder;
  RecordedDisk disks(folder / "r", 256, true, 64);
  const auto data = RecordedDisk::stamps(1, 1, 0, 4096);
  disks.write(1, 8, data).ack(1);
  disks.on(1).write(2, 8, data).ack(2).flush(3).media(2, 8, data).write(4, 16, data).ack(4);
  disks.on(0).write(5, 16, data).ack(5).media(5, 16, {data.begin(), data.begin() + 512});
  const auto run = disks.load();
  const auto lost = lost_writes(*run, named("a12-"), "ext4");
  ASSERT_TRUE(lost) << lost.error().message();
  EXPECT_EQ(lost->unflushed, 3U) << "request 2 was flushed on its disk, request 1 was not";
  std::vector<std::pair<model::RequestId, std::string>> described;
  for (const LostWrite& each : lost->writes) described.emplace_back(each.write.request, each.disk);
  EXPECT_EQ(described, (std::vector<std::pair<model::RequestId, std::string>>{
                           {1, "hd0"}, {4, "log"}, {5, "hd0"}}));
  EXPECT_EQ(unflushed_requests(*run, named("a12-")), (std::vector<model::RequestId>{1, 4, 5}));
  EXPECT_EQ(lost_writes(*run, named("a12!3-"), "ext4")->flushes_ignored, 1U);
  const auto one = lost_writes(*run, named("w12-"), "ext4");
  ASSERT_TRUE(one);
  for (const LostWrite& each : one->writes) EXPECT_EQ(each.disk, "");

  const auto physical = as_lost_writes(*run, {.base = CrashState::Base::physical, .event = 12});
  ASSERT_TRUE(physical) << physical.error().message();
  ASSERT_TRUE(*physical);
  EXPECT_EQ(states::format(**physical), "a12-1.4~5:0x1");

  const MinimisedState small = minimise_state(
      named("a12-"), unflushed_requests(*run, named("a12-")),
      [](const CrashState& state) { return missing_write(state, 4).has_value(); }, {});
  EXPECT_EQ(states::format(small.state), "a12-4");
}

TEST(LostWrites, CannotDescribeAWriteTornTwice) {
  const TemporaryFolder folder;
  RecordedDisk disk(folder / "r", 64);
  const auto data = RecordedDisk::stamps(1, 1, 0, 4096);
  disk.write(1, 8, data).ack(1);
  disk.media(1, 8, {data.begin(), data.begin() + 512})
      .media(1, 12, {data.begin() + 2048, data.begin() + 2560});
  const auto run = disk.load();
  const auto state = as_lost_writes(*run, {.base = CrashState::Base::physical, .event = 4});
  ASSERT_TRUE(state) << state.error().message();
  EXPECT_FALSE(*state);
}

TEST(DescribeWrite, IdentifiesSelfDescribingContent) {
  const auto stamps = RecordedDisk::stamps(3, 12, 512, 512);
  EXPECT_EQ(describe_write("ext4", 8, stamps), "file 3: version 12, block 1");
  EXPECT_EQ(describe_write("ext4", 8, std::vector<std::byte>(8192)), "2 x zeroes");
  EXPECT_EQ(describe_write("xfs", 8, RecordedDisk::block({0xfe, 0xed, 0xba, 0xbe, 0, 0, 0, 2})),
            "log record of cycle 2");
  EXPECT_EQ(
      describe_write("xfs", 8, RecordedDisk::block({'X', 'A', 'G', 'F', 0, 0, 0, 1, 0, 0, 0, 2})),
      "free space header (AGF) of group 2");
  EXPECT_EQ(describe_write("ext4", 8, RecordedDisk::block({'X', 'A', 'G', 'F'})),
            "metadata or data of unknown kind");
  std::vector<std::byte> disk_start(4096);
  disk_start[1080] = std::byte{0x53};
  disk_start[1081] = std::byte{0xef};
  EXPECT_EQ(describe_write("ext2", 0, disk_start), "superblock");
  EXPECT_EQ(describe_write("ext2", 8, disk_start), "metadata or data of unknown kind");
}

/// Inodes as written by mkfs.xfs and mkdir: version 3, with the inode number at offset 152. Free
/// inodes have mode 0.
TEST(DescribeWrite, IdentifiesInodesOfXfs) {
  std::vector<std::byte> cluster(4096);
  for (std::size_t i = 0; i < 8; ++i) {
    const auto put = [&](std::size_t at, unsigned value) {
      cluster[i * 512 + at] = static_cast<std::byte>(value);
    };
    put(0, 'I');
    put(1, 'N');
    put(4, 3);
    put(159, 128 + static_cast<unsigned>(i));
  }
  EXPECT_EQ(describe_write("xfs", 64, cluster), "inodes 128 to 135, none in use");
  cluster[2] = cluster[512 * 3 + 2] = std::byte{0x41};  // S_IFDIR, 0755
  cluster[512 * 4 + 2] = std::byte{0x81};               // S_IFREG
  EXPECT_EQ(describe_write("xfs", 64, cluster),
            "inodes 128 to 135; in use: 128 (directory), 131 (directory), 132 (file)");
  EXPECT_EQ(describe_write("xfs", 64, std::span(cluster).subspan(2048, 512)),
            "inode 132; in use: 132 (file)");
  EXPECT_EQ(describe_write("ext4", 64, cluster), "metadata or data of unknown kind");
  cluster[4] = std::byte{2};  // version 2, which does not contain the inode number
  EXPECT_EQ(describe_write("xfs", 64, cluster), "inodes");
}

TEST(DescribeWrite, IdentifiesInodesOfABtrfsLeaf) {
  std::vector<std::byte> leaf(4096);
  const auto put = [&](std::size_t at, unsigned value) {
    leaf[at] = static_cast<std::byte>(value);
  };
  put(49, 0x40);                                        // address of the node: 16 384
  put(80, 7);                                           // generation
  put(88, 5);                                           // owner: the tree that holds files
  put(96, 2);                                           // number of items
  put(101 + 1, 1), put(101 + 25, 3), put(101 + 26, 1);  // inode numbers 256 and 259
  EXPECT_EQ(describe_write("btrfs", 64, leaf),
            "node of the file system tree, level 0, generation 7, inodes 256 to 259");
  put(101 + 25, 0);
  EXPECT_EQ(describe_write("btrfs", 64, leaf),
            "node of the file system tree, level 0, generation 7, inode 256");
  put(100, 1);
  EXPECT_EQ(describe_write("btrfs", 64, leaf),
            "node of the file system tree, level 1, generation 7")
      << "no leaf";
}

/// Payloads come from recordings, and a recording may be damaged.
TEST(DescribeWrite, AcceptsAnyBytes) {
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> bytes(random.below(6000));
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random.below(4) == 0 ? random.below(256) : 0);
    for (const char* type : {"ext4", "xfs", "btrfs", "f2fs", "nilfs2", "reiserfs"})
      EXPECT_LE(describe_write(type, random.below(300), bytes).size(), 1000U);
  }
}

/// Recorded events, with their numbers: 0 write W1 to the array, 1 medium of hd0.0, 2 medium of
/// hd0.1 (parity), 3 ack, 4 write W2 to the array, 5 medium of hd0.1, 6 medium of hd0.0.
std::shared_ptr<const states::RunHistory> an_array_run(const TemporaryFolder& folder) {
  auto writer = record::RecordingWriter::create(
      folder / "array.hcrec",
      {1, {{"hd0", "raid1", 64, 1, false}, {"hd0.0", "d", 64, 1}, {"hd0.1", "d", 64, 1}}});
  EXPECT_TRUE(writer);
  const std::vector<std::byte> sector(model::kSectorBytes, std::byte{7});
  model::TimeNs now = 0;
  const auto host = [&](model::RequestId id, std::uint64_t lba) {
    (*writer)->submitted(
        0, now += 1'000'000,
        {.id = id, .op = model::Op::write, .lba = lba, .sectors = 1, .data = sector});
  };
  const auto member = [&](model::DeviceId id, std::uint64_t lba) {
    (*writer)->media_written(id, now += 1'000'000,
                             {.lba = lba, .sectors = 1, .outcome = {}, .bytes = sector});
  };
  host(1, 10);
  member(1, 20);
  member(2, 20);
  (*writer)->acknowledged(0, {.id = 1});
  host(2, 11);
  member(2, 21);
  member(1, 21);
  EXPECT_TRUE((*writer)->flush());
  return states::RunHistory::load(folder / "array.hcrec").value();
}

TEST(FailureText, DescribesTheMembersOfAnArray) {
  const TemporaryFolder folder;
  const auto run = an_array_run(folder);
  ASSERT_TRUE(run->header().of_array());
  const auto cut = array_cut(*run, named("m6:1@1"), 5);
  ASSERT_TRUE(cut);
  ASSERT_EQ(cut->lost.size(), 1U);
  EXPECT_EQ(cut->lost[0].member, "hd0.0");
  EXPECT_EQ(cut->lost[0].lba, 20U);
  EXPECT_EQ(cut->done.size(), 2U);
  ASSERT_EQ(cut->under_way.size(), 1U);
  EXPECT_EQ(cut->under_way[0].request, 2U);
  EXPECT_EQ(array_cut(*run, named("p7"), 1)->done.back().event, 6U);

  const adapters::LinuxAdapter filesystem{.name = "ext4", .title = "ext4", .type = "ext4"};
  const RecordedWorkload workload{.recording = run->path()};
  const StateOutcome outcome;
  const auto account = failure_text({.filesystem = &filesystem,
                                     .workload = &workload,
                                     .run = run.get(),
                                     .state = named("m6:1@1"),
                                     .outcome = &outcome,
                                     .faults = {"dead:hd0.1"}});
  ASSERT_TRUE(account) << account.error().message();
  EXPECT_NE(account->find("Power cut and members\n---------------------\n"
                          "  After event 6 of the recording, 5.000 ms after its start.\n"
                          "  Request 2 (1 sectors from LBA 11) was in flight in the array.\n\n"
                          "  Not executed, because the member had stopped before the others:\n"
                          "       hd0.0     2.000 ms      1 sectors from LBA 20\n\n"
                          "  Last operations of the members:\n"
                          "       hd0.1     3.000 ms      1 sectors from LBA 20\n"
                          "       hd0.1     5.000 ms      1 sectors from LBA 21\n\n"
                          "  When the power returned: dead:hd0.1\n"),
            std::string::npos)
      << *account;
}

}  // namespace
}  // namespace headcrash::explorer
