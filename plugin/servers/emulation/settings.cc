// The table of parameters (settings.h), and checks of their combination.
#include "plugin/servers/emulation/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "plugin/base/result.h"
#include "plugin/base/size.h"

namespace headcrash::emulation {
namespace {

using Server = Parameter::Server;
using Path = std::optional<std::filesystem::path> Settings::*;
using Texts = std::vector<std::string>;

constexpr std::uint64_t kLeadUsMax = 1000;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Parses a size. Fails unless the size is a whole number of sectors and not 0.
Result<std::uint64_t> parse_sectors(std::string_view value, const std::string& subject) {
  TRY(const auto bytes, base::parse_size(value, subject));
  if (bytes == 0 || bytes % model::kSectorBytes != 0)
    return fail(subject, fmt::format("{} bytes are not a whole number of sectors", bytes),
                "use a multiple of 512, at least 512");
  return bytes;
}

// ---- values

Result<void> set_profile(Settings& settings, std::string_view value, const std::string& subject) {
  if (value.empty())
    return fail(subject, "is empty",
                "use the name of a profile; nbdkit headcrash --dump-plugin lists them");
  settings.profile = value;
  return {};
}

Result<void> set_size(Settings& settings, std::string_view value, const std::string& subject) {
  TRY(const auto bytes, parse_sectors(value, subject));
  settings.size_bytes = bytes;
  return {};
}

Result<void> set_clock(Settings& settings, std::string_view value, const std::string& subject) {
  TRY(auto clock, profiles::parse_clock(value, subject));
  settings.clock = clock;
  return {};
}

Result<void> set_lead(Settings& settings, std::string_view value, const std::string& subject) {
  if (value == "auto") return {};
  const auto lead_us = parse_number(value);
  if (!lead_us || *lead_us > kLeadUsMax)
    return fail(subject, fmt::format("\"{}\" is not a valid number of microseconds", value),
                fmt::format("use auto or 0 to {}", kLeadUsMax));
  settings.lead_ns = static_cast<WallNs>(*lead_us) * model::kMicrosecondNs;
  return {};
}

Result<void> set_cut(Settings& settings, std::string_view value, const std::string& subject) {
  if (auto trigger = model::parse_cut_trigger(value); !trigger)
    return tl::unexpected(base::within(subject, trigger.error()));
  settings.cut = value;
  return {};
}

Result<void> add_fault(Settings& settings, std::string_view value, const std::string& subject) {
  auto fault = model::parse_fault(value);
  if (!fault) {
    Error error = fault.error();
    error.subject = subject + "=" + error.subject;
    return tl::unexpected<Error>(std::move(error));
  }
  if (settings.faults.size() == model::DeviceFaults::kFaultsMax)
    return fail(subject, "there are too many faults", "use fewer");
  settings.faults.push_back(std::move(*fault));
  return {};
}

Texts fault_texts(const Settings& settings) {
  Texts all;
  for (const model::FaultSpec& fault : settings.faults) all.push_back(model::to_text(fault));
  return all;
}

Result<void> set_seed(Settings& settings, std::string_view value, const std::string& subject) {
  const auto number = parse_number(value);
  if (!number)
    return fail(subject, fmt::format("\"{}\" is not an integer below 2^64", value),
                "use an integer");
  settings.seed = *number;
  return {};
}

Result<void> set_states(Settings& settings, std::string_view value, const std::string& subject) {
  const auto stages = parse_number(value);
  if (!stages || *stages == 0 || *stages > stages::kStagesMax)
    return fail(subject, fmt::format("\"{}\" is not a valid number of stages", value),
                fmt::format("use 1 to {}", stages::kStagesMax));
  settings.states = *stages;
  return {};
}

Result<void> set_overlay_max(Settings& settings, std::string_view value,
                             const std::string& subject) {
  TRY(const auto bytes, parse_sectors(value, subject));
  settings.overlay_bytes_max = bytes;
  return {};
}

// ---- rows

Texts no_texts(const Settings&) {
  return {};
}

/// Completes the row of a parameter whose value is a path.
Parameter path_row(Parameter row, Path path) {
  row.path = path;
  row.set = [path, name = row.name](Settings& settings, std::string_view value,
                                    const std::string& subject) -> Result<void> {
    if (value.empty()) return fail(subject, "the path is empty", fmt::format("use {}=PATH", name));
    settings.*path = value;
    return {};
  };
  row.texts = [path](const Settings& settings) -> Texts {
    if (!(settings.*path)) return {};
    return {std::filesystem::absolute(*(settings.*path)).string()};
  };
  return row;
}

Parameter device_row(const profiles::DeviceOption& option) {
  return {.name = option.name,
          .value = option.value,
          .help = option.help,
          .server = Server::one_device,
          .boolean = option.boolean,
          .set =
              [option](Settings& settings, std::string_view value, const std::string& subject) {
                return option.set(settings.options, value, subject);
              },
          .texts = [option](const Settings& settings) -> Texts {
            const auto text = option.text(settings.options);
            return text ? Texts{*text} : Texts{};
          }};
}

std::vector<Parameter> hardware_parameters() {
  std::vector<Parameter> rows{
      {.name = "profile",
       .value = "PROFILE",
       .help = "Drive, array or cache: a built-in name (headcrash list profiles) or a .toml file",
       .set = set_profile,
       .texts = [](const Settings& s) { return s.profile.empty() ? Texts{} : Texts{s.profile}; }},
      path_row({.name = "machine",
                .value = "FILE",
                .help = "File that describes several devices with a common clock, recording and "
                        "power supply"},
               &Settings::machine),
      {.name = "size",
       .value = "SIZE",
       .help = "Size of the disk, for example 1G; default: the whole drive",
       .server = Server::one_device,
       .set = set_size,
       .texts = [](const Settings& s) {
         return s.size_bytes ? Texts{std::to_string(*s.size_bytes)} : Texts{};
       }}};
  for (const profiles::DeviceOption& option : profiles::device_options())
    rows.push_back(device_row(option));
  return rows;
}

std::vector<Parameter> run_parameters() {
  return {
      path_row({.name = "store",
                .value = "DIR",
                .help = "Folder for the contents of the disks; default: kept in memory, or in the "
                        "recording"},
               &Settings::store),
      path_row({.name = "record", .value = "FILE", .help = "Record all events to this file"},
               &Settings::record),
      {.name = "clock",
       .value = "real|real:K|off",
       .help = "Clock: real, real:K (K times slower than real time) or off (no delays)",
       .set = set_clock,
       .texts =
           [](const Settings& s) {
             const bool none = s.clock == Clock{} || s.clock.kind == Clock::Kind::virtual_time;
             return none ? Texts{} : Texts{profiles::clock_text(s.clock)};
           }},
      {.name = "lead",
       .value = "auto|US",
       .help = "Microseconds by which replies are sent before the modelled instant; default: "
               "their transit time",
       .in_serve = false,
       .set = set_lead,
       .texts = no_texts},
      {.name = "cut",
       .value = "TRIGGER",
       .help = "Cut the power: after-writes:N, at-flush:N, after-ms:X, after-mark:TEXT+X",
       .set = set_cut,
       .texts = [](const Settings& s) { return s.cut ? Texts{*s.cut} : Texts{}; }},
      {.name = "fault",
       .value = "KIND:DEVICE,...",
       .help = "Fault as KIND:DEVICE,... for example dead:hd0.2,after-ms=5000; may be repeated",
       .repeats = true,
       .set = add_fault,
       .texts = fault_texts},
      {.name = "seed",
       .value = "N",
       .help = "Seed of all random choices",
       .set = set_seed,
       .texts = [](const Settings& s) { return Texts{std::to_string(s.seed)}; }}};
}

std::vector<Parameter> state_parameters() {
  Parameter control =
      path_row({.name = "control",
                .value = "SOCKET",
                .help = "Listen for commands: power, clock, marks, statistics, faults, arrays",
                .server = Server::any,
                .in_serve = false},
               &Settings::control);
  control.texts = no_texts;
  return {
      control,
      {.name = "states",
       .value = "N",
       .help = "Serve crash states of recordings on N stages, instead of emulating hardware",
       .server = Server::states,
       .in_serve = false,
       .set = set_states,
       .texts =
           [](const Settings& s) { return s.states ? Texts{std::to_string(*s.states)} : Texts{}; }},
      path_row({.name = "recording",
                .value = "FILE",
                .help = "With states: the exports state/ID are states of this recording",
                .server = Server::states,
                .in_serve = false},
               &Settings::recording),
      {.name = "overlay-max",
       .value = "SIZE",
       .help = "With states: limit on the bytes written to each medium of a state; default: 1G",
       .server = Server::states,
       .in_serve = false,
       .set = set_overlay_max,
       .texts =
           [](const Settings& s) {
             return s.overlay_bytes_max == stages::kOverlayBytesDefault
                        ? Texts{}
                        : Texts{std::to_string(s.overlay_bytes_max)};
           }},
      path_row({.name = "virtual-time",
                .value = "SOCKET",
                .help = "With states: also serve each stage to user-mode Linux in virtual time, at "
                        "SOCKET.N",
                .server = Server::states,
                .in_serve = false},
               &Settings::virtual_time)};
}

std::vector<Parameter> all_parameters() {
  std::vector<Parameter> rows = hardware_parameters();
  for (const auto& more : {run_parameters(), state_parameters()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

// ---- combinations

/// Checks the parameters of a crash-state server. Of the parameters for emulated hardware, such a
/// server accepts only `control`.
Result<void> check_states(const Settings& settings, const std::string& prefix) {
  for (const Parameter& row : parameters()) {
    if (std::ranges::find(settings.given, row.name) == settings.given.end() ||
        row.server == Server::any)
      continue;
    const bool of_states = row.server == Server::states;
    const std::string subject = prefix + std::string(row.name);
    if (settings.states && !of_states)
      return fail(subject, "applies to emulated hardware, but states= serves crash states",
                  row.name == "record" ? R"(omit it; a load with "record" makes a recording)"
                                       : "omit one of them");
    if (!settings.states && of_states)
      return fail(subject, "applies only to a server of crash states",
                  row.name == "recording" ? "add states=N, or use record=FILE to make a recording"
                                          : "add states=N");
  }
  return {};
}

}  // namespace

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> rows = all_parameters();
  return rows;
}

Result<void> Settings::set(std::string_view key, std::string_view value,
                           const std::string& prefix) {
  const auto row = std::ranges::find(parameters(), key, &Parameter::name);
  const std::string subject = prefix + std::string(key);
  if (row == parameters().end()) {
    std::vector<std::string_view> names;
    for (const Parameter& one : parameters()) names.push_back(one.name);
    return fail(subject, "unknown parameter", fmt::format("use one of: {}", fmt::join(names, " ")));
  }
  if (!row->repeats && std::ranges::find(given, row->name) != given.end())
    return fail(subject, "is given twice", "use it once");
  given.push_back(row->name);
  return row->set(*this, value, subject);
}

Result<void> Settings::check(const std::string& prefix) const {
  if (auto one_kind = check_states(*this, prefix); !one_kind || states) return one_kind;
  if (profile.empty() && !machine)
    return fail(
        prefix + "profile", "is missing",
        "name a profile, for example profile=hp-c2447 (nbdkit headcrash --dump-plugin lists them), "
        "or set machine=FILE, or states=N to serve crash states");
  if (!machine) return {};
  if (!profile.empty())
    return fail(prefix + "profile", "cannot be combined with machine", "omit profile or machine");
  for (const Parameter& row : parameters()) {
    if (row.server == Server::one_device && !row.texts(*this).empty())
      return fail(prefix + std::string(row.name), "does not apply to machines",
                  "set it in the machine file, for each device");
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> Settings::texts() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Parameter& row : parameters())
    for (const std::string& value : row.texts(*this)) all.emplace_back(row.name, value);
  return all;
}

}  // namespace headcrash::emulation
