// Makes images of crash states (run_history.h).
#include <fmt/core.h>

#include <unordered_map>

#include "plugin/states/digest.h"
#include "plugin/states/run_history_state.h"

namespace headcrash::states {
namespace {

using record::ExtentIndex;
using record::MediumState;

constexpr const char* kOtherState =
    "use a state of this recording (`headcrash explore` lists them)";

}  // namespace

Result<std::shared_ptr<const StateImage>> RunHistory::shared_image(const CrashState& state,
                                                                   model::DeviceId device) const {
  const std::pair key(format(state), device);
  {
    const std::scoped_lock lock(state_->mutex);
    if (const auto found = state_->shared_images.find(key); found != state_->shared_images.end())
      return found->second;
  }
  TRY(auto made, image(state, device));
  TRY(made.know_digests());
  const std::scoped_lock lock(state_->mutex);
  return state_->shared_images.emplace(key, std::make_shared<const StateImage>(std::move(made)))
      .first->second;
}

Result<void> RunHistory::share_image(const CrashState& state, model::DeviceId device,
                                     std::span<const std::uint64_t> digests) const {
  TRY(auto made, image(state, device));
  made.know_digests(digests);
  const std::scoped_lock lock(state_->mutex);
  state_->shared_images.insert_or_assign(std::pair(format(state), device),
                                         std::make_shared<const StateImage>(std::move(made)));
  return {};
}

tl::unexpected<Error> RunHistory::State::no_media(const char* what) const {
  return fail(path,
              fmt::format("{} and has no MEDIA events, so there are no {} states",
                          header.provenance(), what),
              "use a state that is based on writes (w...)");
}

Result<void> RunHistory::State::check_device(std::uint64_t device) const {
  if (device < header.devices.size()) return {};
  return fail(
      path,
      fmt::format("has {} devices, but device {} is requested", header.devices.size(), device),
      "`headcrash recording info` lists them");
}

Result<std::shared_ptr<const record::Timeline>> RunHistory::State::timeline(
    model::DeviceId device) {
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
  TRY(const auto line, timeline(device));
  return StateImage(line->at_event(event), bases[device]);
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
      return fail(
          path,
          fmt::format("the power was cut before event {}, and the contents of {} were not recorded",
                      begin, device_name(device)),
          "use an earlier state, or a state of a medium below the device");
    TRY(const auto line, timeline(device));
    start = line->at_event(begin).index();
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
                fmt::format("{} has no medium, and the recording is based on another recording",
                            device_name(device)),
                "use one of the devices below it");
  TRY(const auto writes, prefixes_at(device, event));
  return StateImage(
      MediumState(bytes, writes->after(devices[device].submitted_before(event), changes)),
      bases[device]);
}

std::string RunHistory::State::why_not_unflushed(const CrashState& state,
                                                 model::RequestId request) const {
  for (const model::DeviceId device : devices_of(state)) {
    const auto& writes = devices[device].writes();
    const auto found = std::find_if(writes.begin(), writes.end(), [&](const RecordedWrite& write) {
      return write.request == request;
    });
    if (found == writes.end()) continue;
    if (found->submitted_event >= state.event)
      return fmt::format("was submitted by event {}, after the cut", found->submitted_event);
    if (found->submitted_event < power_cycle_begin(state.event))
      return "was submitted before the last power cut";
    return "is durable at that cut";
  }
  return state.all_disks ? "is not a write of any disk"
                         : fmt::format("is not a write of {}", device_name(state.device));
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
    for (const std::size_t write : devices[device].unflushed_at(first_write(device, state.event),
                                                                state.event, state.lies_from))
      all.push_back({device, write});
  }
  if (about.size() < 2) return all;
  std::sort(all.begin(), all.end(), [&](const UnflushedWrite& one, const UnflushedWrite& other) {
    return devices[one.device].writes()[one.write].submitted_event <
           devices[other.device].writes()[other.write].submitted_event;
  });
  return all;
}

/// Returns the fates of those unflushed writes that the state does not keep in full.
Result<std::vector<DeviceChange>> RunHistory::State::changes_of(const CrashState& state) const {
  const auto unflushed = unflushed_of(state);
  const auto write_of = [&](std::size_t i) -> const RecordedWrite& {
    return devices[unflushed[i].device].writes()[unflushed[i].write];
  };
  std::unordered_map<model::RequestId, std::size_t> by_request;
  for (std::size_t i = 0; i < unflushed.size(); ++i) by_request.emplace(write_of(i).request, i);
  std::vector<DeviceChange> kept(unflushed.size());
  for (std::size_t i = 0; i < unflushed.size(); ++i)
    kept[i] = {unflushed[i].device,
               {unflushed[i].write, 0, state.keep_others ? write_of(i).sectors : 0}};
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
      return fail(path,
                  fmt::format("has no state {}: request {} has {} sectors", format(state),
                              torn.request, sectors),
                  kOtherState);
    change.first = torn.first;
    change.count = torn.count;
  }
  std::erase_if(kept, [&](const DeviceChange& one) {
    return one.change.count == devices[one.device].writes()[one.change.write].sectors;
  });
  return kept;
}

Result<StateImage> RunHistory::image(const CrashState& state, model::DeviceId device) const {
  State& s = *state_;
  TRY(s.check_device(device));
  if (state.event > s.events)
    return fail(s.path,
                fmt::format("has only {} events, too few for state {}", s.events, format(state)),
                s.tail_error ? s.tail_error->message() : kOtherState);
  if (state.base == CrashState::Base::physical) return s.physical(device, state.event);
  if (state.base == CrashState::Base::members) {
    if (!s.header.media) return s.no_media("member");
    std::uint64_t event = state.event;
    for (const auto& [member, stopped] : state.stopped) {
      TRY(s.check_device(member));
      if (!s.header.devices[member].medium || stopped > state.event)
        return fail(s.path,
                    fmt::format("has no state {}: {} {}", format(state), s.device_name(member),
                                stopped > state.event ? "stops after the cut" : "has no medium"),
                    kOtherState);
      if (member == device) event = stopped;
    }
    return s.physical(device, event);
  }
  TRY(s.check_device(state.device));
  if (state.all_disks && s.disks.empty())
    return fail(
        s.path,
        fmt::format(
            "has no state {}: it is not a recording of separate disks that share one request "
            "numbering",
            format(state)),
        "use a state of one device (w...)");
  TRY(const auto changes, s.changes_of(state));
  const auto about = s.devices_of(state);
  std::vector<Change> own;
  for (const DeviceChange& one : changes)
    if (one.device == device) own.push_back(one.change);
  if (std::find(about.begin(), about.end(), device) != about.end())
    return s.by_writes(device, state.event, own);
  return s.header.media ? s.physical(device, state.event) : s.by_writes(device, state.event, {});
}

}  // namespace headcrash::states
