// Tests the stage's lock: how concurrent requests are recorded, and how loads are rejected. Also
// tests sectors that are unreadable in a state.
#include "plugin/stages/stage.h"

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "plugin/stages/testing/stage_fixture.h"

namespace headcrash::stages {
namespace {

using namespace std::chrono_literals;

/// A StageContent that records the order of calls and blocks a write until the test releases it.
class BlockingContent final : public StageContent {
 public:
  explicit BlockingContent(std::vector<DiskInfo> disk_infos = {{"hd0", 64}})
      : disk_infos_(std::move(disk_infos)) {}

  const std::vector<DiskInfo>& disk_infos() const override { return disk_infos_; }
  int serve(std::size_t disk_index, model::Request& request) override {
    served = disk_index;
    log += request.op == model::Op::flush ? "F" : "W";
    if (request.op == model::Op::write && in_the_work) in_the_work();
    return 0;
  }
  int acknowledge(std::size_t, const model::Request& request, int error) override {
    log += request.op == model::Op::flush ? "f" : "w";
    return error;
  }
  void mark(std::string_view) override {}
  void shut_down() override {}
  media::WrittenMap::Run written(std::size_t, std::uint64_t, std::uint64_t limit) override {
    return {limit, true};
  }
  std::uint64_t overlay_bytes() const override { return 0; }
  Result<std::uint64_t> digest() override { return 0; }

  std::function<void()> in_the_work;
  std::string log;
  std::size_t served = 0;  ///< disk index

 private:
  std::vector<DiskInfo> disk_infos_;
};

struct SlowStage {
  SlowStage() {
    auto made = std::make_unique<BlockingContent>();
    content = made.get();
    auto log = StageRecording::create(folder / "log", {});
    EXPECT_TRUE(log);
    EXPECT_TRUE(stage.load({"", "", "nonce", std::move(*log), std::move(made)}));
  }
  TemporaryFolder folder;
  Stage stage{"stage 0"};
  BlockingContent* content = nullptr;
};

/// A connection must keep its disk, even if the next state has the same disks in a different order.
TEST(Stage, AConnectionStaysBoundToItsDisk) {
  Stage stage("stage 0");
  const auto put = [&stage](std::vector<DiskInfo> disk_infos) {
    auto made = std::make_unique<BlockingContent>(std::move(disk_infos));
    BlockingContent* const content = made.get();
    EXPECT_TRUE(stage.load({"", "", "nonce", nullptr, std::move(made)}));
    return content;
  };
  BlockingContent* content = put({{"hd0", 64}, {"log", 32}});
  StageClient log(stage, "log");
  EXPECT_EQ(log.write(0, filled('a')), 0);
  EXPECT_EQ(content->served, 1U);
  content = put({{"log", 32}, {"hd1", 64}});
  EXPECT_EQ(log.write(0, filled('a')), 0);
  EXPECT_EQ(content->served, 0U);
}

/// The guest sends a flush while a write is in flight. In the recording, the write must not be
/// acknowledged before the flush is submitted.
TEST(Stage, AFlushDoesNotCoverAWriteInFlight) {
  bool together = false;
  for (int attempt = 0; attempt < 100 && !together; ++attempt) {
    SlowStage slow;
    StageClient writer(slow.stage);
    StageClient flusher(slow.stage);
    std::atomic<bool> inside = false;
    std::atomic<bool> sent = false;
    slow.content->in_the_work = [&] {
      inside = true;
      while (!sent) std::this_thread::yield();
      std::this_thread::sleep_for(1ms);  // by then the flush is most likely waiting for the lock
    };
    std::thread write([&] { EXPECT_EQ(writer.write(0, filled('a')), 0); });
    std::thread flush([&] {
      while (!inside) std::this_thread::yield();
      sent = true;
      EXPECT_EQ(flusher.flush(), 0);
    });
    write.join();
    flush.join();
    together = slow.content->log.substr(0, 2) == "WF";
    EXPECT_TRUE(together || slow.content->log == "WwFf") << slow.content->log;
  }
  EXPECT_TRUE(together) << "each write was answered before the flush";
}

/// The server runs out of memory once. Later requests must be served, and the stage must accept
/// another load.
TEST(Stage, AnExceptionFailsOnlyTheCurrentRequest) {
  SlowStage slow;
  {
    StageClient client(slow.stage);
    slow.content->in_the_work = [] { throw std::bad_alloc(); };
    EXPECT_EQ(client.write(0, filled('a')), ENOMEM);
    slow.content->in_the_work = [] { throw std::logic_error("impossible"); };
    EXPECT_EQ(client.write(0, filled('a')), EIO);
    slow.content->in_the_work = nullptr;
    EXPECT_EQ(client.write(0, filled('b')), 0);
    EXPECT_EQ(client.flush(), 0);
  }
  const auto error = slow.stage.status().error;
  ASSERT_TRUE(error);
  EXPECT_NE(error->find("out of memory"), std::string::npos) << *error;
  EXPECT_TRUE(slow.stage.load({"", "", "after", nullptr, std::make_unique<BlockingContent>()}));
}

/// Two guests write continuously, so at least one request is in flight at any time.
TEST(Stage, RejectsALoadWhileARequestIsInFlight) {
  SlowStage slow;
  const auto slowly = [] { std::this_thread::sleep_for(200us); };
  slow.content->in_the_work = slowly;
  std::atomic<bool> over = false;
  const auto guest = [&] {
    StageClient client(slow.stage);
    while (!over) EXPECT_EQ(client.write(0, filled('a')), 0);
  };
  const auto put = [&](const char* nonce) {
    auto content = std::make_unique<BlockingContent>();
    content->in_the_work = slowly;
    return slow.stage.load({"", "", nonce, nullptr, std::move(content)});
  };
  std::thread first(guest);
  std::thread second(guest);
  std::optional<ErrorKind> refusal;
  for (int attempt = 0; attempt < 20'000 && !refusal; ++attempt) {
    if (const auto done = put("between"); !done) refusal = done.error().kind;
    std::this_thread::sleep_for(50us);
  }
  over = true;
  first.join();
  second.join();
  EXPECT_EQ(refusal, ErrorKind::busy);
  EXPECT_TRUE(put("after"));
  EXPECT_EQ(slow.stage.nonce(), "after");
}

// ---- unreadable sectors

/// Writes 'a' over 16 sectors, then cuts the power in the middle of sector 4.
std::filesystem::path record_an_unreadable_sector(const TemporaryFolder& folder,
                                                  const char* profile) {
  const auto path = folder / "torn.hcrec";
  record::RecordingHeader header;
  header.devices = {{"hd0", profile, 4096, 1, true}};
  auto writer = record::RecordingWriter::create(path, header);
  EXPECT_TRUE(writer);
  const auto bytes = filled('a', 16);
  model::Request write;
  write.id = 1;
  write.op = model::Op::write;
  write.sectors = 16;
  write.data = bytes;
  (*writer)->submitted(0, 1, write);
  (*writer)->media_written(0, 2, {.source = 1, .lba = 0, .sectors = 16, .bytes = bytes});
  (*writer)->media_written(
      0, 3,
      {.source = 0, .lba = 4, .sectors = 1, .outcome = model::MediaWrite::Outcome::unreadable});
  return path;
}

void expect_unreadable_until_written(StageClient& client) {
  auto bytes = filled('?', 16);
  EXPECT_EQ(client.read(0, bytes), EIO);
  EXPECT_EQ(client.read(0, 4), filled('a', 4));
  EXPECT_EQ(client.read(5, 11), filled('a', 11));
  EXPECT_EQ(client.write(3, filled('b', 1)), 0);
  EXPECT_EQ(client.read(0, bytes), EIO);
  EXPECT_EQ(client.write(4, filled('c', 1)), 0);
  EXPECT_EQ(client.flush(), 0);
  EXPECT_EQ(client.read(4, 1), filled('c', 1));
  EXPECT_EQ(client.read(0, bytes), 0);
}

TEST(Stage, ReadingAnUnreadableSectorFailsUntilItIsWritten) {
  TemporaryFolder folder;
  const auto path = record_an_unreadable_sector(folder, "blank");
  const auto server = start_stages(1);
  load(*server, {.stage = 0, .recording = path, .id = "p3"});
  StageClient client(**server->stage(0));
  expect_unreadable_until_written(client);
  load(*server, {.stage = 0, .recording = path, .id = "p3"});
  auto bytes = filled('?', 16);
  EXPECT_EQ(client.read(0, bytes), EIO) << "unreadable in the state";
}

TEST(Stage, AModelledDriveReportsUnreadableSectorsOfTheState) {
  TemporaryFolder folder;
  const auto path = record_an_unreadable_sector(folder, "hp-c2447");
  const auto server = start_stages(1);
  load(*server, {.stage = 0, .recording = path, .id = "p3", .machine = "hp-c2447"});
  StageClient client(**server->stage(0));
  expect_unreadable_until_written(client);
}

}  // namespace
}  // namespace headcrash::stages
