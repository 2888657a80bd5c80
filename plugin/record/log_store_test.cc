// Tests the log as the store: it must behave like a plain store despite kills, torn tails, full
// disks and reopening. Payloads must be stored once, and the index must stay small.
#include "plugin/record/log_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "plugin/base/testing/temporary_folder.h"
#include "plugin/media/memory_store.h"
#include "plugin/record/backing.h"
#include "plugin/record/event_format.h"
#include "plugin/record/media_image.h"
#include "plugin/record/state.h"
#include "plugin/record/testing/drive.h"

namespace headcrash::record {
namespace {

namespace fs = std::filesystem;

class LogStoreTest : public testing::Test {
 protected:
  static RecordingHeader machine(std::uint64_t sectors) {
    return {7, {{"hd0", "test", sectors, 1}}};
  }

  std::unique_ptr<LogStore> open(const RecordingHeader& header,
                                 const LogStoreOptions& options = {}) {
    auto log = LogStore::open(path_, header, options);
    EXPECT_TRUE(log) << log.error().message();
    return log ? std::move(*log) : nullptr;
  }
  std::string refusal(const RecordingHeader& header) {
    auto log = LogStore::open(path_, header);
    return log ? "" : log.error().message();
  }

  std::string contents() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void set_contents(const std::string& bytes) const {
    // Removes the old file, because some file systems flush a truncated file when it is closed.
    fs::remove(path_);
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  const TemporaryFolder folder_;
  const fs::path path_ = folder_ / "run.hcrec";
};

std::vector<std::byte> block(std::size_t sectors, std::uint64_t value) {
  std::vector<std::byte> data(sectors * kSector);
  for (std::size_t at = 0; at < data.size(); at += 8) std::memcpy(data.data() + at, &value, 8);
  return data;
}

std::vector<std::byte> medium_of(const MediumState& state) {
  std::vector<std::byte> bytes(state.sectors() * kSector);
  EXPECT_TRUE(state.read(0, bytes));
  return bytes;
}

std::uint64_t count_events(const fs::path& path) {
  auto reader = RecordingReader::open(path);
  EXPECT_TRUE(reader);
  std::uint64_t events = 0;
  while (reader->next(PayloadUse::skip).value()) ++events;
  return events;
}

TEST_F(LogStoreTest, BehavesLikeAPlainStore) {
  constexpr std::uint64_t kSectors = 5000;  // the extent index then has three chunks
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    fs::remove(path_);
    LogStoreOptions options;
    /// With the smaller limit, the log store must move bytes to keep the index small.
    options.index_bytes_max = seed % 3 == 0 ? 9000 : 1 << 20;
    options.checkpoint_log_bytes = seed % 2 == 0 ? 100000 : 1 << 30;
    auto memory = media::MemoryStore::create(kSectors);
    ASSERT_TRUE(memory);
    /// Each element is a number of events and the contents of the medium after these events.
    std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> snapshots;
    for (unsigned server = 0; server < 3; ++server) {
      auto log = open(machine(kSectors), options);
      ASSERT_TRUE(log);
      ASSERT_EQ(all_of(*log->store(0)), all_of(**memory)) << "server " << server;
      BothStores both(*log->store(0), **memory);
      TestDrive drive(0, both, *log, seed * 10 + server);
      for (int i = 0; i < 100; ++i) drive.step(i % 10 == 0 ? 3000 : 20);
      ASSERT_EQ(all_of(*log->store(0)), all_of(**memory));
      ASSERT_TRUE(log->flush());
      snapshots.emplace_back(count_events(path_), all_of(**memory));
      if (seed % 3 == 0) {
        EXPECT_GT(log->moved_bytes(), 0U);
      }
    }
    auto line = Timeline::load(path_, 0);
    ASSERT_TRUE(line) << line.error().message();
    for (const auto& [events, expected] : snapshots) {
      auto rebuilt = media::MemoryStore::create(kSectors);
      auto image = rebuild_medium(path_, 0, Until{.events = events}, **rebuilt);
      ASSERT_TRUE(image) << image.error().message();
      ASSERT_EQ(all_of(**rebuilt), expected);
      ASSERT_EQ(medium_of((*line)->at_event(events)), expected);
    }
  }
}

TEST_F(LogStoreTest, ATimelineShowsTheMediumAfterEachEvent) {
  constexpr std::uint64_t kSectors = 300;
  {
    auto log = open(machine(kSectors));
    TestDrive drive(0, *log->store(0), *log, 5);
    for (int i = 0; i < 200; ++i) drive.step(40);
  }
  auto line = Timeline::load(path_, 0, {.kept_max = 7, .media_events_between = 1});
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_GT((*line)->media_events(), 300U);
  const std::uint64_t all = (*line)->events();
  for (std::uint64_t events = 0; events <= all; events += 11) {
    auto rebuilt = media::MemoryStore::create(kSectors);
    ASSERT_TRUE(rebuild_medium(path_, 0, Until{.events = events}, **rebuilt));
    ASSERT_EQ(medium_of((*line)->at_event(events)), all_of(**rebuilt)) << events;
  }
  // A copy of a state is independent: changing the copy must not change the original.
  MediumState state = (*line)->at_event(all);
  const auto before = medium_of(state);
  MediumState other = state;
  other.assign(0, kSectors, ExtentLocation::zeroes());
  EXPECT_EQ(medium_of(state), before);
  EXPECT_EQ(medium_of(other), std::vector<std::byte>(kSectors * kSector));
}

TEST_F(LogStoreTest, ReportsUnreadableSectors) {
  const auto data = block(4, 1);
  {
    auto log = open(machine(64));
    log->submitted(0, 1, {.id = 1, .op = model::Op::write, .lba = 8, .sectors = 4, .data = data});
    ASSERT_TRUE(log->store(0)->write(8, data));
    log->media_written(0, 2, {1, 8, 4, model::MediaWrite::Outcome::written, data});
    log->media_written(0, 3, {0, 10, 1, model::MediaWrite::Outcome::unreadable, {}});
  }
  auto line = Timeline::load(path_, 0);
  ASSERT_TRUE(line);
  EXPECT_EQ((*line)->at_time(2).first_unreadable(0, 64), std::nullopt);
  EXPECT_EQ((*line)->at_time(3).first_unreadable(0, 64), 10U);
  EXPECT_EQ((*line)->at_time(3).first_unreadable(11, 50), std::nullopt);
  auto rebuilt = media::MemoryStore::create(64);
  auto image = rebuild_medium(path_, 0, Until{}, **rebuilt);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->unreadable_sectors, 1U);
  EXPECT_EQ(image->sectors, 4U);
}

TEST_F(LogStoreTest, StoresEachPayloadOnce) {
  constexpr std::uint64_t kRequests = 200;
  auto log = open(machine(kRequests * 256));
  TestDrive drive(0, *log->store(0), *log, 1);
  for (std::uint64_t i = 0; i < kRequests; ++i) drive.write(i * 256, block(256, i), true);
  // The headers of the SUBMIT, MEDIA and ACK events, and the file's header.
  EXPECT_LT(log->log_bytes(), kRequests * (256 * kSector + 3 * kEventHeaderBytes) + 1000);
  EXPECT_LT(log->index_bytes(), kRequests * 24 + 10000);
}

TEST_F(LogStoreTest, TheIndexStaysWithinItsLimit) {
  constexpr std::uint64_t kSectors = 64 * ExtentIndex::kChunkSectors;
  LogStoreOptions options;
  options.index_bytes_max = 64 << 10;
  auto log = open(machine(kSectors), options);
  TestDrive drive(0, *log->store(0), *log, 3);
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < 12000; ++i) {
    drive.write(drive.random(kSectors), block(1, i), true);
    most = std::max(most, log->index_bytes());
  }
  EXPECT_LT(most, options.index_bytes_max + 40000);  // an index of 12000 extents would take 192 KB
  EXPECT_GT(log->moved_bytes(), 0U);
}

TEST_F(LogStoreTest, ContinuesFromACheckpoint) {
  std::vector<std::byte> expected;
  {
    auto log = open(machine(4096));
    TestDrive drive(0, *log->store(0), *log, 9);
    for (int i = 0; i < 400; ++i) drive.step(16);
    expected = all_of(*log->store(0));
  }
  const std::string whole = contents();
  const std::uint64_t events = count_events(path_);
  {
    auto log = open(machine(4096));
    EXPECT_EQ(log->events_read(), 0U);
    EXPECT_EQ(all_of(*log->store(0)), expected);
  }
  // If neither checkpoint slot is readable, the log store reads all events and finds the same
  // contents.
  std::string broken = whole;
  std::fill_n(broken.begin() + kSlotsAt, kTextAt - kSlotsAt, 'x');
  set_contents(broken);
  auto log = open(machine(4096));
  EXPECT_EQ(log->events_read(), events);
  EXPECT_EQ(all_of(*log->store(0)), expected);
}

TEST_F(LogStoreTest, TimesAndRequestIdsContinueAcrossServers) {
  for (int server = 0; server < 3; ++server) {
    auto log = open(machine(64));
    TestDrive drive(0, *log->store(0), *log, 1);
    drive.now = 100;
    drive.write(5, block(1, 1));
    drive.flush();
  }
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader);
  model::TimeNs at = 0;
  model::RequestId submitted = 0;
  int opened = 0;
  for (auto event = reader->next(); event && *event; event = reader->next()) {
    EXPECT_GE((*event)->at, at);
    at = (*event)->at;
    opened += (*event)->kind == Kind::opened;
    if ((*event)->kind != Kind::submit) continue;
    EXPECT_GT((*event)->request, submitted);
    submitted = (*event)->request;
  }
  EXPECT_EQ(opened, 2);
  EXPECT_EQ(at, 300);
  EXPECT_EQ(submitted, 6U);
}

TEST_F(LogStoreTest, TruncatesATornTailToTheLastCompleteEvent) {
  constexpr std::uint64_t kSectors = 64;
  {
    auto log = open(machine(kSectors));
    TestDrive drive(0, *log->store(0), *log, 2);
    for (int i = 0; i < 12; ++i) drive.step(4);
  }
  const std::string whole = contents();
  auto line = Timeline::load(path_, 0);
  ASSERT_TRUE(line);
  auto reader = RecordingReader::open(path_);
  const std::uint64_t first = reader->whole_bytes();
  std::vector<std::uint64_t> ends = {first};
  while (reader->next().value()) ends.push_back(reader->whole_bytes());
  for (std::uint64_t size = first; size < whole.size(); size += 71) {
    set_contents(whole.substr(0, size));
    const auto events = static_cast<std::uint64_t>(
        std::upper_bound(ends.begin(), ends.end(), size) - ends.begin() - 1);
    auto log = open(machine(kSectors));
    ASSERT_TRUE(log);
    ASSERT_EQ(all_of(*log->store(0)), medium_of((*line)->at_event(events))) << size;
    TestDrive drive(0, *log->store(0), *log, 2);
    drive.write(1, block(2, 42), true);
    log.reset();
    ASSERT_EQ(count_events(path_), events + 4);  // OPENED, SUBMIT, MEDIA, ACK
  }
}

TEST_F(LogStoreTest, RejectsADamagedLogWithoutChangingIt) {
  {
    auto log = open(machine(64));
    TestDrive drive(0, *log->store(0), *log, 2);
    for (int i = 0; i < 50; ++i) drive.step(4);
  }
  std::string damaged = contents();
  // There is no checkpoint after the damage, so the damage is detected only if all events are read.
  std::fill_n(damaged.begin() + kSlotsAt, kTextAt - kSlotsAt, '\0');
  damaged[damaged.size() / 2] ^= 1;
  set_contents(damaged);
  const std::string message = refusal(machine(64));
  EXPECT_NE(message.find("damaged"), std::string::npos) << message;
  EXPECT_NE(message.find("offset"), std::string::npos) << message;
  EXPECT_NE(message.find("truncate -s"), std::string::npos) << message;
  EXPECT_EQ(contents(), damaged);
}

TEST_F(LogStoreTest, RejectsOtherDevicesAndASecondServer) {
  auto log = open(machine(64));
  EXPECT_NE(refusal(machine(64)).find("in use"), std::string::npos);
  EXPECT_NE(refusal(machine(65)).find("in use"), std::string::npos)
      << "must be locked before it is read";
  log.reset();
  EXPECT_NE(refusal(machine(65)).find("65 sectors"), std::string::npos);
  RecordingHeader two = machine(64);
  two.devices.push_back({"hd1", "test", 64, 1});
  EXPECT_NE(refusal(two).find("1 devices"), std::string::npos);
  set_contents("hello");
  EXPECT_NE(refusal(machine(64)).find("not a headcrash recording"), std::string::npos);
  EXPECT_EQ(contents(), "hello");
}

TEST_F(LogStoreTest, CreatesNoFileIfTheHeaderDoesNotFitOnTheHostDisk) {
  struct rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  struct rlimit full = before;
  full.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  const std::string message = refusal(machine(64));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, old_handler);
  EXPECT_NE(message.find("free space"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(path_)) << "it would be rejected as an invalid recording later";
}

TEST_F(LogStoreTest, AFullHostDiskCausesAnErrorButNoDamage) {
  struct rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  std::string message;
  std::uint64_t acknowledged = 0;
  {
    auto log = open(machine(1 << 16));
    model::SectorStore& store = *log->store(0);
    struct rlimit full = before;
    full.rlim_cur = 3 << 20;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
    for (std::uint64_t i = 0; i < 100 && !log->error(); ++i) {
      const auto data = block(256, i + 1);
      log->submitted(
          0, 1,
          {.id = i + 1, .op = model::Op::write, .lba = i * 256, .sectors = 256, .data = data});
      if (!store.write(i * 256, data)) break;
      log->media_written(0, 1, {i + 1, i * 256, 256, model::MediaWrite::Outcome::written, data});
      if (log->flush()) acknowledged = i + 1;
    }
    ASSERT_TRUE(log->error());
    message = log->error()->message();
    // After the error, old contents must stay readable, and new writes must fail.
    std::vector<std::byte> sector(kSector);
    EXPECT_TRUE(store.read(0, sector));
    EXPECT_EQ(sector, block(1, 1));
    EXPECT_FALSE(store.write(0, sector));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  }
  signal(SIGXFSZ, old_handler);
  EXPECT_NE(message.find("run.hcrec"), std::string::npos);
  EXPECT_NE(message.find("free space"), std::string::npos) << message;
  EXPECT_GT(acknowledged, 15U);
  auto log = open(machine(1 << 16));
  ASSERT_TRUE(log);
  for (std::uint64_t i = 0; i < acknowledged; ++i) {
    std::vector<std::byte> data(256 * kSector);
    ASSERT_TRUE(log->store(0)->read(i * 256, data));
    ASSERT_EQ(data, block(256, i + 1)) << i;
  }
}

TEST_F(LogStoreTest, KeepsWritesNotReportedToTheObserver) {
  {
    auto log = open(machine(64));
    const auto data = block(2, 1);
    ASSERT_TRUE(log->store(0)->write(3, data));
    ASSERT_TRUE(log->store(0)->write_zeroes(4, 1));  // this call appends the first write to the log
    ASSERT_TRUE(log->store(0)->write_zeroes(40, 0));
  }
  auto log = open(machine(64));
  std::vector<std::byte> data(2 * kSector);
  ASSERT_TRUE(log->store(0)->read(3, data));
  auto expected = block(2, 1);
  std::fill(expected.begin() + kSector, expected.end(), std::byte{0});
  EXPECT_EQ(data, expected);
  EXPECT_FALSE(log->store(0)->read(63, data));
  EXPECT_FALSE(log->store(0)->write(63, data));
}

TEST_F(LogStoreTest, AbortsIfAStoreWriteIsNotReported) {
  auto log = open(machine(64));
  auto data = block(2, 1);
  EXPECT_DEATH(
      {
        static_cast<void>(log->store(0)->write(3, data));
        log->acknowledged(0, {.id = 1});
      },
      "report each store write");
}

/// A drive that needs bytes must not accept a recording without data as its store.
TEST_F(LogStoreTest, FailsReadsOfUnrecordedBytes) {
  {
    auto writer = RecordingWriter::create(path_, machine(64));
    ASSERT_TRUE(writer);
    (*writer)->submitted(0, 1, {.id = 1, .op = model::Op::write, .lba = 8, .sectors = 8});
    (*writer)->media_written(0, 2, {.source = 1, .lba = 8, .sectors = 8});
  }
  const auto log = open(machine(64));
  ASSERT_TRUE(log);
  std::vector<std::byte> bytes(4 * kSector);
  EXPECT_TRUE((*log).store(0)->read(0, bytes));
  const auto read = (*log).store(0)->read(6, bytes);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("sectors 8 to 9 were not recorded"), std::string::npos)
      << read.error().message();
}

/// Writes numbered blocks until this process is killed. After each flush, sends through the pipe
/// the number of the last block written before that flush.
[[noreturn]] void write_until_killed(const fs::path& path, const RecordingHeader& header,
                                     int pipe_fd, std::uint64_t first) {
  auto log = LogStore::open(path, header, {.checkpoint_log_bytes = 256 << 10});
  if (!log) _exit(1);
  TestDrive drive(0, *(*log)->store(0), **log, static_cast<unsigned>(first));
  for (std::uint64_t number = first;; ++number) {
    drive.now += 10;
    drive.write(number % 128 * 8, block(8, number));
    if (drive.random(5) != 0) continue;
    drive.flush();
    if (write(pipe_fd, &number, sizeof(number)) != sizeof(number)) _exit(1);
  }
}

TEST_F(LogStoreTest, AKilledServerLosesNothingThatAFlushPromised) {
  std::array<std::uint64_t, 128> promised = {};
  std::uint64_t next = 1;
  std::mt19937 random(11);
  for (int life = 0; life < 12; ++life) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_until_killed(path_, machine(1024), ends[1], next);
    close(ends[1]);
    std::uint64_t number = 0;
    for (unsigned reports = 1 + random() % 30; reports > 0; --reports)
      ASSERT_EQ(read(ends[0], &number, sizeof(number)), static_cast<ssize_t>(sizeof(number)));
    usleep(random() % 2000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], &number, sizeof(number)) == sizeof(number)) {
    }
    close(ends[0]);
    for (; next <= number; ++next) promised[next % 128] = next;

    auto log = open(machine(1024));
    ASSERT_TRUE(log);
    for (std::uint64_t lba = 0; lba < 1024; ++lba) {
      std::vector<std::byte> sector(kSector);
      ASSERT_TRUE(log->store(0)->read(lba, sector));
      std::uint64_t found = 0;
      std::memcpy(&found, sector.data(), 8);
      ASSERT_EQ(sector, block(1, found)) << "life " << life;
      ASSERT_TRUE(found == 0 || found % 128 == lba / 8);
      ASSERT_GE(found, promised[lba / 8]) << "life " << life << " sector " << lba;
    }
    // Some unflushed blocks of this process may be in the log. The next process must therefore
    // write blocks with larger numbers.
    next += 10000;
    next -= next % 128;
  }
}

TEST_F(LogStoreTest, BackingSupportsEveryCombinationOfStoreAndRecording) {
  const fs::path store = folder_ / "store";
  RecordingHeader header{
      1, {{"md0", "raid1", 64, 1, false}, {"md0-0", "t", 64, 1}, {"md0-1", "t", 64, 1}}};
  const auto data = block(1, 77);
  const auto write_to = [&](Backing& backing, std::uint64_t lba) {
    EXPECT_EQ(backing.store(0), nullptr);
    backing.observer().submitted(
        2, 1, {.id = 1, .op = model::Op::write, .lba = lba, .sectors = 1, .data = data});
    EXPECT_TRUE(backing.store(2)->write(lba, data));
    backing.observer().media_written(2, 1, {1, lba, 1, model::MediaWrite::Outcome::written, data});
    EXPECT_TRUE(backing.flush());
    EXPECT_FALSE(backing.error());
  };
  const auto holds = [&](Backing& backing, std::uint64_t lba) {
    std::vector<std::byte> found(kSector);
    EXPECT_TRUE(backing.store(2)->read(lba, found));
    return found == data;
  };
  for (const bool with_store : {false, true}) {
    for (const bool with_record : {false, true}) {
      SCOPED_TRACE(testing::Message() << with_store << with_record);
      BackingOptions options;
      if (with_store) options.store = store;
      if (with_record) options.record = folder_ / (with_store ? "beside.hcrec" : "alone.hcrec");
      options.machine = header;
      {
        auto backing = Backing::open(options);
        ASSERT_TRUE(backing) << backing.error().message();
        EXPECT_EQ((*backing)->recorded(), with_record);
        const std::uint64_t lba = with_record ? 5 : 6;
        write_to(**backing, lba);
        EXPECT_TRUE(holds(**backing, lba));
      }
      auto again = Backing::open(options);
      ASSERT_EQ(again.has_value(),
                // With both a store and a recording, the recording must be a new file, so reopening
                // fails.
                !(with_store && with_record));
      if (again) {
        EXPECT_EQ(holds(**again, with_record ? 5 : 6), with_store || with_record);
      }
    }
  }
}

}  // namespace
}  // namespace headcrash::record
