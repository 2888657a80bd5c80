// Tests crash states on stages: loading them, writing to them, recording the writes, and loading
// states of the new recording.
#include "plugin/stages/stage_server.h"

#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <future>
#include <random>
#include <set>
#include <thread>
#include <tuple>

#include "plugin/record/recording.h"
#include "plugin/stages/testing/stage_fixture.h"

namespace headcrash::stages {
namespace {

using record::Kind;

constexpr std::uint64_t kSectors = 4096;

LoadOrder blank(std::size_t stage, std::uint64_t sectors = kSectors) {
  return {.stage = stage, .sectors = sectors};
}
LoadOrder recorded(LoadOrder order, const std::filesystem::path& path) {
  order.record = path;
  return order;
}
LoadOrder state(std::size_t stage, const std::filesystem::path& recording, const std::string& id) {
  return {.stage = stage, .recording = recording, .id = id};
}
Stage& stage_of(StageServer& server, std::size_t number) {
  return **server.stage(number);
}

std::vector<record::Event> events_of(const std::filesystem::path& path) {
  auto reader = record::RecordingReader::open(path);
  EXPECT_TRUE(reader) << reader.error().message();
  std::vector<record::Event> all;
  while (auto event = reader->next()) {
    if (!*event) break;
    all.push_back(std::move(**event));
  }
  EXPECT_EQ(reader->tail(), record::Tail::whole);
  return all;
}

/// Writes 'a' to sector 0, flushes, and writes 'b' to sector 0 and 'c' to sector 64 without a
/// flush. The recording contains requests 1 to 4 (request 2 is the flush) in 8 events.
std::filesystem::path record_a_run(StageServer& server, const std::filesystem::path& path) {
  load(server, recorded(blank(0), path));
  StageClient client(stage_of(server, 0));
  EXPECT_EQ(client.write(0, filled('a')), 0);
  EXPECT_EQ(client.flush(), 0);
  EXPECT_EQ(client.write(0, filled('b')), 0);
  EXPECT_EQ(client.write(64, filled('c')), 0);
  const auto sealed = stage_of(server, 0).seal();
  EXPECT_TRUE(sealed);
  EXPECT_EQ(sealed->events, 8U);
  EXPECT_EQ(sealed->bytes, std::filesystem::file_size(path))
      << "the file must be complete on return";
  return path;
}

TEST(StageServer, ALoadDiscardsEarlierWrites) {
  const auto server = start_stages(1);
  const Loaded first = load(*server, blank(0));
  StageClient client(stage_of(*server, 0));
  EXPECT_EQ(client.read(8), filled('\0'));
  EXPECT_EQ(client.write(8, filled('x')), 0);
  EXPECT_EQ(client.read(8), filled('x'));
  EXPECT_GE(stage_of(*server, 0).status().overlay_bytes, 4096U);
  EXPECT_NE(*stage_of(*server, 0).digest(), first.digest);
  const Loaded second = load(*server, blank(0));
  EXPECT_NE(second.nonce, first.nonce);
  EXPECT_EQ(second.digest, first.digest);
  EXPECT_EQ(stage_of(*server, 0).nonce(), second.nonce);
  EXPECT_EQ(client.read(8), filled('\0')) << "the same connection must see the new state";
  EXPECT_EQ(stage_of(*server, 0).status().overlay_bytes, 0U);
  EXPECT_EQ(stage_of(*server, 0).status().writes, 0U);
}

TEST(StageServer, StagesDoNotAffectEachOther) {
  const auto server = start_stages(2);
  const Loaded zero = load(*server, blank(0));
  const Loaded one = load(*server, blank(1, 8192));
  EXPECT_NE(zero.nonce, one.nonce);
  StageClient first(stage_of(*server, 0));
  StageClient second(stage_of(*server, 1));
  EXPECT_EQ(second.sectors(), 8192U);
  EXPECT_EQ(first.write(0, filled('1')), 0);
  EXPECT_EQ(second.read(0), filled('\0'));
  EXPECT_EQ(second.write(0, filled('2')), 0);
  load(*server, blank(1, 8192));
  EXPECT_EQ(first.read(0), filled('1')) << "only another stage was loaded";
  EXPECT_EQ(second.read(0), filled('\0'));
}

TEST(StageServer, ServesEveryKindOfRequest) {
  const auto server = start_stages(1);
  load(*server, blank(0));
  StageClient client(stage_of(*server, 0));
  EXPECT_EQ(client.write(0, filled('w', 64), true), 0);
  EXPECT_EQ(client.zero(0, 8), 0);
  EXPECT_EQ(client.trim(8, 8), 0);
  EXPECT_EQ(client.flush(), 0);
  EXPECT_EQ(client.read(0, 16), filled('\0', 16));
  EXPECT_EQ(client.read(16, 48), filled('w', 48));
  EXPECT_EQ(client.write(kSectors - 4, filled('e')), EINVAL);
  auto bytes = filled('?');
  EXPECT_EQ(client.read(kSectors, bytes), EINVAL);
  const StageStatus status = stage_of(*server, 0).status();
  EXPECT_EQ(status.reads, 3U);
  EXPECT_EQ(status.writes, 4U);
  EXPECT_EQ(status.flushes, 1U);
}

TEST(StageServer, RecordsRequests) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  load(*server, recorded(blank(0), folder / "run.hcrec"));
  StageClient client(stage_of(*server, 0));
  EXPECT_EQ(client.write(5, filled('a'), true), 0);
  ASSERT_TRUE(stage_of(*server, 0).mark("persisted 0"));
  EXPECT_EQ(client.read(5), filled('a'));
  EXPECT_EQ(client.trim(5, 8), 0);
  EXPECT_EQ(client.flush(), 0);
  ASSERT_TRUE(stage_of(*server, 0).seal());
  EXPECT_EQ(client.write(99, filled('z')), 0) << "the stage must continue after the seal";
  const auto events = events_of(folder / "run.hcrec");
  ASSERT_EQ(events.size(), 7U) << "no reads, and no requests after the seal";
  EXPECT_EQ(events[0].kind, Kind::submit);
  EXPECT_EQ(events[0].op, model::Op::write);
  EXPECT_TRUE(events[0].fua);
  EXPECT_EQ(events[0].lba, 5U);
  EXPECT_EQ(events[0].payload, filled('a'));
  EXPECT_EQ(events[1].kind, Kind::ack);
  EXPECT_EQ(events[1].request, events[0].request);
  EXPECT_EQ(events[2].kind, Kind::mark);
  EXPECT_EQ(events[3].op, model::Op::trim);
  EXPECT_EQ(events[5].op, model::Op::flush);
  EXPECT_FALSE(stage_of(*server, 0).seal()) << "already sealed";
}

TEST(StageServer, ServesStatesOfARecordedRun) {
  TemporaryFolder folder;
  const auto server = start_stages(2);
  const auto run = record_a_run(*server, folder / "run.hcrec");
  StageClient keeper(stage_of(*server, 0));
  const std::tuple<const char*, char, char> table[] = {{"w8", 'b', 'c'},    {"w8-", 'a', '\0'},
                                                       {"w8-4", 'b', '\0'}, {"w8+4", 'a', 'c'},
                                                       {"w4", 'a', '\0'},   {"w0", '\0', '\0'}};
  for (const auto& [id, at_0, at_64] : table) {
    const Loaded loaded = load(*server, state(1, run, id));
    EXPECT_EQ(loaded.sectors, kSectors);
    StageClient client(stage_of(*server, 1));
    EXPECT_EQ(client.read(0), filled(at_0)) << id;
    EXPECT_EQ(client.read(64), filled(at_64)) << id;
    EXPECT_EQ(stage_of(*server, 1).status().id, id);
    EXPECT_EQ(stage_of(*server, 1).status().recording, run);
  }
  EXPECT_EQ(load(*server, state(1, run, "w8")).digest, *stage_of(*server, 0).digest())
      << "all writes";
}

/// A file system's disk and its log disk share one recording. A load switches both disks while
/// connections are open.
TEST(StageServer, TwoDisksAreRecordedAndSwitchedTogether) {
  constexpr std::uint64_t kLogSectors = 128;
  TemporaryFolder folder;
  const auto run = folder / "run.hcrec";
  const auto server = start_stages(1);
  LoadOrder two = recorded(blank(0), run);
  two.other_disks = {{"log", kLogSectors}};
  const Loaded empty = load(*server, two);
  EXPECT_EQ(empty.sectors, kSectors);
  StageClient disk(stage_of(*server, 0));
  StageClient log(stage_of(*server, 0), "log");
  EXPECT_EQ(log.sectors(), kLogSectors);
  EXPECT_EQ(disk.write(0, filled('d')), 0);  // request 1, events 0 and 1
  EXPECT_EQ(log.write(0, filled('c')), 0);   // 2
  EXPECT_EQ(log.flush(), 0);                 // 3
  EXPECT_EQ(log.write(8, filled('e')), 0);   // 4
  EXPECT_EQ(log.write(kLogSectors, filled('x')), EINVAL);
  EXPECT_EQ(disk.read(0), filled('d'));
  EXPECT_EQ(disk.read(8), filled('\0')) << "the write was to the log";
  ASSERT_TRUE(stage_of(*server, 0).seal());
  const auto events = events_of(run);
  ASSERT_EQ(events.size(), 8U);
  for (const std::size_t i : {2, 3, 4, 5, 6, 7}) EXPECT_EQ(events[i].device, 1) << i;
  EXPECT_EQ(events[2].request, 2U) << "requests are numbered across both";

  const std::tuple<const char*, char, char, char> table[] = {
      {"a8", 'd', 'c', 'e'},    {"a8-", '\0', 'c', '\0'},  {"a8-1", '\0', 'c', 'e'},
      {"a8-4", 'd', 'c', '\0'}, {"a4-", '\0', '\0', '\0'}, {"w8", 'd', 'c', 'e'},
      {"w8-", '\0', 'c', 'e'},  {"a0", '\0', '\0', '\0'}};
  std::set<std::uint64_t> digests;
  for (const auto& [id, at_disk, at_log, behind_it] : table) {
    const Loaded loaded = load(*server, state(0, run, id));
    EXPECT_EQ(loaded.sectors, kSectors);
    EXPECT_EQ(disk.read(0), filled(at_disk)) << id;
    EXPECT_EQ(log.read(0), filled(at_log)) << id;
    EXPECT_EQ(log.read(8), filled(behind_it)) << id;
    EXPECT_EQ(*stage_of(*server, 0).digest(), loaded.digest) << id;
    digests.insert(loaded.digest);
    EXPECT_EQ(log.write(0, filled('o')), 0);
    EXPECT_NE(*stage_of(*server, 0).digest(), loaded.digest) << "the digest covers both disks";
  }
  EXPECT_EQ(digests.size(), 5U) << "a8 is w8, a8-1 is w8-, a4- is a0";

  // A recording on top of a state of two disks must have both disks as its base.
  load(*server, recorded(state(0, run, "a8-4"), folder / "more.hcrec"));
  EXPECT_EQ(log.write(8, filled('f')), 0);
  ASSERT_TRUE(stage_of(*server, 0).seal());
  load(*server, state(0, folder / "more.hcrec", "a2-"));
  EXPECT_EQ(disk.read(0), filled('d'));
  EXPECT_EQ(log.read(0), filled('c'));
  EXPECT_EQ(log.read(8), filled('\0'));

  const auto one = server->load(blank(0));
  ASSERT_FALSE(one) << "the log is open";
  EXPECT_NE(one.error().message().find("stage 0/log"), std::string::npos) << one.error().message();
}

/// The server computes an image's digest from the differences between this image and the one loaded
/// before. For any order of loads, the result must equal the digest computed from the whole image.
TEST(StageServer, DigestsEqualTheDigestsOfTheImages) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto base = record_a_run(*server, folder / "base.hcrec");
  const auto run = folder / "run.hcrec";
  load(*server, recorded(state(0, base, "w8-3"), run));
  std::mt19937 random(7);
  {
    StageClient client(stage_of(*server, 0));
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t lba = random() % 128;
      if (i % 10 == 9) {
        EXPECT_EQ(client.flush(), 0);
      } else if (i % 7 == 0) {
        EXPECT_EQ(client.zero(lba, 1 + random() % 64), 0);
      } else {
        EXPECT_EQ(client.write(lba, filled(static_cast<char>(random()), 1 + random() % 16)), 0);
      }
    }
  }
  ASSERT_TRUE(stage_of(*server, 0).seal());
  const auto history = states::RunHistory::load(run);
  ASSERT_TRUE(history);
  for (int i = 0; i < 100; ++i) {
    const std::string id = "w" + std::to_string(random() % 201) + (i % 3 == 0 ? "-" : "");
    const auto image = (*history)->image(*states::parse_crash_state(id), 0);
    ASSERT_TRUE(image);
    EXPECT_EQ(load(*server, state(0, run, id)).digest, *image->digest()) << id;
    EXPECT_EQ(*stage_of(*server, 0).digest(), *image->digest()) << id;
  }
}

TEST(StageServer, ARecordingThatStartsFromAStateHasThatStateAsItsBase) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto run = record_a_run(*server, folder / "run.hcrec");
  std::filesystem::create_directory(folder / "sub");
  const auto second = folder / "sub" / "second.hcrec";
  load(*server, recorded(state(0, run, "w8-4"), second));
  {
    StageClient client(stage_of(*server, 0));
    EXPECT_EQ(client.write(128, filled('d')), 0);
  }
  const auto digest = stage_of(*server, 0).digest();
  ASSERT_TRUE(stage_of(*server, 0).seal());
  const auto header = record::RecordingReader::open(second)->header();
  ASSERT_TRUE(header.base);
  EXPECT_EQ(header.base->recording, "../run.hcrec");
  EXPECT_EQ(header.base->state, "w8-4");
  EXPECT_EQ(header.base->fingerprint, (*states::RunHistory::load(run))->fingerprint(8));
  EXPECT_FALSE(header.media);
  EXPECT_EQ(load(*server, state(0, second, "w2")).digest, *digest);
  StageClient client(stage_of(*server, 0));
  EXPECT_EQ(client.read(0), filled('b')) << "from the base";
  EXPECT_EQ(client.read(64), filled('\0')) << "lost in the base";
  EXPECT_EQ(client.read(128), filled('d')) << "from the recording itself";
  load(*server, state(0, second, "w2-"));
  EXPECT_EQ(client.read(128), filled('\0'));
}

TEST(StageServer, RejectsALoadOfAnotherSizeWhileAClientIsConnected) {
  const auto server = start_stages(1);
  const Loaded before = load(*server, blank(0));
  TemporaryFolder folder;
  {
    StageClient client(stage_of(*server, 0));
    EXPECT_EQ(client.write(0, filled('k')), 0);
    const auto refused = server->load(recorded(blank(0, 8192), folder / "not.hcrec"));
    ASSERT_FALSE(refused);
    EXPECT_NE(
        refused.error().message().find("is attached with 4096 sectors, but the state has 8192"),
        std::string::npos)
        << refused.error().message();
    EXPECT_EQ(client.read(0), filled('k')) << "nothing must have changed";
    EXPECT_EQ(stage_of(*server, 0).nonce(), before.nonce);
    EXPECT_FALSE(std::filesystem::exists(folder / "not.hcrec"));
  }
  EXPECT_EQ(load(*server, blank(0, 8192)).sectors, 8192U) << "detached";
}

TEST(StageServer, RejectsMissingFilesStatesAndStages) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto run = record_a_run(*server, folder / "run.hcrec");
  const auto refusal = [&](const LoadOrder& order) {
    const auto loaded = server->load(order);
    return loaded ? "accepted" : loaded.error().message();
  };
  EXPECT_NE(refusal(state(0, folder / "none", "w0")).find("cannot be opened"), std::string::npos);
  EXPECT_NE(refusal(state(0, run, "w99")), "accepted") << "beyond the end";
  EXPECT_NE(refusal(state(0, run, "w8-2")), "accepted") << "a flush";
  EXPECT_NE(refusal(state(0, run, "p8")), "accepted") << "no MEDIA events";
  EXPECT_NE(refusal(recorded(blank(0), run)).find("exists already"), std::string::npos);
  EXPECT_NE(refusal(blank(1)).find("this server has 1"), std::string::npos);
  std::ofstream(folder / "text") << "not a recording";
  EXPECT_NE(refusal(state(0, folder / "text", "w0")), "accepted");
  StageClient client(stage_of(*server, 0));
  EXPECT_EQ(client.read(64), filled('c')) << "the stage must keep its content";
}

TEST(StageServer, ReadsAReplacedRecordingAgain) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto run = record_a_run(*server, folder / "run.hcrec");
  load(*server, state(0, run, "w8"));
  std::filesystem::remove(run);
  load(*server, recorded(blank(0), run));
  {
    StageClient client(stage_of(*server, 0));
    EXPECT_EQ(client.write(0, filled('n')), 0);
  }
  ASSERT_TRUE(stage_of(*server, 0).seal());
  EXPECT_FALSE(server->load(state(0, run, "w8")));
  load(*server, state(0, run, "w2"));
  StageClient client(stage_of(*server, 0));
  EXPECT_EQ(client.read(0), filled('n'));
}

TEST(StageServer, ReportsAFullOverlay) {
  const auto server = start_stages(1, 16 * model::kSectorBytes);
  load(*server, blank(0));
  StageClient client(stage_of(*server, 0));
  EXPECT_EQ(client.write(0, filled('f', 16)), 0);
  EXPECT_EQ(client.write(64, filled('g', 8)), ENOSPC);
  EXPECT_EQ(client.read(0, 16), filled('f', 16));
  ASSERT_TRUE(stage_of(*server, 0).status().error);
  EXPECT_NE(stage_of(*server, 0).status().error->find("overlay-max="), std::string::npos);
  load(*server, blank(0));
  EXPECT_FALSE(stage_of(*server, 0).status().error);
  EXPECT_EQ(client.write(64, filled('g', 8)), 0);
}

/// Creating a dm-integrity device, or adding a disk to an array, writes the whole disk.
TEST(StageServer, ADiskOf320MiBCanBeWrittenCompletely) {
  constexpr std::uint64_t kMib = (1 << 20) / model::kSectorBytes, kDiskMib = 320;
  const auto server = start_stages(1);
  load(*server, blank(0, kDiskMib * kMib));
  StageClient client(stage_of(*server, 0));
  const auto piece = filled('p', kMib);
  for (std::uint64_t i = 0; i < kDiskMib; ++i) ASSERT_EQ(client.write(i * kMib, piece), 0) << i;
  EXPECT_EQ(client.read((kDiskMib - 1) * kMib, kMib), piece);
}

/// A sector whose write was rejected must not count as written.
TEST(StageServer, RecordsAWriteThatDoesNotFitAsFailed) {
  const TemporaryFolder folder;
  const auto server = start_stages(1, 16 * model::kSectorBytes);
  load(*server, recorded(blank(0), folder / "run.hcrec"));
  {
    StageClient client(stage_of(*server, 0));
    EXPECT_EQ(client.write(0, filled('f', 16)), 0);
    EXPECT_EQ(client.write(64, filled('g', 8)), ENOSPC);
  }
  ASSERT_TRUE(stage_of(*server, 0).seal());
  auto reader = record::RecordingReader::open(folder / "run.hcrec");
  ASSERT_TRUE(reader);
  std::vector<std::uint32_t> statuses;
  while (const auto event = *reader->next())
    if (event->kind == record::Kind::ack) statuses.push_back(event->detail);
  EXPECT_EQ(statuses, (std::vector{static_cast<std::uint32_t>(model::Status::ok),
                                   static_cast<std::uint32_t>(model::Status::store_error)}));
}

TEST(StageServer, ReportsAFullHostDisk) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  load(*server, recorded(blank(0, 1 << 16), folder / "run.hcrec"));
  StageClient client(stage_of(*server, 0));
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit full = {1 << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  int error = 0;
  std::uint64_t lba = 0;
  for (; lba < 1 << 14; lba += 256)
    if (error = client.write(lba, filled('h', 256)); error != 0) break;
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(error, EIO);
  EXPECT_EQ(client.read(lba), filled('\0')) << "unrecorded requests must not be performed";
  EXPECT_EQ(client.flush(), EIO) << "and nothing may be promised";
  ASSERT_TRUE(stage_of(*server, 0).status().error);
  EXPECT_NE(stage_of(*server, 0).status().error->find("run.hcrec"), std::string::npos);
  EXPECT_FALSE(stage_of(*server, 0).seal());
}

TEST(StageServer, PrivateStatesAreSeparate) {
  TemporaryFolder folder;
  const auto run = record_a_run(*start_stages(1), folder / "run.hcrec");
  auto server = StageServer::create({.stages = 1, .recording = run});
  ASSERT_TRUE(server);
  auto one = (*server)->private_stage("w8-");
  auto other = (*server)->private_stage("w8-");
  ASSERT_TRUE(one && other);
  StageClient first(**one);
  StageClient second(**other);
  EXPECT_EQ(first.write(0, filled('p')), 0);
  EXPECT_EQ(first.read(0), filled('p'));
  EXPECT_EQ(second.read(0), filled('a'));
  EXPECT_FALSE((*server)->private_stage("w9"));
  EXPECT_FALSE((*server)->private_stage("nonsense"));
  EXPECT_FALSE(start_stages(1)->private_stage("w0")) << "it has no recording";
  EXPECT_FALSE(StageServer::create({.stages = 1, .recording = folder / "missing"}));
}

// ---- concurrency

/// For any interleaving, the states of the recording must equal the stage's contents. No write may
/// be answered before it is submitted, and no thread may submit a request before its previous one
/// has been answered.
TEST(StageServer, RecordsConcurrentRequests) {
  constexpr int kThreads = 4;
  constexpr int kRequests = 200;
  TemporaryFolder folder;
  const auto server = start_stages(2);
  load(*server, recorded(blank(0), folder / "run.hcrec"));
  {
    StageClient client(stage_of(*server, 0));
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&client, t] {
        std::mt19937 random(static_cast<unsigned>(t));
        for (int i = 0; i < kRequests; ++i) {
          const std::uint64_t lba = random() % 64;
          if (i % 16 == 15) {
            EXPECT_EQ(client.flush(), 0);
          } else {
            EXPECT_EQ(client.write(lba, filled(static_cast<char>('a' + t), 1 + random() % 16)), 0);
          }
        }
      });
    for (auto& thread : threads) thread.join();
  }
  const auto digest = stage_of(*server, 0).digest();
  const auto sealed = stage_of(*server, 0).seal();
  ASSERT_TRUE(digest && sealed);
  EXPECT_EQ(sealed->events, 2U * kThreads * kRequests);
  std::set<model::RequestId> inside;
  std::size_t together = 0;
  for (const record::Event& event : events_of(folder / "run.hcrec")) {
    if (event.kind == Kind::submit) {
      EXPECT_TRUE(inside.insert(event.request).second);
    } else {
      EXPECT_EQ(inside.erase(event.request), 1U) << "answered but never submitted";
    }
    together = std::max(together, inside.size());
  }
  EXPECT_TRUE(inside.empty());
  EXPECT_LE(together, std::size_t{kThreads});
  EXPECT_EQ(
      load(*server, state(1, folder / "run.hcrec", "w" + std::to_string(sealed->events))).digest,
      *digest);
}

TEST(StageServer, LoadsAStateWhileOtherStagesAreBusy) {
  TemporaryFolder folder;
  const auto server = start_stages(3);
  const auto run = record_a_run(*server, folder / "run.hcrec");
  load(*server, blank(2));
  std::atomic<bool> over = false;
  std::thread guest([&] {
    StageClient client(stage_of(*server, 2));
    while (!over) {
      EXPECT_EQ(client.write(0, filled('r')), 0);
      EXPECT_EQ(client.read(0), filled('r'));
    }
  });
  const auto loader = [&](std::size_t number) {
    for (int i = 0; i < 200; ++i) {
      load(*server, state(number, run, i % 2 == 0 ? "w8" : "w8-"));
      StageClient client(stage_of(*server, number));
      EXPECT_EQ(client.read(0), filled(i % 2 == 0 ? 'b' : 'a'));
      EXPECT_EQ(client.write(0, filled('z')), 0);
    }
  };
  std::thread other([&] { loader(1); });
  loader(0);
  other.join();
  over = true;
  guest.join();
}

}  // namespace
}  // namespace headcrash::stages
