// Tests a journal on a separate device: it must be created and found, foreign devices must be
// rejected, a replay must use both devices, and both must be flushed.

#include <algorithm>

#include "fs-adapters/substrate/os/cut_store.h"
#include "fs-adapters/substrate/os/device_stores.h"
#include "fs-adapters/ufs/schemes/journal_replay.h"
#include "fs-adapters/ufs/testing/journal.h"
#include "fs-adapters/ufs/testing/mounted.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
namespace {

using bench::Setup;
using os::DeviceStores;

constexpr std::uint64_t kHomeSectors = (8 << 20) / kSectorBytes,
                        kLogSectors = (1 << 20) / kSectorBytes;

/// The disk of a file system and the disk of its log. `both` presents them as one store.
struct Disks {
  std::unique_ptr<media::MemoryStore> home = *media::MemoryStore::create(kHomeSectors);
  std::unique_ptr<media::MemoryStore> log = *media::MemoryStore::create(kLogSectors);
  DeviceStores both{{{.store = home.get(), .sectors = kHomeSectors},
                     {.store = log.get(), .sectors = kLogSectors}}};

  Disks copied() const {
    Disks made;
    bench::copy(*home, *made.home);
    bench::copy(*log, *made.log);
    return made;
  }
};

MkfsOptions external(std::uint32_t time = 0) {
  return {.block_bytes = 4096,
          .fragment_bytes = 1024,
          .bytes_per_inode = 4096,
          .time = time,
          .external_journal_bytes = 512 << 10};
}

Disks made(std::uint32_t time = 0) {
  Disks disks;
  const auto done = mkfs(disks.both, external(time));
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
  return disks;
}

/// A machine with the disks. It logs the driver's writes in the order in which they complete.
class Machine {
 public:
  enum class Second : std::uint8_t { there, missing };
  explicit Machine(Disks& disks, Setup its_setup, Second second = Second::there)
      : setup(std::move(its_setup)),
        log(disks.both),
        machine(
            log,
            {.system = {.queue = setup.queue, .cache = {.bytes = 1 << 20}, .syncer = {.parts = 3}},
             .second_sectors = second == Second::there ? kLogSectors : 0}) {
    machine.system.syncer.start();
  }
  ~Machine() {
    if (file_system) file_system->abandon();
    machine.disk.power_cut();
    machine.system.executor.halt();
    file_system.reset();
  }

  void as_user(std::function<void()> body) { machine.system.run_as(account, std::move(body)); }
  /// Mounts the file system. Returns the error message; empty if the mount succeeded.
  std::string mount() {
    std::string problem;
    as_user([&] {
      auto mounted = FileSystem::mount(machine.system, setup.mount);
      if (mounted)
        file_system = std::move(*mounted);
      else
        problem = mounted.error().message();
    });
    return problem;
  }
  void unmount() {
    as_user([&] {
      EXPECT_TRUE(file_system->unmount());
      file_system.reset();
    });
  }
  const JournalCounters& counters() {
    return dynamic_cast<Journal&>(*file_system->volume().scheme).counters();
  }

  Setup setup;
  os::LoggedStore log;
  os::MemoryMachine machine;
  os::Account account{.name = "ann"};
  std::unique_ptr<FileSystem> file_system;
};

Setup setup(const char* name = "journal-external") {
  return bench::setup_named(name);
}

void put_synced(Vfs& fs, const std::string& name, const std::string& text) {
  bench::put_file(fs, name, text);
  const auto file = fs.open(name, {});
  ASSERT_TRUE(file);
  EXPECT_TRUE(fs.fsync(*file));
  EXPECT_TRUE(fs.close(*file));
}

/// Creates names, removes some of them, writes one file with indirect blocks and syncs "last". Then
/// the power fails.
void leave_behind(Disks& disks, const char* name = "journal-external") {
  Machine m(disks, setup(name));
  ASSERT_EQ(m.mount(), "");
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    EXPECT_TRUE(fs.mkdir("d", 0755));
    for (int i = 0; i < 20; ++i)
      bench::put_file(fs, "d/f" + std::to_string(i), std::string(i * 700, 'f'));
    for (int i = 0; i < 20; i += 3) EXPECT_TRUE(fs.unlink("d/f" + std::to_string(i)));
    put_synced(fs, "last", std::string(100'000, 'l'));
    bench::put_file(fs, "never", "committed");
  });
}

std::string mount_alone(Disks& disks, const char* name = "journal-external",
                        Machine::Second second = Machine::Second::there) {
  Machine m(disks, setup(name), second);
  return m.mount();
}

TEST(ExternalJournal, MkfsFormatsBothDevices) {
  Disks disks = made();
  const auto reader = ImageReader::open(disks.both);
  ASSERT_TRUE(reader) << reader.error().message();
  const Superblock& super = reader->superblock();
  EXPECT_TRUE(super.features.external_journal);
  EXPECT_EQ(super.journal, (Extent{.at = 0, .fragments = 512}));
  EXPECT_NE(super.journal_id, 0U);
  std::vector<std::byte> sector(kSectorBytes);
  ASSERT_TRUE(disks.log->read(0, sector));
  const auto journal = decode_journal_superblock(sector, super);
  ASSERT_TRUE(journal) << journal.error().message();
  EXPECT_EQ(journal->file_system, super.journal_id);
  EXPECT_EQ(journal_identifier(sector), super.journal_id);
  bench::expect_clean(disks.both);
  // The external journal takes no space in the file system itself.
  Disks plain;
  const auto without =
      mkfs(*plain.home, {.block_bytes = 4096, .fragment_bytes = 1024, .bytes_per_inode = 4096});
  ASSERT_TRUE(without);
  EXPECT_EQ(super.total, without->total);
  EXPECT_EQ(super.data_fragments, without->data_fragments);
  // mkfs gives each new log a different identifier.
  ASSERT_TRUE(mkfs(disks.both, external()));
  EXPECT_NE(ImageReader::open(disks.both)->superblock().journal_id, super.journal_id);
}

TEST(ExternalJournal, MkfsRejectsInvalidOptions) {
  Disks disks;
  const auto error_of = [&](model::SectorStore& store, const MkfsOptions& options) {
    const auto done = mkfs(store, options);
    return done ? std::string() : done.error().message();
  };
  EXPECT_NE(error_of(*disks.home, external()).find("second device"), std::string::npos);
  MkfsOptions options = external();
  options.external_journal_bytes = 2 << 20;
  EXPECT_NE(error_of(disks.both, options).find("second device of 2097152 bytes"),
            std::string::npos);
  options.external_journal_bytes = 4096;
  EXPECT_NE(error_of(disks.both, options).find("external-journal"), std::string::npos);
  options = external();
  options.journal_bytes = 0;
  EXPECT_NE(error_of(disks.both, options).find("use only one of them"), std::string::npos);
  options = external();
  options.features.fast_check = true;
  EXPECT_NE(error_of(disks.both, options).find("use only one of them"), std::string::npos);
}

TEST(ExternalJournal, FilesSurviveARemount) {
  for (const char* name : {"journal-external", "journal-external-data",
                           "journal-external-unbatched", "journal-external-data-unbatched"}) {
    SCOPED_TRACE(name);
    Disks disks = made();
    for (int round = 0; round < 3; ++round) {
      Machine m(disks, setup(name));
      ASSERT_EQ(m.mount(), "");
      m.as_user([&] {
        for (int i = 0; i < 30; ++i)
          put_synced(*m.file_system, "f" + std::to_string(round * 100 + i),
                     std::string(i * 900, 'x'));
        for (int i = 0; i < 30; i += 4)
          EXPECT_TRUE(m.file_system->unlink("f" + std::to_string(round * 100 + i)));
      });
      EXPECT_GT(m.counters().commits, 20U);
      m.unmount();
      bench::expect_clean(disks.both);
    }
    const auto reader = ImageReader::open(disks.both);
    EXPECT_TRUE(reader->lookup("f1"));
    EXPECT_TRUE(reader->lookup("f229"));
    EXPECT_FALSE(reader->lookup("f204"));
  }
}

TEST(ExternalJournal, RejectsAMissingOrForeignDevice) {
  Disks disks = made();
  leave_behind(disks);
  const auto expect_refused = [](Disks& them, const std::string& words) {
    const auto untouched = them.copied();
    for (const char* name : {"journal-external", "journal", "soft-updates"}) {
      const std::string problem = mount_alone(them, name);
      EXPECT_NE(problem.find(words), std::string::npos) << name << ": " << problem;
    }
    Fsck fsck;
    const auto seen = fsck.check(them.both);
    ASSERT_FALSE(seen);
    EXPECT_NE(seen.error().message().find(words), std::string::npos) << seen.error().message();
    ASSERT_FALSE(fsck.run(them.both, {.repair = true}));
    for (const auto& [now, before] :
         {std::pair(&*them.home, &*untouched.home), {&*them.log, &*untouched.log}}) {
      std::vector<std::byte> a(now->sectors() * kSectorBytes), b(a.size());
      ASSERT_TRUE(now->read(0, a) && before->read(0, b));
      EXPECT_EQ(a, b) << "nothing is written";
    }
  };
  EXPECT_NE(mount_alone(disks, "journal-external", Machine::Second::missing)
                .find("the log device is missing"),
            std::string::npos);
  Fsck fsck;
  const auto alone = fsck.check(*disks.home);
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message().find("the log's device: cannot be read"), std::string::npos)
      << alone.error().message();

  Disks blank = disks.copied();
  ASSERT_TRUE(blank.log->write_zeroes(0, kLogSectors));
  expect_refused(blank, "invalid magic number");

  // Uses the log of a similar file system. The transactions in that log are valid, but only for the
  // other file system.
  Disks other = made(1);
  leave_behind(other);
  Disks mixed = disks.copied();
  bench::copy(*other.log, *mixed.log);
  expect_refused(mixed, "belongs to another file system");

  EXPECT_EQ(mount_alone(disks), "");
}

std::vector<std::byte> contents_of(const model::SectorStore& store) {
  std::vector<std::byte> bytes(store.sectors() * kSectorBytes);
  EXPECT_TRUE(store.read(0, bytes));
  return bytes;
}

std::string lost_words(const FsckReport& report) {
  for (const Finding& finding : report.findings)
    if (finding.kind == FindingKind::lost_journal) return finding.text;
  return {};
}

TEST(ExternalJournal, ALostDeviceIsGivenUpOnlyOnRequest) {
  Disks disks = made();
  leave_behind(disks);
  Fsck fsck;
  const auto refused = fsck.run(*disks.home, {.repair = true});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("--without-log"), std::string::npos)
      << refused.error().message();

  const Disks before = disks.copied();
  const auto seen = fsck.check(*disks.home, FsckOptions{.without_log = true});
  ASSERT_TRUE(seen) << seen.error().message();
  EXPECT_EQ(seen->worst, Severity::damage);
  EXPECT_NE(lost_words(*seen).find("are lost"), std::string::npos) << lost_words(*seen);
  EXPECT_EQ(contents_of(*disks.home), contents_of(*before.home)) << "a check writes nothing";

  const auto repaired = fsck.run(*disks.home, {.repair = true, .without_log = true});
  ASSERT_TRUE(repaired) << repaired.error().message();
  EXPECT_FALSE(repaired->unrepaired);
  EXPECT_EQ(repaired->replayed, 0U);
  const auto again = fsck.check(*disks.home);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(again->nothing_found()) << bench::findings_of(*again);
  EXPECT_NE(
      mount_alone(disks, "journal-external", Machine::Second::missing).find("no external log"),
      std::string::npos);
  EXPECT_EQ(mount_alone(disks, "conventional", Machine::Second::missing), "");
  EXPECT_EQ(contents_of(*disks.log), contents_of(*before.log)) << "the log is not touched";
}

TEST(ExternalJournal, LosingTheDeviceOfACleanFileSystemLosesNothing) {
  Disks disks = made();
  {
    Machine m(disks, setup());
    ASSERT_EQ(m.mount(), "");
    m.as_user([&] { put_synced(*m.file_system, "kept", "text"); });
    m.unmount();
  }
  Fsck fsck;
  const auto repaired = fsck.run(*disks.home, {.repair = true, .without_log = true});
  ASSERT_TRUE(repaired) << repaired.error().message();
  EXPECT_EQ(repaired->findings.size(), 1U) << bench::findings_of(*repaired);
  EXPECT_NE(lost_words(*repaired).find("nothing is lost"), std::string::npos);
  Machine m(disks, setup("conventional"), Machine::Second::missing);
  ASSERT_EQ(m.mount(), "");
  m.as_user([&] { EXPECT_EQ(bench::get_file(*m.file_system, "kept"), "text"); });
}

/// The repair must also update the replicas of the superblock. Otherwise, a superblock that is
/// later restored from a replica would refer to the lost device again.
TEST(ExternalJournal, GivingUpADeviceCanBeRestartedAfterACut) {
  Disks disks = made();
  leave_behind(disks);
  bool ended = false;
  for (std::uint64_t writes = 0; !ended; ++writes) {
    SCOPED_TRACE(writes);
    Disks now = disks.copied();
    Fsck fsck;
    os::CutStore cut(*now.home, writes);
    ended = fsck.run(cut, {.repair = true, .without_log = true}).has_value();
    if (!ended) {
      ASSERT_TRUE(fsck.run(*now.home, {.repair = true, .without_log = true}));
    }
    ASSERT_TRUE(
        now.home->write_zeroes(kSuperblockByte / kSectorBytes, kSuperblockBytes / kSectorBytes));
    const auto mended = fsck.run(*now.home, {.repair = true});
    ASSERT_TRUE(mended) << mended.error().message();
    const auto last = fsck.check(*now.home);
    ASSERT_TRUE(last) << last.error().message();
    EXPECT_TRUE(last->nothing_found()) << bench::findings_of(*last);
  }
}

TEST(ExternalJournal, SchemesThatRequireOneRejectFileSystemsWithoutIt) {
  Disks disks;
  ASSERT_TRUE(mkfs(disks.both, {.block_bytes = 4096, .fragment_bytes = 1024, .journal_bytes = 0}));
  EXPECT_NE(mount_alone(disks).find("no external log"), std::string::npos);
  EXPECT_EQ(mount_alone(disks, "journal"), "");
}

TEST(ExternalJournal, MountAndFsckReplayTheJournal) {
  for (const char* name : {"journal-external", "journal-external-data"}) {
    SCOPED_TRACE(name);
    Disks disks = made();
    leave_behind(disks, name);
    Fsck fsck;
    const auto seen = fsck.check(disks.both);
    ASSERT_TRUE(seen) << seen.error().message();
    EXPECT_TRUE(seen->nothing_found()) << bench::findings_of(*seen);
    EXPECT_GT(seen->replayed, 0U);
    Disks repaired = disks.copied();
    ASSERT_TRUE(fsck.run(repaired.both, {.repair = true}));
    bench::expect_clean(repaired.both);
    // A mount under any scheme replays the journal and then marks it as not in use.
    EXPECT_EQ(mount_alone(disks, "conventional"), "");
    for (Disks* const one : {&disks, &repaired}) {
      const auto reader = ImageReader::open(one->both);
      ASSERT_TRUE(reader);
      EXPECT_TRUE(reader->lookup("last"));
      EXPECT_TRUE(reader->lookup("d/f1"));
      EXPECT_FALSE(reader->lookup("d/f3"));
      EXPECT_FALSE(reader->lookup("never"));
    }
  }
}

TEST(ExternalJournal, LeavesNothingToRepairAfterACutAtAnyWrite) {
  for (const char* name : {"journal-external", "journal-external-data"}) {
    SCOPED_TRACE(name);
    Disks disks = made();
    Disks at = disks.copied();
    std::vector<os::LoggedStore::Write> writes;
    std::size_t synced = 0;
    {
      Machine m(disks, setup(name));
      m.log.keep = true;
      ASSERT_EQ(m.mount(), "");
      m.as_user([&] {
        Vfs& fs = *m.file_system;
        for (int i = 0; i < 40; ++i) {
          bench::put_file(fs, "f" + std::to_string(i), std::string(i * 700, 'f'));
          if (i % 2 == 1) put_synced(fs, "s" + std::to_string(i), std::string(30'000, 's'));
          if (i % 3 == 2) {
            EXPECT_TRUE(fs.unlink("f" + std::to_string(i - 1)));
          }
        }
        synced = m.log.log.size();
        m.machine.system.executor.sleep_until(m.machine.system.executor.now() +
                                              40 * model::kSecondNs);
      });
      writes = m.log.log;
    }
    ASSERT_GT(writes.size(), 60U);
    Fsck fsck;
    std::size_t replayed = 0, on_the_log = 0;
    for (std::size_t i = 0; i < writes.size(); ++i) {
      ASSERT_TRUE(at.both.write(writes[i].lba, writes[i].bytes));
      on_the_log += os::device_of(writes[i].lba);
      const auto seen = fsck.check(at.both);
      ASSERT_TRUE(seen) << seen.error().message();
      ASSERT_TRUE(seen->nothing_found()) << "write " << i << ": " << bench::findings_of(*seen);
      replayed += seen->replayed > 0 ? 1 : 0;
      if (i + 1 < synced) continue;
      Disks copy = at.copied();
      ASSERT_TRUE(fsck.run(copy.both, {.repair = true}));
      ASSERT_TRUE(ImageReader::open(copy.both)->lookup("s39")) << "write " << i;
    }
    EXPECT_GT(replayed, 20U);
    EXPECT_GT(on_the_log, 10U);
    EXPECT_LT(on_the_log, writes.size());
  }
}

/// Both disks have caches that lose all unflushed writes. The driver does not flush the caches by
/// itself.
TEST(ExternalJournal, FlushesBothDevices) {
  for (const JournalOptions::Contents contents :
       {JournalOptions::Contents::metadata, JournalOptions::Contents::data}) {
    auto flushing = setup();
    flushing.mount.options.journal.contents = contents;
    flushing.mount.options.journal.flushes = true;
    Disks disks = made();
    const std::string text(20'000, 'x');
    {
      Machine m(disks, flushing);
      m.machine.disk.write_cache(true);
      ASSERT_EQ(m.mount(), "");
      m.as_user([&] {
        for (int i = 0; i < 100; ++i)
          put_synced(*m.file_system, "f" + std::to_string(i % 10), text);
      });
      EXPECT_GT(m.counters().tail_writes, 0U) << "the ring wrapped around";
    }
    Fsck fsck;
    const auto seen = fsck.run(disks.both, {.repair = true});
    ASSERT_TRUE(seen) << seen.error().message();
    EXPECT_TRUE(seen->nothing_found()) << bench::findings_of(*seen);
    const auto reader = ImageReader::open(disks.both);
    for (int i = 0; i < 10; ++i) {
      const auto file = reader->lookup("f" + std::to_string(i));
      ASSERT_TRUE(file) << i;
      std::vector<std::byte> bytes(text.size());
      EXPECT_EQ(reader->read(*file, 0, bytes).value_or(0), bytes.size()) << i;
      EXPECT_TRUE(std::ranges::equal(bytes, bench::bytes_of(text))) << i;
    }
  }
}

/// Records the requests to the driver during an fsync, as letters. Requests to the log's device are
/// w for a write, c for a commit record and F for a flush. Requests to the other device are d for a
/// write and f for a flush.
class BothDevices final : public os::DiskTracer {
 public:
  void issued(os::RequestId, const os::BlockRequest& request, const os::Ordering&) override {
    const bool log = os::device_of(request.lba) == 1;
    if (request.op == model::Op::flush) letters += log ? 'F' : 'f';
    if (request.op == model::Op::write)
      letters += !log ? 'd' : little_endian::load32(request.data, 0) == 0x434a4348 ? 'c' : 'w';
  }
  void completed(const os::DiskTrace&) override {}
  std::string letters;
};

TEST(ExternalJournal, TheCommitRecordFollowsFlushesOfBothDevices) {
  auto flushing = setup();
  flushing.mount.options.journal.flushes = true;
  Disks disks = made();
  Machine m(disks, flushing);
  ASSERT_EQ(m.mount(), "");
  BothDevices letters;
  m.as_user([&] {
    const auto file = m.file_system->open("f", {.create = true});
    ASSERT_TRUE(file);
    EXPECT_TRUE(m.file_system->pwrite(*file, 0, bench::bytes_of("text")));
    m.machine.system.queue.trace(&letters);
    EXPECT_TRUE(m.file_system->fsync(*file));
    m.machine.system.queue.trace(nullptr);
  });
  EXPECT_EQ(letters.letters, "dfwfFcF");
}

/// Runs ten users, each of which writes and waits five times. Returns the number of commits.
std::uint64_t commits_of(const char* name) {
  Disks disks = made();
  Machine m(disks, setup(name));
  EXPECT_EQ(m.mount(), "");
  for (int user = 0; user < 10; ++user) {
    m.machine.system.executor.spawn(os::Executor::Kind::user, m.account, [&m, user] {
      Vfs& fs = *m.file_system;
      const auto file = fs.open("f" + std::to_string(user), {.create = true});
      ASSERT_TRUE(file);
      for (std::uint64_t i = 0; i < 5; ++i) {
        EXPECT_TRUE(fs.pwrite(*file, i * 5000, bench::bytes_of(std::string(5000, 'x'))));
        EXPECT_TRUE(fs.fsync(*file));
      }
    });
  }
  m.machine.system.executor.run();
  return m.counters().commits;
}

TEST(ExternalJournal, CallersShareACommitUnlessBatchingIsOff) {
  for (const char* name : {"journal-external", "journal-external-data"}) {
    EXPECT_LT(commits_of(name), 25U) << name;
    EXPECT_GE(commits_of((name + std::string("-unbatched")).c_str()), 50U) << name;
  }
}

/// Data must be durable in the log before it is written in place.
TEST(ExternalJournal, DataIsLoggedOrWrittenInPlaceBeforeTheCommit) {
  for (const char* name : {"journal-external", "journal-external-data"}) {
    Disks disks = made();
    Machine m(disks, setup(name));
    ASSERT_EQ(m.mount(), "");
    BothDevices letters;
    m.as_user([&] {
      const auto file = m.file_system->open("f", {.create = true});
      ASSERT_TRUE(file);
      EXPECT_TRUE(m.file_system->pwrite(*file, 0, bench::bytes_of(std::string(4096, 'x'))));
      m.machine.system.queue.trace(&letters);
      EXPECT_TRUE(m.file_system->fsync(*file));
      m.machine.system.queue.trace(nullptr);
    });
    EXPECT_EQ(letters.letters, std::string_view(name) == "journal-external" ? "dwc" : "wc");
  }
}

}  // namespace
}  // namespace headcrash::ufs
