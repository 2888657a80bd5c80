// Parses and executes requests to a crash-state server (order.h).
#include "plugin/stages/order.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "plugin/base/strict_json.h"
#include "plugin/base/virtual_guest.h"

namespace headcrash::stages {
namespace {

using nlohmann::json;

constexpr std::uint64_t kSectorsMax =
    std::numeric_limits<std::int64_t>::max() / model::kSectorBytes;
constexpr std::uint64_t kStageMax = kStagesMax - 1;
constexpr std::size_t kFaultsMost = 64;
constexpr const char* kSeeControl = "see CONTROL.md or the man page";

/// Parses a path, which must be absolute because the client and the server may have different
/// working directories.
Result<std::optional<std::filesystem::path>> path_of(const json& object, const char* key) {
  TRY(auto text, base::optional_text(object, key, "give an absolute path"));
  if (!text) return std::nullopt;
  if (!text->starts_with('/') || text->find('\0') != std::string::npos)
    return fail(key, fmt::format("\"{}\" is not an absolute path", text->substr(0, 64)),
                "give an absolute path");
  return std::optional<std::filesystem::path>(std::move(*text));
}

/// Parses the disks after the first one: pairs of a name from virtual_guest::kOtherDisks and a
/// size.
Result<void> parse_other_disks(const json& object, LoadOrder& order) {
  const auto disks = object.find("other_disks");
  if (disks == object.end()) return {};
  constexpr const char* kHint = R"(write [["hd1",2048]], with names from log, hd1 to hd7)";
  if (object.contains("machine"))
    return fail("other_disks", "cannot be combined with 'machine'",
                "omit 'machine': additional disks require plain disks");
  if (!disks->is_array() || disks->empty())
    return fail("other_disks", "is not a list of names and sizes", kHint);
  for (const json& disk : *disks) {
    if (!disk.is_array() || disk.size() != 2 || !disk[0].is_string() ||
        !disk[1].is_number_unsigned())
      return fail("other_disks", "has an element that is not a name and a number", kHint);
    const auto name = disk[0].get<std::string>();
    const auto sectors = disk[1].get<std::uint64_t>();
    if (std::ranges::find(virtual_guest::kOtherDisks, name) == virtual_guest::kOtherDisks.end())
      return fail("other_disks", fmt::format("unknown disk \"{}\"", name.substr(0, 40)), kHint);
    if (sectors == 0 || sectors > kSectorsMax)
      return fail("other_disks", fmt::format("invalid size of {}: {} sectors", name, sectors),
                  kHint);
    if (std::ranges::find(order.other_disks, name, &DiskInfo::name) != order.other_disks.end())
      return fail("other_disks", fmt::format("names {} twice", name), kHint);
    order.other_disks.push_back({name, sectors});
  }
  return {};
}

/// Parses the ranges in which writes are slow, and the additional delay of these writes.
Result<void> parse_slow(const json& object, LoadOrder& order) {
  const auto slow = object.find("slow");
  if (slow == object.end() && !object.contains("slow_us")) return {};
  constexpr const char* kHint = R"(write "slow":[[LBA,SECTORS]] and "slow_us":100000)";
  if (slow == object.end() || !object.contains("slow_us"))
    return fail("slow", "slow and slow_us are required together", kHint);
  TRY(const auto by, base::number_of(object, "slow_us", kAnswerDelayMostUs));
  order.delay.slow_us = static_cast<std::uint32_t>(by);
  if (!slow->is_array() || slow->size() > kSlowPlacesMost)
    return fail("slow", fmt::format("is not a list of at most {} ranges", kSlowPlacesMost), kHint);
  for (const json& place : *slow) {
    const auto number = [&](std::size_t at) {
      return place.is_array() && place.size() == 2 && place[at].is_number_unsigned() &&
                     place[at].get<std::uint64_t>() <= kSectorsMax
                 ? std::optional(place[at].get<std::uint64_t>())
                 : std::nullopt;
    };
    const auto lba = number(0), sectors = number(1);
    if (!lba || !sectors) return fail("slow", "has an invalid range", kHint);
    order.delay.slow.push_back({*lba, *sectors});
  }
  return {};
}

/// Parses `record`, and the parameters of AnswerDelay, which require `record`.
Result<void> parse_record(const json& object, LoadOrder& order) {
  TRY(auto record, path_of(object, "record"));
  order.record = std::move(record);
  for (const char* key : {"delay_us", "delay_seed", "slow", "slow_us"})
    if (!order.record && object.contains(key))
      return fail(key, "has no effect without a recording", "add \"record\"");
  if (object.contains("delay_us")) {
    TRY(const auto most, base::number_of(object, "delay_us", kAnswerDelayMostUs));
    order.delay.most_us = static_cast<std::uint32_t>(most);
  }
  if (object.contains("delay_seed")) {
    TRY(const auto seed,
        base::number_of(object, "delay_seed", std::numeric_limits<std::uint64_t>::max()));
    order.delay.seed = seed;
  }
  return parse_slow(object, order);
}

Result<void> take_used(const json& object, LoadOrder& order) {
  const auto used = object.find("used_disk");
  if (used == object.end()) return {};
  if (!used->is_boolean()) return fail("used_disk", "is not a boolean", "use true or false");
  order.used_disk = used->get<bool>();
  if (order.used_disk && object.contains("machine"))
    return fail("used_disk", "cannot be combined with \"machine\"",
                "omit it: the members of an array are empty");
  return {};
}

Result<void> parse_faults(const json& object, LoadOrder& order) {
  if (!object.contains("faults")) return {};
  if (!order.machine)
    return fail("faults", "require a machine", "add 'machine'; a plain medium has no faults");
  const json& list = object["faults"];
  constexpr const char* kHint = R"(write ["dead:hd0.3"])";
  if (!list.is_array() || list.size() > kFaultsMost)
    return fail("faults", fmt::format("is not a list of at most {} strings", kFaultsMost), kHint);
  for (const json& text : list) {
    if (!text.is_string()) return fail("faults", "has an element that is not a string", kHint);
    TRY(auto fault, model::parse_fault(text.get<std::string>()));
    order.faults.push_back(std::move(fault));
  }
  return {};
}

Result<Order> parse_load(const json& object, std::size_t stage) {
  const bool is_blank = object.contains("sectors");
  TRY(is_blank
          ? base::only_keys(object,
                            {"state", "stage", "sectors", "other_disks", "used_disk", "record",
                             "delay_us", "delay_seed", "slow", "slow_us", "machine", "faults"},
                            "an empty disk has no recording and no id; omit either \"sectors\" or "
                            "\"recording\" and \"id\"")
          : base::only_keys(object,
                            {"state", "stage", "recording", "id", "record", "delay_us",
                             "delay_seed", "slow", "slow_us", "machine", "faults"},
                            kSeeControl));
  LoadOrder order{.stage = stage};
  if (is_blank) {
    TRY(const auto sectors, base::number_of(object, "sectors", kSectorsMax));
    if (sectors == 0) return fail("sectors", "must be at least 1", "use a larger number");
    order.sectors = sectors;
    TRY(parse_other_disks(object, order));
    TRY(take_used(object, order));
  } else {
    TRY(auto recording, path_of(object, "recording"));
    if (!recording)
      return fail("recording", "is missing",
                  R"(name a recording and the "id" of a state, or give "sectors")");
    order.recording = std::move(recording);
    TRY(auto id, base::text_of(object, "id", "name a state, for example w1234"));
    TRY(states::parse_crash_state(id));
    order.id = std::move(id);
  }
  TRY(parse_record(object, order));
  TRY(auto machine, base::optional_text(object, "machine", "name a profile, for example raid5-5"));
  order.machine = std::move(machine);
  TRY(parse_faults(object, order));
  return order;
}

Result<Order> parse_mark(const json& object, std::size_t stage) {
  TRY(base::only_keys(object, {"state", "stage", "text"}, kSeeControl));
  TRY(auto text, base::text_of(object, "text", "give the text of the mark"));
  if (text.empty() || text.size() > kMarkBytesMax || text.find('\0') != std::string::npos)
    return fail("text", fmt::format("has {} bytes or contains a NUL", text.size()),
                fmt::format("use 1 to {} bytes without NUL", kMarkBytesMax));
  return MarkOrder{stage, std::move(text)};
}

std::string hex(std::uint64_t number) {
  return fmt::format("{:016x}", number);
}

json refusal(const Error& error) {
  json refused{{"ok", false}, {"error", error.message()}};
  if (error.kind != ErrorKind::other) refused["kind"] = kErrorKinds[error.kind];
  return refused;
}

/// Executes requests. There is an overload for each type of request.
struct Handler {
  StageServer& server;

  json operator()(const LoadOrder& order) const {
    const auto loaded = server.load(order);
    if (!loaded) return refusal(loaded.error());
    return {{"ok", true},
            {"nonce", loaded->nonce},
            {"sectors", loaded->sectors},
            {"digest", hex(loaded->digest)}};
  }
  json operator()(const SealOrder& order) const {
    return at(order.stage, [](Stage& stage) -> json {
      const auto sealed = stage.seal();
      if (!sealed) return refusal(sealed.error());
      return {{"ok", true}, {"events", sealed->events}, {"bytes", sealed->bytes}};
    });
  }
  json operator()(const MarkOrder& order) const {
    return at(order.stage, [&](Stage& stage) -> json {
      const auto marked = stage.mark(order.text);
      return marked ? json{{"ok", true}} : refusal(marked.error());
    });
  }
  json operator()(const StatusOrder& order) const {
    return at(order.stage, [](Stage& stage) -> json {
      const StageStatus status = stage.status();
      return {{"ok", true},
              {"id", status.id},
              {"recording", status.recording},
              {"nonce", status.nonce},
              {"overlay_bytes", status.overlay_bytes},
              {"reads", status.reads},
              {"writes", status.writes},
              {"flushes", status.flushes},
              {"error", status.error ? json(*status.error) : json()}};
    });
  }
  json operator()(const DigestOrder& order) const {
    return at(order.stage, [](Stage& stage) -> json {
      const auto digest = stage.digest();
      if (!digest) return refusal(digest.error());
      return {{"ok", true}, {"digest", hex(*digest)}};
    });
  }

  template <typename Do>
  json at(std::size_t number, Do act) const {
    const auto stage = server.stage(number);
    return stage ? act(**stage) : refusal(stage.error());
  }
};

}  // namespace

Result<Order> parse_order(std::string_view line) {
  constexpr const char* kHint = "use load, seal, mark, status or digest";
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object())
    return fail("request", "is not a JSON object", "send one object per line");
  if (!object.contains("state"))
    return fail("request", "is not supported by a server of crash states", R"(use {"state":...})");
  TRY(auto verb, base::text_of(object, "state", kHint));
  TRY(const auto number, base::number_of(object, "stage", kStageMax));
  const auto stage = static_cast<std::size_t>(number);
  if (verb == "load") return parse_load(object, stage);
  if (verb == "mark") return parse_mark(object, stage);
  TRY(base::only_keys(object, {"state", "stage"}, kSeeControl));
  if (verb == "seal") return SealOrder{stage};
  if (verb == "status") return StatusOrder{stage};
  if (verb == "digest") return DigestOrder{stage};
  return fail("state", fmt::format("unknown command \"{}\"", verb.substr(0, 64)), kHint);
}

std::string answer(StageServer& server, std::string_view line) {
  const auto order = parse_order(line);
  const json told = order ? std::visit(Handler{server}, *order) : refusal(order.error());
  return told.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace headcrash::stages
