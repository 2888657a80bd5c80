// Reads a recording for the crash lab, and makes images of its crash states (run_history.h).
#include "plugin/states/run_history.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "plugin/base/invariant.h"
#include "plugin/record/used_disk.h"
#include "plugin/states/device_writes.h"
#include "plugin/states/digest.h"
#include "plugin/states/recent_map.h"
#include "plugin/states/used_image.h"

namespace headcrash::states {
namespace {

namespace fs = std::filesystem;
using record::ExtentIndex;
using record::MediumState;

/// An index has 16 bytes for each GiB of its medium, and many are kept.
constexpr std::uint64_t kSectorsMax = 1ULL << 32;
constexpr std::size_t kBasesMax = 64;
constexpr std::size_t kPowerCyclesKept = 8;  ///< WritePrefixes in memory
/// What mix() needs: any odd number with its ones and zeroes well spread (this is 2^64 / the golden ratio).
constexpr std::uint64_t kFingerprintKey = 0x9e3779b97f4a7c15;
constexpr const char* kOtherState = "use a state of this recording (`headcrash explore` lists them)";

/// What a state makes of an unflushed write that is not there as a whole.
struct DeviceChange {
  model::DeviceId device = 0;
  Change change;
};

Result<std::shared_ptr<const StateImage>> own_copy(Result<StateImage> image) {
  if (!image) return pass_on(image);
  return std::make_shared<const StateImage>(std::move(*image));
}

}  // namespace

struct RunHistory::State {
  fs::path path;
  record::RecordingHeader header;
  std::uint64_t events = 0;
  std::optional<Error> complaint;
  std::vector<std::uint64_t> fingerprints;  ///< by event: of those before it
  std::vector<RecordedMark> marks;
  std::vector<DeviceWrites> devices;
  std::vector<std::vector<std::uint64_t>> answers;  ///< by device
  std::vector<model::DeviceId> disks, caches;
  std::vector<std::uint64_t> power_cycles = {0};  ///< first event of each
  std::shared_ptr<const record::RecordingBytes> bytes;
  std::vector<std::shared_ptr<const StateImage>> bases;  ///< by device; null: zeroes

  std::mutex mutex;  ///< guards what is made when it is first needed
  std::map<model::DeviceId, std::shared_ptr<const record::Timeline>> timelines;
  std::map<std::pair<std::string, model::DeviceId>, std::shared_ptr<const StateImage>> shared_images;
  RecentMap<std::pair<model::DeviceId, std::uint64_t>, std::shared_ptr<const WritePrefixes>> prefixes{
      kPowerCyclesKept};

  Result<void> read_events(record::RecordingReader& reader);
  Result<void> open_base(std::shared_ptr<const RunHistory> known_base, std::vector<fs::path>& chain);
  std::optional<std::string> no_base_of(const RunHistory& below, const CrashState& state, std::size_t device,
                                        bool shared);

  std::string device_name(model::DeviceId device) const { return header.devices[device].name; }
  tl::unexpected<Error> no_media(const char* what) const;
  Result<void> check_device(std::uint64_t device) const;
  Result<std::shared_ptr<const record::Timeline>> timeline(model::DeviceId device);
  Result<StateImage> physical(model::DeviceId device, std::uint64_t event);
  Result<std::shared_ptr<const WritePrefixes>> prefixes_at(model::DeviceId device, std::uint64_t event);
  Result<StateImage> by_writes(model::DeviceId device, std::uint64_t event, std::span<const Change> changes);
  std::size_t first_write(model::DeviceId device, std::uint64_t event) const;
  std::uint64_t power_cycle_begin(std::uint64_t event) const {
    return *(std::upper_bound(power_cycles.begin(), power_cycles.end(), event) - 1);
  }
  void find_disks();
  std::vector<model::DeviceId> devices_of(const CrashState& state) const;
  std::vector<UnflushedWrite> unflushed_of(const CrashState& state) const;
  Result<std::vector<DeviceChange>> changes_of(const CrashState& state) const;
  std::string why_not_unflushed(const CrashState& state, model::RequestId request) const;
};

// --- Reading ---

Result<void> RunHistory::State::read_events(record::RecordingReader& reader) {
  for (const record::RecordedDevice& device : header.devices) {
    if (device.sectors > kSectorsMax)
      return fail(path, fmt::format("{} has {} sectors", device.name, device.sectors),
                  fmt::format("crash states are made of devices of at most {} sectors", kSectorsMax));
    devices.emplace_back(device.sectors, record::is_used_disk(device));
  }
  answers.resize(header.devices.size());
  fingerprints.push_back(header.base ? header.base->fingerprint.value_or(0) : 0);
  for (;; ++events) {
    auto event = reader.next(record::PayloadUse::pass_over);
    if (!event) return pass_on(event);
    if (!*event) break;
    const record::Event& e = **event;
    fingerprints.push_back(mix(fingerprints.back() ^ kFingerprintKey, kFingerprintKey + e.checksum));
    if (e.kind == record::Kind::mark) {
      marks.push_back({events, e.at, {reinterpret_cast<const char*>(e.payload.data()), e.payload.size()}});
    } else if (e.kind == record::Kind::media) {
      if (e.device < devices.size() && !header.devices[e.device].medium &&
          std::find(caches.begin(), caches.end(), e.device) == caches.end())
        caches.push_back(e.device);
    } else if (e.kind == record::Kind::opened || (e.kind == record::Kind::power && e.detail == 0)) {
      power_cycles.push_back(events + 1);
    } else if (e.kind == record::Kind::submit || e.kind == record::Kind::ack) {
      if (e.device >= devices.size() || !devices[e.device].add(e, events))
        return fail(path,
                    e.device >= devices.size()
                        ? fmt::format("the event at offset {} is of device {}, there are {}", e.offset,
                                      e.device, devices.size())
                        : fmt::format("the event at offset {} submits request {} again", e.offset, e.request),
                    "the recording is damaged: restore it");
      if (e.kind == record::Kind::ack) answers[e.device].push_back(events);
    }
  }
  for (DeviceWrites& device : devices) device.finish();
  find_disks();
  complaint = reader.complaint();
  return {};
}

void RunHistory::State::find_disks() {
  const auto below_another = [&](const std::string& name) {
    return std::any_of(header.devices.begin(), header.devices.end(), [&](const record::RecordedDevice& one) {
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
  // A name tells a write by its number alone.
  std::sort(requests.begin(), requests.end());
  if (std::adjacent_find(requests.begin(), requests.end()) != requests.end()) disks.clear();
}

/// Why a device cannot stand on the base; nothing, and bases[device], when it can.
std::optional<std::string> RunHistory::State::no_base_of(const RunHistory& below, const CrashState& state,
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
    return fmt::format("whose {} has {} sectors, but here {} has {}", found[*match].name,
                       found[*match].sectors, header.devices[device].name, header.devices[device].sectors);
  const auto number = static_cast<model::DeviceId>(*match);
  const auto image = shared ? below.shared_image(state, number) : own_copy(below.image(state, number));
  if (!image) return fmt::format("which does not give that state: {}", image.error().problem);
  bases[device] = *image;
  return std::nullopt;
}

Result<void> RunHistory::State::open_base(std::shared_ptr<const RunHistory> known_base,
                                          std::vector<fs::path>& chain) {
  bases.resize(header.devices.size());
  if (!header.base) {
    for (std::size_t device = 0; device < bases.size(); ++device)
      if (record::is_used_disk(header.devices[device]))
        bases[device] = std::make_shared<const StateImage>(used_image(header.devices[device].sectors));
    return {};
  }
  const fs::path below_path = path.parent_path() / header.base->recording;
  const auto unusable = [&](const std::string& why) {
    return fail(path,
                fmt::format("its base is {} in state {}, {}", below_path.string(), header.base->state, why),
                "keep a recording together with those that it was made on");
  };
  std::error_code none;
  if (!fs::is_regular_file(below_path, none)) return unusable("and there is no such file");
  const fs::path canonical = fs::weakly_canonical(below_path, none);
  if (std::find(chain.begin(), chain.end(), canonical) != chain.end())
    return unusable("which is based on this recording: a circle");
  if (chain.size() == kBasesMax) return unusable(fmt::format("the {}th of a chain", kBasesMax));
  const auto state = parse_crash_state(header.base->state);
  if (!state) return unusable("which is no name of a state: " + state.error().problem);
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
    return unusable("which is another recording than the one that it was made on");
  for (std::size_t device = 0; device < header.devices.size(); ++device) {
    if (!header.devices[device].medium) continue;
    if (const auto why = no_base_of(**below, *state, device, known)) return unusable(*why);
  }
  return {};
}

Result<std::shared_ptr<const RunHistory>> RunHistory::load(const fs::path& recording,
                                                           std::shared_ptr<const RunHistory> known_base) {
  std::error_code none;
  std::vector<fs::path> chain = {fs::weakly_canonical(recording, none)};
  return load(recording, std::move(known_base), chain);
}

Result<std::shared_ptr<const RunHistory>> RunHistory::load(const fs::path& recording,
                                                           std::shared_ptr<const RunHistory> known_base,
                                                           std::vector<fs::path>& chain) {
  auto reader = record::RecordingReader::open(recording);
  if (!reader) return pass_on(reader);
  auto state = std::make_unique<State>();
  state->path = recording;
  state->header = reader->header();
  if (auto read = state->read_events(*reader); !read) return pass_on(read);
  if (auto opened = state->open_base(std::move(known_base), chain); !opened) return pass_on(opened);
  state->bytes = std::make_shared<const record::RecordingBytes>(std::move(*reader));
  return std::shared_ptr<const RunHistory>(new RunHistory(std::move(state)));
}

// --- Images ---

Result<std::shared_ptr<const StateImage>> RunHistory::shared_image(const CrashState& state,
                                                                   model::DeviceId device) const {
  const std::pair key(format(state), device);
  {
    const std::scoped_lock lock(state_->mutex);
    if (const auto found = state_->shared_images.find(key); found != state_->shared_images.end())
      return found->second;
  }
  auto made = image(state, device);
  if (!made) return pass_on(made);
  if (const auto known = made->know_digests(); !known) return pass_on(known);
  const std::scoped_lock lock(state_->mutex);
  return state_->shared_images.emplace(key, std::make_shared<const StateImage>(std::move(*made)))
      .first->second;
}

tl::unexpected<Error> RunHistory::State::no_media(const char* what) const {
  return fail(
      path,
      fmt::format("{} and has no MEDIA events, so that there are no {} states", header.provenance(), what),
      "use a state by writes (w...)");
}

Result<void> RunHistory::State::check_device(std::uint64_t device) const {
  if (device < header.devices.size()) return {};
  return fail(path, fmt::format("has {} devices, number {} was asked for", header.devices.size(), device),
              "`headcrash recording info` lists them");
}

Result<std::shared_ptr<const record::Timeline>> RunHistory::State::timeline(model::DeviceId device) {
  const std::lock_guard lock(mutex);
  auto& line = timelines[device];
  if (!line) {
    auto loaded = record::Timeline::load(path, device);
    if (!loaded) return loaded;
    line = std::move(*loaded);
  }
  return line;
}

Result<StateImage> RunHistory::State::physical(model::DeviceId device, std::uint64_t event) {
  if (!header.media) return no_media("physical");
  const auto line = timeline(device);
  if (!line) return pass_on(line);
  return StateImage((*line)->at_event(event), bases[device]);
}

std::size_t RunHistory::State::first_write(model::DeviceId device, std::uint64_t event) const {
  return devices[device].submitted_before(power_cycle_begin(event));
}

Result<std::shared_ptr<const WritePrefixes>> RunHistory::State::prefixes_at(model::DeviceId device,
                                                                            std::uint64_t event) {
  const std::uint64_t begin = power_cycle_begin(event);
  const std::pair key(device, begin);
  {
    const std::lock_guard lock(mutex);
    if (const auto* found = prefixes.find(key)) return *found;
  }
  ExtentIndex start(header.devices[device].sectors);
  if (begin > 0) {
    if (!header.media || !header.devices[device].medium)
      return fail(path,
                  fmt::format("the power went before event {}, and what {} held then is not recorded", begin,
                              device_name(device)),
                  "use an earlier state, or one of the media below it");
    const auto line = timeline(device);
    if (!line) return pass_on(line);
    start = (*line)->at_event(begin).index();
  }
  const DeviceWrites& history = devices[device];
  const auto next = std::upper_bound(power_cycles.begin(), power_cycles.end(), begin);
  auto made = std::make_shared<const WritePrefixes>(
      std::move(start), bases[device].get(), &history.writes(), history.submitted_before(begin),
      next == power_cycles.end() ? history.writes().size() : history.submitted_before(*next),
      record::is_used_disk(header.devices[device]));
  const std::lock_guard lock(mutex);
  prefixes.put(key, made);
  return made;
}

Result<StateImage> RunHistory::State::by_writes(model::DeviceId device, std::uint64_t event,
                                                std::span<const Change> changes) {
  if (header.base && !header.devices[device].medium)
    return fail(path,
                fmt::format("{} has no medium of its own, and the recording has a base", device_name(device)),
                "use one of the devices below it");
  const auto writes = prefixes_at(device, event);
  if (!writes) return pass_on(writes);
  return StateImage(MediumState(bytes, (*writes)->after(devices[device].submitted_before(event), changes)),
                    bases[device]);
}

std::string RunHistory::State::why_not_unflushed(const CrashState& state, model::RequestId request) const {
  for (const model::DeviceId device : devices_of(state)) {
    const auto& writes = devices[device].writes();
    const auto found = std::find_if(writes.begin(), writes.end(),
                                    [&](const RecordedWrite& write) { return write.request == request; });
    if (found == writes.end()) continue;
    if (found->submitted_event >= state.event)
      return fmt::format("was submitted by event {}, after the cut", found->submitted_event);
    if (found->submitted_event < power_cycle_begin(state.event)) return "was before the power went last";
    return "is durable there";
  }
  return state.all_disks ? "is no write of any disk"
                         : fmt::format("is no write of {}", device_name(state.device));
}

std::vector<model::DeviceId> RunHistory::State::devices_of(const CrashState& state) const {
  if (state.base == CrashState::Base::writes && !state.all_disks) return {state.device};
  if (disks.empty() && state.base == CrashState::Base::physical) return {0};
  return disks;
}

std::vector<UnflushedWrite> RunHistory::State::unflushed_of(const CrashState& state) const {
  std::vector<UnflushedWrite> all;
  const auto about = devices_of(state);
  for (const model::DeviceId device : about) {
    if (device >= devices.size()) continue;
    for (const std::size_t write :
         devices[device].unflushed_at(first_write(device, state.event), state.event, state.lies_from))
      all.push_back({device, write});
  }
  if (about.size() < 2) return all;
  std::sort(all.begin(), all.end(), [&](const UnflushedWrite& one, const UnflushedWrite& other) {
    return devices[one.device].writes()[one.write].submitted_event <
           devices[other.device].writes()[other.write].submitted_event;
  });
  return all;
}

/// What the state makes of each unflushed write that is not there as a whole.
Result<std::vector<DeviceChange>> RunHistory::State::changes_of(const CrashState& state) const {
  const auto unflushed = unflushed_of(state);
  const auto write_of = [&](std::size_t i) -> const RecordedWrite& {
    return devices[unflushed[i].device].writes()[unflushed[i].write];
  };
  std::unordered_map<model::RequestId, std::size_t> by_request;
  for (std::size_t i = 0; i < unflushed.size(); ++i) by_request.emplace(write_of(i).request, i);
  std::vector<DeviceChange> kept(unflushed.size());
  for (std::size_t i = 0; i < unflushed.size(); ++i)
    kept[i] = {unflushed[i].device, {unflushed[i].write, 0, state.keep_others ? write_of(i).sectors : 0}};
  const auto no_place = [&](model::RequestId request) {
    return fail(path,
                fmt::format("has no state {}: request {} {}", format(state), request,
                            why_not_unflushed(state, request)),
                kOtherState);
  };
  for (const model::RequestId request : state.listed) {
    const auto found = by_request.find(request);
    if (found == by_request.end()) return no_place(request);
    kept[found->second].change.count = state.keep_others ? 0 : write_of(found->second).sectors;
  }
  for (const TornWrite& torn : state.torn) {
    const auto found = by_request.find(torn.request);
    if (found == by_request.end()) return no_place(torn.request);
    Change& change = kept[found->second].change;
    const std::uint32_t sectors = write_of(found->second).sectors;
    if (torn.first > sectors || torn.count > sectors - torn.first)
      return fail(
          path,
          fmt::format("has no state {}: request {} has {} sectors", format(state), torn.request, sectors),
          kOtherState);
    change.first = torn.first;
    change.count = torn.count;
  }
  std::erase_if(kept, [&](const DeviceChange& one) {
    return one.change.count == devices[one.device].writes()[one.change.write].sectors;
  });
  return kept;
}

RunHistory::RunHistory(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunHistory::~RunHistory() = default;

Result<StateImage> RunHistory::image(const CrashState& state, model::DeviceId device) const {
  State& s = *state_;
  if (auto good = s.check_device(device); !good) return pass_on(good);
  if (state.event > s.events)
    return fail(s.path, fmt::format("has {} events, state {} is beyond them", s.events, format(state)),
                s.complaint ? s.complaint->message() : kOtherState);
  if (state.base == CrashState::Base::physical) return s.physical(device, state.event);
  if (state.base == CrashState::Base::members) {
    if (!s.header.media) return s.no_media("member");
    std::uint64_t event = state.event;
    for (const auto& [member, stopped] : state.stopped) {
      if (auto good = s.check_device(member); !good) return pass_on(good);
      if (!s.header.devices[member].medium || stopped > state.event)
        return fail(s.path,
                    fmt::format("has no state {}: {} {}", format(state), s.device_name(member),
                                stopped > state.event ? "stops after the cut" : "has no medium of its own"),
                    kOtherState);
      if (member == device) event = stopped;
    }
    return s.physical(device, event);
  }
  if (auto good = s.check_device(state.device); !good) return pass_on(good);
  if (state.all_disks && s.disks.empty())
    return fail(s.path,
                fmt::format("has no state {}: its devices are not disks of their own whose requests are "
                            "numbered together",
                            format(state)),
                "use a state of one device (w...)");
  const auto changes = s.changes_of(state);
  if (!changes) return pass_on(changes);
  const auto about = s.devices_of(state);
  std::vector<Change> own;
  for (const DeviceChange& one : *changes)
    if (one.device == device) own.push_back(one.change);
  if (std::find(about.begin(), about.end(), device) != about.end())
    return s.by_writes(device, state.event, own);
  return s.header.media ? s.physical(device, state.event) : s.by_writes(device, state.event, {});
}

// --- What was read ---

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
  invariant(event <= state_->events, "a fingerprint is asked for of events that there are");
  return state_->fingerprints[event];
}
bool RunHistory::has_media_events() const {
  return state_->header.media;
}
std::optional<Error> RunHistory::complaint() const {
  return state_->complaint;
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
    return fail(state_->path, fmt::format("request {} was recorded without its bytes", write.request),
                "record a run that moves bytes");
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
