// The table of device options (device_options.h).
#include "plugin/profiles/device_options.h"

#include <fmt/format.h>

#include <array>

#include "plugin/base/nearest.h"

namespace headcrash::profiles {
namespace {

constexpr std::size_t kWordLengthMax = 32;

constexpr std::array kDeviceOptions{
    DeviceOption{.name = "write-cache",
                 .value = "on|off",
                 .help = "The drives' volatile write cache; default: the profile's",
                 .boolean = true,
                 .without_cut = true,
                 .set = [](DeviceOptions& options, std::string_view value,
                           const std::string& subject) -> Result<void> {
                   TRY(const bool on, parse_switch(value, subject));
                   options.write_cache = on;
                   return {};
                 },
                 .text = [](const DeviceOptions& options) -> std::optional<std::string> {
                   if (!options.write_cache) return std::nullopt;
                   return *options.write_cache ? "on" : "off";
                 }},
    DeviceOption{
        .name = "tear",
        .value = "silent|any|unreadable",
        .help = "State of the sector under the head after a power cut: silent (old and new bytes "
                "mixed), any, or unreadable; default: the profile's",
        .set = [](DeviceOptions& options, std::string_view value,
                  const std::string& subject) -> Result<void> {
          TRY(const model::Tear tear, parse_tear(value, subject));
          options.tear = tear;
          return {};
        },
        .text = [](const DeviceOptions& options) -> std::optional<std::string> {
          if (!options.tear) return std::nullopt;
          return std::string(model::kTearNames.at(static_cast<std::size_t>(*options.tear)));
        }},
};

}  // namespace

std::vector<DeviceOption> device_options(PowerCuts cuts) {
  std::vector<DeviceOption> options(kDeviceOptions.begin(), kDeviceOptions.end());
  if (cuts == PowerCuts::never)
    std::erase_if(options, [](const DeviceOption& option) { return !option.without_cut; });
  return options;
}

Result<bool> parse_switch(std::string_view text, const std::string& subject) {
  for (const char* yes : {"on", "true", "yes", "1"})
    if (text == yes) return true;
  for (const char* no : {"off", "false", "no", "0"})
    if (text == no) return false;
  return fail(subject, fmt::format("\"{}\" is neither on nor off", text), "use on or off");
}

Result<model::Tear> parse_tear(std::string_view word, const std::string& subject) {
  if (const auto tear = model::parse_tear(word)) return *tear;
  const std::vector<std::string> known{model::kTearNames.begin(), model::kTearNames.end()};
  return fail(subject, fmt::format("unknown tear \"{}\"", word.substr(0, kWordLengthMax)),
              base::suggest(word, known));
}

std::vector<std::string> with_device_options(std::vector<std::string> keys, PowerCuts cuts) {
  for (const DeviceOption& option : device_options(cuts)) keys.emplace_back(option.name);
  return keys;
}

Result<void> read_device_options(const base::StrictTable& table, DeviceOptions& into,
                                 PowerCuts cuts) {
  for (const DeviceOption& option : device_options(cuts)) {
    const std::string key(option.name);
    if (!table.has(key)) continue;
    std::string value;
    if (option.boolean) {
      bool on = false;
      TRY(table.take(key, on));
      value = on ? "on" : "off";
    } else {
      TRY(table.take(key, value));
    }
    TRY(option.set(into, value, table.subject(key)));
  }
  return {};
}

std::string toml_of(const DeviceOptions& options) {
  std::string lines;
  for (const DeviceOption& option : device_options()) {
    const auto text = option.text(options);
    if (!text) continue;
    lines += option.boolean ? fmt::format("{} = {}\n", option.name, *text == "on")
                            : fmt::format("{} = \"{}\"\n", option.name, *text);
  }
  return lines;
}

}  // namespace headcrash::profiles
