// Parses and formats the JSON at the head of a recording (event.h, event_format.h).
#include <limits>
#include <nlohmann/json.hpp>

#include "plugin/record/event_format.h"

namespace headcrash::record {
namespace {

using nlohmann::json;

template <typename Integer>
bool take(const json& object, const char* key, Integer& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return false;
  const auto wide = found->get<std::uint64_t>();
  value = static_cast<Integer>(wide);
  return value == wide;
}

bool take(const json& object, const char* key, std::string& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return false;
  value = found->get<std::string>();
  return true;
}

bool take(const json& object, const char* key, bool& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_boolean()) return false;
  value = found->get<bool>();
  return true;
}

/// Parses the base. The path and the state name are required, and their lengths are limited.
bool parse_base(const json& object, RecordingHeader::Base& base) {
  constexpr std::size_t kPathBytesMax = 4095;
  constexpr std::size_t kNameBytesMax = 2000;
  if (!object.is_object()) return false;
  if (object.contains("fingerprint") && !take(object, "fingerprint", base.fingerprint.emplace()))
    return false;
  return take(object, "recording", base.recording) && take(object, "state", base.state) &&
         !base.recording.empty() && base.recording.size() <= kPathBytesMax && !base.state.empty() &&
         base.state.size() <= kNameBytesMax && base.recording.find('\0') == std::string::npos;
}

}  // namespace

std::string header_text(const RecordingHeader& header) {
  json devices = json::array();
  for (const RecordedDevice& device : header.devices)
    devices.push_back({{"name", device.name},
                       {"profile", device.profile},
                       {"sectors", device.sectors},
                       {"physical_sector_sectors", device.physical_sector_sectors},
                       {"medium", device.medium}});
  json text = {{"origin", header.origin},
               {"seed", header.seed},
               {"media", header.media},
               {"devices", devices}};
  if (header.base)
    text["base"] = {{"recording", header.base->recording}, {"state", header.base->state}};
  if (header.base && header.base->fingerprint)
    text["base"]["fingerprint"] = *header.base->fingerprint;
  return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<RecordingHeader> parse_header_text(std::string_view text) {
  constexpr std::uint64_t kSectorsMax =
      std::numeric_limits<std::int64_t>::max() / model::kSectorBytes;
  // 1 PiB. For a medium of this size, readers build an index of up to 32 MiB.
  constexpr std::uint64_t kMediumSectorsMax = std::uint64_t{1} << 41;
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("devices") || !object["devices"].is_array())
    return std::nullopt;
  RecordingHeader header;
  if (!take(object, "seed", header.seed) || !take(object, "origin", header.origin) ||
      !take(object, "media", header.media))
    return std::nullopt;
  if (object.contains("base")) {
    header.base.emplace();
    if (!parse_base(object["base"], *header.base)) return std::nullopt;
  }
  for (const json& entry : object["devices"]) {
    RecordedDevice device;
    if (!entry.is_object() || !take(entry, "name", device.name) ||
        !take(entry, "profile", device.profile) || !take(entry, "sectors", device.sectors) ||
        !take(entry, "physical_sector_sectors", device.physical_sector_sectors) ||
        !take(entry, "medium", device.medium) ||
        device.sectors > (device.medium ? kMediumSectorsMax : kSectorsMax))
      return std::nullopt;
    header.devices.push_back(std::move(device));
  }
  return header;
}

}  // namespace headcrash::record
