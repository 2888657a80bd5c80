// Loads crash states onto stages (stage_server.h).
#include "plugin/stages/stage_server.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "plugin/base/named_file.h"
#include "plugin/record/used_disk.h"
#include "plugin/stages/plain_media.h"
#include "plugin/stages/rebuilt_machine.h"
#include "plugin/states/used_image.h"

namespace headcrash::stages {
namespace {

constexpr const char* kBlankName = "hd0";
constexpr const char* kBlankProfile = "blank";

/// Returns 16 hex digits that are unique to this server and this load. A client may have cached
/// pages during an earlier load. The new digits prevent the client from using those pages after
/// this load.
std::string new_nonce() {
  static std::atomic<std::uint32_t> loads = 0;
  static const std::uint32_t server = std::random_device()();
  return fmt::format("{:08x}{:08x}", server, ++loads);
}

/// The crash state or empty disk that is loaded.
struct Origin {
  std::string recording, id;  ///< empty: blank
  std::uint64_t fingerprint = 0;
  bool used_disk = false;
  std::vector<record::RecordedDevice> devices;
  std::vector<Medium> media;
  std::vector<Medium> caches;  ///< contents of battery-backed caches
};

Result<Origin> from_state(const std::filesystem::path& recording, OpenHistory& history,
                          const states::CrashState& state) {
  const states::RunHistory& run = history.run();
  Origin origin{.recording = recording,
                .id = states::format(state),
                .used_disk = std::ranges::any_of(run.header().devices, record::is_used_disk),
                .devices = run.header().devices,
                .media = {},
                .caches = {}};
  for (std::size_t id = 0; id < origin.devices.size(); ++id) {
    if (!origin.devices[id].medium) continue;
    const auto device = static_cast<model::DeviceId>(id);
    TRY(auto image, run.image(state, device));
    TRY(const auto digest, history.digest(device, image));
    origin.media.push_back({origin.devices[id].name, device, std::move(image), digest});
  }
  for (const model::DeviceId cache : run.caches()) {
    TRY(auto image, run.image(state, cache));
    origin.caches.push_back({origin.devices[cache].name, cache, std::move(image)});
  }
  if (origin.media.empty())
    return fail(recording, "has no device with a medium", "use a recording of a drive or an array");
  origin.fingerprint = run.fingerprint(state.event);
  return origin;
}

Origin blank(std::uint64_t sectors, const std::vector<DiskInfo>& other_disks, bool used_disk) {
  Origin origin;
  origin.used_disk = used_disk;
  const auto add = [&](const std::string& name, std::uint64_t of) {
    origin.media.push_back({name, static_cast<model::DeviceId>(origin.devices.size()),
                            used_disk ? states::used_image(of) : blank_image(of)});
    origin.devices.push_back(
        {name, used_disk ? std::string(record::kUsedDiskProfile) : kBlankProfile, of, 1, true});
  };
  add(kBlankName, sectors);
  for (const DiskInfo& other : other_disks) add(other.name, other.sectors);
  return origin;
}

Origin blank(const profiles::Plan& plan) {
  Origin origin;
  origin.devices = recorded_devices(plan);
  for (std::size_t id = 0; id < plan.all.size(); ++id)
    if (plan.all[id].leaf)
      origin.media.push_back(
          {plan.all[id].name, static_cast<model::DeviceId>(id), blank_image(plan.all[id].sectors)});
  return origin;
}

/// How to record a stage. If `into` is nullopt, the stage is not recorded.
struct Recorded {
  std::optional<std::filesystem::path> into;
  AnswerDelay delay;
};

/// A machine (an array, caches) on top of the media.
struct MachineAbove {
  profiles::Plan plan;
  std::vector<model::FaultSpec> faults;
};

std::vector<DiskInfo> disk_infos_of(const Origin& origin,
                                    const std::optional<MachineAbove>& above) {
  std::vector<DiskInfo> disk_infos;
  if (above) {
    for (const profiles::PlannedDevice& device : above->plan.all)
      if (!device.parent) disk_infos.push_back({device.name, device.sectors});
  } else {
    for (const Medium& medium : origin.media)
      disk_infos.push_back({medium.name, medium.image.sectors()});
  }
  return disk_infos;
}

/// Starts a recording. The path of the base is stored relative to the recording's directory, so
/// that both files can be moved together.
Result<std::unique_ptr<StageRecording>> begin_recording(const std::filesystem::path& path,
                                                        const Origin& origin, bool with_media,
                                                        const StageRecording::Clock& clock) {
  record::RecordingHeader header;
  header.devices = origin.devices;
  header.origin = "headcrash stage";
  header.media = with_media;
  if (!origin.recording.empty()) {
    std::error_code error;
    const auto folder = std::filesystem::weakly_canonical(base::folder_of(path), error);
    const auto base = std::filesystem::weakly_canonical(origin.recording, error);
    header.base = {base.lexically_relative(folder), origin.id, origin.fingerprint};
  }
  return StageRecording::create(path, header, clock);
}

Result<Stage::LoadRequest> make_load(Origin origin, std::optional<MachineAbove> above,
                                     const Recorded& recorded, const StageRecording::Clock& clock,
                                     std::uint64_t overlay_bytes_max) {
  Stage::LoadRequest load{origin.id, origin.recording, new_nonce(),
                          nullptr,   nullptr,          recorded.delay};
  if (recorded.into) {
    TRY(auto log, begin_recording(*recorded.into, origin, above.has_value(), clock));
    load.log = std::move(log);
  }
  if (!above) {
    load.content = std::make_unique<PlainMedia>(std::move(origin.media), overlay_bytes_max,
                                                load.log.get(), origin.used_disk);
    return load;
  }
  auto machine =
      RebuiltMachine::create(std::move(above->plan), {origin.media, origin.caches, above->faults},
                             overlay_bytes_max, load.log.get());
  if (!machine) {
    if (load.log) load.log->discard();
    return forward_error(machine);
  }
  load.content = std::move(*machine);
  return load;
}

/// Returns a digest of the contents of all media. The digest does not depend on the machine to
/// which the media belong.
std::uint64_t digest_of(const std::vector<Medium>& media) {
  std::uint64_t joined = 0;
  for (std::size_t i = 0; i < media.size(); ++i)
    joined = joined_digest(joined, media[i].digest, i == 0);
  return joined;
}

Result<Loaded> load_onto(Stage& stage, Origin origin, std::optional<MachineAbove> above,
                         const Recorded& recorded, std::uint64_t overlay_bytes_max) {
  const std::vector<DiskInfo> disk_infos = disk_infos_of(origin, above);
  // This check precedes the creation of the recording, so that a rejected load leaves no file.
  TRY(stage.may_load(disk_infos));
  const std::uint64_t digest = digest_of(origin.media);
  TRY(auto load,
      make_load(std::move(origin), std::move(above), recorded, stage.clock(), overlay_bytes_max));
  const std::string nonce = load.nonce;
  TRY(stage.load(std::move(load)));
  return Loaded{nonce, disk_infos.front().sectors, digest};
}

}  // namespace

StageServer::StageServer(const StageServerOptions& options) : options_(options) {
  for (std::size_t i = 0; i < options.stages; ++i)
    stages_.push_back(std::make_unique<Stage>(fmt::format("stage {}", i)));
}

Result<std::unique_ptr<StageServer>> StageServer::create(const StageServerOptions& options) {
  std::unique_ptr<StageServer> self(new StageServer(options));
  if (options.recording) TRY(self->histories_.get(*options.recording));
  return self;
}

Result<Stage*> StageServer::stage(std::size_t number) {
  if (number >= stages_.size())
    return fail("stage",
                fmt::format("{} does not exist: this server has {} stages", number, stages_.size()),
                fmt::format("use 0 to {}, or start the server with states={}", stages_.size() - 1,
                            number + 1));
  return stages_[number].get();
}

Result<Loaded> StageServer::load(const LoadOrder& order) {
  TRY(const auto stage, this->stage(order.stage));
  Origin origin;
  std::optional<MachineAbove> above;
  if (order.recording) {
    TRY(const auto state, states::parse_crash_state(order.id));
    TRY(const auto run, histories_.get(*order.recording));
    TRY(auto found, from_state(*order.recording, *run, state));
    origin = std::move(found);
  }
  if (order.machine) {
    TRY(auto planned, plan_machine(*order.machine, order.recording ? origin.devices.front().sectors
                                                                   : order.sectors));
    above = {std::move(planned), order.faults};
    if (order.recording)
      TRY(check_fit(above->plan, *order.machine, origin.devices, origin.recording));
  }
  if (!order.recording)
    origin = above ? blank(above->plan) : blank(order.sectors, order.other_disks, order.used_disk);
  return load_onto(*stage, std::move(origin), std::move(above), {order.record, order.delay},
                   options_.overlay_bytes_max);
}

Result<std::unique_ptr<Stage>> StageServer::private_stage(const std::string& id) {
  if (!options_.recording)
    return fail("state/" + id.substr(0, 64), "this server has no recording",
                "start it with recording=FILE, or load the state onto a stage");
  TRY(const auto state, states::parse_crash_state(id));
  TRY(const auto run, histories_.get(*options_.recording));
  TRY(auto origin, from_state(*options_.recording, *run, state));
  auto stage = std::make_unique<Stage>("state/" + id);
  TRY(load_onto(*stage, std::move(origin), std::nullopt, {}, options_.overlay_bytes_max));
  return stage;
}

}  // namespace headcrash::stages
