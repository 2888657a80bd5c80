// Executes control-socket requests and formats the answers (control.h).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "plugin/servers/emulation/control.h"

namespace headcrash::emulation {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kWaitStep{100};

std::string dump(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

json describe(const PowerStatus& status) {
  return {{"ok", true},
          {"power", status.power == model::PowerState::on ? "on" : "off"},
          {"cuts", status.cuts},
          {"last_cut_ns", status.last_cut_at ? json(*status.last_cut_at) : json()},
          {"armed", status.armed ? json(*status.armed) : json()}};
}

json describe(const LatencySummary& latency) {
  json buckets = json::array();
  for (const auto& [upper, count] : latency.buckets) buckets.push_back({upper, count});
  return {{"count", latency.count},   {"mean_ns", latency.mean_ns},
          {"p50_ns", latency.p50_ns}, {"p99_ns", latency.p99_ns},
          {"max_ns", latency.max_ns}, {"buckets", std::move(buckets)}};
}

json describe(const model::DeviceCounters& counters) {
  return {{"reads", counters.reads},
          {"writes", counters.writes},
          {"flushes", counters.flushes},
          {"trims", counters.trims},
          {"sectors_read", counters.sectors_read},
          {"sectors_written", counters.sectors_written},
          {"media_writes", counters.media_writes},
          {"media_sectors_written", counters.media_sectors_written},
          {"cache_hits", counters.cache_hits},
          {"seeks", counters.seeks},
          {"busy_ns", counters.busy_ns}};
}

json describe(const model::ArrayStatus& status) {
  constexpr const char* kStates[] = {"active", "failed", "rebuilding"};
  json members = json::array();
  for (const model::MemberState state : status.members)
    members.push_back(kStates[static_cast<std::size_t>(state)]);
  return {{"members", std::move(members)},
          {"dirty", status.dirty},
          {"refused", status.refused ? json(*status.refused) : json()},
          {"background", status.background},
          {"background_done", status.background_done},
          {"background_total", status.background_total},
          {"mismatches", status.mismatches}};
}

json describe(const ArrayStatistics& array) {
  json all = describe(array.status);
  all["counters"] = {{"full_stripe_writes", array.counters.full_stripe_writes},
                     {"read_modify_writes", array.counters.read_modify_writes},
                     {"reconstruct_writes", array.counters.reconstruct_writes},
                     {"degraded_reads", array.counters.degraded_reads},
                     {"degraded_writes", array.counters.degraded_writes},
                     {"prewrites", array.counters.prewrites},
                     {"rolled_forward", array.counters.rolled_forward},
                     {"stripe_cache_hits", array.counters.stripe_cache_hits}};
  return all;
}

json describe(const NvramStatistics& nvram) {
  constexpr const char* kBatteries[] = {"ok", "low", "dead"};
  constexpr const char* kStates[] = {"up", "down", "error"};
  const model::NvramCounters& n = nvram.counters;
  return {{"battery", kBatteries[static_cast<std::size_t>(nvram.battery)]},
          {"state", kStates[static_cast<std::size_t>(nvram.state)]},
          {"dirty_sectors", n.dirty_sectors},
          {"counters",
           {{"cached_writes", n.cached_writes},
            {"write_hits", n.write_hits},
            {"dirty_hits", n.dirty_hits},
            {"read_hits", n.read_hits},
            {"absorbed_sectors", n.absorbed_sectors},
            {"destages", n.destages},
            {"destaged_sectors", n.destaged_sectors},
            {"failed_destages", n.failed_destages},
            {"write_throughs", n.write_throughs},
            {"room_waits", n.room_waits},
            {"replayed_sectors", n.replayed_sectors},
            {"lost_sectors", n.lost_sectors}}}};
}

json describe(const LoadSeries& load) {
  json bins = json::array();
  for (const LoadSeries::Bin& bin : load.bins())
    bins.push_back({bin.sectors_read, bin.sectors_written, bin.flushes, bin.inside_ns});
  return {{"begin_ns", load.begin()}, {"bin_ns", load.width()}, {"bins", std::move(bins)}};
}

json describe(const DeviceStatistics& device) {
  json told = {{"name", device.name},
               {"profile", device.profile},
               {"parent", device.parent ? json(*device.parent) : json()},
               {"sectors", device.sectors},
               {"physical_sector_bytes", device.physical_sector_bytes},
               {"queue_depth", device.queue_depth},
               {"counters", describe(device.counters)}};
  if (const auto& times = device.response_times)
    told["latency"] = {{"target", describe(times->target)},
                       {"achieved", describe(times->achieved)},
                       {"lateness", describe(times->lateness)},
                       {"flush", describe(times->flush)}};
  if (device.load) told["load"] = describe(*device.load);
  if (device.array) told["array"] = describe(*device.array);
  if (device.nvram) told["nvram"] = describe(*device.nvram);
  return told;
}

json describe(const Statistics& all) {
  json devices = json::array();
  for (const DeviceStatistics& device : all.devices) devices.push_back(describe(device));
  return {{"ok", true},
          {"instance", all.instance},
          {"clock", clock_text(all.clock)},
          {"lead_ns", all.lead_ns},
          {"power", all.power == model::PowerState::on ? "on" : "off"},
          {"model_ns", all.model_now},
          {"interval_model_ns", all.interval_model_ns},
          {"interval_wall_ns", all.interval_wall_ns},
          {"quiet_since_ns", all.quiet_since ? json(*all.quiet_since) : json()},
          {"threads", all.threads},
          {"in_flight_max", all.in_flight_max},
          {"recording_error", all.recording_error ? json(*all.recording_error) : json()},
          {"devices", std::move(devices)}};
}

json at(model::TimeNs when) {
  return {{"ok", true}, {"at_ns", when}};
}

json refusal(const Error& error) {
  return {{"ok", false}, {"error", error.message()}};
}

/// Executes commands. There is an overload for each type of command.
struct Handler {
  Emulation& emulation;
  const std::function<bool()>& given_up;

  json operator()(const CutNow&) const { return at(emulation.cut_power()); }
  json operator()(const PowerOn&) const { return at(emulation.power_on()); }
  json operator()(const QueryPower&) const { return describe(emulation.power_status()); }
  json operator()(const RecordMark& mark) const { return at(emulation.mark(mark.text)); }
  json operator()(const QueryStatistics& ask) const {
    return describe(emulation.statistics(ask.afterwards));
  }
  json operator()(const ArmCut& cut) const {
    if (const auto armed = emulation.arm(cut.text, cut.trigger); !armed)
      return refusal(armed.error());
    return {{"ok", true}, {"armed", cut.text}};
  }
  json operator()(const Disarm&) const {
    emulation.disarm();
    return {{"ok", true}};
  }
  json operator()(const SetClock& set) const {
    if (const auto done = emulation.set_clock(set.clock); !done) return refusal(done.error());
    return {{"ok", true}, {"clock", clock_text(set.clock)}};
  }
  json operator()(const AddFault& add) const {
    const auto added = emulation.add_fault(add.fault);
    return added ? at(*added) : refusal(added.error());
  }
  json operator()(const ClearFaults& clear) const {
    const auto cleared = emulation.clear_faults(clear.device, clear.kind);
    return cleared ? json{{"ok", true}, {"cleared", *cleared}} : refusal(cleared.error());
  }
  json operator()(const ListFaults&) const {
    json list = json::array();
    for (const AddedFault& fault : emulation.faults())
      list.push_back({{"spec", model::to_text(fault.spec)},
                      {"device", fault.spec.device},
                      {"at_ns", fault.at}});
    return {{"ok", true}, {"faults", std::move(list)}};
  }
  json operator()(const ArrayOrder& order) const {
    const auto done = emulation.order(order);
    if (!done) return refusal(done.error());
    json told = describe(done->status);
    told["ok"] = true;
    told["device"] = done->device;
    return told;
  }
  json operator()(const WaitCut& wait) const {
    const auto over = std::chrono::steady_clock::now() + wait.timeout;
    while (!given_up()) {
      const auto left = over - std::chrono::steady_clock::now();
      const auto step = std::clamp<std::chrono::nanoseconds>(left, milliseconds(0), kWaitStep);
      if (emulation.wait_power_off(step) != Pacer::PowerWait::time_over) break;
      if (left <= milliseconds(0)) break;
    }
    return describe(emulation.power_status());
  }
};

}  // namespace

std::string answer(Emulation& emulation, std::string_view line,
                   const std::function<bool()>& given_up) {
  const auto command = parse_command(line);
  if (!command) return dump(refusal(command.error()));
  return dump(std::visit(Handler{emulation, given_up}, *command));
}

}  // namespace headcrash::emulation
