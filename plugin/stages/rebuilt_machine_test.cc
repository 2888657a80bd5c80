// Tests arrays on stages: new arrays, and arrays rebuilt over the media of a crash state.
#include "plugin/stages/rebuilt_machine.h"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "plugin/stages/order.h"
#include "plugin/stages/testing/stage_fixture.h"

namespace headcrash::stages {
namespace {

constexpr const char* kProfile = "raid5-5";
constexpr std::uint64_t kArraySectors = 65536;

LoadOrder fresh_array(const std::filesystem::path& record, std::size_t stage = 0) {
  return {.stage = stage, .sectors = kArraySectors, .record = record, .machine = kProfile};
}
LoadOrder array_in(const std::filesystem::path& recording, const std::string& id,
                   std::size_t stage = 0) {
  return {.stage = stage, .recording = recording, .id = id, .machine = kProfile};
}

/// Writes 'a' to one stripe and flushes, then overwrites half of it with 'b'.
Sealed record_an_array(StageServer& server, const std::filesystem::path& path) {
  load(server, fresh_array(path));
  StageClient client(**server.stage(0));
  EXPECT_EQ(client.write(0, filled('a', 64)), 0);
  EXPECT_EQ(client.flush(), 0);
  EXPECT_TRUE((*server.stage(0))->mark("flushed"));
  EXPECT_EQ(client.write(0, filled('b', 32)), 0);
  const auto sealed = (*server.stage(0))->seal();
  EXPECT_TRUE(sealed);
  return *sealed;
}

/// Returns a request to load the whole array in the final state of the recording.
LoadOrder whole_array_in(const std::filesystem::path& recording, const Sealed& sealed) {
  return array_in(recording, "p" + std::to_string(sealed.events));
}

TEST(RebuiltMachine, RecordsANewArrayWithItsMedia) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const Sealed sealed = record_an_array(*server, folder / "array.hcrec");
  EXPECT_GT(sealed.events, 12U);
  const auto run = states::RunHistory::load(folder / "array.hcrec");
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_TRUE((*run)->has_media_events());
  EXPECT_FALSE((*run)->header().devices.at(0).medium);
  EXPECT_TRUE((*run)->header().devices.at(1).medium);
  EXPECT_EQ((*run)->header().devices.at(1).name, "hd0.0");
  ASSERT_EQ((*run)->marks().size(), 1U);
}

TEST(RebuiltMachine, RestoresAnArray) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto path = folder / "array.hcrec";
  const Sealed sealed = record_an_array(*server, path);
  const auto run = states::RunHistory::load(path);
  ASSERT_TRUE(run);
  const std::string at_mark = "p" + std::to_string((*run)->marks().front().event);
  const std::string at_end = "p" + std::to_string(sealed.events);
  const Loaded early = load(*server, array_in(path, at_mark));
  EXPECT_GE(early.sectors, kArraySectors);
  {
    StageClient client(**server->stage(0));
    EXPECT_EQ(client.sectors(), early.sectors);
    EXPECT_EQ(client.read(0, 64), filled('a', 64));
    EXPECT_EQ(client.write(128, filled('n', 8)), 0);
    EXPECT_EQ(client.read(128, 8), filled('n', 8));
    load(*server, array_in(path, at_end));
    EXPECT_EQ(client.read(0, 32), filled('b', 32));
    EXPECT_EQ(client.read(32, 32), filled('a', 32));
    EXPECT_EQ(client.read(128, 8), filled('\0', 8)) << "must be dropped with the overlay";
  }
  // Without `machine`, each member is loaded as a separate disk.
  load(*server, {.stage = 0, .recording = path, .id = at_end});
  StageClient member(**server->stage(0), "hd0.1");
  EXPECT_LT(member.sectors(), kArraySectors);
}

/// The states include cuts between the data write and the parity write. In these states, the array
/// must start and correct its parity.
TEST(RebuiltMachine, EveryPhysicalStateStartsAndKeepsFlushedData) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto path = folder / "array.hcrec";
  const Sealed sealed = record_an_array(*server, path);
  const auto run = states::RunHistory::load(path);
  ASSERT_TRUE(run);
  for (std::uint64_t event = (*run)->marks().front().event; event <= sealed.events; ++event) {
    load(*server, array_in(path, "p" + std::to_string(event)));
    StageClient client(**server->stage(0));
    EXPECT_EQ(client.read(32, 32), filled('a', 32)) << "at event " << event;
    const auto first = client.read(0, 1);
    EXPECT_TRUE(first == filled('a', 1) || first == filled('b', 1)) << "at event " << event;
  }
}

TEST(RebuiltMachine, RecordsARecoveryBasedOnTheLoadedState) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto path = folder / "array.hcrec";
  LoadOrder order = whole_array_in(path, record_an_array(*server, path));
  order.record = folder / "again.hcrec";
  load(*server, order);
  std::uint64_t events = 0;
  {
    StageClient client(**server->stage(0));
    EXPECT_EQ(client.write(256, filled('c', 64)), 0);
    const auto second = (*server->stage(0))->seal();
    ASSERT_TRUE(second);
    events = second->events;
  }
  load(*server, array_in(folder / "again.hcrec", "p" + std::to_string(events)));
  StageClient client(**server->stage(0));
  EXPECT_EQ(client.read(0, 32), filled('b', 32)) << "from the base";
  EXPECT_EQ(client.read(256, 64), filled('c', 64)) << "from the recording itself";
}

TEST(RebuiltMachine, SealWritesVolatileCachesBack) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto path = folder / "drive.hcrec";
  load(*server, {.stage = 0, .sectors = 8192, .record = path, .machine = "sata-ssd"});
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  {
    StageClient client(**server->stage(0));
    EXPECT_EQ(client.write(0, filled('v')), 0);
    before = states::RunHistory::load(path).value()->events();
    const auto sealed = (*server->stage(0))->seal();
    ASSERT_TRUE(sealed);
    after = sealed->events;
  }
  EXPECT_GT(after, before);
  load(*server,
       {.stage = 0, .recording = path, .id = "p" + std::to_string(after), .machine = "sata-ssd"});
  StageClient client(**server->stage(0));
  EXPECT_EQ(client.read(0), filled('v'));
}

TEST(RebuiltMachine, DigestDependsOnlyOnTheVisibleData) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto path = folder / "array.hcrec";
  const Sealed sealed = record_an_array(*server, path);
  const std::string end = "p" + std::to_string(sealed.events);
  Stage& stage = **server->stage(0);
  load(*server, array_in(path, end));
  const auto before = stage.digest();
  ASSERT_TRUE(before);
  {
    StageClient client(stage);
    EXPECT_EQ(client.write(0, filled('b', 32)), 0) << "the same bytes again";
    EXPECT_EQ(*stage.digest(), *before);
    EXPECT_EQ(client.write(0, filled('x', 1)), 0);
    EXPECT_NE(*stage.digest(), *before);
  }
  load(*server, array_in(path, end));
  EXPECT_EQ(*stage.digest(), *before);
}

TEST(RebuiltMachine, RejectsStacksThatDoNotMatchTheRecording) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto path = folder / "array.hcrec";
  record_an_array(*server, path);
  const auto refusal = [&](const char* profile) {
    LoadOrder order = array_in(path, "p0");
    order.machine = profile;
    const auto loaded = server->load(order);
    return loaded ? "accepted" : loaded.error().message();
  };
  EXPECT_NE(refusal("hp-c2447").find("the machine has 1 devices, but the recording has 6"),
            std::string::npos)
      << refusal("hp-c2447");
  EXPECT_NE(refusal("raid0-2").find("does not fit"), std::string::npos);
  EXPECT_NE(refusal("raid55").find("raid5"), std::string::npos) << refusal("raid55");
  LoadOrder too_large = fresh_array(folder / "never.hcrec");
  too_large.sectors = 1ULL << 50;
  EXPECT_FALSE(server->load(too_large));
  EXPECT_FALSE(std::filesystem::exists(folder / "never.hcrec"));
}

TEST(RebuiltMachine, AFullMemberOverlayIsReportedToTheClient) {
  const auto server = start_stages(1, 64 << 10);
  load(*server, {.stage = 0, .sectors = kArraySectors, .machine = kProfile});
  StageClient client(**server->stage(0));
  int error = 0;
  for (std::uint64_t lba = 0; lba < 8192 && error == 0; lba += 64)
    error = client.write(lba, filled('f', 64));
  if (error == 0) error = client.flush();
  EXPECT_EQ(error, ENOSPC);
  ASSERT_TRUE((*server->stage(0))->status().error);
}

model::FaultSpec fault(const char* text) {
  return model::parse_fault(text).value();
}

TEST(RebuiltMachine, ReconstructsAMemberMissingAtPowerOn) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto path = folder / "array.hcrec";
  LoadOrder order = whole_array_in(path, record_an_array(*server, path));
  order.faults = {fault("dead:hd0.0")};
  load(*server, order);
  StageClient client(**server->stage(0));
  EXPECT_EQ(client.read(0, 32), filled('b', 32));
  EXPECT_EQ(client.read(32, 32), filled('a', 32));
  order.faults = {fault("dead:hd0.9")};
  const auto missing = server->load(order);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("no device 'hd0.9'"), std::string::npos);
}

TEST(RebuiltMachine, ADirtyDegradedArrayDoesNotStart) {
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto path = folder / "array.hcrec";
  record_an_array(*server, path);
  const auto run = states::RunHistory::load(path);
  LoadOrder order = array_in(path, "p" + std::to_string((*run)->marks().front().event));
  order.faults = {fault("dead:hd0.0")};
  const auto refused = server->load(order);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::does_not_start) << refused.error().message();
  const nlohmann::json line{{"state", "load"},
                            {"stage", 0},
                            {"recording", path.string()},
                            {"id", order.id},
                            {"machine", *order.machine},
                            {"faults", {"dead:hd0.0"}}};
  EXPECT_EQ(nlohmann::json::parse(answer(*server, line.dump()))["kind"], "does-not-start");
}

/// The stack has one cache above the array, and one above each member's log.
TEST(RebuiltMachine, BatteryBackedContentsSurviveAPowerCut) {
  constexpr const char* kPresto = "netra-raid5-presto";
  TemporaryFolder folder;
  const auto server = start_stages(1);
  const auto path = folder / "cached.hcrec";
  load(*server, {.stage = 0, .sectors = kArraySectors, .record = path, .machine = kPresto});
  {
    StageClient client(**server->stage(0));
    EXPECT_EQ(client.write(640, filled('k', 16)), 0);
    EXPECT_TRUE((*server->stage(0))->mark("acknowledged"));
    ASSERT_TRUE((*server->stage(0))->seal());
  }
  const auto run = states::RunHistory::load(path);
  ASSERT_TRUE(run);
  ASSERT_FALSE((*run)->caches().empty());
  EXPECT_EQ((*run)->caches().front(), 0);
  LoadOrder order{.stage = 0, .recording = path, .machine = kPresto};
  order.id = "p" + std::to_string((*run)->marks().front().event);
  order.record = folder / "again.hcrec";
  load(*server, order);
  {
    StageClient client(**server->stage(0));
    EXPECT_EQ(client.read(640, 16), filled('k', 16));
    ASSERT_TRUE((*server->stage(0))->seal());
  }
  const auto again = states::RunHistory::load(*order.record);
  ASSERT_TRUE(again);
  ASSERT_EQ((*again)->marks().size(), 1U);
  EXPECT_EQ((*again)->marks().front().text, states::kCachesWrittenBackMark);
  ASSERT_FALSE((*again)->writes(0).empty());
  EXPECT_LT((*again)->writes(0).back().acked_event, (*again)->marks().front().event)
      << "the cached data must be back";
  order.record.reset();
  order.faults = {fault("battery-dead:hd0")};
  load(*server, order);
  StageClient client(**server->stage(0));
  EXPECT_EQ(client.read(640, 16), filled('\0', 16));
}

}  // namespace
}  // namespace headcrash::stages
