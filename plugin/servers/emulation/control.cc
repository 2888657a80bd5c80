// Parses control-socket requests (control.h).
#include "plugin/servers/emulation/control.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "plugin/base/result.h"
#include "plugin/base/strict_json.h"

namespace headcrash::emulation {
namespace {

using base::number_of;
using base::optional_text;
using base::text_of;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::uint64_t kTimeoutMsMax = 24ULL * 3600 * 1000;

Result<void> only_keys(const json& object, std::initializer_list<const char*> allowed) {
  return base::only_keys(object, allowed, "see CONTROL.md or the man page");
}

Result<Command> parse_cut(const json& object) {
  TRY(only_keys(object, {"power", "when"}));
  if (!object.contains("when")) return CutNow{};
  TRY(auto text, text_of(object, "when", "use a trigger such as after-ms:20"));
  auto trigger = model::parse_cut_trigger(text);
  if (!trigger) return tl::unexpected(base::within("when", trigger.error()));
  return ArmCut{std::move(text), std::move(*trigger)};
}

Result<Command> parse_wait(const json& object) {
  TRY(only_keys(object, {"power", "timeout_ms"}));
  const auto timeout = object.find("timeout_ms");
  if (timeout == object.end() || !timeout->is_number_unsigned() ||
      timeout->get<std::uint64_t>() > kTimeoutMsMax)
    return fail("timeout_ms", "is missing or not an integer in range",
                fmt::format("use 0 to {}", kTimeoutMsMax));
  return WaitCut{milliseconds(timeout->get<std::uint64_t>())};
}

Result<Command> parse_power(const json& object) {
  constexpr const char* kHint = "use cut, disarm, on, status or wait-cut";
  TRY(auto verb, text_of(object, "power", kHint));
  if (verb == "cut") return parse_cut(object);
  if (verb == "wait-cut") return parse_wait(object);
  TRY(only_keys(object, {"power"}));
  if (verb == "disarm") return Disarm{};
  if (verb == "on") return PowerOn{};
  if (verb == "status") return QueryPower{};
  return fail("power", fmt::format("unknown power command \"{}\"", verb.substr(0, 64)), kHint);
}

Result<Command> parse_mark(const json& object) {
  TRY(only_keys(object, {"mark"}));
  TRY(auto text, text_of(object, "mark", "add the text of the mark"));
  if (text.empty() || text.size() > kMarkBytesMax || text.find('\0') != std::string::npos)
    return fail("mark", fmt::format("has {} bytes or contains a NUL", text.size()),
                fmt::format("use 1 to {} bytes without NUL", kMarkBytesMax));
  return RecordMark{std::move(text)};
}

Result<Command> parse_clock_command(const json& object) {
  TRY(only_keys(object, {"clock"}));
  TRY(auto text, text_of(object, "clock", "use off, real or real:K"));
  TRY(auto clock, parse_clock(text.substr(0, 64)));
  return SetClock{clock};
}

Result<Command> parse_statistics(const json& object) {
  constexpr const char* kHint = "use read or take";
  TRY(only_keys(object, {"stats"}));
  TRY(auto verb, text_of(object, "stats", kHint));
  if (verb == "read") return QueryStatistics{Emulation::Interval::continues};
  if (verb == "take") return QueryStatistics{Emulation::Interval::restarts};
  return fail("stats", fmt::format("unknown statistics command \"{}\"", verb.substr(0, 64)), kHint);
}

std::optional<model::FaultKind> kind_of(std::string_view name) {
  for (auto kind = model::FaultKind::latent_error; kind <= model::FaultKind::battery_dead;
       kind = static_cast<model::FaultKind>(static_cast<int>(kind) + 1))
    if (model::fault_kind_name(kind) == name) return kind;
  return std::nullopt;
}

Result<Command> parse_clear_faults(const json& object) {
  TRY(only_keys(object, {"fault", "device", "kind"}));
  TRY(auto device, optional_text(object, "device", "name a device, or omit it for all"));
  TRY(auto kind, optional_text(object, "kind", "name a kind of fault, or omit it for all"));
  ClearFaults clear{std::move(device), std::nullopt};
  if (kind) {
    clear.kind = kind_of(*kind);
    if (!clear.kind)
      return fail("kind", fmt::format("unknown fault \"{}\"", kind->substr(0, 64)),
                  "use a kind from the man page, for example dead");
  }
  return clear;
}

Result<Command> parse_fault_command(const json& object) {
  constexpr const char* kHint = "use add, clear or list";
  TRY(auto verb, text_of(object, "fault", kHint));
  if (verb == "clear") return parse_clear_faults(object);
  if (verb == "list") {
    TRY(only_keys(object, {"fault"}));
    return ListFaults{};
  }
  if (verb != "add")
    return fail("fault", fmt::format("unknown command \"{}\"", verb.substr(0, 64)), kHint);
  TRY(only_keys(object, {"fault", "spec"}));
  TRY(auto spec, text_of(object, "spec", "use KIND:DEVICE,... as in the man page"));
  auto fault = model::parse_fault(spec);
  if (!fault) return tl::unexpected(base::within("spec", fault.error()));
  return AddFault{std::move(*fault)};
}

Result<Command> parse_array_command(const json& object) {
  using Verb = ArrayOrder::Verb;
  constexpr const char* kHint = "use status, fail, rebuild, scrub, repair, accept or rate";
  constexpr std::uint64_t kMemberMax = 4095;
  constexpr std::uint64_t kRateMax = 1'000'000'000'000;
  static constexpr std::pair<const char*, Verb> kVerbs[] = {
      {"status", Verb::status}, {"fail", Verb::fail},     {"rebuild", Verb::rebuild},
      {"scrub", Verb::scrub},   {"repair", Verb::repair}, {"accept", Verb::accept},
      {"rate", Verb::rate}};
  TRY(auto verb, text_of(object, "array", kHint));
  const auto* const named = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                         [&](const auto& v) { return verb == v.first; });
  if (named == std::end(kVerbs))
    return fail("array", fmt::format("unknown array command \"{}\"", verb.substr(0, 64)), kHint);
  ArrayOrder order{.verb = named->second};
  const bool of_member = order.verb == Verb::fail || order.verb == Verb::rebuild;
  const bool of_rate = order.verb == Verb::rate;
  // Fails if a key does not belong to this verb. The error names the key.
  TRY(only_keys(object, {"array", "device", of_member ? "member" : "array",
                         of_rate ? "bytes_per_second" : "array"}));
  TRY(auto device,
      optional_text(object, "device", "name an array, or omit it if there is only one"));
  order.device = std::move(device);
  if (of_member) {
    TRY(auto member, number_of(object, "member", kMemberMax));
    order.member = static_cast<std::size_t>(member);
  }
  if (of_rate) {
    TRY(auto rate, number_of(object, "bytes_per_second", kRateMax));
    order.bytes_per_second = rate;
  }
  return order;
}

}  // namespace

Result<Command> parse_command(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object())
    return fail("request", "is not a JSON object", "send one object per line");
  if (object.contains("power")) return parse_power(object);
  if (object.contains("clock")) return parse_clock_command(object);
  if (object.contains("mark")) return parse_mark(object);
  if (object.contains("stats")) return parse_statistics(object);
  if (object.contains("fault")) return parse_fault_command(object);
  if (object.contains("array")) return parse_array_command(object);
  if (object.contains("state"))
    return fail("state",
                "is supported only by a server of crash states, but this server emulates hardware",
                "start a server with states=N");
  return fail("request", "has no command", "use power, clock, mark, stats, fault or array");
}

}  // namespace headcrash::emulation
