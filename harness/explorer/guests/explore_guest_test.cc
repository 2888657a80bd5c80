// Tests explorations with a guest. On a correct file system, every state must be clean. Without
// flushes, failures must be found, and must recur on a fresh guest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "harness/explorer/guests/exploration.h"
#include "harness/explorer/guests/guest_pool.h"
#include "harness/explorer/guests/slow_writes.h"

namespace headcrash::explorer {
namespace {

constexpr std::uint64_t kDiskBytes = 64ULL << 20;
constexpr const char* kOperations =
    "mkdir d\n"
    "create d/a\n"
    "write d/a 0 9000 1 1\n"
    "fsync d/a\n"
    "fsyncdir d\n"
    "create b\n"
    "write b 0 4096 2 2\n"
    "fsync b\n"
    "rename b d/c\n"
    "fsyncdir d\n"
    "unlink d/a\n"
    "sync\n";

std::filesystem::path cache_folder() {
  if (const char* folder = std::getenv("HEADCRASH_CACHE")) return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"))
    return std::filesystem::path(folder) / "headcrash";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr ? home : "/tmp") / ".cache" / "headcrash";
}

class PooledGuest : public testing::Test {
 protected:
  static void SetUpTestSuite() { start(0); }
  static void start(std::uint64_t log_bytes) {
    const auto image = vm::guest_image(cache_folder());
    ASSERT_TRUE(image) << image.error().message();
    auto pool = GuestPool::start(
        1, {.image = *image,
            .accelerator = vm::probe_accelerator(cache_folder()).accelerator,
            .disk_bytes = kDiskBytes,
            .others = log_bytes == 0 ? std::vector<adapters::OtherDisk>{}
                                     : std::vector<adapters::OtherDisk>{{"log", log_bytes}},
            .cache = cache_folder()});
    ASSERT_TRUE(pool) << pool.error().message();
    pool_ = std::move(*pool);
  }
  static void TearDownTestSuite() { pool_.reset(); }

  static adapters::LinuxAdapter adapter(const std::string& name) {
    auto loaded = adapters::load_adapter(name);
    EXPECT_TRUE(loaded) << loaded.error().message();
    return std::move(*loaded);
  }

  static RecordedWorkload record(const adapters::LinuxAdapter& filesystem,
                                 const char* list = kOperations, const DiskOptions& options = {}) {
    StageGuest& guest = pool_->guest(0);
    const auto operations = workload::parse_operations(list, "test");
    EXPECT_TRUE(operations) << operations.error().message();
    const auto disk =
        format_disk(guest, filesystem, pool_->scratch() / (filesystem.name + "-formatted.hcrec"),
                    uuid_from(3), options);
    EXPECT_TRUE(disk) << disk.error().problem;
    auto recorded = record_workload(guest, filesystem, *disk, *operations,
                                    pool_->scratch() / (filesystem.name + ".hcrec"));
    EXPECT_TRUE(recorded) << recorded.error().problem;
    EXPECT_FALSE(recorded->failure) << *recorded->failure;
    return std::move(*recorded);
  }

  static ExplorationResult explore_all(const adapters::LinuxAdapter& filesystem,
                                       const RecordedWorkload& workload,
                                       std::vector<states::Strategy> strategies,
                                       std::uint64_t budget) {
    auto result =
        explore(pool_->guests(), filesystem, workload,
                {.explore = {.strategies = std::move(strategies), .seed = 5, .budget = budget},
                 // High enough that at least one of 30 states is almost certainly in the sample.
                 // The probability that the sample is empty is 1 in 40 000.
                 .in_guest_share = 0.3,
                 .failures_confirmed = 2,
                 .recoveries = 2});
    EXPECT_TRUE(result) << result.error().message();
    return std::move(*result);
  }

  static std::unique_ptr<GuestPool> pool_;
};
std::unique_ptr<GuestPool> PooledGuest::pool_;

TEST_F(PooledGuest, Ext4KeepsItsPromisesInEveryState) {
  const adapters::LinuxAdapter ext4 = adapter("ext4");
  const RecordedWorkload workload = record(ext4);
  EXPECT_GT(workload.from_event, 0U);
  EXPECT_GT(workload.to_event, workload.from_event);
  const auto read_again = open_recorded_workload(workload.recording);
  ASSERT_TRUE(read_again) << read_again.error().message();
  EXPECT_EQ(read_again->operations, workload.operations);
  EXPECT_EQ(read_again->from_event, workload.from_event);
  EXPECT_EQ(read_again->to_event, workload.to_event);

  using enum states::Strategy;
  const ExplorationResult result =
      explore_all(ext4, workload, {prefix, lose_all, reorder, recovery}, 60);
  EXPECT_GE(result.checked, 30U);
  EXPECT_TRUE(result.judged);
  EXPECT_EQ(result.clean, result.checked);
  EXPECT_EQ(result.disagreements, 0U);
  EXPECT_GT(result.sampled, 0U);
  for (const ConfirmedFailure& failure : result.failures) {
    ADD_FAILURE() << failure.outcome.full_name() << ": " << failure.outcome.judgement.summary
                  << "\n"
                  << failure.disagreement << "\n"
                  << failure.outcome.log;
  }
  EXPECT_EQ(pool_->guest(0).restores(), 1U) << "a clean state must not restore the guest";
}

/// Covers ranges that are moved within a file, a store to a mapping that is followed by msync, an
/// O_TMPFILE file that is linked later, remount and freeze, flags, writes by io_uring, a hole
/// inside a block, and an open directory.
TEST_F(PooledGuest, Ext4KeepsNonPosixOperationsUnlessFlushesAreOff) {
  constexpr const char* kBeside =
      "create a\nwrite a 0 16384 1 1\nsync\ncollapse a 4096 4096\nfsync a\ninsert a 0 4096\nstore a 0 4096 1 2\n"
      "msync a 0 4096\nsync-range a 4096 4096\ntmpfile %f\nwrite %f 0 4096 2 3\nlink %f b\nfsync %f\nclose %f\n"
      "mknod p fifo\nfreeze\nevict\nunlink p\nremount\nrename b c\nfsync c\n"
      "flags a A\nfsync a\nwrite-uring a 0 4096 1 4\nwrite-direct-dsync a 4096 4096 1 5\npunch a 8292 1000\nfsync a\n"
      "mkdir d\nopen d %d\nevict\ncreate d/x\nfsync %d\nclose %d\n";
  using enum states::Strategy;
  const adapters::LinuxAdapter ext4 = adapter("ext4");
  const RecordedWorkload kept = record(ext4, kBeside);
  EXPECT_TRUE(kept.failed_operations.empty()) << "ext4 supports all operations";
  const ExplorationResult clean = explore_all(ext4, kept, {prefix, lose_all, reorder}, 60);
  EXPECT_EQ(clean.clean, clean.checked);
  for (const ConfirmedFailure& failure : clean.failures)
    ADD_FAILURE() << failure.outcome.full_name() << ": " << failure.outcome.judgement.summary;
  const adapters::LinuxAdapter nobarrier = adapter("ext4-nobarrier");
  const ExplorationResult lost = explore_all(nobarrier, record(nobarrier, kBeside), {lose_all}, 60);
  EXPECT_LT(lost.clean, lost.checked);
}

/// After a crash, the list continues with the recovered tree. Objects that were not synced are
/// gone, so the list may create them again. Recovered data counts as older than all data that is
/// written later.
///
/// On ext2, e2fsck recovers a copy on the host, and the guest mounts this copy.
TEST_F(PooledGuest, OperationsContinueAfterACrash) {
  const adapters::LinuxAdapter ext4 = adapter("ext4");
  const RecordedWorkload workload =
      record(ext4,
             "create a\nwrite a 0 8192 1 1\nsetxattr a user.x y\nfsync a\ncreate b\n"
             "crash power\n"
             "create b\nwrite b 0 4096 2 2\nfsync b\n"
             "crash panic\n"
             "create c\nfsync c\nrename b a\nsync\n");
  std::string list;
  for (const workload::Operation& each : workload.operations) list += workload::format(each) + "\n";
  EXPECT_EQ(
      list,
      "create a\nwrite a 0 8192 1 1\nsetxattr a user.x y\ncreate b\nwrite b 0 4096 2 2\nfreeze\n"
      "create c\nfsync c\nrename b a\nsync\n");
  EXPECT_TRUE(workload.failed_operations.empty()) << "b was lost, so it can be created";
  using enum states::Strategy;
  const ExplorationResult result = explore_all(ext4, workload, {prefix, lose_all}, 40);
  EXPECT_GE(result.checked, 4U);
  EXPECT_EQ(result.clean, result.checked);
  for (const ConfirmedFailure& failure : result.failures)
    ADD_FAILURE() << failure.outcome.judgement.summary;
}

/// The list opens more files than the default limit of 1024 per process.
TEST_F(PooledGuest, ThousandsOfFilesMayBeOpen) {
  std::string list;
  for (int file = 0; file < 1500; ++file) list += fmt::format("tmpfile %f{}\n", file);
  EXPECT_TRUE(record(adapter("ext4"), (list + "sync\n").c_str()).failed_operations.empty());
}

/// F2FS reports success although it does not set the flag. The missing flag must not be reported as
/// lost data.
TEST_F(PooledGuest, AFlagThatF2fsDidNotSetIsNotReportedAsLost) {
  const adapters::LinuxAdapter f2fs = adapter("f2fs");
  const RecordedWorkload workload = record(f2fs, "create f\nflags f C\nflags f d\nsync\n");
  ASSERT_EQ(workload.failed_operations.size(), 1U);
  EXPECT_EQ(workload.failed_operations[0].operation, 1U);
}

TEST_F(PooledGuest, DelaysOnlyWritesOfTheRequestedKind) {
  constexpr model::TimeNs kSlow{400'000'000};
  const adapters::LinuxAdapter ext4 = adapter("ext4");
  const RecordedWorkload workload =
      record(ext4, "create f\nwrite f 0 4096 1 1\nfsync f\nwrite f 4096 4096 1 2\nsync\n",
             {.delay_us = 0, .slow = "journal commit", .slow_us = 400'000});
  const auto commits = places_of_kind(workload.recording, "ext4", "journal commit",
                                      workload.from_event, workload.to_event);
  ASSERT_TRUE(commits) << commits.error().message();
  const auto run = states::RunHistory::load(workload.recording);
  auto reader = record::RecordingReader::open(workload.recording);
  ASSERT_TRUE(run && reader);
  std::vector<model::TimeNs> at;
  for (auto event = reader->next(record::PayloadUse::skip); event && *event;
       event = reader->next(record::PayloadUse::skip))
    at.push_back((*event)->at);
  std::size_t slow = 0, others = 0;
  for (const states::RecordedWrite& write : (*run)->writes(0)) {
    if (!write.acked_event || write.submitted_event < workload.from_event) continue;
    const bool commit =
        std::ranges::find(*commits, std::pair<std::uint64_t, std::uint64_t>{
                                        write.lba, write.sectors}) != commits->end();
    const bool late = at[*write.acked_event] - at[write.submitted_event] >= kSlow;
    EXPECT_EQ(late, commit) << "request " << write.request;
    ++(commit ? slow : others);
  }
  EXPECT_GE(slow, 2U);
  EXPECT_GE(others, 2U);

  StageGuest& guest = pool_->guest(0);
  const auto disk = format_disk(guest, ext4, pool_->scratch() / "none-formatted.hcrec",
                                uuid_from(3), {.slow = "node 3"});
  ASSERT_TRUE(disk);
  const auto none =
      record_workload(guest, ext4, *disk, workload.operations, pool_->scratch() / "none.hcrec");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().problem.find("this workload has no write of kind \"node 3\""),
            std::string::npos)
      << none.error().problem;
}

TEST_F(PooledGuest, JudgesACrashInTheMiddleOfAWorkload) {
  const adapters::LinuxAdapter loose = adapter("ext4-nobarrier");
  StageGuest& guest = pool_->guest(0);
  const auto operations = workload::parse_operations(
      "create a\nwrite a 0 8192 1 1\nfsync a\ncrash power\ncreate b\nfsync b\n", "test");
  const auto disk =
      format_disk(guest, loose, pool_->scratch() / "loose-formatted.hcrec", uuid_from(3));
  ASSERT_TRUE(disk) << disk.error().problem;
  std::optional<oracle::Judgement> at_crash;
  const auto recorded = record_workload(guest, loose, *disk, *operations,
                                        pool_->scratch() / "loose.hcrec", &at_crash);
  ASSERT_FALSE(recorded);
  ASSERT_TRUE(at_crash) << recorded.error().message();
  EXPECT_EQ(at_crash->verdict, oracle::Verdict::lost_synced_data) << at_crash->summary;
}

/// The adapter's options can make the first mount skip recovery. Checks two wrong adapters: if an
/// adapter claims that such a mount recovers, the check must report lost data. If the kernel does
/// not know the options, the check must report the refused mount.
TEST_F(PooledGuest, JudgesTheFirstMountSeparately) {
  const auto with_first = [](const std::string& lines) {
    auto parsed = adapters::parse_adapter("base = 'ext4'\n[variant.first]\n" + lines, "mine.toml");
    EXPECT_TRUE(parsed) << parsed.error().message();
    adapters::LinuxAdapter filesystem = *parsed;
    filesystem.first_mount_options = parsed->variants.at("first").first_mount_options;
    filesystem.first_mount_recovers = parsed->variants.at("first").first_mount_recovers;
    return filesystem;
  };
  const RecordedWorkload workload =
      record(adapter("ext4"), "create a\nwrite a 0 8192 1 1\nfsync a\n");
  const auto explored = [&](const std::string& lines) {
    return explore_all(with_first(lines), workload, {states::Strategy::lose_all}, 20);
  };
  const ExplorationResult recovers = explored("first-mount = 'ro'\n");
  EXPECT_GT(recovers.checked, 1U);
  EXPECT_EQ(recovers.clean, recovers.checked);
  const ExplorationResult does_not = explored("first-mount = 'ro,norecovery'\n");
  ASSERT_FALSE(does_not.failures.empty());
  EXPECT_TRUE(does_not.failures.front().confirmed);
  EXPECT_NE(does_not.failures.front().outcome.judgement.summary.find("also by the first mount"),
            std::string::npos)
      << does_not.failures.front().outcome.judgement.summary;
  const ExplorationResult unread =
      explored("first-mount = 'ro,norecovery'\nfirst-mount-recovers = false\n");
  EXPECT_EQ(unread.clean, unread.checked);
  const ExplorationResult refused = explored("first-mount = 'ro,nosuchword'\n");
  ASSERT_FALSE(refused.failures.empty());
  EXPECT_EQ(refused.failures.front().outcome.judgement.verdict, oracle::Verdict::unmountable);
}

TEST_F(PooledGuest, TheGuestMountsTheResultOfTheHostsFsck) {
  const adapters::LinuxAdapter ext2 = adapter("ext2");
  const RecordedWorkload workload = record(ext2);
  std::size_t mended = 0;
  const auto result =
      explore(pool_->guests(), ext2, workload,
              {.explore = {.strategies = {states::Strategy::prefix}, .seed = 5, .budget = 12},
               .in_guest_share = 1,
               .on_state = [&](const StateOutcome& outcome) {
                 if (!outcome.recovery.replayed) return;
                 ++mended;
                 EXPECT_EQ(outcome.log.find("guest$ e2fsck"), std::string::npos) << outcome.log;
                 EXPECT_EQ(outcome.log.find("EXT4-fs error"), std::string::npos) << outcome.log;
               }});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_GT(mended, 0U);
  EXPECT_GT(result->sampled, 0U);
  EXPECT_EQ(result->disagreements, 0U) << "the host's result agrees with the guest's e2fsck";
}

TEST_F(PooledGuest, Ext4WithoutFlushesFails) {
  const adapters::LinuxAdapter nobarrier = adapter("ext4-nobarrier");
  const RecordedWorkload workload = record(nobarrier);
  const ExplorationResult result =
      explore_all(nobarrier, workload, {states::Strategy::lose_all}, 40);
  EXPECT_LT(result.clean, result.checked);
  ASSERT_FALSE(result.failures.empty());
  for (const ConfirmedFailure& failure : result.failures) {
    EXPECT_TRUE(failure.confirmed)
        << failure.outcome.full_name() << ": " << failure.disagreement << "\n"
        << failure.outcome.log;
    EXPECT_FALSE(failure.outcome.findings.empty());
  }
}

TEST_F(PooledGuest, AnArrayRecoversBeforeTheFileSystem) {
  using enum states::Strategy;
  const adapters::LinuxAdapter ext4 = adapter("ext4");
  StageGuest& guest = pool_->guest(0);
  guest.set_machine({"raid5-5", {}, {}});
  const RecordedWorkload workload = record(ext4);
  const ExplorationResult whole = explore_all(ext4, workload, {member, physical, recovery}, 18);
  EXPECT_EQ(whole.checked, 18U);
  EXPECT_EQ(whole.clean, whole.checked);

  guest.set_machine({"raid5-5", {}, {"dead:hd0.1"}});
  const ExplorationResult refused = explore_all(ext4, workload, {member}, 2);
  ASSERT_EQ(refused.failures.size(), 2U);
  EXPECT_EQ(refused.failures[0].outcome.judgement.verdict, oracle::Verdict::unmountable);
  EXPECT_NE(refused.failures[0].outcome.judgement.summary.find("raid5-5 does not start"),
            std::string::npos);
  EXPECT_TRUE(refused.failures[0].confirmed);
  guest.set_machine({});
}

/// A failure of headcrash itself must be reported as such, and the next state must be checked on a
/// fresh guest.
TEST_F(PooledGuest, ChecksTheNextStateOnAFreshGuestAfterAHang) {
  adapters::LinuxAdapter ext4 = adapter("ext4");
  const RecordedWorkload workload = record(ext4);
  const auto run = states::RunHistory::load(workload.recording);
  ASSERT_TRUE(run) << run.error().message();
  const states::CrashState last{.event = workload.to_event};

  StageGuest& guest = pool_->guest(0);
  const std::size_t restores = guest.restores();
  adapters::LinuxAdapter broken = ext4;
  broken.check.argv = {"no-such-program"};
  const auto refused = StateChecker::create(broken, workload, *run);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->check(guest, last, {.wholly_in_guest = true}).judgement.verdict,
            oracle::Verdict::harness_error);
  const auto checker = StateChecker::create(ext4, workload, *run);
  ASSERT_TRUE(checker);
  const StateOutcome fine = checker->check(guest, last, {.wholly_in_guest = true});
  EXPECT_TRUE(oracle::keeps_promises(fine.judgement.verdict)) << fine.judgement.summary << "\n"
                                                              << fine.log;
  EXPECT_EQ(guest.restores(), restores + 1);

  const StateOutcome absent = checker->check(guest, {.event = 1ULL << 40}, {});
  EXPECT_EQ(absent.judgement.verdict, oracle::Verdict::harness_error) << absent.judgement.summary;
}

/// The first request after load() verifies that the guest sees the loaded state. The test loads
/// another state directly through the server, so the verification must fail.
TEST_F(PooledGuest, RejectsAStateThatTheGuestDoesNotSee) {
  const adapters::LinuxAdapter ext4 = adapter("ext4");
  const RecordedWorkload workload = record(ext4);
  StageGuest& guest = pool_->guest(0);
  const device::StageLoad load{.stage = guest.stage(),
                               .recording = workload.recording,
                               .state = states::format({.event = workload.to_event})};
  const auto switched = [&] { return guest.load(load) && guest.server().load(load); };

  ASSERT_TRUE(switched());
  const auto seen = guest.inspect(ext4, {});
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().kind, ErrorKind::refused);
  EXPECT_NE(seen.error().problem.find("nonce"), std::string::npos) << seen.error().problem;

  ASSERT_TRUE(switched());
  const auto ran = guest.exec({"busybox", "true"});
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().problem.find("nonce"), std::string::npos) << ran.error().problem;

  ASSERT_TRUE(guest.load(load));
  const auto fine = guest.inspect(ext4, {.again = true});
  ASSERT_TRUE(fine) << fine.error().problem;
  EXPECT_TRUE(fine->first.mounted);
  EXPECT_FALSE(fine->tree.empty());
}

/// A guest whose file system has its journal on a separate disk.
class TwoDiskGuest : public PooledGuest {
 protected:
  static void SetUpTestSuite() { start(adapter(kExternal).log_size_bytes); }
  static constexpr const char* kExternal = "ext4-external-journal";

  /// Makes the guest's kernel assume that the data disk is write-through. The kernel then sends no
  /// flushes to the disk.
  static void set_data_write_through(bool write_through) {
    StageGuest& guest = pool_->guest(0);
    ASSERT_TRUE(guest.load(guest.empty_disks()));
    const auto set = guest.set_write_through(write_through, StageGuest::SetDisks::data);
    ASSERT_TRUE(set) << set.error().problem;
  }
};

TEST_F(TwoDiskGuest, Ext4KeepsItsPromisesOnBothDisks) {
  const adapters::LinuxAdapter external = adapter(kExternal);
  const RecordedWorkload workload = record(external);
  const auto run = states::RunHistory::load(workload.recording);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ((*run)->disks(), (std::vector<model::DeviceId>{0, 1}));
  for (const model::DeviceId device : {0, 1}) {
    EXPECT_FALSE((*run)->writes(device).empty()) << device;
    EXPECT_FALSE((*run)->flushes(device).empty())
        << device << ": data must be flushed before the commit";
  }
  using enum states::Strategy;
  const ExplorationResult result =
      explore_all(external, workload, {reorder, lose_all, prefix, recovery}, 16);
  EXPECT_GE(result.checked, 12U);
  EXPECT_EQ(result.clean, result.checked);
  for (const ConfirmedFailure& failure : result.failures) {
    ADD_FAILURE() << failure.outcome.full_name() << ": " << failure.outcome.judgement.summary
                  << "\n"
                  << failure.disagreement << "\n"
                  << failure.outcome.log;
  }
}

/// The kernel sends flushes only to the journal's disk. After a cut, a commit may be on this disk
/// although its data is missing on the other disk. Only a check of both disks together finds this
/// failure.
TEST_F(TwoDiskGuest, AnUnflushedDataDiskFails) {
  set_data_write_through(true);
  const adapters::LinuxAdapter external = adapter("ext4-external-journal-ordered");
  const RecordedWorkload workload = record(external);
  set_data_write_through(false);
  const auto run = states::RunHistory::load(workload.recording);
  ASSERT_TRUE(run) << run.error().message();
  ASSERT_TRUE((*run)->flushes(0).empty());
  ASSERT_FALSE((*run)->flushes(1).empty());
  const ExplorationResult result = explore_all(external, workload, {states::Strategy::lose_all}, 6);
  ASSERT_FALSE(result.failures.empty());
  for (const ConfirmedFailure& failure : result.failures) {
    EXPECT_TRUE(failure.confirmed)
        << failure.outcome.full_name() << ": " << failure.disagreement << "\n"
        << failure.outcome.log;
    EXPECT_EQ(failure.outcome.full_name().front(), 'a') << failure.outcome.full_name();
  }
}

/// Writes three files and reports each as persistent after its fsync. The verifier checks the
/// reported files.
constexpr const char* kApplication = R"(
title = "fsync and report"
tools = ["sh", "dd"]
prepare = ["echo ready > {root}/ready"]
run = ["for i in 1 2 3; do echo $i | dd of={root}/f$i conv=fsync 2>/dev/null && echo persisted f$i; done"]
verify = ["sh {files}/verify.sh {root}"]
[files]
"verify.sh" = """
bad=0
[ -s $1/ready ] || { echo wrong: ready; bad=1; }
while read name; do [ -s $1/$name ] || { echo lost: $name; bad=1; }; done
exit $bad
"""
)";

TEST_F(PooledGuest, AnApplicationsVerifierJudgesItsCrashStates) {
  const std::filesystem::path file = pool_->scratch() / "tell.toml";
  std::ofstream(file) << kApplication;
  const auto application = workload::load_application(file);
  ASSERT_TRUE(application) << application.error().message();
  StageGuest& guest = pool_->guest(0);
  for (const char* name : {"ext4", "ext4-nobarrier"}) {
    const adapters::LinuxAdapter filesystem = adapter(name);
    const auto disk =
        format_disk(guest, filesystem, pool_->scratch() / "told-formatted.hcrec", uuid_from(4));
    ASSERT_TRUE(disk) << disk.error().problem;
    const auto recorded =
        record_application(guest, filesystem, *disk, *application, pool_->scratch() / "told.hcrec");
    ASSERT_TRUE(recorded) << recorded.error().problem;
    ASSERT_FALSE(recorded->failure) << *recorded->failure;
    const auto opened = open_recorded_workload(recorded->recording);
    ASSERT_TRUE(opened && opened->application) << "the verifier is stored next to the recording";
    const ExplorationResult result =
        explore_all(filesystem, *opened, {states::Strategy::lose_all}, 8);
    EXPECT_TRUE(result.judged);
    EXPECT_EQ(result.disagreements, 0U);
    if (filesystem.name == "ext4") {
      EXPECT_EQ(result.clean, result.checked);
      continue;
    }
    ASSERT_FALSE(result.failures.empty()) << "the application flushes nothing";
    // Before the first mark, only the prepared file `ready` can be missing. After it, files whose
    // persistence was reported can be missing, too.
    const auto lost_promised_data = [](const StateOutcome& outcome) {
      return !outcome.persisted_texts.empty() &&
             std::any_of(outcome.findings.begin(), outcome.findings.end(),
                         [](const oracle::Finding& finding) {
                           return finding.kind == oracle::Verdict::lost_synced_data;
                         });
    };
    EXPECT_TRUE(std::any_of(result.outcomes.begin(), result.outcomes.end(), lost_promised_data));
  }
}

}  // namespace
}  // namespace headcrash::explorer
