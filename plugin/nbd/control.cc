// Commands of the control socket (control.h).
#include "plugin/nbd/control.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

namespace headcrash::nbd {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::uint64_t kTimeoutMsMax = 24ULL * 3600 * 1000;
constexpr milliseconds kWaitStep{100};

std::string dump(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Refuses keys beyond `allowed`.
Result<void> only_keys(const json& object, std::initializer_list<const char*> allowed) {
  for (const auto& [key, value] : object.items())
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      return fail(key.substr(0, 64), "is not a key of this request", "see CONTROL.md or the man page");
  return {};
}

Result<std::string> text_of(const json& object, const char* key, const char* remedy) {
  const auto found = object.find(key);
  if (found == object.end()) return fail(key, "is missing", remedy);
  if (!found->is_string()) return fail(key, "is not a text", remedy);
  return found->get<std::string>();
}

Result<Command> parse_cut(const json& object) {
  if (auto keys = only_keys(object, {"power", "when"}); !keys) return pass_on(keys);
  if (!object.contains("when")) return CutNow{};
  auto text = text_of(object, "when", "use a trigger such as after-ms:20");
  if (!text) return pass_on(text);
  auto trigger = model::parse_cut_trigger(*text);
  if (!trigger) return fail("when", trigger.error().message());
  return ArmCut{std::move(*text), std::move(*trigger)};
}

Result<Command> parse_wait(const json& object) {
  if (auto keys = only_keys(object, {"power", "timeout_ms"}); !keys) return pass_on(keys);
  const auto timeout = object.find("timeout_ms");
  if (timeout == object.end() || !timeout->is_number_unsigned() ||
      timeout->get<std::uint64_t>() > kTimeoutMsMax)
    return fail("timeout_ms", "is missing or not a whole number", fmt::format("give 0 to {}", kTimeoutMsMax));
  return WaitCut{milliseconds(timeout->get<std::uint64_t>())};
}

Result<Command> parse_power(const json& object) {
  constexpr const char* kRemedy = "use cut, disarm, on, status or wait-cut";
  auto verb = text_of(object, "power", kRemedy);
  if (!verb) return pass_on(verb);
  if (*verb == "cut") return parse_cut(object);
  if (*verb == "wait-cut") return parse_wait(object);
  if (auto keys = only_keys(object, {"power"}); !keys) return pass_on(keys);
  if (*verb == "disarm") return Disarm{};
  if (*verb == "on") return PowerOn{};
  if (*verb == "status") return AskPower{};
  return fail("power", fmt::format("\"{}\" is not a power command", verb->substr(0, 64)), kRemedy);
}

Result<Command> parse_mark(const json& object) {
  if (auto keys = only_keys(object, {"mark"}); !keys) return pass_on(keys);
  auto text = text_of(object, "mark", "give the text of the mark");
  if (!text) return pass_on(text);
  if (text->empty() || text->size() > kMarkBytesMax || text->find('\0') != std::string::npos)
    return fail("mark", fmt::format("has {} bytes or a NUL in it", text->size()),
                fmt::format("use 1 to {} bytes without NUL", kMarkBytesMax));
  return PutMark{std::move(*text)};
}

Result<Command> parse_clock_command(const json& object) {
  if (auto keys = only_keys(object, {"clock"}); !keys) return pass_on(keys);
  auto text = text_of(object, "clock", "use off, real or real:K");
  if (!text) return pass_on(text);
  auto clock = parse_clock(text->substr(0, 64));
  if (!clock) return pass_on(clock);
  return SetClock{*clock};
}

Result<Command> parse_statistics(const json& object) {
  constexpr const char* kRemedy = "use read or take";
  if (auto keys = only_keys(object, {"stats"}); !keys) return pass_on(keys);
  auto verb = text_of(object, "stats", kRemedy);
  if (!verb) return pass_on(verb);
  if (*verb == "read") return AskStatistics{Emulation::Interval::goes_on};
  if (*verb == "take") return AskStatistics{Emulation::Interval::starts_anew};
  return fail("stats", fmt::format("\"{}\" is not a statistics command", verb->substr(0, 64)), kRemedy);
}

// ---- answers
// -----------------------------------------------------------------------------------------------------

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
  return {{"count", latency.count},   {"mean_ns", latency.mean_ns}, {"p50_ns", latency.p50_ns},
          {"p99_ns", latency.p99_ns}, {"max_ns", latency.max_ns},   {"buckets", std::move(buckets)}};
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

json describe(const Statistics& all) {
  json devices = json::array();
  for (const DeviceStatistics& device : all.devices)
    devices.push_back({{"name", device.name},
                       {"profile", device.profile},
                       {"sectors", device.sectors},
                       {"counters", describe(device.counters)},
                       {"latency",
                        {{"target", describe(device.target)},
                         {"achieved", describe(device.achieved)},
                         {"lateness", describe(device.lateness)}}}});
  return {{"ok", true},
          {"instance", all.instance},
          {"clock", clock_text(all.clock)},
          {"lead_ns", all.lead_ns},
          {"power", all.power == model::PowerState::on ? "on" : "off"},
          {"model_ns", all.model_now},
          {"interval_model_ns", all.interval_model_ns},
          {"interval_wall_ns", all.interval_wall_ns},
          {"recording_error", all.recording_error ? json(*all.recording_error) : json()},
          {"devices", std::move(devices)}};
}

json at(model::TimeNs when) {
  return {{"ok", true}, {"at_ns", when}};
}

/// Does a command; one overload for each.
struct Doer {
  Emulation& emulation;
  const std::function<bool()>& given_up;

  json operator()(const CutNow&) const { return at(emulation.cut_power()); }
  json operator()(const PowerOn&) const { return at(emulation.power_on()); }
  json operator()(const AskPower&) const { return describe(emulation.power_status()); }
  json operator()(const PutMark& mark) const { return at(emulation.mark(mark.text)); }
  json operator()(const AskStatistics& ask) const { return describe(emulation.statistics(ask.afterwards)); }
  json operator()(const ArmCut& cut) const {
    emulation.arm(cut.text, cut.trigger);
    return {{"ok", true}, {"armed", cut.text}};
  }
  json operator()(const Disarm&) const {
    emulation.disarm();
    return {{"ok", true}};
  }
  json operator()(const SetClock& set) const {
    emulation.set_clock(set.clock);
    return {{"ok", true}, {"clock", clock_text(set.clock)}};
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

Result<Command> parse_command(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return fail("request", "is not a JSON object", "send one object a line");
  if (object.contains("power")) return parse_power(object);
  if (object.contains("clock")) return parse_clock_command(object);
  if (object.contains("mark")) return parse_mark(object);
  if (object.contains("stats")) return parse_statistics(object);
  return fail("request", "has no command in it", "use power, clock, mark or stats");
}

std::string answer(Emulation& emulation, std::string_view line, const std::function<bool()>& given_up) {
  const auto command = parse_command(line);
  if (!command) return dump({{"ok", false}, {"error", command.error().message()}});
  return dump(std::visit(Doer{emulation, given_up}, *command));
}

}  // namespace headcrash::nbd
