// Reads a recording for the explorer (run_history.h). make_image.cc makes images of its crash
// states.
#include "plugin/states/run_history.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "plugin/base/invariant.h"
#include "plugin/record/used_disk.h"
#include "plugin/states/digest.h"
#include "plugin/states/run_history_state.h"
#include "plugin/states/used_image.h"

namespace headcrash::states {
namespace {

namespace fs = std::filesystem;

/// Maximum length of a chain of recordings in which each one is based on the next. This limits the
/// memory used, because each index takes 16 bytes for each GiB of its medium.
constexpr std::size_t kBasesMax = 64;
/// A key for mix(): any odd number with well-mixed bits (this is 2^64 / the golden ratio).
constexpr std::uint64_t kFingerprintKey = 0x9e3779b97f4a7c15;

Result<std::shared_ptr<const StateImage>> own_copy(Result<StateImage> image) {
  if (!image) return forward_error(image);
  return std::make_shared<const StateImage>(std::move(*image));
}

}  // namespace

// ---- reading

Result<void> RunHistory::State::read_events(record::RecordingReader& reader) {
  for (const record::RecordedDevice& device : header.devices) {
    if (device.sectors > kStateSectorsMax)
      return fail(path, fmt::format("{} has {} sectors", device.name, device.sectors),
                  fmt::format("crash states need devices of at most {} sectors", kStateSectorsMax));
    devices.emplace_back(device.sectors, record::is_used_disk(device));
  }
  answers.resize(header.devices.size());
  fingerprints.push_back(header.base ? header.base->fingerprint.value_or(0) : 0);
  for (;; ++events) {
    TRY(auto event, reader.next(record::PayloadUse::skip));
    if (!event) break;
    const record::Event& e = *event;
    fingerprints.push_back(
        mix(fingerprints.back() ^ kFingerprintKey, kFingerprintKey + e.checksum));
    if (e.kind == record::Kind::mark) {
      marks.push_back(
          {events, e.at, {reinterpret_cast<const char*>(e.payload.data()), e.payload.size()}});
    } else if (e.kind == record::Kind::media) {
      if (e.device < devices.size() && !header.devices[e.device].medium &&
          std::find(caches.begin(), caches.end(), e.device) == caches.end())
        caches.push_back(e.device);
    } else if (e.kind == record::Kind::opened || (e.kind == record::Kind::power && e.detail == 0)) {
      power_cycles.push_back(events + 1);
    } else if (e.kind == record::Kind::submit || e.kind == record::Kind::ack) {
      if (e.device >= devices.size() || !devices[e.device].add(e, events))
        return fail(
            path,
            e.device >= devices.size()
                ? fmt::format(
                      "the event at offset {} refers to device {}, but there are only {} devices",
                      e.offset, e.device, devices.size())
                : fmt::format("the event at offset {} submits request {} again", e.offset,
                              e.request),
            "the recording is damaged: restore it");
      if (e.kind == record::Kind::ack) answers[e.device].push_back(events);
    }
  }
  for (DeviceWrites& device : devices) device.finish();
  find_disks();
  tail_error = reader.tail_error();
  return {};
}

void RunHistory::State::find_disks() {
  const auto below_another = [&](const std::string& name) {
    return std::any_of(header.devices.begin(), header.devices.end(),
                       [&](const record::RecordedDevice& one) {
                         return name.size() > one.name.size() && name.starts_with(one.name + ".");
                       });
  };
  std::vector<model::RequestId> requests;
  for (std::size_t i = 0; i < header.devices.size(); ++i) {
    if (!header.devices[i].medium || below_another(header.devices[i].name)) return disks.clear();
    disks.push_back(static_cast<model::DeviceId>(i));
    for (const RecordedWrite& write : devices[i].writes()) requests.push_back(write.request);
  }
  if (disks.size() < 2) return;
  // A state's name identifies a write by its request number alone, so no two disks may use the same
  // number.
  std::sort(requests.begin(), requests.end());
  if (std::adjacent_find(requests.begin(), requests.end()) != requests.end()) disks.clear();
}

/// Finds the device of the base recording that corresponds to `device`, and sets bases[device] to
/// the image of the found device in `state`. Returns nullopt on success. If no device corresponds,
/// returns the reason.
std::optional<std::string> RunHistory::State::no_base_of(const RunHistory& below,
                                                         const CrashState& state,
                                                         std::size_t device, bool shared) {
  const auto& found = below.header().devices;
  std::vector<std::size_t> media;
  std::optional<std::size_t> match;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].name == header.devices[device].name) match = i;
    if (found[i].medium) media.push_back(i);
  }
  const auto is_medium = [](const record::RecordedDevice& one) { return one.medium; };
  if (!match && media.size() == 1 &&
      std::count_if(header.devices.begin(), header.devices.end(), is_medium) == 1)
    match = media.front();
  if (!match) return fmt::format("which has no device {}", header.devices[device].name);
  if (found[*match].sectors != header.devices[device].sectors)
    return fmt::format("whose {} has {} sectors, while this recording's {} has {}",
                       found[*match].name, found[*match].sectors, header.devices[device].name,
                       header.devices[device].sectors);
  const auto number = static_cast<model::DeviceId>(*match);
  const auto image =
      shared ? below.shared_image(state, number) : own_copy(below.image(state, number));
  if (!image) return fmt::format("which cannot provide that state: {}", image.error().problem);
  bases[device] = *image;
  return std::nullopt;
}

Result<void> RunHistory::State::open_base(std::shared_ptr<const RunHistory> known_base,
                                          std::vector<fs::path>& chain) {
  bases.resize(header.devices.size());
  if (!header.base) {
    for (std::size_t device = 0; device < bases.size(); ++device)
      if (record::is_used_disk(header.devices[device]))
        bases[device] =
            std::make_shared<const StateImage>(used_image(header.devices[device].sectors));
    return {};
  }
  const fs::path below_path = path.parent_path() / header.base->recording;
  const auto unusable = [&](const std::string& why) {
    return fail(
        path,
        fmt::format("its base is {} in state {}, {}", below_path.string(), header.base->state, why),
        "keep a recording together with its base recordings");
  };
  std::error_code none;
  if (!fs::is_regular_file(below_path, none)) return unusable("but there is no such file");
  const fs::path canonical = fs::weakly_canonical(below_path, none);
  if (std::find(chain.begin(), chain.end(), canonical) != chain.end())
    return unusable("which is based on this recording (a cycle)");
  if (chain.size() == kBasesMax)
    return unusable(fmt::format("which exceeds the limit of {} recordings in a chain", kBasesMax));
  const auto state = parse_crash_state(header.base->state);
  if (!state) return unusable("which is not a valid state name: " + state.error().problem);
  const bool known = known_base && fs::weakly_canonical(known_base->path(), none) == canonical;
  Result<std::shared_ptr<const RunHistory>> below = std::move(known_base);
  if (!known) {
    chain.push_back(canonical);
    below = load(below_path, nullptr, chain);
    chain.pop_back();
  }
  if (!below) return unusable("which cannot be used: " + below.error().problem);
  if (header.base->fingerprint && state->event <= (*below)->events() &&
      *header.base->fingerprint != (*below)->fingerprint(state->event))
    return unusable("which is not the recording that this one was made on");
  for (std::size_t device = 0; device < header.devices.size(); ++device) {
    if (!header.devices[device].medium) continue;
    if (const auto why = no_base_of(**below, *state, device, known)) return unusable(*why);
  }
  return {};
}

Result<std::shared_ptr<const RunHistory>> RunHistory::load(
    const fs::path& recording, std::shared_ptr<const RunHistory> known_base) {
  std::error_code none;
  std::vector<fs::path> chain = {fs::weakly_canonical(recording, none)};
  return load(recording, std::move(known_base), chain);
}

Result<std::shared_ptr<const RunHistory>> RunHistory::load(
    const fs::path& recording, std::shared_ptr<const RunHistory> known_base,
    std::vector<fs::path>& chain) {
  TRY(auto reader, record::RecordingReader::open(recording));
  auto state = std::make_unique<State>();
  state->path = recording;
  state->header = reader.header();
  TRY(state->read_events(reader));
  TRY(state->open_base(std::move(known_base), chain));
  state->bytes = std::make_shared<const record::RecordingBytes>(std::move(reader));
  return std::shared_ptr<const RunHistory>(new RunHistory(std::move(state)));
}

// ---- accessors

RunHistory::RunHistory(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunHistory::~RunHistory() = default;

const fs::path& RunHistory::path() const {
  return state_->path;
}
const record::RecordingHeader& RunHistory::header() const {
  return state_->header;
}
std::uint64_t RunHistory::events() const {
  return state_->events;
}
std::uint64_t RunHistory::fingerprint(std::uint64_t event) const {
  invariant(event <= state_->events,
            "the recording must contain every event that the fingerprint covers");
  return state_->fingerprints[event];
}
bool RunHistory::has_media_events() const {
  return state_->header.media;
}
std::optional<Error> RunHistory::tail_error() const {
  return state_->tail_error;
}
const std::vector<model::DeviceId>& RunHistory::disks() const {
  return state_->disks;
}
const std::vector<std::uint64_t>& RunHistory::answers(model::DeviceId device) const {
  return state_->answers[device];
}
const std::vector<model::DeviceId>& RunHistory::caches() const {
  return state_->caches;
}
std::vector<model::DeviceId> RunHistory::devices_of(const CrashState& state) const {
  return state_->devices_of(state);
}
std::vector<UnflushedWrite> RunHistory::unflushed_of(const CrashState& state) const {
  return state_->unflushed_of(state);
}
const std::vector<RecordedMark>& RunHistory::marks() const {
  return state_->marks;
}
const std::vector<RecordedWrite>& RunHistory::writes(model::DeviceId device) const {
  static const std::vector<RecordedWrite> kNone;
  return device < state_->devices.size() ? state_->devices[device].writes() : kNone;
}
const std::vector<RecordedFlush>& RunHistory::flushes(model::DeviceId device) const {
  static const std::vector<RecordedFlush> kNone;
  return device < state_->devices.size() ? state_->devices[device].flushes() : kNone;
}
Result<void> RunHistory::read_payload(const RecordedWrite& write, std::uint64_t skip,
                                      std::span<std::byte> into) const {
  if (write.bytes_at == 0)
    return fail(state_->path,
                fmt::format("request {} was recorded without its bytes", write.request),
                "make a recording that includes the data");
  return state_->bytes->read(write.bytes_at + skip * model::kSectorBytes, into);
}
std::shared_ptr<const StateImage> RunHistory::base_image(model::DeviceId device) const {
  return device < state_->bases.size() ? state_->bases[device] : nullptr;
}
const std::vector<std::uint64_t>& RunHistory::power_cycles() const {
  return state_->power_cycles;
}
std::uint64_t RunHistory::power_cycle_begin(std::uint64_t event) const {
  return state_->power_cycle_begin(event);
}
std::vector<std::size_t> RunHistory::unflushed_at(model::DeviceId device, std::uint64_t event,
                                                  std::optional<model::RequestId> lies_from) const {
  if (device >= state_->devices.size()) return {};
  return state_->devices[device].unflushed_at(state_->first_write(device, event), event, lies_from);
}

}  // namespace headcrash::states
