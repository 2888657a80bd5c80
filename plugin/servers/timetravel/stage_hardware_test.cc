// Tests a stage as the disks of a guest in virtual time: how long requests take, and how they are
// recorded.
#include "plugin/servers/timetravel/stage_hardware.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "plugin/record/recording.h"
#include "plugin/stages/testing/stage_fixture.h"

namespace headcrash::timetravel {
namespace {

using model::TimeNs;
using stages::filled;

constexpr std::uint64_t kSectors = 4096, kLogSectors = 128;

/// The guest's end of a disk: submits requests and notes when they complete.
class Client {
 public:
  Client(StageHardware& hardware, GuestDisk::Served served)
      : hardware_(hardware), served_(std::move(served)) {}

  struct WaitingRead : model::Initiator {
    void completed(const model::Completion& with) override {
      completion = with;
      at = hardware->now();
    }
    StageHardware* hardware = nullptr;
    model::Request request;
    std::vector<std::byte> bytes;
    std::optional<int> error;  ///< errno of an immediate answer
    std::optional<model::Completion> completion;
    TimeNs at = 0;
  };
  WaitingRead& begin(model::Op op, std::uint64_t lba, char value = 'x') {
    auto& waiting = *waiting_.emplace_back(std::make_unique<WaitingRead>());
    waiting.hardware = &hardware_;
    waiting.bytes = filled(value);
    waiting.request.op = op;
    waiting.request.lba = lba;
    waiting.request.sectors = op == model::Op::flush ? 0 : 8;
    if (op == model::Op::read) waiting.request.into = waiting.bytes;
    if (op == model::Op::write) waiting.request.data = waiting.bytes;
    waiting.error = served_.serve(waiting.request, waiting);
    waiting.at = hardware_.now();
    return waiting;
  }
  int error_of(const WaitingRead& waiting) {
    return served_.account(waiting.request, *waiting.completion);
  }

 private:
  StageHardware& hardware_;
  GuestDisk::Served served_;
  std::vector<std::unique_ptr<WaitingRead>> waiting_;
};

struct Fixture {
  Fixture() : hardware(**server->stage(0), {std::nullopt, "log"}) {}
  Client client(std::size_t disk = 0) { return {hardware, *hardware.disk(disk)()}; }
  void finish() {
    while (hardware.next_event()) hardware.step(model::kNever);
  }
  void mark(const std::string& text) {
    auto bytes = filled('\0', 1);
    std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
    model::Request request;
    request.op = model::Op::write;
    request.sectors = 1;
    request.data = bytes;
    Client::WaitingRead nobody;
    EXPECT_EQ((*hardware.marks()()).serve(request, nobody), 0);
  }
  std::unique_ptr<stages::StageServer> server = stages::start_stages(1);
  StageHardware hardware;
};

TEST(StageHardware, ADiskExistsOnlyAfterAStateIsLoaded) {
  Fixture fixture;
  const auto refused = fixture.hardware.disk(0)();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("has no state yet"), std::string::npos);
  load(*fixture.server, {.sectors = kSectors});
  EXPECT_EQ((*fixture.hardware.disk(0)()).shape.sectors, kSectors);
  EXPECT_TRUE((*fixture.hardware.disk(0)()).shape.trim);
  EXPECT_FALSE((*fixture.hardware.disk(0)()).shape.trim_zeroes)
      << "a trim of a used disk must keep its contents";
  EXPECT_FALSE(fixture.hardware.disk(1)()) << "there is no log disk";
  load(*fixture.server, {.sectors = kSectors, .other_disks = {{"log", kLogSectors}}});
  EXPECT_EQ((*fixture.hardware.disk(1)()).shape.sectors, kLogSectors);
  EXPECT_EQ((*fixture.hardware.marks()()).shape.sectors, 8U);
}

TEST(StageHardware, AStageCanChangeSizeAfterItsClientDisconnects) {
  Fixture fixture;
  load(*fixture.server, {.sectors = kSectors});
  {
    const auto attached = fixture.hardware.disk(0)();
    EXPECT_FALSE(fixture.server->load({.sectors = 2 * kSectors}));
  }
  EXPECT_TRUE(fixture.server->load({.sectors = 2 * kSectors}));
}

TEST(StageHardware, UnrecordedRequestsTakeNoTime) {
  Fixture fixture;
  load(*fixture.server, {.sectors = kSectors});
  Client client = fixture.client();
  EXPECT_EQ(client.begin(model::Op::write, 8, 'w').error, 0);
  const auto& read = client.begin(model::Op::read, 8);
  EXPECT_EQ(read.error, 0);
  EXPECT_EQ(read.bytes, filled('w'));
  EXPECT_FALSE(fixture.hardware.next_event());
  EXPECT_FALSE(fixture.hardware.step(1000));
  EXPECT_EQ(fixture.hardware.now(), 1000);
  EXPECT_TRUE(fixture.server->load({.sectors = kSectors}));
}

TEST(StageHardware, ASlowWriteIsInFlightUntilItCompletes) {
  const TemporaryFolder folder;
  Fixture fixture;
  load(*fixture.server, {.sectors = kSectors,
                         .record = folder / "slow.hcrec",
                         .delay = {.seed = 1, .most_us = 1'000'000}});
  Client client = fixture.client();
  const auto& write = client.begin(model::Op::write, 8, 'w');
  ASSERT_EQ(write.error, std::nullopt);
  EXPECT_FALSE(write.completion);
  EXPECT_FALSE(fixture.server->load({.sectors = kSectors})) << "a request is in flight";
  const TimeNs due = *fixture.hardware.next_event();
  EXPECT_FALSE(fixture.hardware.step(due - 1));
  EXPECT_FALSE(write.completion);
  EXPECT_EQ(client.begin(model::Op::read, 8).error, 0) << "reads are not recorded";
  EXPECT_TRUE(fixture.hardware.step(due));
  ASSERT_TRUE(write.completion);
  EXPECT_EQ(write.at, due);
  EXPECT_EQ(client.error_of(write), 0);
  EXPECT_TRUE(fixture.server->load({.sectors = kSectors}));
}

TEST(StageHardware, InvalidRequestsFail) {
  Fixture fixture;
  load(*fixture.server, {.sectors = kSectors});
  Client client = fixture.client();
  EXPECT_EQ(client.begin(model::Op::read, kSectors).error, EINVAL);

  const TemporaryFolder folder;
  load(*fixture.server, {.sectors = kSectors,
                         .record = folder / "slow.hcrec",
                         .delay = {.seed = 1, .most_us = 1'000'000}});
  const auto& later = client.begin(model::Op::write, kSectors);
  fixture.finish();
  EXPECT_EQ(client.error_of(later), EIO);
}

/// Records a flush that is sent while a write is in flight, and checks that the recorded times are
/// those of the guest. Returns the bytes of the recording.
std::string record_slow_writes(const std::filesystem::path& path) {
  Fixture fixture;
  // The time advances before the stage is loaded, so the recording's clock starts later than the
  // guest's.
  fixture.hardware.step(model::kSecondNs);
  stages::LoadOrder order{
      .sectors = kSectors, .record = path, .delay = {.seed = 7, .most_us = 8000}};
  load(*fixture.server, order);
  Client client = fixture.client();
  std::vector<const Client::WaitingRead*> all;
  for (std::uint64_t i = 0; i < 40; ++i) {
    all.push_back(&client.begin(model::Op::write, i * 8));
    if (i % 10 == 9) all.push_back(&client.begin(model::Op::flush, 0));
  }
  fixture.finish();
  fixture.mark("all written");
  EXPECT_TRUE((*fixture.server->stage(0))->seal());
  const auto latest = std::ranges::max(all, {}, [](const auto* one) { return one->at; })->at;
  EXPECT_LE(latest, model::kSecondNs + 8 * model::kMillisecondNs);
  EXPECT_FALSE(std::ranges::is_sorted(all, {}, [](const auto* one) { return one->at; }))
      << "answers must overtake";
  EXPECT_EQ(client.begin(model::Op::write, 0).error, 0) << "recording has ended";

  auto reader = record::RecordingReader::open(path);
  EXPECT_TRUE(reader);
  bool in_flight = false;
  std::size_t open = 0;
  TimeNs last = 0;
  while (const auto event = *reader->next()) {
    EXPECT_GE(event->at, last);
    last = event->at;
    if (event->kind == record::Kind::ack) --open;
    if (event->kind != record::Kind::submit) continue;
    in_flight = in_flight || (event->op == model::Op::flush && open != 0);
    ++open;
  }
  EXPECT_TRUE(in_flight);
  EXPECT_EQ(open, 0U);
  EXPECT_EQ(last, latest - model::kSecondNs) << "the time of the mark";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(StageHardware, ASlowDiskIsRecordedReproduciblyInTheGuestsTime) {
  const TemporaryFolder folder;
  const std::string first = record_slow_writes(folder / "first.hcrec");
  EXPECT_EQ(first, record_slow_writes(folder / "second.hcrec"));
}

}  // namespace
}  // namespace headcrash::timetravel
