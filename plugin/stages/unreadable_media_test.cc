// Tests machines over a crash state with unreadable sectors. The machine's recovery reads such
// sectors. A rewritten sector becomes readable.
#include <cerrno>

#include "plugin/model/array/raid_layout.h"
#include "plugin/stages/rebuilt_machine.h"
#include "plugin/stages/testing/stage_fixture.h"

namespace headcrash::stages {
namespace {

constexpr std::uint64_t kStackSectors = 65536;

/// A recorded machine on blank media. make_unreadable() adds an effect of a power cut to the
/// recording.
struct RecordedStack {
  RecordedStack(const std::filesystem::path& path, const char* profile) {
    auto planned = plan_machine(profile, kStackSectors);
    EXPECT_TRUE(planned) << planned.error().message();
    plan = *planned;
    std::vector<Medium> media;
    for (model::DeviceId id = 0; id < plan.device_count(); ++id)
      if (plan.all[id].leaf)
        media.push_back({plan.all[id].name, id, blank_image(plan.all[id].sectors)});
    record::RecordingHeader header;
    header.devices = recorded_devices(plan);
    header.media = true;
    auto log = StageRecording::create(path, header);
    EXPECT_TRUE(log) << log.error().message();
    recording = std::move(*log);
    auto made =
        RebuiltMachine::create(plan, {media, {}, {}}, kOverlayBytesDefault, recording.get());
    EXPECT_TRUE(made) << made.error().message();
    machine = std::move(*made);
  }
  void write(std::uint64_t lba, const std::vector<std::byte>& bytes) {
    model::Request request;
    request.op = model::Op::write;
    request.lba = lba;
    request.sectors = static_cast<std::uint32_t>(bytes.size() / model::kSectorBytes);
    request.data = bytes;
    EXPECT_EQ(machine->serve(0, request), 0);
  }
  void make_unreadable(model::DeviceId device, std::uint64_t lba) {
    recording->media_written(
        device, 0, {.lba = lba, .sectors = 1, .outcome = model::MediaWrite::Outcome::unreadable});
  }
  /// Completes the recording and returns the name of its final state.
  std::string seal() {
    const auto sealed = recording->seal();
    EXPECT_TRUE(sealed);
    return "p" + std::to_string(sealed->events);
  }

  profiles::Plan plan;
  std::unique_ptr<StageRecording> recording;
  std::unique_ptr<RebuiltMachine> machine;
};

/// The array in a plan. REQUIRES: the plan's first device is an array with a prewrite log.
struct LoggingArray {
  explicit LoggingArray(const profiles::Plan& plan)
      : profile(std::get<model::ArrayProfile>(plan.devices.front().stack->profile)),
        layout(model::RaidLayout::of(profile, plan.all.at(1).sectors)) {}
  /// Returns the id of the member that has this role in stripe 0, and the LBA of the stripe's first
  /// sector on that member.
  std::pair<model::DeviceId, std::uint64_t> home(std::uint32_t role) const {
    return {static_cast<model::DeviceId>(1 + layout.member_of(0, role)), layout.member_lba(0, 0)};
  }
  /// Returns the LBA of the first payload sector of a member's first record. The payload follows
  /// the record's header.
  static std::uint64_t first_payload() { return 2 * model::kSuperblockSectors + 1; }
  model::ArrayProfile profile;
  model::RaidLayout layout;
};

constexpr const char* kLogging = "netra-raid5";

/// The cut tore the in-place writes of data and parity. The log has both, so the sectors are
/// readable after the roll-forward.
TEST(UnreadableMedia, RolledForwardSectorsAreReadable) {
  TemporaryFolder folder;
  const auto path = folder / "torn.hcrec";
  RecordedStack stack(path, kLogging);
  const LoggingArray array(stack.plan);
  stack.write(0, filled('a', 8));  // logged now, and written in place before the next request
  for (const std::uint32_t role : {0U, array.layout.data}) {
    const auto [device, lba] = array.home(role);
    stack.make_unreadable(device, lba);
  }
  const std::string state = stack.seal();
  const auto server = start_stages(1);
  load(*server, {.stage = 0, .recording = path, .id = state, .machine = kLogging});
  StageClient client(**server->stage(0));
  EXPECT_EQ(client.read(0, 8), filled('a', 8));
}

/// A log record that is unreadable on the medium must not be rolled forward, although the recording
/// still contains the record's valid bytes.
TEST(UnreadableMedia, AnUnreadableLogRecordIsIgnored) {
  TemporaryFolder folder;
  const auto path = folder / "torn.hcrec";
  RecordedStack stack(path, kLogging);
  const LoggingArray array(stack.plan);
  stack.write(0, filled('a', 8));
  stack.make_unreadable(array.home(0).first, LoggingArray::first_payload());
  const std::string state = stack.seal();
  const auto server = start_stages(1);
  load(*server, {.stage = 0, .recording = path, .id = state, .machine = kLogging});
  StageClient client(**server->stage(0));
  EXPECT_EQ(client.read(0, 8), filled('\0', 8))
      << "the data can only come from an unreadable record";
}

/// The cut interrupted a write-back. The cache still has the data and writes it back again at
/// power-on.
TEST(UnreadableMedia, SectorsWrittenBackByACacheAreReadable) {
  constexpr const char* kCached = "hp-c2447-nvram";
  TemporaryFolder folder;
  const auto path = folder / "cached.hcrec";
  RecordedStack stack(path, kCached);
  stack.write(64, filled('k', 8));
  stack.make_unreadable(1, 66);
  stack.make_unreadable(1, 80);
  const std::string state = stack.seal();
  const auto server = start_stages(1);
  load(*server, {.stage = 0, .recording = path, .id = state, .machine = kCached});
  StageClient client(**server->stage(0));
  EXPECT_EQ(client.read(64, 8), filled('k', 8));
  auto bytes = filled('?', 1);
  EXPECT_EQ(client.read(80, bytes), EIO) << "the cache did not have this sector";
}

TEST(UnreadableMedia, CanHaveMoreUnreadableSectorsThanTheLimitOnFaults) {
  constexpr const char* kDrive = "hp-c2447";
  TemporaryFolder folder;
  const auto path = folder / "many.hcrec";
  RecordedStack stack(path, kDrive);
  for (std::uint64_t i = 0; i <= model::DeviceFaults::kFaultsMax; ++i)
    stack.make_unreadable(0, 2 * i);
  const std::string state = stack.seal();
  const auto server = start_stages(1);
  load(*server, {.stage = 0, .recording = path, .id = state, .machine = kDrive});
  StageClient client(**server->stage(0));
  auto bytes = filled('?', 1);
  EXPECT_EQ(client.read(2 * model::DeviceFaults::kFaultsMax, bytes), EIO);
  EXPECT_EQ(client.read(2 * model::DeviceFaults::kFaultsMax - 1, bytes), 0);
}

}  // namespace
}  // namespace headcrash::stages
