// End-to-end tests: nbdkit with the built plugin, libnbd as the client, the control socket, and the
// recording.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "plugin/media/memory_store.h"
#include "plugin/record/media_image.h"
#include "plugin/servers/nbd/testing/served_disk.h"

namespace headcrash::nbd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Upper limit for a wait that is aborted at once. Without the abort, the wait would last minutes.
constexpr double kAtOnceSeconds = 20;
std::vector<char> mark_block(const std::string& text) {
  std::vector<char> bytes(512);
  text.copy(bytes.data(), text.size());
  return bytes;
}

std::vector<record::Event> events_of(const std::string& path) {
  std::vector<record::Event> events;
  auto reader = record::RecordingReader::open(path);
  EXPECT_TRUE(reader) << reader.error().message();
  if (!reader) return events;
  for (auto event = reader->next(); event && *event; event = reader->next())
    events.push_back(**event);
  EXPECT_EQ(reader->truncated_bytes(), 0U);
  return events;
}

/// If many requests fail for the same reason, the log must report the reason without a line for
/// each request.
TEST(Plugin, TheLogNamesTheCauseOfAnError) {
  const TemporaryFolder folder;
  const ServedDisk disk(folder, with(kFast, {"fault=latent-error:hd0,lba=100+1"}));
  Client client(disk);
  std::vector<char> bytes = block('?');
  EXPECT_EQ(client.read(96, bytes), EIO);
  EXPECT_NE(disk.log_text().find(
                "hd0: read of 8 sectors at 96 failed: a sector cannot be read or written"),
            std::string::npos)
      << disk.log_text();
  disk.control(R"({"power":"cut"})");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.flush(), EIO);
  const std::string log = disk.log_text();
  EXPECT_NE(log.find("hd0: flush of 0 sectors at 0 failed: the power is off (failure 64)"),
            std::string::npos)
      << log;
  EXPECT_LT(std::count(log.begin(), log.end(), '\n'), 20);
}

TEST(Plugin, ReadsBackWrittenData) {
  TemporaryFolder folder;
  ServedDisk disk(folder, kFast);
  Client client(disk);
  EXPECT_EQ(nbd_get_size(client.handle()), 64 << 20);
  EXPECT_EQ(client.write(100, block('a')), 0);
  EXPECT_EQ(client.write(104, block('b', 1)), 0);
  EXPECT_EQ(client.zero(106, 1), 0);
  auto expected = block('a');
  std::fill_n(expected.begin() + 4 * 512, 512, 'b');
  std::fill_n(expected.begin() + 6 * 512, 512, '\0');
  EXPECT_EQ(read_block(client, 100), expected);
  EXPECT_EQ(read_block(client, 5000), block('\0'));
  const auto large = block('L', 4096);
  EXPECT_EQ(client.write(8192, large), 0);
  EXPECT_EQ(read_block(client, 8192, 4096), large);
  EXPECT_EQ(client.write(131064, block('z')), 0);
  EXPECT_EQ(read_block(client, 131064), block('z'));
}

TEST(Plugin, WriteCacheLosesUnflushedData) {
  TemporaryFolder folder;
  ServedDisk disk(folder, with(kFast, {"write-cache=on"}));
  Client client(disk);
  EXPECT_EQ(client.write(1000, block('F')), 0);
  EXPECT_EQ(client.flush(), 0);
  EXPECT_EQ(client.write(2000, block('U'), LIBNBD_CMD_FLAG_FUA), 0);
  EXPECT_EQ(client.write(3000, block('V')), 0);
  EXPECT_EQ(read_block(client, 3000), block('V'));
  cut_and_switch_on(disk);
  EXPECT_EQ(read_block(client, 1000), block('F')) << "flushed";
  EXPECT_EQ(read_block(client, 2000), block('U')) << "fua";
  EXPECT_EQ(read_block(client, 3000), block('\0')) << "the data was only in the cache";
}

TEST(Plugin, WithoutWriteCacheACompletedWriteIsDurable) {
  TemporaryFolder folder;
  ServedDisk disk(folder, with(kFast, {"write-cache=off"}));
  Client client(disk);
  EXPECT_EQ(client.write(3000, block('V')), 0);
  cut_and_switch_on(disk);
  EXPECT_EQ(read_block(client, 3000), block('V'));
}

TEST(Plugin, ATornSectorIsAMixOfOldAndNew) {
  TemporaryFolder folder;
  ServedDisk disk(folder, with(kFast, {"write-cache=off"}));
  Client client(disk);
  bool seen_torn = false;
  for (int attempt = 0; attempt < 20 && !seen_torn; ++attempt) {
    ASSERT_EQ(client.write(0, block('o', 256)), 0);
    disk.control(
        json{{"power", "cut"}, {"when", "after-ms:" + std::to_string(25 + attempt) + ".137"}}
            .dump());
    EXPECT_EQ(client.write(0, block('n', 256)), EIO);
    EXPECT_TRUE(disk.control(R"({"power":"on"})")["ok"]);
    std::vector<char> sector(512);
    for (int i = 0; i < 256; ++i) {
      if (client.read(i, sector) != 0) continue;  // the torn sector may be unreadable
      const auto news = std::count(sector.begin(), sector.end(), 'n');
      const auto olds = std::count(sector.begin(), sector.end(), 'o');
      EXPECT_EQ(news + olds, 512) << "sector " << i;
      seen_torn = seen_torn || (news > 0 && olds > 0);
    }
  }
  EXPECT_TRUE(seen_torn);
}

/// Cuts the power in the middle of writes. Returns the number of sectors that are unreadable
/// afterwards. Writing such a sector must make it readable again.
int unreadable_after_cuts(const std::vector<std::string>& arguments) {
  TemporaryFolder folder;
  ServedDisk disk(folder, arguments);
  Client client(disk);
  int unreadable = 0;
  for (int attempt = 0; attempt < 8; ++attempt) {
    EXPECT_EQ(client.write(0, block('o', 256)), 0);
    disk.control(
        json{{"power", "cut"}, {"when", "at-lba:" + std::to_string(20 + attempt * 20)}}.dump());
    EXPECT_EQ(client.write(0, block('n', 256)), EIO);
    EXPECT_TRUE(disk.control(R"({"power":"on"})")["ok"]);
    std::vector<char> sector(512);
    for (int i = 0; i < 256; ++i) {
      const int error = client.read(i, sector);
      if (error == 0) continue;
      EXPECT_EQ(error, EIO);
      EXPECT_EQ(i, 20 + attempt * 20) << "only the sector under the head";
      ++unreadable;
      EXPECT_EQ(client.write(i, block('h', 1)), 0);
      EXPECT_EQ(client.read(i, sector), 0) << "readable after a write";
    }
  }
  return unreadable;
}

TEST(Plugin, TearParameterDeterminesTheStateOfTheSectorUnderTheHead) {
  EXPECT_EQ(unreadable_after_cuts(with(kFast, {"write-cache=off"})), 0);
  EXPECT_EQ(unreadable_after_cuts(with(kFast, {"write-cache=off", "tear=unreadable"})), 8);
  const int some = unreadable_after_cuts(with(kFast, {"write-cache=off", "tear=any", "seed=3"}));
  EXPECT_GT(some, 0);
  EXPECT_LT(some, 8);
}

TEST(Plugin, PowerOffFailsRequestsAtOnce) {
  TemporaryFolder folder;
  for (const char* clock : {"clock=off", "clock=real:1000"}) {
    ServedDisk disk(folder, {"hp-c2447", "size=64M", clock});
    Client client(disk);
    Client marks(disk, "mark");
    disk.control(R"({"power":"cut"})");
    EXPECT_EQ(marks.write(0, mark_block("too late")), EIO) << "the guest shares the power cord";
    std::vector<char> bytes(512);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(client.read(i, bytes), EIO);
      EXPECT_EQ(client.write(i, bytes), EIO);
      EXPECT_EQ(client.flush(), EIO);
    }
    EXPECT_EQ(disk.control(R"({"power":"status"})")["cuts"], 1);
  }
}

TEST(Plugin, ACutAbortsRequestsInFlight) {
  TemporaryFolder folder;
  ServedDisk disk(folder, {"hp-c2447", "size=64M", "clock=real:100000"});
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Client client(disk);
      std::vector<char> bytes(512);
      EXPECT_EQ(client.read(10000 * t, bytes), EIO);
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  disk.control(R"({"power":"cut"})");
  for (auto& thread : threads) thread.join();
}

TEST(Plugin, ACutAtAFlushHappensBeforeAnyDataIsFlushed) {
  TemporaryFolder folder;
  ServedDisk disk(folder, with(kFast, {"write-cache=on", "cut=at-flush:2"}));
  EXPECT_EQ(disk.control(R"({"power":"status"})")["armed"], "at-flush:2");
  Client client(disk);
  EXPECT_EQ(client.write(10, block('1')), 0);
  EXPECT_EQ(client.flush(), 0);
  EXPECT_EQ(client.write(20, block('2')), 0);
  EXPECT_EQ(client.flush(), EIO);
  EXPECT_EQ(disk.control(R"({"power":"status"})")["power"], "off");
  EXPECT_EQ(disk.control(R"({"power":"status"})")["armed"], nullptr);
  disk.control(R"({"power":"on"})");
  EXPECT_EQ(read_block(client, 10), block('1'));
  EXPECT_EQ(read_block(client, 20), block('\0'));
}

TEST(Plugin, CutsPowerAfterAGivenNumberOfWrites) {
  TemporaryFolder folder;
  ServedDisk disk(folder, with(kFast, {"cut=after-writes:3"}));
  Client client(disk);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.write(i, block('w', 1)), 0);
  EXPECT_EQ(client.write(9, block('w', 1)), EIO);
}

TEST(Plugin, CutsPowerAfterATimeAndThenWaitCutReturns) {
  TemporaryFolder folder;
  ServedDisk disk(folder, {"hp-c2447", "size=64M"});
  EXPECT_EQ(disk.control(R"({"power":"wait-cut","timeout_ms":10})")["power"], "on");
  const auto armed_at = disk.control(R"({"mark":"now"})")["at_ns"].get<std::int64_t>();
  EXPECT_EQ(disk.control(R"({"power":"cut","when":"after-ms:150"})")["armed"], "after-ms:150");
  const json status = disk.control(R"({"power":"wait-cut","timeout_ms":60000})");
  EXPECT_EQ(status["power"], "off");
  EXPECT_GE(status["last_cut_ns"].get<std::int64_t>(), armed_at + 150'000'000);
}

TEST(Plugin, ACutAfterAMarkIsAtAnExactModelInstant) {
  TemporaryFolder folder;
  const std::string recording = folder / "run.rec";
  {
    ServedDisk disk(
        folder, {"hp-c2447", "size=64M", "record=" + recording, "cut=after-mark:persisted 12+30"});
    Client marks(disk, "mark");
    EXPECT_EQ(marks.write(0, mark_block("persisted 1")), 0);
    EXPECT_EQ(marks.write(1, mark_block("persisted 12")), 0);
    EXPECT_EQ(disk.control(R"({"power":"wait-cut","timeout_ms":60000})")["power"], "off");
  }
  std::int64_t marked_at = -1;
  std::int64_t cut_at = -1;
  for (const record::Event& event : events_of(recording)) {
    const std::string text(reinterpret_cast<const char*>(event.payload.data()),
                           event.payload.size());
    if (event.kind == record::Kind::mark && text == "persisted 12") marked_at = event.at;
    if (event.kind == record::Kind::power && event.detail == 0) cut_at = event.at;
  }
  EXPECT_GE(marked_at, 0);
  EXPECT_EQ(cut_at - marked_at, 30'000'000);
}

TEST(Plugin, MarksAreOrderedWithTheData) {
  TemporaryFolder folder;
  const std::string recording = folder / "run.rec";
  {
    ServedDisk disk(folder, with(kFast, {"record=" + recording}));
    Client client(disk);
    Client marks(disk, "mark");
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(client.write(i * 8, block(static_cast<char>('a' + i))), 0);
      EXPECT_EQ(marks.write(0, mark_block("step " + std::to_string(i))), 0);
    }
    EXPECT_EQ(marks.write(0, block('\0', 1)), EINVAL) << "an empty mark";
    EXPECT_EQ(marks.write(0, block('x', 1)), EINVAL) << "no NUL in 512 bytes";
    EXPECT_TRUE(disk.control(R"({"mark":"by hand"})")["ok"]);
    const std::string instance = disk.control(R"({"stats":"read"})")["instance"];
    EXPECT_EQ(instance.size(), 16U);
    const auto read = read_block(marks, 0);
    EXPECT_EQ(std::string(read.data()), instance);
    EXPECT_EQ(std::count(read.begin() + 16, read.end(), '\0'),
              static_cast<std::ptrdiff_t>(read.size() - 16));
  }
  std::string order;
  for (const record::Event& event : events_of(recording)) {
    if (event.kind == record::Kind::ack) order += 'a';
    if (event.kind == record::Kind::mark) order += 'm';
  }
  EXPECT_EQ(order.substr(0, 11), "amamamamamm");
}

TEST(Plugin, TheRecordingRebuildsTheMediumAfterACut) {
  TemporaryFolder folder;
  const std::string recording = folder / "run.rec";
  const std::string store = folder / "store";
  {
    ServedDisk disk(folder, {"hp-c2447", "size=8M", "clock=off", "write-cache=on", "store=" + store,
                             "record=" + recording, "cut=after-writes:300"});
    Client client(disk);
    for (unsigned i = 0; i < 400; ++i) {
      const std::uint64_t sector = (i * 2654435761U) % 16000;
      const int error = client.write(sector, block(static_cast<char>(i), 1 + i % 200));
      if (i % 37 == 0) client.flush();
      if (error != 0) break;
    }
    EXPECT_EQ(disk.control(R"({"power":"status"})")["power"], "off");
  }
  auto rebuilt = media::MemoryStore::create((8 << 20) / 512);
  ASSERT_TRUE(rebuilt);
  auto image = record::rebuild_medium(recording, 0, std::nullopt, **rebuilt);
  ASSERT_TRUE(image) << image.error().message();
  EXPECT_GT(image->sectors, 1000U);
  std::vector<std::byte> expected(8 << 20);
  ASSERT_TRUE((*rebuilt)->read(0, expected));
  std::ifstream in(store + "/hd0.img", std::ios::binary);
  std::vector<char> found(8 << 20);
  in.read(found.data(), static_cast<std::streamsize>(found.size()));
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size()), 0);
}

TEST(Plugin, WritesTheCacheBackOnACleanShutdown) {
  TemporaryFolder folder;
  const std::vector<std::string> arguments =
      with(kFast, {"write-cache=on", "store=" + (folder / "store")});
  {
    ServedDisk disk(folder, arguments);
    Client client(disk);
    EXPECT_EQ(client.write(77, block('p')), 0);
  }
  EXPECT_FALSE(fs::exists(folder / "control.sock"));
  ServedDisk disk(folder, arguments);
  Client client(disk);
  EXPECT_EQ(read_block(client, 77), block('p'));
}

TEST(Plugin, AKilledServerLeavesAUsableStoreAndAStaleSocket) {
  TemporaryFolder folder;
  const std::vector<std::string> arguments =
      with(kFast, {"write-cache=on", "store=" + (folder / "store")});
  {
    ServedDisk disk(folder, arguments);
    Client client(disk);
    EXPECT_EQ(client.write(10, block('f')), 0);
    EXPECT_EQ(client.flush(), 0);
    EXPECT_EQ(client.write(20, block('c')), 0);
    disk.end(SIGKILL);
  }
  EXPECT_TRUE(fs::exists(folder / "control.sock"));
  ServedDisk disk(folder, arguments);
  Client client(disk);
  EXPECT_EQ(read_block(client, 10), block('f'));
  EXPECT_EQ(read_block(client, 20), block('\0'));
  struct stat status = {};
  ASSERT_EQ(stat(disk.control_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST(Plugin, ASecondServerCannotUseTheSameStoreOrSocket) {
  TemporaryFolder folder;
  ServedDisk disk(folder, with(kFast, {"store=" + (folder / "store")}));
  ExitResult second = run_nbdkit(folder, with(kFast, {"store=" + (folder / "store")}));
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_NE(second.stderr_text.find("in use"), std::string::npos) << second.stderr_text;
  second = run_nbdkit(folder, with(kFast, {"control=" + disk.control_path()}));
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_NE(second.stderr_text.find("control="), std::string::npos) << second.stderr_text;
  EXPECT_TRUE(disk.control(R"({"power":"status"})")["ok"]) << "the first server must still answer";
}

TEST(Plugin, EndsAtOnceOnSigtermDuringALongWait) {
  TemporaryFolder folder;
  ServedDisk disk(folder, {"hp-c2447", "size=64M", "clock=real:1000000"});
  std::thread waiting([&] {
    Client client(disk);
    std::vector<char> bytes(512);
    EXPECT_NE(client.read(50000, bytes), 0);
  });
  std::thread watching([&] {
    nlohmann::json status = disk.control(R"({"power":"wait-cut","timeout_ms":3600000})");
    EXPECT_EQ(status["power"], "on");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(disk.end(SIGTERM), kAtOnceSeconds);
  waiting.join();
  watching.join();
  EXPECT_FALSE(fs::exists(disk.control_path()));
}

TEST(Plugin, ServesManyConnectionsInRealTime) {
  TemporaryFolder folder;
  ServedDisk disk(folder, {"hp-c2447", "size=64M", "clock=real:0.05"}, {"-t", "32"});
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (unsigned t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      Client client(disk);
      for (unsigned i = 0; i < 12; ++i) {
        const std::uint64_t sector = t * 8000 + i * 16;
        EXPECT_EQ(client.write(sector, block(static_cast<char>(t * 12 + i))), 0);
        EXPECT_EQ(read_block(client, sector), block(static_cast<char>(t * 12 + i)));
      }
      EXPECT_EQ(client.flush(), 0);
    });
  for (auto& thread : threads) thread.join();
  const json device = disk.control(R"({"stats":"take"})")["devices"][0];
  EXPECT_EQ(device["counters"]["writes"], 16 * 12);
  EXPECT_EQ(device["latency"]["target"]["count"], 2 * 16 * 12);
  EXPECT_EQ(device["latency"]["achieved"]["count"], 2 * 16 * 12);
  EXPECT_GE(device["latency"]["achieved"]["p50_ns"], device["latency"]["target"]["p50_ns"]);
  EXPECT_EQ(device["latency"]["flush"]["count"], 16);
  std::int64_t read = 0, written = 0, flushes = 0, inside_ns = 0;
  for (const json& bin : device["load"]["bins"]) {
    read += bin[0].get<std::int64_t>();
    written += bin[1].get<std::int64_t>();
    flushes += bin[2].get<std::int64_t>();
    inside_ns += bin[3].get<std::int64_t>();
  }
  EXPECT_EQ(read, device["counters"]["sectors_read"]);
  EXPECT_EQ(written, device["counters"]["sectors_written"]);
  EXPECT_EQ(flushes, 16);
  const auto total_ns = [&](const char* kind) {
    const json& of = device["latency"][kind];
    return of["mean_ns"].get<double>() * of["count"].get<double>();
  };
  EXPECT_NEAR(static_cast<double>(inside_ns), total_ns("target") + total_ns("flush"), 1000);
  const json anew = disk.control(R"({"stats":"read"})")["devices"][0];
  EXPECT_EQ(anew["counters"]["writes"], 0);
  EXPECT_EQ(anew["load"]["bins"].size(), 0U);
  EXPECT_EQ(anew["latency"]["flush"]["count"], 0);
  EXPECT_GT(anew["load"]["begin_ns"], 0) << "the start of the interval";
}

TEST(Plugin, NoRequestReturnsBeforeItsModelledTime) {
  TemporaryFolder folder;
  ServedDisk disk(folder, {"hp-c2447", "size=64M", "clock=real"});
  Client client(disk);
  std::vector<char> bytes(512);
  for (int i = 0; i < 20; ++i) {
    disk.control(R"({"stats":"take"})");
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(client.read((i * 7919) % 100000, bytes), 0);
    const auto passed = std::chrono::steady_clock::now() - before;
    const json latency = disk.control(R"({"stats":"read"})")["devices"][0]["latency"];
    EXPECT_EQ(latency["target"]["count"], 1);
    EXPECT_GE(passed.count(), latency["target"]["max_ns"].get<std::int64_t>());
    EXPECT_GE(latency["achieved"]["max_ns"].get<std::int64_t>(),
              latency["target"]["max_ns"].get<std::int64_t>());
  }
}

TEST(Plugin, TheClockCanChangeWhileServing) {
  TemporaryFolder folder;
  ServedDisk disk(folder, {"hp-c2447", "size=64M", "clock=real:1000000"});
  Client client(disk);
  std::thread waiting([&] { EXPECT_EQ(client.write(50000, block('c')), 0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(disk.control(R"({"clock":"off"})")["clock"], "off");
  waiting.join();
  const json off = disk.control(R"({"stats":"read"})");
  EXPECT_EQ(off["clock"], "off");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(disk.control(R"({"stats":"read"})")["model_ns"], off["model_ns"]);
  EXPECT_EQ(disk.control(R"({"clock":"real"})")["clock"], "real:1");
  EXPECT_EQ(read_block(client, 50000), block('c'));
  EXPECT_GT(disk.control(R"({"stats":"read"})")["model_ns"].get<std::int64_t>(),
            off["model_ns"].get<std::int64_t>());
}

TEST(Plugin, ReportsAFullHostDiskAndContinues) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  TemporaryFolder folder;
  // A limit on the file size simulates a full disk. The kernel sends SIGXFSZ at the limit, so the
  // signal must be ignored; nbdkit inherits this disposition from the test.
  signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {3 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  {
    ServedDisk disk(folder, with(kFast, {"write-cache=off", "record=" + (folder / "run.rec")}));
    setrlimit(RLIMIT_FSIZE, &before);
    Client client(disk);
    int error = 0;
    for (int i = 0; i < 200 && error == 0; ++i) error = client.write(i * 128, block('d', 128));
    EXPECT_EQ(error, EIO);
    const json stats = disk.control(R"({"stats":"read"})");
    ASSERT_TRUE(stats["recording_error"].is_string()) << stats;
    EXPECT_NE(stats["recording_error"].get<std::string>().find("run.rec"), std::string::npos);
  }
  setrlimit(RLIMIT_FSIZE, &before);
}

}  // namespace
}  // namespace headcrash::nbd
