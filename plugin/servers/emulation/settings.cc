#include "plugin/servers/emulation/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "plugin/base/result.h"
#include "plugin/base/size.h"
#include "plugin/profiles/stack.h"

namespace headcrash::emulation {
namespace {

constexpr std::uint64_t kLeadUsMax = 1000;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> parse_switch(std::string_view text) {
  for (const char* yes : {"on", "true", "yes", "1"})
    if (text == yes) return true;
  for (const char* no : {"off", "false", "no", "0"})
    if (text == no) return false;
  return std::nullopt;
}

/// Parses a size. Fails unless the size is a whole number of sectors and not 0.
Result<std::uint64_t> size_of(std::string_view key, std::string_view value) {
  const auto bytes = base::parse_size(value, std::string(key));
  if (!bytes) return bytes;
  if (*bytes == 0 || *bytes % model::kSectorBytes != 0)
    return fail(std::string(key), fmt::format("{} bytes are not a whole number of sectors", *bytes),
                "use a multiple of 512, at least 512");
  return *bytes;
}

Result<void> set_size(Settings& settings, std::string_view value) {
  TRY(const auto bytes, size_of("size", value));
  settings.size_bytes = bytes;
  return {};
}

Result<void> set_overlay_max(Settings& settings, std::string_view value) {
  TRY(const auto bytes, size_of("overlay-max", value));
  settings.overlay_bytes_max = bytes;
  return {};
}

Result<void> set_states(Settings& settings, std::string_view value) {
  const auto stages = parse_number(value);
  if (!stages || *stages == 0 || *stages > stages::kStagesMax)
    return fail("states", fmt::format("\"{}\" is not a valid number of stages", value),
                fmt::format("use 1 to {}", stages::kStagesMax));
  settings.states = *stages;
  return {};
}

Result<void> set_path(std::optional<std::filesystem::path>& path, std::string_view key,
                      std::string_view value) {
  if (value.empty())
    return fail(std::string(key), "the path is empty", fmt::format("use {}=PATH", key));
  path = value;
  return {};
}

Result<void> set_clock(Settings& settings, std::string_view value) {
  TRY(auto clock, parse_clock(value));
  settings.clock = clock;
  return {};
}

Result<void> set_lead(Settings& settings, std::string_view value) {
  if (value == "auto") return {};
  const auto lead_us = parse_number(value);
  if (!lead_us || *lead_us > kLeadUsMax)
    return fail("lead", fmt::format("\"{}\" is not a valid number of microseconds", value),
                fmt::format("use auto or 0 to {}", kLeadUsMax));
  settings.lead_ns = static_cast<WallNs>(*lead_us) * model::kMicrosecondNs;
  return {};
}

Result<void> set_cut(Settings& settings, std::string_view value) {
  if (auto trigger = model::parse_cut_trigger(value); !trigger)
    return tl::unexpected(base::within("cut", trigger.error()));
  settings.cut = value;
  return {};
}

Result<void> add_fault(Settings& settings, std::string_view value) {
  auto fault = model::parse_fault(value);
  if (!fault) {
    Error error = fault.error();
    error.subject = "fault=" + error.subject;
    return tl::unexpected<Error>(std::move(error));
  }
  if (settings.faults.size() == model::DeviceFaults::kFaultsMax)
    return fail("fault", "there are too many faults", "use fewer");
  settings.faults.push_back(std::move(*fault));
  return {};
}

}  // namespace

std::string_view Settings::keys() {
  return "profile machine size store clock lead write-cache tear record control seed cut fault states "
         "recording "
         "overlay-max virtual-time ";
}

Result<void> Settings::set(std::string_view key, std::string_view value) {
  const std::string entry = fmt::format("{} ", key);
  if (key.empty() || key.find(' ') != std::string_view::npos ||
      (" " + std::string(keys())).find(" " + entry) == std::string::npos)
    return fail(std::string(key), "unknown parameter", fmt::format("use one of: {}", keys()));
  if (key != "fault" && (" " + seen_).find(" " + entry) != std::string::npos)
    return fail(std::string(key), "is given twice", "use it once");
  seen_ += entry;
  if (key == "size") return set_size(*this, value);
  if (key == "store") return set_path(store, key, value);
  if (key == "record") return set_path(record, key, value);
  if (key == "control") return set_path(control, key, value);
  if (key == "clock") return set_clock(*this, value);
  if (key == "machine") return set_path(machine, key, value);
  if (key == "fault") return add_fault(*this, value);
  if (key == "lead") return set_lead(*this, value);
  if (key == "states") return set_states(*this, value);
  if (key == "recording") return set_path(recording, key, value);
  if (key == "overlay-max") return set_overlay_max(*this, value);
  if (key == "virtual-time") return set_path(virtual_time, key, value);
  if (key == "cut") return set_cut(*this, value);
  if (key == "write-cache") {
    write_cache = parse_switch(value);
    if (!write_cache)
      return fail("write-cache", fmt::format("\"{}\" is neither on nor off", value),
                  "use on or off");
    return {};
  }
  if (key == "tear") {
    TRY(const auto left, profiles::parse_tear(value, "tear"));
    tear = left;
    return {};
  }
  if (key == "seed") {
    const auto number = parse_number(value);
    if (!number)
      return fail("seed", fmt::format("\"{}\" is not an integer below 2^64", value),
                  "use an integer");
    seed = *number;
    return {};
  }
  if (value.empty())
    return fail("profile", "is empty",
                "use the name of a profile; nbdkit headcrash --dump-plugin lists them");
  profile = value;
  return {};
}

/// Checks the parameters of a crash-state server. Of the parameters for emulated hardware, such a
/// server accepts only `control`.
Result<void> Settings::check_states() const {
  std::istringstream given(seen_);
  for (std::string key; given >> key;) {
    const bool of_states =
        key == "states" || key == "recording" || key == "overlay-max" || key == "virtual-time";
    if (states && !of_states && key != "control")
      return fail(key, "applies to emulated hardware, but states= serves crash states",
                  key == "record" ? R"(omit it; a load with "record" makes a recording)"
                                  : "omit one of them");
    if (!states && of_states)
      return fail(key, "applies only to a server of crash states",
                  key == "recording" ? "add states=N, or use record=FILE to make a recording"
                                     : "add states=N");
  }
  return {};
}

Result<void> Settings::check() const {
  if (auto one_kind = check_states(); !one_kind || states) return one_kind;
  if (profile.empty() && !machine)
    return fail(
        "profile", "is missing",
        "name a profile, for example profile=hp-c2447 (nbdkit headcrash --dump-plugin lists them), "
        "or set machine=FILE, or states=N to serve crash states");
  if (!machine) return {};
  constexpr const char* kInFile = "set it in the machine file, for each device";
  if (!profile.empty())
    return fail("profile", "cannot be combined with machine", "omit profile or machine");
  if (size_bytes) return fail("size", "does not apply to machines", kInFile);
  if (write_cache) return fail("write-cache", "does not apply to machines", kInFile);
  if (tear) return fail("tear", "does not apply to machines", kInFile);
  return {};
}

}  // namespace headcrash::emulation
